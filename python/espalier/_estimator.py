"""What the estimators share: parameters that come from the library's tables of options, and the run itself."""

import inspect
import operator
import os
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


def count_of(k, name="k", least=1):
    """k as the library takes it: it has no whole numbers below 0 to refuse."""
    try:
        k = operator.index(k)
    except TypeError:
        raise _espalier.Error(f"{name} {k!r}; expected a whole number") from None
    if k < least:
        raise _espalier.Error(f"{name} {k}; expected at least {least}")
    return k


def drawn(n, seed):
    """How many draws, and what they begin with, as the library takes them."""
    return count_of(n, "n"), count_of(seed, "seed", 0)


def check_writable(path):
    """That a file can be made there is better known before hours of training than after them."""
    folder = os.path.dirname(os.fspath(path)) or "."
    exists = os.path.isdir(folder)
    if not exists or not os.access(folder, os.W_OK):
        why = "Permission denied" if exists else "No such file or directory"
        raise _espalier.Error(
            f"{os.fspath(path)}: cannot create: {why}; expected a folder that exists and can be written"
        )


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
        of_task = _espalier.task_options(cls._task)
        # What a task calls by the name of an option of training has the task's default.
        of_training = [row for row in _espalier.train_options() if all(row["name"] != own["name"] for own in of_task)]
        cls._tables = {
            "train": table_parameters(of_training, cls._table_defaults, cls._left_out),
            "solver": table_parameters(_espalier.solver_options(), unset, cls._left_out),
            "task": table_parameters(of_task, cls._table_defaults, cls._left_out),
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
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{cls.__name__}.__init__() {error}") from None
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
        l2 = options.get("l2")
        if isinstance(l2, (str, tuple)):
            self._train_values(data, {name: value for name, value in options.items() if name != "l2"}, l2, report)
            return self

        def train(init, on_report):
            return data.train(options, init=init, report=on_report)

        self._keep(self._displayed(data, report, train))
        return self

    def _train_values(self, data, options, l2, report=None):
        """Trains several values of l2, and keeps the best on held-out data: all of them, and which it is."""
        found = []

        def train(init, on_report):
            run, points, best = _espalier.train_l2_values(data, options, l2, init=init, report=on_report)
            found.extend((points, best))
            return run

        self._keep(self._displayed(data, report, train))
        return found

    def _displayed(self, data, report, train):
        """What train(init, report) returns, with its reports shown, and given to ``report`` as well."""
        init = getattr(self, "model_", None) if getattr(self, "warm_start", False) else None
        display = Display(getattr(self, "verbose", False), data)

        def on_report(progress, dev):
            display.report(progress, dev)
            if report is not None:
                report(progress, dev)

        run = train(init._model if init is not None else None, on_report)
        display.end(run)
        return run

    def _keep(self, run):
        if run.interrupted:
            warnings.warn(f"interrupted; the model is the one so far: {run.message}", RuntimeWarning, stacklevel=5)
        self.model_ = Model(run.model)
        self.history_ = run.history
        self.status_ = run.status
        self.message_ = run.message

    @property
    def certificate_(self):
        """The certificate of the weights: primal, dual, gap, relative_gap, passes."""
        return self._fitted().certificate

    def _fitted(self):
        model = self.__dict__.get("model_")
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit() first")
        return model

    @classmethod
    def _of_model(cls, model):
        """An estimator with a model that was trained elsewhere, and as much of its parameters as that tells."""
        info = model.info
        known = {name: info[name] for name in ("loss", "l2", "l1") if info[name] is not None}
        estimator = cls(**known)
        estimator.model_ = model
        return estimator

    def save(self, path):
        """Writes the model file that ``espalier predict`` and ``espalier.load`` read."""
        self._fitted().save(path)
