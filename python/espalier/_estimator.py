"""What the estimators share: parameters that come from the library's tables of options, and the run itself."""

import inspect
import warnings

from . import _espalier
from ._model import Model
from ._progress import Display

try:
    from sklearn.base import BaseEstimator
except ImportError:
    from ._base import BaseEstimator


class NotFittedError(ValueError, AttributeError):
    """Raised by an estimator that was not fitted, where scikit-learn is absent."""


try:
    from sklearn.exceptions import NotFittedError  # noqa: F811
except ImportError:
    pass


class Parameter:
    """A keyword argument of an estimator."""

    __slots__ = ("name", "default", "help")

    def __init__(self, name, default, help):
        self.name, self.default, self.help = name, default, help


def table_parameters(rows, defaults=None, leave_out=()):
    """Parameters of rows of options; ``defaults`` has those that are not the library's."""
    defaults = defaults or {}
    return [
        Parameter(row["name"], defaults.get(row["name"], row["default"]), row["help"])
        for row in rows
        if row["name"] not in leave_out
    ]


class Estimator(BaseEstimator):
    """The base of the estimators. ``_parameters`` lists their keyword arguments; those of the library's tables of
    training, solvers and the task are passed on under their own names where they are not at their default."""

    _task = None
    _own_parameters = ()  # Parameter, before those of the tables
    _table_defaults = {}
    _left_out = ()

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls._task is None or "__init__" in cls.__dict__:
            return
        unset = {row["name"]: None for row in _espalier.solver_options()}  # each solver has its own default
        cls._tables = {
            "train": table_parameters(_espalier.train_options(), cls._table_defaults, cls._left_out),
            "solver": table_parameters(_espalier.solver_options(), unset, cls._left_out),
            "task": table_parameters(_espalier.task_options(cls._task), cls._table_defaults, cls._left_out),
        }
        parameters = [*cls._own_parameters]
        for table in cls._tables.values():
            parameters += [p for p in table if all(p.name != own.name for own in parameters)]
        cls._parameters = parameters

        def __init__(self, **parameters):
            for parameter in type(self)._parameters:
                setattr(self, parameter.name, parameters.pop(parameter.name, parameter.default))
            for name in parameters:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}")

        keyword = inspect.Parameter.KEYWORD_ONLY
        __init__.__signature__ = inspect.Signature(
            [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
            + [inspect.Parameter(p.name, keyword, default=p.default) for p in parameters]
        )
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = __init__

    def _options(self, *tables):
        """Those of the tables that are not at the library's default, by name."""
        options = {}
        for table in tables:
            for parameter in type(self)._tables[table]:
                value = getattr(self, parameter.name)
                if value is not None and value != parameter.default:
                    options[parameter.name] = value
        return options

    def _train(self, data, options):
        """Trains with the data, and keeps what belongs to the run."""
        init = getattr(self, "model_", None) if getattr(self, "warm_start", False) else None
        display = Display(getattr(self, "verbose", False), data)
        run = data.train(options, init=init._model if init is not None else None, report=display.report)
        display.end(run)
        if run.interrupted:
            warnings.warn(f"interrupted; the model is the one so far: {run.message}", RuntimeWarning, stacklevel=3)
        self.model_ = Model(run.model)
        self.history_ = run.history
        self.status_ = run.status
        self.message_ = run.message
        return self

    @property
    def certificate_(self):
        """The certificate of the weights: primal, dual, gap, relative_gap, passes."""
        return self._fitted().certificate

    def _fitted(self):
        model = self.__dict__.get("model_")
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit() first")
        return model

    def save(self, path):
        """Writes the model file that ``espalier predict`` and ``espalier.load`` read."""
        self._fitted().save(path)
