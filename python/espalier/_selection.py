"""Which l2 is best: regularisation paths and cross-validation, as the library has them."""

import warnings

from . import _espalier
from ._progress import Display


class _Table:
    """Values of l2 with what is known of each: ``points``, dicts that ``pandas.DataFrame(points)`` takes."""

    _columns = ()

    def __init__(self, points, best):
        self.points, self.best_index = points, best

    @property
    def best(self):
        """The best of the points."""
        return self.points[self.best_index]

    @property
    def best_l2(self):
        """Its l2."""
        return self.best["l2"]

    def to_frame(self):
        """The points as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.points)

    def __len__(self):
        return len(self.points)

    def __iter__(self):
        return iter(self.points)

    def __repr__(self):
        rows = [[_shown(point[name]) for name in self._columns] for point in self.points]
        widths = [max(len(row[c]) for row in [self._columns, *rows]) for c in range(len(self._columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [self._columns, *rows]]
        lines[1 + self.best_index] += "  best"
        return "\n".join(lines)


class Path(_Table):
    """A regularisation path: ``points`` from the largest l2 on, ``best`` on held-out data, and its ``estimator``."""

    _columns = ("l2", "relative_gap", "total_passes", "active", "dev")

    def __init__(self, points, best, estimator):
        super().__init__(points, best)
        self.estimator = estimator


class CrossValidation(_Table):
    """Values of l2, each rated over folds: ``mean`` and ``deviation`` of ``metric``, ``best`` and ``simplest_l2``."""

    _columns = ("l2", "mean", "deviation", "folds", "passes")

    def __init__(self, result):
        super().__init__(result["values"], result["best"])
        self.metric = result["metric"]
        self.simplest_l2 = self.points[result["simplest"]]["l2"]


def _shown(value):
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def path(estimator, X, y=None, X_dev=None, y_dev=None, *, l2_max=1000.0, l2_min=0.3, factor=0.7, sample_weight=None):
    """Trains an estimator for decreasing values of l2, each from where the one before ended.

    The estimator gives all other parameters, and is not changed. With held-out data, ``best`` is the value with the
    smallest error there and ``estimator`` a fitted copy with its weights; without, the copy has those of the first.
    ``l2_max``, ``l2_min`` and ``factor`` say which values: l2_max, l2_max * factor, ... down to l2_min.

    >>> import numpy as np, espalier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 5)); y = X[:, 0] + random.normal(size=200) > 0
    >>> path = espalier.path(espalier.Classifier(), X[:100], y[:100], X[100:], y[100:], l2_max=100, l2_min=1, factor=0.1)
    >>> [point["l2"] for point in path]
    [100.0, 10.0, 1.0]
    >>> path.best["dev_error"] == min(point["dev_error"] for point in path)
    True
    >>> path.estimator.score(X[100:], y[100:]) > 0.6
    True
    """
    fitted = _copy(estimator)
    data, settings = fitted._prepare(X, y, X_dev, y_dev, sample_weight)
    settings.pop("l2", None)
    values = (_number("l2_max", l2_max), _number("l2_min", l2_min), _number("factor", factor))
    points, best = fitted._train_values(data, settings, values)
    fitted.l2 = points[best]["l2"]
    if hasattr(fitted, "c2"):
        fitted.c2 = None  # a CRF's other name of it
    return Path(points, best, fitted)


def cross_validate(estimator, X, y=None, *, l2="auto", folds=5, sample_weight=None):
    """Rates values of l2 by cross-validation, each fold from where the value before ended; ``threads`` folds at a time.

    ``l2`` is ``'auto'`` (a search), ``(min, max)`` to search between, ``(max, min, factor)`` of a path, or one value.
    The estimator gives all other parameters, ``seed`` deals out the folds. It is not changed: the next step is
    ``estimator.set_params(l2=result.best_l2).fit(X, y)``.

    >>> import numpy as np, espalier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 5)); y = X[:, 0] + random.normal(size=200) > 0
    >>> result = espalier.cross_validate(espalier.Classifier(), X, y, l2=(100.0, 1.0, 0.1))
    >>> [point["l2"] for point in result], result.metric
    ([100.0, 10.0, 1.0], 'error %')
    """
    copy = _copy(estimator)
    data, settings = copy._prepare(X, y, None, None, sample_weight)
    settings.pop("l2", None)
    display = Display(getattr(estimator, "verbose", False), data)
    result = _espalier.cross_validate(data, settings, l2 if isinstance(l2, str) else _numbers(l2), folds, display.report)
    if result["interrupted"]:
        warnings.warn("interrupted; what folds had done by then counts", RuntimeWarning, stacklevel=2)
    return CrossValidation(result)


def _numbers(l2):
    """As the library takes it: what are no numbers is left as it is, for the library to refuse."""
    try:
        return tuple(float(value) for value in l2) if isinstance(l2, (tuple, list)) else float(l2)
    except (TypeError, ValueError):
        return l2


def _number(name, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _espalier.Error(f"{name}: found {value!r}; expected a number") from None


def _copy(estimator):
    if not hasattr(estimator, "_prepare"):
        raise _espalier.Error(f"estimator: {estimator!r:.60}; expected one of espalier's")
    return type(estimator)(**estimator.get_params(deep=False))
