from collections.abc import Iterator
from typing import Any

class _Table:
    points: list[dict[str, Any]]
    best_index: int
    @property
    def best(self) -> dict[str, Any]: ...
    @property
    def best_l2(self) -> float: ...
    def to_frame(self) -> Any: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...

class Path(_Table):
    estimator: Any

class CrossValidation(_Table):
    metric: str
    simplest_l2: float

def path(
    estimator: Any,
    X: Any,
    y: Any = ...,
    X_dev: Any = ...,
    y_dev: Any = ...,
    *,
    l2_max: float = ...,
    l2_min: float = ...,
    factor: float = ...,
    sample_weight: Any = ...,
) -> Path: ...
def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = ...,
    *,
    l2: str | float | tuple[float, ...] = ...,
    folds: int = ...,
    sample_weight: Any = ...,
) -> CrossValidation: ...
