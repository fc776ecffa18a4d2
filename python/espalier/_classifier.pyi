from typing import Any

import numpy as np

from ._espalier import Progress
from ._model import Model
from ._task import ClassifierMixin, TaskEstimator

class Classifier(ClassifierMixin, TaskEstimator):
    model_: Model
    history_: list[Progress]
    status_: str
    message_: str
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    def __init__(
        self,
        l2: float | str = ...,
        loss: str = ...,
        bias: bool = ...,
        class_weight: Any = ...,
        verbose: bool = ...,
        warm_start: bool = ...,
        *,
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
        min_count: int = ...,
        ngrams: int = ...,
        char_ngrams: int = ...,
        keep_case: bool = ...,
        weighting: str = ...,
        costs: str = ...,
        l1_except: Any = ...,
        kernel: str = ...,
        kernel_memory: int = ...,
    ) -> None: ...
    def fit(
        self, X: Any, y: Any, sample_weight: Any = ..., X_dev: Any = ..., y_dev: Any = ...
    ) -> Classifier: ...
    def predict(self, X: Any) -> np.ndarray: ...
    def predict_proba(self, X: Any) -> np.ndarray: ...
    def predict_log_proba(self, X: Any) -> np.ndarray: ...
    def decision_function(self, X: Any) -> np.ndarray: ...
    @property
    def attributes_(self) -> list[str]: ...
    @property
    def coef_(self) -> np.ndarray: ...
    @property
    def intercept_(self) -> np.ndarray: ...
