from collections.abc import Iterable, Sequence
from typing import Any

from ._espalier import Certificate, Progress
from ._estimator import Estimator
from ._explain import Explanation, WeightTable
from ._log import TrainingLog
from ._model import Model
from .pycrfsuite import Tagger

Sentences = Iterable[Any]
Labels = Sequence[Sequence[str]]

class CRF(Estimator):
    model_: Model
    history_: list[Progress]
    status_: str
    message_: str
    training_log_: TrainingLog
    def __init__(
        self,
        algorithm: str | None = ...,
        min_freq: float | None = ...,
        all_possible_states: bool | None = ...,
        all_possible_transitions: bool | None = ...,
        c1: Any = ...,
        c2: Any = ...,
        max_iterations: Any = ...,
        num_memories: Any = ...,
        epsilon: Any = ...,
        period: Any = ...,
        delta: Any = ...,
        linesearch: str | None = ...,
        max_linesearch: Any = ...,
        calibration_eta: Any = ...,
        calibration_rate: Any = ...,
        calibration_samples: Any = ...,
        calibration_candidates: Any = ...,
        calibration_max_trials: Any = ...,
        pa_type: Any = ...,
        c: Any = ...,
        error_sensitive: Any = ...,
        averaging: Any = ...,
        variance: Any = ...,
        gamma: Any = ...,
        verbose: bool = ...,
        model_filename: str | None = ...,
        keep_tempfiles: bool = ...,
        trainer_cls: None = ...,
        warm_start: bool = ...,
        *,
        loss: str = ...,
        l2: float | None = ...,
        l1: float | None = ...,
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
        encoding: Any = ...,
        features: str | None = ...,
        order: int = ...,
        valid: str = ...,
        transitions: str | Sequence[tuple[str, str]] = ...,
        invalid: str = ...,
        costs: str = ...,
        l1_except: Sequence[str] = ...,
        kernel: str = ...,
        kernel_memory: int = ...,
        partial: bool = ...,
    ) -> None: ...
    def fit(
        self,
        X: Sentences,
        y: Labels,
        X_dev: Sentences | None = ...,
        y_dev: Labels | None = ...,
        sample_weight: Sequence[float] | None = ...,
    ) -> CRF: ...
    def predict(self, X: Sentences) -> list[list[str]]: ...
    def predict_single(self, xseq: Any) -> list[str]: ...
    def predict_marginals(self, X: Sentences) -> list[list[dict[str, float]]]: ...
    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]: ...
    def predict_kbest(self, X: Sentences, k: int) -> list[list[tuple[list[str], float, float | None]]]: ...
    def sample(self, X: Sentences, n: int = ..., seed: int = ...) -> list[list[tuple[list[str], float, float | None]]]: ...
    def entropy(self, X: Sentences) -> list[float]: ...
    def predict_entities(self, X: Sentences) -> list[list[tuple[str, int, int, float]]]: ...
    def score(self, X: Sentences, y: Labels, sample_weight: Sequence[float] | None = ...) -> float: ...
    def sequence_score(self, xseq: Any, yseq: Sequence[str]) -> float: ...
    def sequence_probability(self, xseq: Any, yseq: Sequence[str]) -> float: ...
    def explain(self, xseq: Any, yseq: Sequence[str] | None = ...) -> Explanation: ...
    def explain_weights(self, top: int | None = ...) -> WeightTable: ...
    @property
    def certificate_(self) -> Certificate: ...
    @property
    def classes_(self) -> list[str]: ...
    @property
    def attributes_(self) -> list[str]: ...
    @property
    def num_attributes_(self) -> int: ...
    @property
    def state_features_(self) -> dict[tuple[str, str], float]: ...
    @property
    def transition_features_(self) -> dict[tuple[str, ...], float]: ...
    @property
    def size_(self) -> int: ...
    @property
    def tagger_(self) -> Tagger: ...
