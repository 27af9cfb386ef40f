"""Time limits of searches in hindsight, and reports of their progress.

The caller sets them once, ``with time_limit(limits):``. Every loop of a search calls ``expired()``,
or ``check_time()`` if it cannot return a partial result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from noregret.hindsight.proofs.answer import GOOD_GAP, USUAL, Limits, share


class OutOfTime(Exception):
    """The time ran out during a computation without partial results."""


@dataclass
class Deadline:
    """When to stop, by which clock, and the callback for the gap.

    From ``good`` on, a relative gap of ``GOOD_GAP`` is small enough. ``passed`` is True once a
    search was stopped, ``usual`` if the time limit is the default one, and ``outer`` is the
    deadline of the enclosing block.
    """

    clock: Callable[[], float]
    until: float
    good: float
    told: Callable[[float], None] | None = None
    passed: bool = False
    usual: bool = False
    outer: Deadline | None = None


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(limits: Limits) -> Iterator[Deadline]:
    """Apply the limits to everything inside, besides those of enclosing blocks."""
    outer, now = _CURRENT.get(), limits.clock()
    until, good = now + limits.seconds, now + limits.patience
    if outer is not None and outer.clock is limits.clock:
        until, good = min(until, outer.until), min(good, outer.good)
    told = limits.told if limits.told is not None or outer is None else outer.told
    own = Deadline(limits.clock, until, good, told, False, limits.seconds == USUAL.seconds, outer)
    before = _CURRENT.set(own)
    try:
        yield own
    finally:
        _CURRENT.reset(before)
        if outer is not None:
            outer.passed = outer.passed or own.passed


def expired(gap: float = math.inf) -> bool:
    """Return True if the time is over, or this relative gap is good enough by now."""
    current = _CURRENT.get()
    if current is None:
        return False
    now = current.clock()
    over = now >= current.until or (gap <= GOOD_GAP and now >= current.good)
    current.passed = current.passed or over
    return over


def remaining(limits: Limits) -> float:
    """Return the seconds left, from 0 to those of the limits."""
    current = _CURRENT.get()
    left = math.inf if current is None else current.until - current.clock()
    return max(0.0, min(limits.seconds, left))


def take_time() -> None:
    """Lift the default time limit of the current search; one that was asked for stays.

    For rows that others hold: how long they take is not to decide what is found.
    """
    current = _CURRENT.get()
    while current is not None and current.usual:
        current.until, current = math.inf, current.outer


def check_time() -> None:
    """Raise OutOfTime if the time is over."""
    if expired():
        raise OutOfTime


def tell(loss: float, lower: float) -> None:
    """Report the relative gap between an attained loss and a lower bound."""
    current = _CURRENT.get()
    if current is not None and current.told is not None:
        gap = share(max(0.0, loss - lower), loss)
        if math.isfinite(gap):
            current.told(gap)
