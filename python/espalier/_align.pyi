from typing import Any

from ._espalier import Progress
from ._model import Model
from ._task import TaskEstimator

class Aligner(TaskEstimator):
    model_: Model
    history_: list[Progress]
    status_: str
    message_: str
    def __init__(
        self,
        l2: float | str = ...,
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
        memory: int | str = ...,
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
        links: int = ...,
        dictionary: str = ...,
        missing_cost: float = ...,
        pair_count: int = ...,
        longest: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any, X_dev: Any = ..., y_dev: Any = ...) -> Aligner: ...
    def predict(self, X: Any) -> list[list[tuple[int, int]]]: ...
    def predict_marginals(self, X: Any) -> list[list[list[float]]]: ...
    def predict_kbest(self, X: Any, k: int) -> list[list[tuple[list[tuple[int, int]], float, float | None]]]: ...
    def evaluate(self, X: Any, y: Any) -> dict[str, Any]: ...
    def score(self, X: Any, y: Any) -> float: ...
