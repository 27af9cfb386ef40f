"""Parameters checked once, at the door, with messages that name them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any


def positive(name: str, value: Any, *, below: float = math.inf) -> float:
    """Return a number above 0 and below a limit, or raise ValueError."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < below:
        return float(value)
    wanted = "a positive number" if below == math.inf else f"a number between 0 and {below:g}"
    raise ValueError(f"{name} must be {wanted}: got {value!r}")


def whole(name: str, value: Any, *, below: int = 2**62) -> int:
    """Return a whole number above 0, or raise ValueError."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 0 < int(value) < below:
        return int(value)
    raise ValueError(f"{name} must be a positive whole number: got {value!r}")


def one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of the choices, or raise ValueError."""
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(f"unknown {name} {value!r}: choose one of {', '.join(choices)}")


def truth(name: str, value: Any) -> bool:
    """Return True or False, or raise ValueError."""
    if isinstance(value, bool):
        return value
    raise ValueError(f"{name} must be True or False: got {value!r}")
