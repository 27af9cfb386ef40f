"""Hedge over many experts, round by round, against the same in NumPy; one round through Python."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Row, faster, must_agree, of_its_speed, race
from noregret import Hedge

PACKAGES = ("numpy",)
Floats = NDArray[np.float64]
RATE = 0.05


def in_numpy(losses: Floats) -> float:
    """Play Hedge as one would write it: weights from sums of losses, the largest exponent first."""
    sums, total = np.zeros(losses.shape[1]), 0.0
    for row in losses:
        weights = np.exp(-RATE * (sums - sums.min()))
        weights /= weights.sum()
        total += float(weights @ row)
        sums += row
    return total


def compiled(losses: Floats) -> float:
    """Play our Hedge."""
    master = Hedge("constant", rate=RATE)
    master.learn_many(losses)
    return float(master.total_loss)


def run(quick: bool) -> Iterator[Row]:
    experts, rounds = (100, 2_000) if quick else (1_000, 100_000)
    losses = np.random.default_rng(1).random((rounds, experts))
    must_agree(compiled(losses), in_numpy(losses), "what Hedge pays")
    seconds = 0 if quick else 12
    ours, peer, read = race(
        lambda: compiled(losses), lambda: in_numpy(losses), losses.sum, seconds=seconds
    )
    yield faster(
        f"Hedge, {experts:,} experts × {rounds:,} rounds",
        f"{ours / rounds * 1e6:.2f} µs per round",
        f"NumPy, round by round {peer / rounds * 1e6:.1f} µs",
        peer / ours,
        5,
    )
    yield Row(
        f"the same, against reading the {losses.nbytes / 1e6:.0f} MB of losses",
        f"{losses.nbytes / ours / 1e9:.1f} GB/s",
        f"NumPy sum {losses.nbytes / read / 1e9:.1f} GB/s",
        of_its_speed(read / ours),
    )
    yield from one_round(quick)


def one_round(quick: bool) -> Iterator[Row]:
    """Time single calls at ten experts."""
    rounds = 1_000 if quick else 200_000
    row = np.linspace(0.0, 1.0, 10)
    block = np.tile(row, (rounds, 1))
    alone, together = Hedge(), Hedge()

    def singly() -> None:
        for _ in range(rounds):
            alone.learn_losses(row)

    one, many = race(singly, lambda: together.learn_many(block), seconds=0 if quick else 4)
    over = (one - many) / rounds * 1e6
    yield Row(
        "one round at 10 experts through Python, learn_losses",
        f"{one / rounds * 1e6:.2f} µs per call",
        f"in a block {many / rounds * 1e6:.2f} µs per round",
        f"{over:.2f} µs of overhead",
        "≤ 1 µs",
        math.isfinite(over) and over <= 1,
    )
