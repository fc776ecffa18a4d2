"""What scikit-learn has for estimators, for where it is absent."""

import inspect


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was fitted."""


class BaseEstimator:
    """Parameters by name: get_params and set_params, as scikit-learn's estimators have them."""

    @classmethod
    def _get_param_names(cls):
        parameters = inspect.signature(cls.__init__).parameters
        return sorted(name for name in parameters if name != "self")

    def get_params(self, deep=True):
        """Every parameter with its value."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params):
        """Sets some parameters, and returns the estimator."""
        names = self._get_param_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(f"unknown parameter {name!r} of {type(self).__name__}; expected one of {names}")
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"
