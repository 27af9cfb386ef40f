"""Shared by all benchmarks: fair timing, agreement, and the shape of a result."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Row:
    """One comparison.

    Parameters
    ----------
    work
        What was done.
    ours, peer
        The two figures, in words.
    ratio
        The headline, and what it is a ratio of: ``8.3× faster``.
    target
        What was aimed at, in words; empty where nothing was.
    reached
        Whether it was; None where there is no target, or nothing was measured.
    """

    work: str
    ours: str
    peer: str
    ratio: str
    target: str = ""
    reached: bool | None = None


@dataclass(frozen=True)
class Grid:
    """A table of figures over sizes."""

    title: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]


class Disagreement(Exception):
    """Two contestants were to compute the same thing and did not."""


class Failed(Exception):
    """A command that was to be measured failed; the message is its own."""


def faster(work: str, ours: str, peer: str, ratio: float, at_least: float | None = None) -> Row:
    """Make a row of how many times faster than the peer we are."""
    target = "" if at_least is None else f"≥ {at_least:g}×"
    reached = None if at_least is None else ratio >= at_least
    words = f"{three_digits(ratio)}× faster" if ratio >= 1 else of_its_speed(ratio)
    return Row(work, ours, peer, words, target, reached)


def of_its_speed(share: float) -> str:
    """Say how fast we are where a peer is faster."""
    return f"{share:.0%} of its speed"


def longer(work: str, ours: str, peer: str, ratio: float, at_most: float | None = None) -> Row:
    """Make a row of how many times the other figure ours is, where less is better."""
    target = "" if at_most is None else f"≤ {at_most:g}×"
    reached = None if at_most is None else ratio <= at_most
    return Row(work, ours, peer, f"{three_digits(ratio)}× as long", target, reached)


def skipped(work: str, reason: str) -> Row:
    """Make a row that says why there is no figure."""
    return Row(work, "skipped", reason, "")


def race(
    *contestants: Callable[[], object],
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the best time of each contestant in seconds, by the clock given.

    They take turns in one process, so that a busy or throttled machine hits all of them alike,
    for as many seconds as given and at least three turns; the best run of each is the one the
    least disturbed. One run of each comes before, untimed.
    """
    best = [float("inf")] * len(contestants)
    for contestant in contestants:
        contestant()
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        turns, end = 0, time.perf_counter() + seconds
        while turns < 3 or time.perf_counter() < end:
            for k, contestant in enumerate(contestants):
                start = clock()
                contestant()
                best[k] = min(best[k], clock() - start)
            turns += 1
    finally:
        if collecting:
            gc.enable()
    return best


def must_agree(ours: Any, peer: Any, what: str) -> None:
    """Raise unless two contestants computed the same numbers."""
    apart = float(np.max(np.abs(np.asarray(ours, float) - np.asarray(peer, float))))
    if not apart <= TOLERANCE:
        raise Disagreement(f"{what}: ours and the peer's differ by {apart:.3g}: not the same work")


def duration(seconds: float) -> str:
    """Write a time with three digits in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds / 1e-9)} ns"


def speed(bytes_a_second: float) -> str:
    """Write how fast something goes through bytes."""
    if bytes_a_second >= 1e9:
        return f"{three_digits(bytes_a_second / 1e9)} GB/s"
    return f"{three_digits(bytes_a_second / 1e6)} MB/s"


def three_digits(number: float) -> str:
    """Write a positive number with three digits, or more before the point."""
    return f"{number:.0f}" if number >= 100 else f"{number:#.3g}"
