"""Trainer and Tagger as python-crfsuite has them, so that code written for it runs with one changed import.

>>> from espalier import pycrfsuite
>>> trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c2": 0.1}, verbose=False)
>>> trainer.append([["word=Anna", "title"], ["word=sleeps"]], ["PER", "O"])
>>> import os, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, "names.esp")
>>> trainer.train(path)
>>> with pycrfsuite.Tagger().open(path) as tagger:
...     tagger.tag([["word=Anna", "title"], ["word=sleeps"]])
['PER', 'O']
>>> folder.cleanup()

Model files are espalier's, which ``espalier predict`` and ``espalier.load`` read, too. CRFsuite's own are read after
``crfsuite dump``, by ``espalier convert``.
"""

import contextlib
import functools
import os
import sys

from . import _espalier
from ._crf import CRF
from ._espalier import Error as CRFSuiteError
from ._espalier import ItemSequence
from ._estimator import check_writable
from ._log import TrainingLog
from ._model import Model

__all__ = ["BaseTrainer", "CRFSuiteError", "ItemSequence", "Tagger", "Trainer"]

CRFSUITE_VERSION = _espalier.__version__


def _bool(value):
    return bool(int(value))


class _Param:
    """A parameter of CRFsuite: the argument of CRF that it is, its type, default and help."""

    __slots__ = ("argument", "type", "default", "help")

    def __init__(self, argument, type, default, help):
        self.argument, self.type, self.default, self.help = argument, type, default, help


_FEATURES = {
    "feature.minfreq": _Param("min_freq", float, 0.0, "The least frequency of features."),
    "feature.possible_states": _Param("all_possible_states", _bool, False, "Weights of all attribute-label pairs."),
    "feature.possible_transitions": _Param("all_possible_transitions", _bool, False, "Weights of all label pairs."),
}
_OPTIMISER = "Accepted and ignored: it tunes an optimiser that is not used here."
_LIMIT = {"max_iterations": _Param("max_iterations", int, 2147483647, "The maximum number of passes over the data.")}
_STOP = {
    "epsilon": _Param("epsilon", float, 1e-5, _OPTIMISER),
    "period": _Param("period", int, 10, _OPTIMISER),
    "delta": _Param("delta", float, 1e-5, _OPTIMISER),
}
_L2 = {"c2": _Param("c2", float, 1.0, "Coefficient of the squared norm of weights; half of l2.")}

# Of each algorithm, by the name of CRFsuite; gap, threads and the like are espalier's own, of all.
_PARAMS = {
    "lbfgs": {
        **_FEATURES,
        "c1": _Param("c1", float, 0.0, "Coefficient of the 1-norm of weights."),
        **_L2,
        **_LIMIT,
        "num_memories": _Param("num_memories", int, 6, _OPTIMISER),
        **_STOP,
        "linesearch": _Param("linesearch", str, "MoreThuente", _OPTIMISER),
        "max_linesearch": _Param("max_linesearch", int, 20, _OPTIMISER),
    },
    "l2sgd": {
        **_FEATURES,
        **_L2,
        "max_iterations": _Param("max_iterations", int, 1000, "The maximum number of passes over the data."),
        "period": _STOP["period"],
        "delta": _STOP["delta"],
        "calibration.eta": _Param("calibration_eta", float, 0.1, _OPTIMISER),
        "calibration.rate": _Param("calibration_rate", float, 2.0, _OPTIMISER),
        "calibration.samples": _Param("calibration_samples", float, 1000.0, _OPTIMISER),
        "calibration.candidates": _Param("calibration_candidates", int, 10, _OPTIMISER),
        "calibration.max_trials": _Param("calibration_max_trials", int, 20, _OPTIMISER),
    },
    "averaged-perceptron": {
        **_FEATURES,
        "max_iterations": _Param("max_iterations", int, 100, "The number of passes over the data."),
        "epsilon": _STOP["epsilon"],
    },
}
_ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


@functools.cache
def _own_params():
    """Arguments of CRF that CRFsuite does not have: those of the library's tables."""
    theirs = {param.argument for params in _PARAMS.values() for param in params.values()}
    tables = [parameter for table in CRF._tables.values() for parameter in table]
    return {p.name: _Param(p.name, lambda value: value, p.default, p.help) for p in tables if p.name not in theirs}


