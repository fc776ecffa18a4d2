"""What the estimators of classification, parsing and graphs share beyond all estimators."""

import os

from . import _espalier
from ._estimator import Estimator

try:
    from sklearn.base import ClassifierMixin
except ImportError:

    class ClassifierMixin:
        """What scikit-learn's ClassifierMixin does, for where it is absent."""

        _estimator_type = "classifier"

        def score(self, X, y, sample_weight=None):
            """The share of examples whose class is right."""
            import numpy as np

            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


class TaskEstimator(Estimator):
    """An estimator with an engine: the object of the library that uses its model, made once and shared by threads."""

    _engine_type = None

    def _fit(self, data, settings):
        self._train(data, settings)
        self._made_engine = type(self)._engine_type(self.model_._model)
        return self

    def _settings(self):
        """The options of training."""
        return self._options("train", "solver")

    def _engine(self):
        engine = self.__dict__.get("_made_engine")
        if engine is None:
            engine = self._made_engine = type(self)._engine_type(self._fitted()._model)
        return engine

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_made_engine", None)
        return state


def is_path(X):
    """Whether this names a file: a path object, or a text of one line that is no data."""
    return isinstance(X, os.PathLike) or (isinstance(X, str) and "\n" not in X and not X.lstrip().startswith("("))


def as_sequence(X, name="X"):
    """X as something with a length; iterators become lists."""
    if isinstance(X, (str, bytes, dict)) or not hasattr(X, "__iter__"):
        raise _espalier.Error(f"{name}: {type(X).__name__} {X!r:.40}; expected a list")
    return X if hasattr(X, "__len__") and hasattr(X, "__getitem__") else list(X)
