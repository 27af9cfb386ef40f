from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.weigher import Weigher

Floats = NDArray[np.float64]
MANNERS: tuple[str, ...]

class ExpertRound:
    weigher: Weigher
    cost: Loss
    linearised: bool
    floor: float
    ceiling: float
    allowed: float
    may_sleep: bool
    votes: bool
    experts: list[str]
    before: tuple[str, ...]
    drawn_loss: float
    lowest: float
    highest: float
    widest: float
    worst: float
    first_outside: int
    first_wide: int
    naps: int
    first_nap: int
    def __init__(
        self,
        weigher: Weigher,
        loss: Any = "square",
        loss_parameter: float | None = None,
        gradient: bool = False,
        manner: str = "mean",
        low: float = ...,
        high: float = ...,
        spread: float = ...,
        sleeping: bool = True,
        seed: int = 0,
        votes: bool = False,
    ) -> None: ...
    def begin(self, n: int) -> None: ...
    @property
    def width(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def total_loss(self) -> float: ...
    @property
    def expert_losses(self) -> Floats: ...
    @property
    def regrets(self) -> Floats: ...
    @property
    def rounds_awake(self) -> NDArray[np.int64]: ...
    @property
    def pays_expected(self) -> bool: ...
    @property
    def log_prior(self) -> Floats: ...
    @property
    def from_losses(self) -> bool: ...
    def name_of(self, i: int) -> str: ...
    def play_rows(
        self,
        X: Floats,
        y: Floats | None,
        predictions: Floats | None = None,
        weights: Floats | None = None,
    ) -> None: ...
    def outcome_of(self, y: Any) -> float: ...
    def predict(self, row: Floats) -> float: ...
    def drawn_expert(self) -> int: ...
    def current_weights(self, awake: Any = None) -> Floats: ...
    def join(self, name: str | None, share: float) -> None: ...
    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]: ...
    def set_state(
        self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]
    ) -> None: ...

class RoundCalls:
    _round: ExpertRound
    def __init__(self, weigher: Weigher, *args: Any, **options: Any) -> None: ...
    def learn_losses(self, losses: Any) -> None: ...
    def learn_one(self, advice: Any, y: float) -> None: ...
    def predict_one(self, advice: Any) -> float: ...
