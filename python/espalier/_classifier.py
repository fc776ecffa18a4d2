"""The estimator for single labels: Classifier."""

try:
    import numpy as np
except ImportError:  # then there is no Classifier, but everything else
    np = None

from . import _espalier
from ._estimator import Parameter
from ._task import ClassifierMixin, TaskEstimator

try:
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_array
except ImportError:
    check_array = None

_BIAS = "(bias)"
_TYPES = ["float64", "float32"]
# Solvers that look at all examples before they move: in any order of these they give the same weights, but for rounding.
_ORDER_FREE = ("eg-batch", "lbfgs", "bmrm")


class _NoProbabilities(_espalier.Error, AttributeError):
    pass


class _WithProbabilities:
    """A method that is there only where the loss has probabilities."""

    def __init__(self, method):
        self.__doc__, self._method = method.__doc__, method

    def __get__(self, instance, owner=None):
        if instance is not None and not _espalier.loss_has_probabilities(str(instance.loss)):
            raise _NoProbabilities(
                f"a classifier of loss {instance.loss!r} has no probabilities; expected one with a finite beta"
            )
        return self._method.__get__(instance, owner)


class Classifier(ClassifierMixin, TaskEstimator):
    """A linear or kernel classifier: multinomial logistic regression, multi-class SVM and all between, certified.

    X is a NumPy array, a SciPy CSR matrix or a pandas data frame; or a list of items, as those of ``espalier.CRF``
    (dicts of attributes, lists of names); or a list of texts, whose words and n-grams are the attributes. y has a
    class for each example, of any type that scikit-learn takes.

    >>> import numpy as np
    >>> from espalier import Classifier
    >>> X = np.array([[0.0, 1.0], [1.0, 1.5], [3.0, 0.5], [4.0, 0.0]])
    >>> classifier = Classifier(l2=0.1).fit(X, ["low", "low", "high", "high"])
    >>> classifier.predict([[0.5, 1.0], [3.5, 0.0]])
    array(['low', 'high'], dtype='<U4')
    >>> classifier.certificate_.relative_gap <= classifier.gap
    True

    >>> opinions = Classifier(ngrams=2, l2=0.1).fit(["so good", "very good", "so bad"], ["yes", "yes", "no"])
    >>> opinions.predict(["good"])
    array(['yes'], dtype='<U3')

    The objective is ``l2/2 |w|^2 + sum of losses``: ``C`` of scikit-learn and LIBLINEAR is ``1/l2``. The intercept
    (``bias``) is a weight like any other and regularised as such, as in LIBLINEAR. Values are kept as 32-bit floats.
    ``fit`` ends where the weights are certified to be within ``gap`` of the optimum.
    """

    _task = "classify"
    _engine_type = _espalier.Classifier
    _own_parameters = (
        Parameter("l2", 1.0, "l2/2 |w|^2 against the sum of losses (1/C); 'auto': the best on X_dev"),
        Parameter("loss", "crf", "'crf' (logistic regression), 'svm', 'softmax-margin', 'perceptron' or 'BETA,GAMMA'"),
        Parameter("bias", True, "an intercept: a constant attribute of every example"),
        Parameter("class_weight", None, "a dict of weights by class, or 'balanced'"),
        Parameter("verbose", False, "print progress"),
        Parameter("warm_start", False, "fit() starts from the weights that the last one ended with"),
    )
    _table_defaults = {"bias": True, "l1_except": None}
    _left_out = ("format", "first")  # what only files have

    def fit(self, X, y, sample_weight=None, X_dev=None, y_dev=None):
        """Trains on the examples X of the classes y, and returns the estimator.

        sample_weight says how much each example counts; those of weight 0 are left out. X_dev and y_dev are held-out
        data, for ``l2='auto'``, ``patience`` and progress. Ctrl-C ends training and keeps the model so far, with a
        warning.
        """
        return self._fit(*self._prepare(X, y, X_dev, y_dev, sample_weight))

    def _prepare(self, X, y, X_dev=None, y_dev=None, sample_weight=None):
        _need_numpy()
        if (X_dev is None) != (y_dev is None):
            raise _espalier.Error("held-out data needs both X_dev and y_dev; expected both or neither")
        kind = _kind_of(X)
        X, y = self._check_X_y(X, y, kind)
        X, y, weights = self._weigh(X, y, sample_weight)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise _espalier.Error(f"y: 1 class, {classes[0]!r}; expected at least two classes")
        train = _espalier.Classes(numbers, _names(classes), weights)
        dev = None
        if X_dev is not None:
            if _kind_of(X_dev) != kind:
                raise _espalier.Error("X_dev: not of the kind that X is; expected arrays, items or texts in both")
            X_dev = self._check_X(X_dev, kind)
            classes_dev, numbers_dev = np.unique(np.asarray(y_dev), return_inverse=True)
            _check_lengths(X_dev, numbers_dev, "X_dev", "y_dev")
            dev = _espalier.Classes(numbers_dev, _names(classes_dev))
        options = self._options("task")
        options["bias"] = bool(self.bias)
        if kind == "rows":
            columns = self._columns()
            data = _espalier.classify_rows_training(
                _espalier.Matrix(X, columns), train, None if dev is None else _espalier.Matrix(X_dev, columns), dev,
                options,
            )
        else:
            texts = kind == "texts"
            held_out = None if dev is None else _espalier.Examples(X_dev, dev, texts, "X_dev")
            data = _espalier.classify_examples_training(_espalier.Examples(X, train, texts), held_out, options)
        self._kind = kind
        self.classes_ = classes
        return data, self._settings()

    def _check_X_y(self, X, y, kind):
        if kind == "rows":
            if check_array is not None:
                X, y = self._validate_data(X, y, accept_sparse="csr", dtype=_TYPES)
                check_classification_targets(y)
                return _without_repeats(X), y
            X = _plain_matrix(X)
            self.n_features_in_ = X.shape[1]
        y = np.asarray(y)
        if y.ndim != 1:
            raise _espalier.Error(f"y: {y.ndim} dimensions; expected a class for each example")
        _check_lengths(X, y, "X", "y")
        return X, y

    def _check_X(self, X, kind):
        if kind != "rows":
            return X
        if check_array is None:
            X = _plain_matrix(X)
            if X.shape[1] != getattr(self, "n_features_in_", X.shape[1]):
                raise _espalier.Error(f"X: {X.shape[1]} columns; expected {self.n_features_in_}, as in fit")
            return X
        if hasattr(self, "n_features_in_"):
            X = self._validate_data(X, reset=False, accept_sparse="csr", dtype=_TYPES)
        else:
            X = check_array(X, accept_sparse="csr", dtype=_TYPES)
        return _without_repeats(X)

    def _weigh(self, X, y, sample_weight):
        """Weights of examples and classes together; without examples of weight 0."""
        weights = None
        if sample_weight is not None:
            if check_array is not None:
                weights = _check_sample_weight(sample_weight, y, dtype=np.float64)
            else:
                weights = np.asarray(sample_weight, dtype=np.float64)
                _check_lengths(y, weights, "y", "sample_weight")
            if np.any(weights < 0):
                raise _espalier.Error(f"sample_weight: {weights.min()}; expected weights of at least 0")
        if self.class_weight is not None:
            classes, numbers = np.unique(y, return_inverse=True)
            of_class = _class_weights(self.class_weight, classes, numbers)
            weights = of_class[numbers] * (1.0 if weights is None else weights)
        if weights is None or np.all(weights > 0):
            return X, y, weights
        kept = np.flatnonzero(weights)
        X = X[kept] if hasattr(X, "shape") else [X[i] for i in kept]
        return X, y[kept], weights[kept]

    def _columns(self):
        """The names of columns; none: they are called 1, 2, ..., as in LIBSVM's files."""
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        if len(set(names)) != len(names) or _BIAS in names or "" in names:
            raise _espalier.Error(f"X: columns {names!r:.60}; expected names that differ, and none empty or {_BIAS!r}")
        return names

    def _scores(self, X, probabilities=False):
        """A row for each example, a column for each of classes_."""
        engine = self._engine()
        kind = _kind_of(X)
        if kind == "rows":
            if self._kind != "rows":
                raise _espalier.Error(f"X: an array for a model of {self._kind}; expected a list of {self._kind}")
            X = self._check_X(X, kind)
            scores = engine.score_rows(_espalier.Matrix(X, self._columns()), probabilities)
        elif kind == "texts":
            scores = engine.score_texts(X, probabilities)
        elif self._kind == "texts":
            raise _espalier.Error("X: items for a model of texts; expected a list of texts")
        else:
            scores = engine.score_items(X, probabilities)
        order = self._order(engine)
        return scores if order is None else scores[:, order]

    def _order(self, engine):
        """Where the library has each of classes_; None: at the same place."""
        places = {name: place for place, name in enumerate(engine.labels)}
        order = [places[name] for name in _names(self.classes_)]
        return None if order == list(range(len(order))) else order

    def predict(self, X):
        """The best class of each example."""
        scores = self._scores(X)
        return self.classes_[np.argmax(scores, axis=1)]

    @_WithProbabilities
    def predict_proba(self, X):
        """The probability of each class, in the order of ``classes_``: an array with a row for each example.

        A loss that has no probabilities, as that of an SVM, raises espalier.Error, which then is an AttributeError
        as well: ``hasattr(classifier, "predict_proba")`` is False.
        """
        return self._scores(X, probabilities=True)

    @_WithProbabilities
    def predict_log_proba(self, X):
        """The logarithms of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X):
        """The score of each class; of two classes, one number for each example, above 0 for ``classes_[1]``."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @property
    def attributes_(self):
        """The names of attributes that have a weight, but for the intercept's."""
        return [name for name in self._fitted().attributes() if name != _BIAS]

    @property
    def coef_(self):
        """The weights: a row for each class, or one of two classes; a column for each of X.

        Of models of items and texts, the columns are ``attributes_``.
        """
        if self._kind == "rows" and hasattr(self, "n_features_in_"):
            names = self._columns() or [str(c + 1) for c in range(self.n_features_in_)]
        else:
            names = self.attributes_
        return self._weights(names)

    @property
    def intercept_(self):
        """The weight of the constant attribute for each class, or one of two classes; 0 without ``bias``."""
        return self._weights([_BIAS])[:, 0]

    def _weights(self, names):
        engine = self._engine()
        if self._fitted().describe()["settings"].get("kernel"):
            raise AttributeError("a model with a kernel has no weights of attributes")
        weights = engine.weights(names)
        order = self._order(engine)
        weights = weights if order is None else weights[order]
        return weights[1:] - weights[:1] if len(weights) == 2 else weights

    @classmethod
    def _of_model(cls, model):
        _need_numpy()
        estimator = super()._of_model(model)
        estimator._kind = {"text": "texts", "crfsuite": "items"}.get(model.describe()["settings"]["format"], "rows")
        names = model.labels()
        numeric = all(name.lstrip("-").isdigit() and str(int(name)) == name for name in names)
        estimator.classes_ = np.array([int(name) for name in names] if numeric else names)
        return estimator

    def _more_tags(self):
        if self.solver in _ORDER_FREE:
            return {}
        why = "its data come in another order, in which this solver finds other weights within the gap"
        return {"_xfail_checks": {"check_sample_weights_invariance": why}}


