from typing import Any

from noregret.core.losses import Loss

EXPERT_LOSSES: tuple[str, ...]
FORECAST_LOSSES: dict[str, Loss]

def find_loss(loss: Any, parameter: float | None = None) -> Loss: ...
