"""What the estimators share: parameters that come from the library's tables of options, and the run itself."""

import inspect
import warnings

from . import _espalier
from ._model import Model
from ._progress import Display

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
except ImportError:
    from ._base import BaseEstimator, NotFittedError


class Parameter:
    """A keyword argument of an estimator."""

    __slots__ = ("name", "default", "help")

    def __init__(self, name, default, help):
        self.name, self.default, self.help = name, default, help


def table_parameters(rows, defaults=None, leave_out=()):
    """Parameters of rows of options; ``defaults`` has those that are not the library's."""
    defaults = defaults or {}
    return [
        Parameter(row["name"], defaults.get(row["name"], _default(row)), row["help"])
        for row in rows
        if row["name"] not in leave_out
    ]


def _default(row):
    """What nobody can change by accident: a tuple for a list."""
    return tuple(row["default"]) if isinstance(row["default"], list) else row["default"]


class Estimator(BaseEstimator):
    """The base of the estimators. ``_parameters`` lists their arguments: their own, then those of the library's tables of
    training, solvers and the task, which are passed on under their own names where they are not at their default."""

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

        # Those of the class itself may be given by position, too; what the library adds to its tables may not.
        kinds = inspect.Parameter
        signature = inspect.Signature(
            [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
            + [kinds(p.name, kinds.POSITIONAL_OR_KEYWORD, default=p.default) for p in cls._own_parameters]
            + [
                kinds(p.name, kinds.KEYWORD_ONLY, default=p.default)
                for p in parameters[len(cls._own_parameters) :]
            ]
        )

        def __init__(self, *args, **kwargs):
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                if name != "self":
                    setattr(self, name, value)

        __init__.__signature__ = signature
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        __init__.__doc__ = "Parameters\n\n" + "\n".join(f"{p.name}\n    {p.help}" for p in parameters)
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

    def _train(self, data, options, report=None):
        """Trains with the data, and keeps what belongs to the run. ``report`` sees every report beside the display."""
        init = getattr(self, "model_", None) if getattr(self, "warm_start", False) else None
        display = Display(getattr(self, "verbose", False), data)

        def on_report(progress, dev):
            display.report(progress, dev)
            if report is not None:
                report(progress, dev)

        run = data.train(options, init=init._model if init is not None else None, report=on_report)
        display.end(run)
        if run.interrupted:
            warnings.warn(f"interrupted; the model is the one so far: {run.message}", RuntimeWarning, stacklevel=4)
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
