"""Parameters as a JSON file can hold them, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.core.losses import PARAMETERS, Loss, PythonLoss, make_loss
from noregret.errors import NoRegretError


def plain(value: Any) -> Any:
    """Return a parameter's value as JSON has it; a loss written in Python by its name only."""
    if isinstance(value, PythonLoss):
        return {"python": value.name}
    if isinstance(value, Loss):
        return {"loss": value.name, "parameter": value.parameter}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def is_python(value: Any) -> bool:
    """Whether a value stands for a loss written in Python."""
    return isinstance(value, dict) and "python" in value


def restored(name: str, value: Any, loss: Loss | None, how: str) -> Any:
    """Return the value that a plain one stands for; ``how`` says how to give a loss in Python."""
    if isinstance(value, dict) and "loss" in value:
        known = value["loss"] in PARAMETERS
        return make_loss(value["loss"], value["parameter"] if known else None)
    if isinstance(value, dict):
        if loss is None:
            raise NoRegretError(
                f"its {name} {value.get('python')!r} is written in Python: give it to {how}"
            )
        return loss
    return value
