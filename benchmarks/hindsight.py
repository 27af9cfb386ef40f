"""The best in hindsight with its proof: how long until the interval is as narrow as asked.

Nothing stands beside it, as no peer proves its answer: the second figure is the relative gap
that was reached, and the gap asked for is the default of 1e-6. Three tables show how the processor
time to a gap of 1e-3 grows with rows, features and non-zeros.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks._data import regression, sparse_rows
from benchmarks._harness import Grid, Row, duration, race
from benchmarks.cost import grid
from noregret.hindsight import (
    Answer,
    Limits,
    Margin,
    Rows,
    best_in_ball,
    best_linear,
    largest_margin,
)

PACKAGES = ("clarabel", "numpy", "scipy")
Floats = NDArray[np.float64]
ASKED = 1e-6
# The gap of the tables of growth, their losses and what is varied; the rest stays in the middle.
ROUGH = Limits(tolerance=1e-3)
LOSSES = ("logistic", "hinge", "squared-hinge")
GROWING = {
    "rows": [10_000, 30_000, 100_000, 300_000],
    "features": [3_000, 10_000, 30_000, 100_000, 300_000],
    "non-zeros per row": [10, 30, 100, 300],
}
MIDDLE = {"rows": 30_000, "features": 30_000, "non-zeros per row": 30}


class Task(NamedTuple):
    """A question, the rows it is about, and the seconds that it may take, if any are promised."""

    work: str
    rows: Callable[[int], Rows]
    solve: Callable[[Rows], Answer | Margin]
    seconds: float | None = None


def run(quick: bool) -> Iterator[Row | Grid]:
    for task in TASKS:
        rows = task.rows(100 if quick else 1)
        start = time.perf_counter()
        gap = relative_gap(task.solve(rows))
        took = time.perf_counter() - start
        yield Row(
            f"hindsight, {task.work}, {rows.shape[0]:,} × {rows.shape[1]:,}",
            duration(took),
            "",
            f"relative gap {gap:.1e}",
            f"≤ {ASKED:g}" + (f" in {task.seconds:g} s" if task.seconds else ""),
            gap <= ASKED and (task.seconds is None or took <= task.seconds),
        )
    for varied, sizes in GROWING.items():
        shapes = [{**MIDDLE, varied: size} for size in sizes[: 2 if quick else None]]
        tables = [texts(*({**s, "rows": 1_000} if quick else s).values()) for s in shapes]
        times = {loss: [search_time(loss, rows) for rows in tables] for loss in LOSSES}
        fixed = ", ".join(f"{n:,} {name}" for name, n in MIDDLE.items() if name != varied)
        title = f"Processor time to a relative gap of {ROUGH.tolerance:g} over {varied}, {fixed}"
        yield grid(title, "{:,}", sizes[: len(shapes)], times)


def search_time(loss: str, rows: Rows) -> float:
    """Return the processor time of the search in a ball, the best of three."""
    return race(
        lambda: best_in_ball(rows, loss, 30.0, limits=ROUGH), seconds=0, clock=time.process_time
    )[0]


def relative_gap(found: Answer | Margin) -> float:
    """Return the gap as a share of the answer."""
    return found.relative_gap if isinstance(found, Answer) else found.gap / found.upper


def labels(scores: Floats, noise: float = 1.0) -> Floats:
    """Return the labels that the scores predict, but for some noise."""
    chance = np.random.default_rng(9).logistic(size=len(scores))
    return np.where(scores + noise * float(scores.std()) * chance > 0, 1.0, -1.0)


def census(less: int) -> Rows:
    """Return rows like those of a census: 14 answers as indicators, of 123 in all, and labels."""
    random = np.random.default_rng(7)
    X = indicators(32_000 // less, (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41))
    return Rows(X, labels(X @ random.standard_normal(X.shape[1])))


def indicators(rounds: int, choices: tuple[int, ...]) -> Any:
    """Return a column for every choice of every answer; some are made far more often."""
    random = np.random.default_rng(8)
    starts = np.cumsum([0, *choices[:-1]])
    parts = [start + random.zipf(1.5, rounds) % n for start, n in zip(starts, choices, strict=True)]
    at = np.column_stack(parts).ravel()
    rows = np.arange(0, len(at) + 1, len(choices))
    return sparse.csr_array((np.ones(len(at)), at, rows), shape=(rounds, sum(choices)))


def sensors(less: int) -> Rows:
    """Return a million dense rows of 20 numbers, with noisy linear outcomes."""
    return Rows(*regression(1_000_000 // less, 20))


def labelled_sensors(less: int) -> Rows:
    """Return the same rows with labels."""
    X, y = regression(1_000_000 // less, 20)
    return Rows(X, labels(y))


def wide(less: int) -> Rows:
    """Return a million dense rows of 100 numbers."""
    return Rows(*regression(1_000_000 // less, 100))


def words(less: int) -> Rows:
    """Return rows like those of texts: 60 of 50,000 words in each, some far more common."""
    return texts(100_000 // less, 50_000, 60)


def texts(rounds: int, features: int, nonzeros: int) -> Rows:
    """Return rows like those of texts, and labels."""
    random = np.random.default_rng(7)
    X = sparse_rows(rounds, nonzeros, nonzeros)  # values, to be put in other columns
    at = (features * random.random(X.nnz) ** 3).astype(np.int32)
    X = sparse.csr_array((np.abs(X.data), at, X.indptr), shape=(rounds, features))
    return Rows(X, labels(X @ random.standard_normal(features), noise=0.2))


def separable(less: int) -> Rows:
    """Return 32,000 rows of 123 numbers that a plane separates, without those near to it."""
    X, _ = regression(32_000 // less, 123)
    scores = X @ np.random.default_rng(7).standard_normal(123)
    return Rows(X + 0.1 * np.sign(scores)[:, None] * np.eye(123)[0], np.sign(scores))


def ball(loss: str, radius: float = 5.0) -> Callable[[Rows], Answer]:
    return lambda rows: best_in_ball(rows, loss, radius)


TASKS = (
    Task("logistic, ball, sparse", census, ball("logistic"), seconds=10.0),
    Task("hinge, ball, sparse", census, ball("hinge")),
    Task("logistic, ball, dense", labelled_sensors, ball("logistic")),
    Task("hinge, ball, dense", labelled_sensors, ball("hinge")),
    Task("absolute, ball, dense", sensors, ball("absolute", 1.0)),
    Task("logistic, ball, sparse", words, ball("logistic", 30.0)),
    Task("hinge, ball, sparse", words, ball("hinge", 30.0)),
    Task("square, all, dense", wide, best_linear),
    Task("largest margin, dense", separable, largest_margin),
)
