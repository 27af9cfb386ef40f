"""The arms of a policy: numbered, or by names."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from noregret.checks import whole
from noregret.errors import BadExample

MAX_ARMS = 1_000_000


def checked_arms(arms: Any, what: str = "arms") -> int | list[str] | None:
    """Return a number of arms or a list of their names, or raise ValueError."""
    if arms is None:
        return None
    if isinstance(arms, Integral) and not isinstance(arms, bool):
        return whole(what, arms, below=MAX_ARMS + 1)
    names = None if isinstance(arms, str) or not isinstance(arms, Sequence) else list(arms)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be a number or a list of names: got {arms!r}")
    if not 0 < len(names) <= MAX_ARMS:
        raise ValueError(f"{what} must be between 1 and {MAX_ARMS}: got {len(names)}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two {what} are called {twice[0]!r}")
    return names


def numbered(count: int) -> list[str]:
    """Return the default names of arms: their numbers."""
    return [str(number) for number in range(count)]


def names_of(arms: int | Sequence[str] | None) -> list[str]:
    """Return the names of checked arms; an empty list if they are not known yet."""
    if arms is None:
        return []
    return numbered(arms) if isinstance(arms, int) else list(arms)


def index_of(arm: Any, names: Sequence[str], round: int | None = None) -> int:
    """Return the number of an arm given by its number or its name."""
    if isinstance(arm, str):
        if arm in names:
            return names.index(arm)
    elif isinstance(arm, Integral) and not isinstance(arm, bool) and 0 <= int(arm) < len(names):
        return int(arm)
    few = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise BadExample(f"unknown arm {arm!r}: the arms are {few}", round=round)
