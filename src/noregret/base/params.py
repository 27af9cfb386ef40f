"""Conversion of parameters to JSON and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.base.algorithm import Named
from noregret.base.compiled.losses import PARAMETERS, Loss, PythonLoss, make_loss
from noregret.errors import NoRegretError


def plain(value: Any) -> Any:
    """Return a parameter's value as JSON; Python functions are replaced by their names."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Named):
        return {"name": value.name, "params": plain_params(value)}
    if isinstance(value, Loss) and not isinstance(value, PythonLoss):
        return {"loss": value.name, "parameter": value.parameter}
    if isinstance(value, PythonLoss):
        return {"python": value.name}
    if callable(value) or hasattr(value, "fit"):
        return {"python": getattr(value, "__name__", type(value).__name__)}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def plain_params(learner: Any) -> dict[str, Any]:
    """Return the parameters of an algorithm as JSON, as files of the version that had them do."""
    earlier = getattr(learner, "_earlier", {})
    return {
        name: plain(value)
        for name, value in learner.params.items()
        if name not in earlier or value != earlier[name]
    }


def is_python(value: Any) -> bool:
    """Return whether a value stands for Python code, or has a parameter that does."""
    if not isinstance(value, dict):
        return False
    inner = value.get("params")
    return "python" in value or (isinstance(inner, dict) and any(map(is_python, inner.values())))


def restored(name: str, value: Any, loss: Loss | None, how: str) -> Any:
    """Return the value of JSON; ``how`` tells the user where to pass a Python loss."""
    if isinstance(value, dict) and "params" in value:
        from noregret.base.registry import built_again, find

        params = {key: restored(key, each, loss, how) for key, each in value["params"].items()}
        return built_again(find(value["name"], Named.family), params)
    if isinstance(value, dict) and "loss" in value:
        known = value["loss"] in PARAMETERS
        return make_loss(value["loss"], value["parameter"] if known else None)
    if isinstance(value, dict):
        if loss is None:
            raise NoRegretError(
                f"its {name} {value.get('python')!r} is written in Python", f"give it to {how}"
            )
        return loss
    return value