class Trainer:
    """Collects sentences and trains a model of them.

    params() lists CRFsuite's parameters of the algorithm. Those of ``espalier.CRF`` that CRFsuite does not have (gap,
    threads, loss, order, ...) can be set, too.
    """

    def __init__(self, algorithm=None, params=None, verbose=True):
        self.verbose = verbose
        self.logparser = None
        self._data = {}
        self.select(algorithm if algorithm is not None else "lbfgs")
        if params is not None:
            self.set_params(params)

    def select(self, algorithm, type="crf1d"):
        """Chooses the algorithm: 'lbfgs', 'l2sgd' or 'ap'. Parameters go back to their defaults."""
        name = algorithm.lower()
        name = _ALIASES.get(name, name)
        if type != "crf1d" or name not in _PARAMS:
            CRF(algorithm=algorithm)._objective()  # says what to use instead
            raise _espalier.Error(f"type {type!r} does not exist here; expected 'crf1d'")
        self.algorithm = name
        self._values = {}

    def append(self, xseq, yseq, group=0):
        """Adds a sentence: its items and its labels. Groups are for ``train(holdout=...)``."""
        self._data.setdefault(group, _espalier.LabelledSentences()).append(xseq, yseq)

    def clear(self):
        """Forgets all sentences."""
        self._data = {}

    def params(self):
        """The names of the parameters of the algorithm."""
        return list(_PARAMS[self.algorithm])

    def set(self, name, value):
        """Sets a parameter."""
        param = self._param(name)
        try:
            self._values[name] = param.type(value)
        except (TypeError, ValueError):
            raise _espalier.Error(f"{name}: found {value!r}; expected a value such as {param.default!r}") from None

    def get(self, name):
        """The value of a parameter."""
        return self._values.get(name, self._param(name).default)

    def set_params(self, params):
        """Sets several parameters, {name: value}."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self):
        """All parameters of the algorithm, {name: value}."""
        return {name: self.get(name) for name in self.params()}

    def help(self, name):
        """What a parameter is for."""
        return self._param(name).help

    def _param(self, name):
        param = _PARAMS[self.algorithm].get(name) or _own_params().get(name)
        if param is None:
            raise _espalier.Error(
                f"unknown parameter {name!r} of {self.algorithm}; expected one of {', '.join(self.params())}"
            )
        return param

    def message(self, message):
        """Is told what training says, line by line; prints it if verbose. For classes derived from this one."""
        if self.verbose:
            print(message, end="")

    def on_start(self, log):
        """Is told what the data is; for classes derived from this one, as the three below."""
        self.message(log)

    def on_iteration(self, log, info):
        """Is told of a report: as a text, and as the dict that logparser.iterations has."""
        self.message(log)

    def on_optimization_end(self, log):
        """Is told how training ended."""
        self.message(log)

    def on_end(self, log):
        """Is told that the model was saved."""
        self.message(log)

    def train(self, model, holdout=-1):
        """Trains on all groups but ``holdout``, and saves the model to the file ``model``; '' saves nothing."""
        if model:
            check_writable(model)
        crf = CRF(algorithm=self.algorithm)
        crf.set_params(**{self._param(name).argument: value for name, value in self._values.items()})
        if crf.max_iterations == _LIMIT["max_iterations"].default:
            crf.max_iterations = None
        options, settings = crf._objective()
        groups = [data for group, data in sorted(self._data.items()) if group != holdout]
        if not groups:
            raise _espalier.Error("no sentences to train on; expected some, by append()")
        train = _espalier.LabelledSentences.joined(groups)
        data = _espalier.tag_training(train, self._data.get(holdout), options)
        log = self.logparser = TrainingLog(data.describe())
        self.on_start(log.log[-1])

        def report(progress, dev):
            log.report(progress, dev)
            self.on_iteration(log.log[-1], log.last_iteration)

        crf._train(data, settings, report)
        log.end(crf.message_)
        self.on_optimization_end(log.log[-1])
        if model:
            crf.save(model)
            log.end(f"saved {os.fspath(model)}")
            self.on_end(log.log[-1])


BaseTrainer = Trainer  # python-crfsuite has one without a log beside the one that people use


class ParsedDump:
    """What is in a model; Tagger.info() returns one. header, labels and attributes are dicts of texts, transitions is
    ``{(label before, label): weight}``, state_features ``{(attribute, label): weight}``."""

    def __init__(self, model):
        labels, attributes = model.labels(), model.attributes()
        self.labels = {name: str(id) for id, name in enumerate(labels)}
        self.attributes = {name: str(id) for id, name in enumerate(attributes)}
        self.transitions = _espalier.tag_weights(model._model, True)
        self.state_features = _espalier.tag_weights(model._model, False)
        self.header = {
            "magic": "ESPALIER",
            "size": str(model.size),
            "type": "FOMC",
            "num_features": str(len(self.transitions) + len(self.state_features)),
            "num_labels": str(len(labels)),
            "num_attrs": str(len(attributes)),
        }


class Tagger:
    """Labels sentences with a model. Threads may share one, but for what set() and tag() leave behind."""

    def __init__(self):
        self._model = self._tagger = self._sentence = None

    @classmethod
    def _of(cls, model, tagger):
        self = cls()
        self._model, self._tagger = model, tagger
        return self

    def open(self, name):
        """Opens a model file; returns something for ``with`` that closes it."""
        if not os.path.exists(name):
            raise FileNotFoundError(f"{os.fspath(name)}: no such file; expected a model")
        return self._use(Model.load(name))

    def open_inmemory(self, value):
        """The same of the bytes of a model file."""
        return self._use(Model(_espalier.Model.from_bytes(value)))

    def _use(self, model):
        self._tagger, self._model, self._sentence = _espalier.Tagger(model._model), model, None
        return contextlib.closing(self)

    def close(self):
        """Forgets the model."""
        self._model = self._tagger = self._sentence = None

    def _opened(self):
        if self._tagger is None:
            raise _espalier.Error("the tagger is closed; expected open() before")
        return self._tagger

    def labels(self):
        """The labels of the model."""
        self._opened()
        return self._model.labels()

    def set(self, xseq):
        """Sets the sentence that tag(), probability() and marginal() are about."""
        self._opened()
        self._sentence = xseq if isinstance(xseq, ItemSequence) else ItemSequence(xseq)
        self._marginals = None

    def _current(self):
        self._opened()
        if self._sentence is None:
            raise _espalier.Error("there is no sentence; expected set() or tag() before")
        return self._sentence

    def tag(self, xseq=None):
        """The best labels of a sentence, or of the current one."""
        if xseq is not None:
            self.set(xseq)
        return self._opened().tag([self._current()])[0]

    def probability(self, yseq):
        """The probability of these labels of the current sentence."""
        return self._opened().probability(self._current(), yseq)

    def marginal(self, y, pos):
        """The probability of the label y at token pos of the current sentence."""
        sentence = self._current()
        if self._marginals is None:
            self._marginals = self._tagger.marginals([sentence])[0]
        if not 0 <= pos < len(self._marginals):
            raise _espalier.Error(f"token {pos} of a sentence of {len(self._marginals)}; expected one of these, from 0 on")
        if y not in self._marginals[pos]:
            raise _espalier.Error(f"unknown label {y!r}; expected one of {', '.join(self.labels())}")
        return self._marginals[pos][y]

    def info(self):
        """What is in the model, as a ParsedDump."""
        if self._tagger is None:
            raise RuntimeError("the tagger is closed; expected open() before")
        return ParsedDump(self._model)

    def dump(self, filename=None):
        """Writes the model as text, in the form of ``crfsuite dump``, to a file or to standard output."""
        info = self.info()
        sections = [
            ("FILEHEADER", [f"  {name}: {value}" for name, value in info.header.items()]),
            ("LABELS", [f"  {id:>5}: {name}" for name, id in info.labels.items()]),
            ("ATTRIBUTES", [f"  {id:>5}: {name}" for name, id in info.attributes.items()]),
            ("TRANSITIONS", _dumped("(1)", info.transitions)),
            ("STATE_FEATURES", _dumped("(0)", info.state_features)),
        ]
        with contextlib.ExitStack() as stack:
            file = sys.stdout if filename is None else stack.enter_context(open(filename, "w", encoding="utf-8"))
            for name, lines in sections:
                file.write("\n".join([f"{name} = {{", *lines, "}", "", ""]))


def _dumped(kind, weights):
    return [f"  {kind} {' --> '.join(names)}: {weight:.6f}" for names, weight in weights.items()]
