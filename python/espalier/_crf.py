"""The estimator for sequences."""

from . import _espalier
from ._estimator import Estimator, Parameter


class CRF(Estimator):
    """A conditional random field, or another linear model of label sequences."""

    _task = "tag"
    _own_parameters = (
        Parameter("algorithm", None, "the objective"),
        Parameter("c1", None, "l1"),
        Parameter("c2", None, "l2/2"),
        Parameter("all_possible_states", None, ""),
        Parameter("all_possible_transitions", None, ""),
        Parameter("max_iterations", None, ""),
        Parameter("verbose", False, "print progress"),
        Parameter("warm_start", False, "start from the model of the last fit"),
    )
    _table_defaults = {"l2": None, "l1": None, "features": None}
    _left_out = ("format", "template", "label_column", "separator", "example_weights", "gazetteer", "first")

    def fit(self, X, y, X_dev=None, y_dev=None, sample_weight=None):
        """Trains on sentences X with labels y."""
        train = _espalier.LabelledSentences()
        train.append_all(X, y, sample_weight)
        dev = None
        if X_dev is not None:
            dev = _espalier.LabelledSentences()
            dev.append_all(X_dev, y_dev, None, "X_dev", "y_dev")
        options = self._options("task")
        options.setdefault("features", "all" if self.all_possible_states else "observed")
        data = _espalier.tag_training(train, dev, options)
        settings = self._options("train", "solver")
        settings.setdefault("l2", 2 * (1.0 if self.c2 is None else self.c2))
        settings.setdefault("l1", 0.0 if self.c1 is None else self.c1)
        self._train(data, settings)
        self._tagger = None
        return self

    def _shared_tagger(self):
        if self.__dict__.get("_tagger") is None:
            self._tagger = _espalier.Tagger(self._fitted()._model)
        return self._tagger

    def predict(self, X):
        """The best labels of each sentence."""
        return self._shared_tagger().tag(X)

    def predict_marginals(self, X):
        """The probability of every label at every token: a list of dicts for each sentence."""
        return self._shared_tagger().marginals(X)

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_tagger", None)
        return state
