"""A block of rows of 100 float64 columns, larger than any cache, against merely reading it."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._data import regression
from benchmarks._harness import Row, of_its_speed, race
from noregret import WidrowHoff

PACKAGES = ("numpy",)


def run(quick: bool) -> Iterator[Row]:
    X, y = regression(50_000 if quick else 800_000, 100)
    learner = WidrowHoff(rate=0.1)
    learn, read = race(lambda: learner.learn_many(X, y), X.sum, seconds=0 if quick else 8)
    share = read / learn
    yield Row(
        f"dense block of {X.nbytes / 1e6:.0f} MB, 100 columns, learn_many",
        f"{X.nbytes / learn / 1e9:.1f} GB/s",
        f"NumPy X.sum() {X.nbytes / read / 1e9:.1f} GB/s",
        of_its_speed(share),
        "≥ 70%",
        share >= 0.7,
    )
