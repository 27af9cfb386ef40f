"""The time that looking back may take, and where its progress is told.

Whoever looks back says so once, ``with time_limit(limits):``; every loop of every search asks
``expired()``, or ``check_time()`` where it cannot return what it has so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from noregret.hindsight.proofs.answer import GOOD_GAP, Limits, share


class OutOfTime(Exception):
    """There is no time left for a computation that is worth nothing unless it is finished."""


@dataclass
class Deadline:
    """When to stop, by which clock, and who is told how far apart the two ends are.

    From ``good`` on, a relative gap of ``GOOD_GAP`` is small enough. ``passed`` says whether a
    search was stopped.
    """

    clock: Callable[[], float]
    until: float
    good: float
    told: Callable[[float], None] | None = None
    passed: bool = False


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(limits: Limits) -> Iterator[Deadline]:
    """Hold everything inside to the seconds of the limits, and to those of the limits around."""
    outer, now = _CURRENT.get(), limits.clock()
    until, good = now + limits.seconds, now + limits.patience
    if outer is not None and outer.clock is limits.clock:
        until, good = min(until, outer.until), min(good, outer.good)
    told = limits.told if limits.told is not None or outer is None else outer.told
    own = Deadline(limits.clock, until, good, told)
    before = _CURRENT.set(own)
    try:
        yield own
    finally:
        _CURRENT.reset(before)
        if outer is not None:
            outer.passed = outer.passed or own.passed


def expired(gap: float = math.inf) -> bool:
    """Return True if the time is over, or long enough for a search with this relative gap."""
    current = _CURRENT.get()
    if current is None:
        return False
    now = current.clock()
    over = now >= current.until or (gap <= GOOD_GAP and now >= current.good)
    current.passed = current.passed or over
    return over


def remaining(limits: Limits) -> float:
    """Return the seconds that are left: at most those of the limits, and never less than 0."""
    current = _CURRENT.get()
    left = math.inf if current is None else current.until - current.clock()
    return max(0.0, min(limits.seconds, left))


def check_time() -> None:
    """Raise OutOfTime if the time is over."""
    if expired():
        raise OutOfTime


def tell(loss: float, lower: float) -> None:
    """Tell whoever watches the relative gap between a loss that is attained and a lower bound."""
    current = _CURRENT.get()
    if current is not None and current.told is not None:
        gap = share(max(0.0, loss - lower), loss)
        if math.isfinite(gap):
            current.told(gap)
