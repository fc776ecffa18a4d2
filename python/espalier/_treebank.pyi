from typing import Any

from ._espalier import Progress
from ._model import Model
from ._task import TaskEstimator

class TreebankParser(TaskEstimator):
    model_: Model
    history_: list[Progress]
    status_: str
    message_: str
    def __init__(
        self,
        l2: float | str = ...,
        output: str = ...,
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
        keep_traces: bool = ...,
        keep_functions: bool = ...,
        binarise: str = ...,
        horizontal: int = ...,
        vertical: int = ...,
        unaries: str = ...,
        tags: str = ...,
        features: str = ...,
        hash_bits: int = ...,
        prune_below: float = ...,
        longest: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: None = ..., X_dev: Any = ..., y_dev: None = ...) -> TreebankParser: ...
    def predict(self, X: Any) -> list[Any]: ...
    def predict_kbest(self, X: Any, k: int) -> list[list[tuple[Any, float, float | None]]]: ...
    def sample(self, X: Any, n: int = ..., seed: int = ...) -> list[list[tuple[Any, float, float | None]]]: ...
    def entropy(self, X: Any) -> list[float]: ...
    def evaluate(self, X: Any) -> dict[str, Any]: ...
    def score(self, X: Any, y: None = ...) -> float: ...
