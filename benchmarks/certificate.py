"""The cost of a certificate: recording while playing, and computing it afterwards.

Learning a row of 100 numbers takes 0.05 µs of processor time on a Zen 5 core with AVX-512. A
certificate needs the digest of 824 bytes, 0.13 µs at 6.5 GB/s, and 5,151 products of the Gram
matrix, 0.10 µs at 52 billion products per second; copying the row and careful sums take 0.03 µs.
That is six times the processor time of learning, and three times by the wall if two threads
share it without a wait.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks._data import regression
from benchmarks._harness import Row, duration, longer, race
from noregret import WidrowHoff, play
from noregret.data import flights

PACKAGES = ("numpy", "scipy")


def run(quick: bool) -> Iterator[Row]:
    X, y = regression(50_000 if quick else 1_000_000, 100)

    def learn() -> None:
        WidrowHoff(rate=0.1).learn_many(X, y)

    def collect() -> None:
        play(WidrowHoff(rate=0.1), X, y)

    plain, collected = race(learn, collect, seconds=0 if quick else 12)
    yield longer(
        f"play, collecting for a certificate, {len(y):,} rows of 100 columns",
        duration(collected),
        f"learn_many {duration(plain)}",
        collected / plain,
        at_most=3,
    )
    examples = list(flights())
    learner = WidrowHoff(rate=0.5, norm=12.0)
    best = float("inf")
    for _ in range(1 if quick else 5):
        game = play(learner.clone(), examples)
        start = time.perf_counter()
        game.certificate()
        best = min(best, time.perf_counter() - start)
    yield Row(
        f"certificate of a game over the {len(examples):,} bundled flights",
        duration(best),
        "",
        "",
        "< 1 s",
        best < 1,
    )