def _need_numpy():
    if np is None:
        raise ImportError("espalier.Classifier needs NumPy")


def _kind_of(X):
    """rows, items or texts."""
    if isinstance(X, (str, bytes, dict)):
        raise _espalier.Error(f"X: {type(X).__name__} {X!r:.40}; expected an array, or a list of items or texts")
    if getattr(X, "ndim", 2) == 1 or isinstance(X, (list, tuple)):
        first = next(iter(X), None) if len(X) else None
        if isinstance(first, (str, bytes)):
            return "texts"
        if isinstance(first, (dict, set, frozenset)):
            return "items"
        if isinstance(first, (list, tuple)) and len(first) and isinstance(first[0], (str, bytes)):
            return "items"
    return "rows"


def _names(classes):
    """What the model file calls classes: whole numbers without a decimal point."""
    names = [str(int(c)) if isinstance(c, (float, np.floating)) and c == int(c) else str(c) for c in classes]
    if len(set(names)) != len(names) or "" in names:
        raise _espalier.Error(f"y: classes {names!r:.60}; expected names that differ, and none empty")
    return names


def _class_weights(given, classes, numbers):
    counts = np.bincount(numbers, minlength=len(classes))
    if isinstance(given, str) and given == "balanced":
        return len(numbers) / (len(classes) * counts)
    if not isinstance(given, dict):
        raise _espalier.Error(f"class_weight: {given!r}; expected a dict of weights by class, or 'balanced'")
    weights = np.array([float(given.get(c, 1.0)) for c in classes])
    if not np.all(weights >= 0):
        raise _espalier.Error(f"class_weight: {given!r:.60}; expected weights of at least 0")
    return weights


def _check_lengths(a, b, a_name, b_name):
    size = a.shape[0] if hasattr(a, "shape") else len(a)
    if size != len(b):
        raise _espalier.Error(f"{a_name} has {size} examples and {b_name} has {len(b)}; expected as many")


def _without_repeats(X):
    """A CSR matrix that names each column of a row once: sums are taken in a copy."""
    if hasattr(X, "has_canonical_format") and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _plain_matrix(X):
    """What check_array does, in short, for where scikit-learn is absent."""
    if hasattr(X, "tocsr"):
        return _without_repeats(X.tocsr())
    X = np.asarray(X)
    X = X if X.dtype in _TYPES else X.astype(np.float64)
    if X.ndim != 2:
        raise _espalier.Error(f"X: {X.ndim} dimensions; expected a row for each example")
    return X
