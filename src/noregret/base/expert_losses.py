"""Losses of forecasts as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import EXPERT_LOSSES, Loss, PythonLoss, find_loss

Floats = NDArray[np.float64]
Function = Callable[[Floats, Floats], Floats]
# The largest η for which exp(−η loss) is concave, for forecasts and outcomes in a range of width 1,
# and the power of w by which it is divided for a range of width w.
EXP_CONCAVE = {"square": (0.5, 2), "log": (1.0, 0)}
CONVEX = ("square", "absolute", "log", "quantile", "percentage")


@dataclass(frozen=True)
class ExpertLoss:
    """A loss of forecasts, elementwise on arrays.

    Parameters
    ----------
    name, parameter
        Its name, and the quantile of the quantile loss.
    value, derivative
        The loss of a forecast x for the outcome y, and its derivative by x.
    convex
        If True, it is convex in x; assumed for custom losses.
    """

    name: str
    parameter: float | None
    value: Function
    derivative: Function
    convex: bool = True


def log_value(x: Floats, y: Floats) -> Floats:
    """Return −y ln x − (1 − y) ln(1 − x), where 0 · ∞ = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(y > 0, -y * np.log(x), 0.0)
        other = np.where(y < 1, -(1 - y) * np.log(1 - x), 0.0)
    return np.asarray(one + other)


def log_derivative(x: Floats, y: Floats) -> Floats:
    """Return the derivative of the log loss by x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(y > 0, -y / x, 0.0) + np.where(y < 1, (1 - y) / (1 - x), 0.0))


def expert_loss(loss: str | Loss = "square", parameter: float | None = None) -> ExpertLoss:
    """Return a loss, by name or custom, as functions of arrays.

    Parameters
    ----------
    loss
        ``square``, ``absolute``, ``zero-one``, ``log``, ``quantile``, ``percentage``, or a
        ``PythonLoss``.
    parameter
        The quantile, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> expert_loss("quantile", 0.9).value(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    array([0.9, 0.1])
    """
    found = find_loss(loss, parameter)
    name = found.name
    if isinstance(found, PythonLoss) or name not in EXPERT_LOSSES:
        value, slope = (np.frompyfunc(f, 2, 1) for f in (found.value, found.slope))
        return ExpertLoss(
            name,
            None,
            lambda x, y: np.asarray(value(x, y), dtype=np.float64),
            lambda x, y: np.asarray(slope(x, y), dtype=np.float64),
        )
    q = found.parameter
    table: dict[str, tuple[Function, Function]] = {
        "square": (lambda x, y: (x - y) ** 2, lambda x, y: 2 * (x - y)),
        "absolute": (lambda x, y: np.abs(x - y), lambda x, y: np.sign(x - y)),
        "zero-one": (lambda x, y: (x != y) * 1.0, lambda x, y: 0.0 * (x + y)),
        "log": (log_value, log_derivative),
        "quantile": (
            lambda x, y: np.where(x > y, (1 - q) * (x - y), q * (y - x)),
            lambda x, y: np.where(x > y, 1 - q, np.where(x < y, -q, 0.0)),
        ),
        "percentage": (
            lambda x, y: np.abs(x - y) / np.abs(y),
            lambda x, y: np.sign(x - y) / np.abs(y),
        ),
    }
    takes = q if name == "quantile" else None
    return ExpertLoss(name, takes, *table[name], convex=name in CONVEX)


def exp_concavity(loss: Any, low: float, high: float) -> float | None:
    """Return the largest η for which e^(−η loss) is concave in the forecast, or None."""
    name = loss if isinstance(loss, str) else getattr(loss, "name", "")
    if name not in EXP_CONCAVE or isinstance(loss, PythonLoss):
        return None
    rate, power = EXP_CONCAVE[name]
    return float(rate / (high - low) ** power)
