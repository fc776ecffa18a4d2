from typing import Any

from ._espalier import Progress
from ._model import Model
from ._task import TaskEstimator

class GraphModel(TaskEstimator):
    model_: Model
    history_: list[Progress]
    status_: str
    message_: str
    def __init__(
        self,
        l2: float | str = ...,
        types: dict[str, Any] | None = ...,
        verbose: bool = ...,
        warm_start: bool = ...,
        *,
        loss: str = ...,
        l1: float = ...,
        l1_ratio: float = ...,
        solver: str = ...,
        gap: float = ...,
        passes: float = ...,
        seconds: float = ...,
        threads: int = ...,
        seed: int = ...,
        repeat: int = ...,
        report_every: float = ...,
        patience: int = ...,
        bits: int = ...,
        outer_gap: float = ...,
        outer_rounds: int = ...,
        sampling: Any = ...,
        step: Any = ...,
        eta: Any = ...,
        start: Any = ...,
        log_odds: Any = ...,
        anneal: Any = ...,
        recompute: Any = ...,
        average: Any = ...,
        smo_mass: Any = ...,
        slacks: Any = ...,
        cache: Any = ...,
        rescaling: Any = ...,
        mira_update: Any = ...,
        kbest: Any = ...,
        inference: str = ...,
        memory: int | str = ...,
        nodes_only: bool = ...,
        kernel: str = ...,
        kernel_memory: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., X_dev: Any = ..., y_dev: Any = ...) -> GraphModel: ...
    def predict(self, X: Any) -> list[list[Any]]: ...
    def predict_marginals(self, X: Any) -> list[list[dict[Any, float]]]: ...
    def predict_kbest(self, X: Any, k: int) -> list[list[tuple[list[Any], float, float | None]]]: ...
    def sample(self, X: Any, n: int = ..., seed: int = ...) -> list[list[tuple[list[Any], float, float | None]]]: ...
    def entropy(self, X: Any) -> list[float]: ...
    def evaluate(self, X: Any, y: Any = ...) -> dict[str, Any]: ...
    def score(self, X: Any, y: Any = ...) -> float: ...
    @property
    def classes_(self) -> list[Any]: ...
