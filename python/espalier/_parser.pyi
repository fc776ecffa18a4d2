from typing import Any

import numpy as np

from ._espalier import Progress
from ._model import Model
from ._task import TaskEstimator

class Parser(TaskEstimator):
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
        structure: str = ...,
        order: int = ...,
        inference: str = ...,
        unlabelled: bool = ...,
        single_root: bool = ...,
        crossing: str = ...,
        longest: Any = ...,
        hash_bits: int = ...,
        prune_below: float = ...,
        most_heads: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: None = ..., X_dev: Any = ..., y_dev: None = ...) -> Parser: ...
    def predict(self, X: Any) -> Any: ...
    def predict_heads(self, X: Any) -> list[list[int]]: ...
    def predict_proba(self, X: Any) -> list[np.ndarray]: ...
    def predict_kbest(
        self, X: Any, k: int
    ) -> list[list[tuple[list[int], list[str] | None, float, float | None]]]: ...
    def sample(
        self, X: Any, n: int = ..., seed: int = ...
    ) -> list[list[tuple[list[int], list[str] | None, float, float | None]]]: ...
    def entropy(self, X: Any) -> list[float]: ...
    def evaluate(self, X: Any) -> dict[str, Any]: ...
    def score(self, X: Any, y: None = ...) -> float: ...
    @property
    def relations_(self) -> list[str]: ...
