"""Adaptive filters on a sliding window, sample by sample and on arrays, against padasip.

Both must come to equal predictions. Sample by sample, padasip has to be handed the window, which
moves in place; on arrays its ``run`` gets one window a row, views into the signal that exist before
the clock starts, and keeps the weights of every sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import padasip
from numpy.typing import NDArray

from benchmarks._harness import Row, duration, faster, must_agree, race
from noregret.filters import AffineProjection, Lms, Nlms, Rls
from noregret.filters.filter import Filter

PACKAGES = ("padasip",)
Floats = NDArray[np.float64]
TAPS, FEWER = 1024, 32


@dataclass(frozen=True)
class Contest:
    """The same filter, ours and padasip's, and how many times faster ours should be."""

    name: str
    taps: int
    ours: Callable[[], Filter]
    peer: Callable[[], Any]
    at_least: float | None = None


def contests() -> list[Contest]:
    theirs, zeros = padasip.filters, {"w": "zeros"}
    return [
        Contest(
            "NLMS",
            TAPS,
            lambda: Nlms(TAPS, rate=0.5, epsilon=1e-3),
            lambda: theirs.FilterNLMS(TAPS, mu=0.5, eps=1e-3, **zeros),
            50.0,
        ),
        Contest(
            "LMS",
            TAPS,
            lambda: Lms(TAPS, rate=0.1, norm=100.0),
            lambda: theirs.FilterLMS(TAPS, mu=0.1 / 100.0**2, **zeros),
        ),
        Contest(
            "affine projection of order 4",
            TAPS,
            lambda: AffineProjection(TAPS, rate=0.5, order=4, epsilon=1e-3),
            lambda: theirs.FilterAP(TAPS, order=4, mu=0.5, ifc=1e-3, **zeros),
        ),
        Contest(
            "RLS",
            FEWER,
            lambda: Rls(FEWER, penalty=0.1),
            lambda: theirs.FilterRLS(FEWER, mu=1.0, eps=0.1, **zeros),
        ),
    ]


def run(quick: bool) -> Iterator[Row]:
    for contest in contests():
        yield from compare(contest, 500 if quick else 8000, 0 if quick else 4)


def compare(contest: Contest, size: int, seconds: float) -> Iterator[Row]:
    x, d = signals(size)
    padded = np.concatenate([np.zeros(contest.taps - 1), x])
    windows = np.lib.stride_tricks.sliding_window_view(padded, contest.taps)
    samples = list(zip(x.tolist(), d.tolist(), strict=True))

    def one_by_one() -> list[float]:
        play = contest.ours().play_one
        return [play(heard, wanted) for heard, wanted in samples]

    def theirs_one_by_one() -> list[float]:
        peer, window, told = contest.peer(), np.zeros(contest.taps), []
        for heard, wanted in samples:
            window[1:] = window[:-1]
            window[0] = heard
            told.append(peer.predict(window))
            peer.adapt(wanted, window)
        return told

    def at_once() -> Floats:
        return contest.ours().play_many(x, d)

    def theirs_at_once() -> Floats:
        return np.asarray(contest.peer().run(d, windows)[0], np.float64)

    must_agree(one_by_one(), at_once(), f"{contest.name} by the sample and on arrays")
    must_agree(at_once(), theirs_at_once(), contest.name)
    must_agree(at_once(), theirs_one_by_one(), contest.name)
    for way, ours, peer, at_least in (
        ("sample by sample", one_by_one, theirs_one_by_one, contest.at_least),
        ("on arrays", at_once, theirs_at_once, contest.at_least),
    ):
        best = race(ours, peer, seconds=seconds, clock=time.process_time)
        mine, their = best[0] / size, best[1] / size
        work = f"{contest.name}, {contest.taps} taps, {way}"
        beside = f"padasip {duration(their)} per sample"
        yield faster(work, f"{duration(mine)} per sample", beside, their / mine, at_least)


def signals(size: int) -> tuple[Floats, Floats]:
    """Return noise, and what a room of 64 ms makes of it."""
    random = np.random.default_rng(7)
    x = random.standard_normal(size)
    path = random.standard_normal(TAPS) * np.exp(-np.arange(TAPS) / 150)
    return x, np.convolve(x, path)[:size] + 0.01 * random.standard_normal(size)
