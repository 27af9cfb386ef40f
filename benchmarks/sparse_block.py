"""A CSR block, 50 non-zeros per row and 2^18 weights, against scikit-learn on the same block."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._data import coin_tosses, sparse_rows
from benchmarks._harness import Row, must_agree, race, three_digits
from benchmarks.array_example import sgd
from noregret import WidrowHoff

PACKAGES = ("scikit-learn", "scipy")
RATE = 0.1


def run(quick: bool) -> Iterator[Row]:
    rows = 10_000 if quick else 200_000
    X, y = sparse_rows(rows, 50, 2**18), coin_tosses(rows)
    learner, peer = WidrowHoff(rate=RATE), sgd(RATE)
    learner.learn_many(X, y)
    peer.partial_fit(X, y)
    must_agree(learner.predict_many(X), peer.predict(X), "predictions on a CSR block")

    mine, theirs = race(
        lambda: learner.learn_many(X, y),
        lambda: peer.partial_fit(X, y),
        seconds=0 if quick else 8,
    )
    speed, ratio = X.nnz / mine, theirs / mine
    yield Row(
        "CSR block, 50 non-zeros per row, 2^18 weights, learn_many",
        f"{speed / 1e6:.0f} M features/s",
        f"scikit-learn {X.nnz / theirs / 1e6:.0f} M features/s",
        f"{three_digits(ratio)}× faster",
        "≥ 5× or ≥ 150 M/s",
        ratio >= 5 or speed >= 150e6,
    )
