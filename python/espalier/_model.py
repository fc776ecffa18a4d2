"""Trained models, of any task."""

import os

from . import _espalier


class Model:
    """A trained model: weights, what it takes to use them, and the certificate that belongs to them.

    ``Model.load`` opens one; estimators have theirs as ``model_``. It never changes, may be shared by threads,
    and can be pickled and copied.
    """

    __slots__ = ("_model",)

    def __init__(self, model):
        self._model = model

    @staticmethod
    def load(path, memory=None):
        """Opens the model file of any task. The file stays mapped: processes that open it share its memory.

        ``memory`` is a number of bytes, or ``"500M"`` or ``"1.5G"``: a model with which this process would take more is
        refused before it is opened.
        """
        path = os.fspath(path)
        if memory is not None:
            _espalier.check_memory_to_open(path, memory)
        return Model(_espalier.Model.load(path))

    def save(self, path):
        """Writes the model file that ``espalier predict`` and ``espalier.load`` read."""
        self._model.save(os.fspath(path))

    @property
    def task(self):
        """'tag', 'classify', 'parse', 'treebank', 'graph' or 'align'."""
        return self._model.task

    @property
    def certificate(self):
        """A Certificate, or None where another program trained the model, or its weights were rounded."""
        return self._model.certificate

    @property
    def info(self):
        """What the model says of its training, as a dict: task, loss, l2, l1, solver and bits."""
        names = ("task", "loss", "l2", "l1", "solver", "bits")
        return {name: getattr(self._model, name) for name in names}

    @property
    def size(self):
        """Bytes of its file."""
        return self._model.size

    def describe(self):
        """All that the model says of itself, as a dict: what ``espalier show --json`` prints."""
        return self._model.describe()

    def labels(self):
        """The names of its labels."""
        return self._model.labels()

    def attributes(self):
        """The names of its attributes."""
        return self._model.attributes()

    def rounded(self, bits):
        """The same model with the nearest weights of 16 bits, which take half the room and come without a certificate."""
        return Model(self._model.rounded(bits))

    def __reduce__(self):
        return _from_bytes, (self._model.to_bytes(),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<espalier.Model of {self.task}: {self._model.summary()}>"


def _from_bytes(data):
    return Model(_espalier.Model.from_bytes(data))
