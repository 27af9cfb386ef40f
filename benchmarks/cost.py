"""The cost of one example: flat in the number of rounds, linear in the non-zeros.

It is flat in the dimension too if the features in use fit in the processor's cache; the last
table spreads the same entries over all features, and shows what cache misses add.

Outcomes are coin tosses and change sign from pass to pass, so that no learner ever settles and
every pass is as much work as the one before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks._data import coin_tosses, regression, sparse_rows
from benchmarks._harness import Grid, Row, duration, longer, race
from noregret import (
    ExponentiatedGradient,
    GradientDescent,
    Perceptron,
    WidrowHoff,
    averaged,
)

PACKAGES = ("scipy",)
FLAT = 1.25
ENTRIES = 100_000
# The best run counts, so a run must be long enough to hold what is done only now and then.
PASSES = 10

# The ball is small enough for the steps that nearly every round ends on its boundary.
LEARNERS: dict[str, Callable[[], Any]] = {
    "widrow-hoff": lambda: WidrowHoff(rate=0.1),
    "gradient-descent, ball": lambda: GradientDescent(rate=0.1, radius=1.0),
    "exponentiated-gradient, simplex": lambda: ExponentiatedGradient(rate=0.1),
    "exponentiated-gradient, signed": lambda: ExponentiatedGradient(rate=0.1, weight=1.0),
    "averaged(perceptron)": lambda: averaged(Perceptron()),
}


def run(quick: bool) -> Iterator[Row | Grid]:
    seconds = 0 if quick else 2

    rounds = [10**k for k in ((3, 4) if quick else (3, 4, 5, 6))]
    table = {name: over_rounds(make(), rounds, seconds) for name, make in LEARNERS.items()}
    yield worst("an example", table, f"round {rounds[-1]:,}", f"round {rounds[0]:,}")
    yield grid("Time per example after T rounds, 20 columns", "T = {:,}", rounds, table)

    counts = [10, 100, 1000] if quick else [10, 30, 100, 300, 1000, 3000]
    blocks = [sparse_rows(ENTRIES // n, n, 2**16) for n in counts]
    table = {name: over_blocks(make, blocks, seconds) for name, make in LEARNERS.items()}
    each = {
        name: [cost / n for cost, n in zip(costs, counts, strict=True)][counts.index(100) :]
        for name, costs in table.items()
    }
    yield worst("a non-zero", each, f"{counts[-1]:,} per row", "100 per row")
    yield grid("Time per example over non-zeros, 2^16 weights", "{:,}", counts, table)

    powers = [10, 18] if quick else [10, 12, 14, 16, 18, 20, 22]
    blocks = [sparse_rows(ENTRIES // 50, 50, 2**p, used=2**10) for p in powers]
    table = {name: over_blocks(make, blocks, seconds) for name, make in LEARNERS.items()}
    # No target: on a ball, one round in tens of thousands looks at every weight.
    yield worst("an example", table, f"2^{powers[-1]} weights", f"2^{powers[0]}", at_most=None)
    yield grid("Time per example of 50 non-zeros, 1024 features in use", "2^{}", powers, table)

    blocks = [sparse_rows(ENTRIES // 50, 50, 2**p) for p in powers]
    table = {name: over_blocks(make, blocks, seconds) for name, make in LEARNERS.items()}
    yield grid("Time per example of 50 non-zeros, all features in use", "2^{}", powers, table)


def over_rounds(learner: Any, rounds: list[int], seconds: float) -> list[float]:
    """Return the time an example takes just after each number of rounds; they take turns."""
    X, _ = regression(10_000, 20)
    y = coin_tosses(len(X))
    after = []
    for goal in rounds:
        while learner.rounds < goal:
            left = goal - learner.rounds
            learner.learn_many(X[:left], y[:left])
            y = -y
        after.append(learner.copy())
    best, turns, end = [float("inf")] * len(rounds), 0, time.perf_counter() + seconds
    X, y = X[:1000], y[:1000]
    while turns < 3 or time.perf_counter() < end:
        for k, model in enumerate(after):
            copy = model.copy()  # or the first would not stay at its round
            start = time.perf_counter()
            copy.learn_many(X, y)
            best[k] = min(best[k], (time.perf_counter() - start) / len(X))
        turns += 1
    return best


def over_blocks(make: Callable[[], Any], blocks: Sequence[Any], seconds: float) -> list[float]:
    """Return the time an example of each block takes; the blocks take turns."""
    times = race(*[passes(make(), X) for X in blocks], seconds=seconds)
    return [best / (PASSES * X.shape[0]) for best, X in zip(times, blocks, strict=True)]


def passes(learner: Any, X: Any) -> Callable[[], None]:
    y = coin_tosses(X.shape[0])

    def learn() -> None:
        for _ in range(PASSES // 2):
            learner.learn_many(X, y)
            learner.learn_many(X, -y)

    return learn


def worst(
    what: str,
    table: dict[str, list[float]],
    last: str,
    first: str,
    at_most: float | None = FLAT,
) -> Row:
    """Make a row of the learner whose cost grows most from the first size to the last."""
    growth = {name: costs[-1] / costs[0] for name, costs in table.items()}
    name = max(growth, key=lambda name: growth[name])
    return longer(
        f"cost of {what}, {last}; worst of {len(table)}: {name}",
        duration(table[name][-1]),
        f"{first}: {duration(table[name][0])}",
        growth[name],
        at_most=at_most,
    )


def grid(title: str, heading: str, sizes: list[int], table: dict[str, list[float]]) -> Grid:
    """Make a table of costs, with the exponent of a power law fitted to each row."""
    numbers = [2.0**size for size in sizes] if heading == "2^{}" else [float(n) for n in sizes]
    rows = [
        (name, [*map(duration, costs), f"{exponent(numbers, costs):.2f}"])
        for name, costs in table.items()
    ]
    return Grid(title, [*(heading.format(size) for size in sizes), "exponent"], rows)


def exponent(sizes: list[float], costs: list[float]) -> float:
    """Return e of the power law cost = c·size^e that fits best by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
