"""The estimator for sequences: CRF."""

import os

from . import _espalier
from ._estimator import Estimator, Parameter, check_writable, count_of, drawn
from ._explain import Explanation, WeightTable
from ._log import TrainingLog
from ._model import Model

_IGNORED = "ignored: it tunes an optimiser that is not used here"
_REFUSED = "refused unless None: it belongs to an algorithm that does not exist here"

# What each algorithm of CRFsuite minimises. None: it is not the minimiser of anything that there is.
_OBJECTIVES = {
    "lbfgs": {},
    "l2sgd": {},
    "ap": {"loss": "perceptron", "solver": "perceptron"},
    "averaged-perceptron": {"loss": "perceptron", "solver": "perceptron"},
    "pa": "loss='svm', solver='mira'",
    "passive-aggressive": "loss='svm', solver='mira'",
    "arow": "loss='softmax-margin', or loss='svm'",
}


class CRF(Estimator):
    """A conditional random field for sequences, with the arguments and methods of sklearn-crfsuite's CRF.

    A sentence is a list of items, one for each token. An item is a dict of attributes, whose values are numbers,
    bools, texts (``{"word": "Anna"}`` is the attribute ``word:Anna``), or dicts, lists and sets of more of them; or a
    list of names; or a row of numbers. A whole sentence may be a NumPy array or a SciPy CSR matrix with a row for each
    token.

    >>> from espalier import CRF
    >>> X = [[{"word": "Anna", "title": True}, {"word": "sleeps"}], [{"word": "Bob", "title": True}, {"word": "left"}]]
    >>> y = [["PER", "O"], ["PER", "O"]]
    >>> crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, all_possible_transitions=True)
    >>> crf.fit(X, y).predict([[{"word": "Eve", "title": True}, {"word": "slept"}]])
    [['PER', 'O']]
    >>> crf.certificate_.relative_gap <= crf.gap
    True

    ``algorithm`` names an objective, not the way to its optimum: ``'lbfgs'`` and ``'l2sgd'`` are the CRF of
    ``sum of losses + c1 |w|_1 + c2 |w|^2``, ``'ap'`` is the averaged perceptron. The solver is espalier's own unless
    ``solver`` says otherwise, and training ends where the weights are certified to be within ``gap`` of the optimum.
    """

    _task = "tag"
    _own_parameters = (
        Parameter("algorithm", None, "'lbfgs' (the default), 'l2sgd' or 'ap': the objective; others are refused"),
        Parameter("min_freq", None, "drop attribute-label and label-label pairs whose values add up to less"),
        Parameter("all_possible_states", None, "weights of all attribute-label pairs, not only of those in the data"),
        Parameter("all_possible_transitions", None, "weights of all label-label pairs, not only of those in the data"),
        Parameter("c1", None, "coefficient of |w|_1; the same as l1. Default: 0"),
        Parameter("c2", None, "coefficient of |w|^2; half of l2. Default: 1"),
        Parameter("max_iterations", None, "maximum number of passes over the data; the same as passes"),
        Parameter("num_memories", None, _IGNORED),
        Parameter("epsilon", None, _IGNORED),
        Parameter("period", None, _IGNORED),
        Parameter("delta", None, _IGNORED),
        Parameter("linesearch", None, _IGNORED),
        Parameter("max_linesearch", None, _IGNORED),
        Parameter("calibration_eta", None, _IGNORED),
        Parameter("calibration_rate", None, _IGNORED),
        Parameter("calibration_samples", None, _IGNORED),
        Parameter("calibration_candidates", None, _IGNORED),
        Parameter("calibration_max_trials", None, _IGNORED),
        Parameter("pa_type", None, _REFUSED),
        Parameter("c", None, _REFUSED),
        Parameter("error_sensitive", None, _REFUSED),
        Parameter("averaging", None, _REFUSED),
        Parameter("variance", None, _REFUSED),
        Parameter("gamma", None, _REFUSED),
        Parameter("verbose", False, "print progress"),
        Parameter("model_filename", None, "a file that fit() saves the model to, and that an unfitted CRF opens"),
        Parameter("keep_tempfiles", False, "ignored: there are none"),
        Parameter("trainer_cls", None, "refused unless None: there is one way to train"),
        Parameter("warm_start", False, "fit() starts from the weights that the last one ended with"),
    )
    _table_defaults = {"l2": None, "l1": None, "features": None}
    # What only files have.
    _left_out = ("format", "template", "label_column", "separator", "example_weights", "gazetteer", "first")

    def fit(self, X, y, X_dev=None, y_dev=None, sample_weight=None):
        """Trains on the sentences X with the labels y, and returns the estimator.

        X_dev and y_dev are held-out data, whose accuracy and F1 ``training_log_`` has for each report. sample_weight
        says how much each sentence counts. Ctrl-C ends training and keeps the model so far, with a warning.
        """
        options, settings = self._objective()
        if self.model_filename is not None:
            check_writable(self.model_filename)
        return self._fit(*self._sentences(X, y, X_dev, y_dev, sample_weight), options, settings)

    def _prepare(self, X, y, X_dev=None, y_dev=None, sample_weight=None):
        """What fit() trains with: the data, and the options of training."""
        options, settings = self._objective()
        return _espalier.tag_training(*self._sentences(X, y, X_dev, y_dev, sample_weight), options), settings

    def _sentences(self, X, y, X_dev, y_dev, sample_weight):
        if (X_dev is None) != (y_dev is None):
            raise _espalier.Error("held-out data needs both X_dev and y_dev; expected both or neither")
        train = _labelled(X, y, "X", "y", None if sample_weight is None else list(sample_weight))
        dev = None if X_dev is None else _labelled(X_dev, y_dev, "X_dev", "y_dev")
        return train, dev

    def _fit(self, train, dev, options, settings):
        """The rest of fit(), for those who have the data already."""
        data = _espalier.tag_training(train, dev, options)
        del train, dev  # the data has its own form of them
        log = TrainingLog(data.describe())
        self._train(data, settings, log.report)
        log.end(self.message_)
        self.training_log_ = log
        self.__dict__.pop("_tagger", None)
        if self.model_filename is not None:
            self.save(self.model_filename)
        return self

    def _objective(self):
        """The options of the data and those of training."""
        name = "lbfgs" if self.algorithm is None else str(self.algorithm).lower()
        objective = _OBJECTIVES.get(name)
        if objective is None:
            raise _espalier.Error(f"unknown algorithm {self.algorithm!r}; expected 'lbfgs', 'l2sgd' or 'ap'")
        if isinstance(objective, str):
            raise _espalier.Error(f"algorithm {self.algorithm!r} does not exist here; expected {objective} instead")
        for parameter in self._own_parameters:
            if parameter.help == _REFUSED and getattr(self, parameter.name) is not None:
                raise _espalier.Error(
                    f"{parameter.name} {getattr(self, parameter.name)!r}: not for algorithm {name!r}; expected None"
                )
        if self.trainer_cls is not None:
            raise _espalier.Error("trainer_cls: there is one way to train; expected None")
        options = self._options("task")
        states, transitions = bool(self.all_possible_states), bool(self.all_possible_transitions)
        features = {
            (True, True): "all",
            (False, False): "observed",
            (False, True): "observed-attributes",
            (True, False): "observed-transitions",
        }
        if self.features is None and not (self.kernel or self.partial):
            options["features"] = features[states, transitions]
        elif self.features is not None and (states or transitions):
            raise _espalier.Error(
                "features: given with all_possible_states or all_possible_transitions; expected one of the two"
            )
        settings = {**objective, **self._options("train", "solver")}
        for ours, theirs, default, factor in (("l2", "c2", 1.0, 2), ("l1", "c1", 0.0, 1)):
            value = getattr(self, theirs)
            if value is not None and ours in settings:
                raise _espalier.Error(f"{ours} and {theirs}: the same regulariser twice; expected one of the two")
            if ours not in settings:
                settings[ours] = factor * (default if value is None else _coefficient(theirs, value))
        if self.max_iterations is not None:
            if "passes" in settings:
                raise _espalier.Error("passes and max_iterations: the same limit twice; expected one of the two")
            settings["passes"] = self.max_iterations
        elif name in ("ap", "averaged-perceptron"):
            settings.setdefault("passes", 100)
        return options, settings

    def _fitted(self):
        if "model_" not in self.__dict__ and self.model_filename and os.path.exists(self.model_filename):
            self.model_ = Model.load(self.model_filename)
        return super()._fitted()

    def _shared_tagger(self):
        tagger = self.__dict__.get("_tagger")
        if tagger is None:
            tagger = self._tagger = _espalier.Tagger(self._fitted()._model)
        return tagger

    def predict(self, X):
        """The best labels of each sentence: a list of lists.

        The interpreter's lock is released while sentences are tagged: threads that call this share the cores.
        """
        return _Labels(self._shared_tagger().tag(_sequence(X)))

    def predict_single(self, xseq):
        """The best labels of one sentence."""
        return self._shared_tagger().tag([xseq])[0]

    def predict_marginals(self, X):
        """The probability of every label at every token: for each sentence a list of dicts ``{label: probability}``."""
        return self._shared_tagger().marginals(_sequence(X))

    def predict_marginals_single(self, xseq):
        """The same of one sentence."""
        return self._shared_tagger().marginals([xseq])[0]

    def predict_kbest(self, X, k):
        """The k best labellings of each sentence, best first, as tuples ``(labels, score, probability)``.

        The probability is None where the loss has none, as that of an SVM.
        """
        return self._shared_tagger().kbest(_sequence(X), count_of(k))

    def sample(self, X, n=1, seed=1):
        """n labellings of each sentence, drawn from the model's distribution: those of ``espalier predict --samples n --seed seed``.

        They are independent of each other and have the form of ``predict_kbest``; the first of many are those of few.
        """
        return self._shared_tagger().samples(_sequence(X), *drawn(n, seed))

    def entropy(self, X):
        """The entropy of the model's distribution for each sentence, in nats: 0 where it is certain."""
        return self._shared_tagger().entropies(_sequence(X))

    def predict_entities(self, X):
        """The chunks that the best labels of each sentence spell, as tuples ``(type, begin, end, probability)``.

        Tokens begin to end - 1 are the chunk's; it has the probability that the sentence has exactly this chunk.
        """
        return self._shared_tagger().entities(_sequence(X))

    def score(self, X, y, sample_weight=None):
        """The share of tokens whose label is right; sample_weight says how much each sentence counts."""
        from .metrics import flat_accuracy_score

        return flat_accuracy_score(y, self.predict(X), sample_weight=sample_weight)

    def sequence_score(self, xseq, yseq):
        """The score of the labels yseq of a sentence: the sum of its weights times the values of their features."""
        return self._shared_tagger().score(xseq, yseq)

    def sequence_probability(self, xseq, yseq):
        """The probability of the labels yseq of a sentence."""
        return self._shared_tagger().probability(xseq, yseq)

    def explain(self, xseq, yseq=None):
        """Which attributes spoke for which label: an Explanation of the best labels of a sentence, or of yseq.

        Its contributions add up to the score of the labels. It prints as text, shows as a table in notebooks, and
        ``.to_frame()`` is a pandas data frame.
        """
        return Explanation(self._shared_tagger().contributions(xseq, yseq))

    def explain_weights(self, top=10):
        """The ``top`` heaviest weights of each label, positive and negative, and of transitions: a WeightTable.

        ``top=None`` has all of them.
        """
        return WeightTable(self.state_features_, self.transition_features_, top)

    @property
    def classes_(self):
        """The labels."""
        return self._fitted().labels()

    @property
    def attributes_(self):
        """The attributes that have a weight."""
        return self._fitted().attributes()

    @property
    def num_attributes_(self):
        """The number of attributes that have a weight."""
        return self._fitted()._model.num_attributes()

    @property
    def state_features_(self):
        """Weights that are not zero, ``{(attribute, label): weight}``."""
        return _espalier.tag_weights(self._fitted()._model, False)

    @property
    def transition_features_(self):
        """Weights that are not zero, ``{(label before, label): weight}``; of order 2 and more, also of more labels."""
        return _espalier.tag_weights(self._fitted()._model, True)

    @property
    def size_(self):
        """The size of the model file in bytes."""
        return self._fitted().size

    @property
    def tagger_(self):
        """The model as a ``espalier.pycrfsuite.Tagger``."""
        from .pycrfsuite import Tagger

        return Tagger._of(self._fitted(), self._shared_tagger())

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_tagger", None)
        return state


class _Labels(list):
    """Lists of labels, which NumPy takes for an array of lists, though some may be of one length: with that
    scikit-learn's cross_val_predict puts folds together."""

    def __array__(self, dtype=None):
        import numpy

        array = numpy.empty(len(self), dtype=object)
        for i, labels in enumerate(self):
            array[i] = labels
        return array

    def __reduce__(self):
        return list, (list(self),)


def _coefficient(name, value):
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1
    if not number >= 0:
        raise _espalier.Error(f"{name}: found {value!r}; expected a number >= 0")
    return number


def _labelled(X, y, x_name, y_name, weights=None):
    data = _espalier.LabelledSentences()
    data.append_all(_sequence(X, x_name), _sequence(y, y_name), weights, x_name, y_name)
    return data


def _sequence(X, name="X"):
    """X as a list or tuple: what else can be iterated over (arrays, series, generators) becomes one."""
    if isinstance(X, (list, tuple)):
        return X
    if isinstance(X, (str, bytes, dict)) or not hasattr(X, "__iter__"):
        raise _espalier.Error(f"{name}: {type(X).__name__} {repr(X)[:40]}; expected a list of sentences")
    return list(X)
