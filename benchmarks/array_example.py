"""One example at a time, as an array of 20 numbers, against scikit-learn.

Both learn by gradient descent on the square loss at a constant rate, without penalty or intercept;
scikit-learn's square loss is half of ours, so its rate is Widrow and Hoff's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.linear_model import SGDRegressor

from benchmarks._data import regression
from benchmarks._harness import Row, duration, faster, must_agree, race
from noregret import WidrowHoff

PACKAGES = ("scikit-learn",)
RATE = 0.02


def run(quick: bool) -> Iterator[Row]:
    X, y = regression(300, 20)
    ours = list(zip(list(X), y.tolist(), strict=True))
    # scikit-learn takes blocks: hand it ready-made blocks of one row.
    blocks = [(X[r : r + 1], y[r : r + 1]) for r in range(len(X))]
    learner, peer = WidrowHoff(rate=RATE), sgd(RATE)
    learn_rows(learner, ours)
    learn_blocks(peer, blocks)
    must_agree(learner.predict_many(X), peer.predict(X), "predictions on arrays")

    many, few = 10 * ours, blocks[:100]
    mine, theirs = race(
        lambda: learn_rows(learner, many),
        lambda: learn_blocks(peer, few),
        seconds=0 if quick else 8,
    )
    mine, theirs = mine / len(many), theirs / len(few)
    beside = f"scikit-learn {duration(theirs)}"
    yield faster("array of 20, learn_one", duration(mine), beside, theirs / mine, 1000)


def sgd(rate: float) -> Any:
    return SGDRegressor(
        penalty=None, learning_rate="constant", eta0=rate, fit_intercept=False, shuffle=False
    )


def learn_rows(learner: Any, examples: list[tuple[Any, float]]) -> None:
    for x, y in examples:
        learner.learn_one(x, y)


def learn_blocks(learner: Any, blocks: list[tuple[Any, Any]]) -> None:
    for X, y in blocks:
        learner.partial_fit(X, y)
