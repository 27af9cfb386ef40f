"""One example at a time, as a dict of 20 numbers, against River.

Both learn by gradient descent on the square loss without an intercept. River's slope is
2 (w·x − y), Widrow and Hoff's is (w·x − y): the same step is twice the rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river.linear_model import LinearRegression
from river.optim import SGD

from benchmarks._data import names, regression
from benchmarks._harness import Row, duration, faster, must_agree, race
from noregret import WidrowHoff

PACKAGES = ("river",)
RATE = 0.01
TARGET = 10

Examples = list[tuple[dict[str, float], float]]


def run(quick: bool) -> Iterator[Row]:
    examples = some_examples()
    must_agree(
        predict_and_learn(ours(), 3 * examples),
        predict_and_learn(river(), 3 * examples),
        "predictions on dicts",
    )

    many = 5 * examples
    learner, peer = ours(), river()
    both, play, learn, peer_both, peer_learn = (
        seconds / len(many)
        for seconds in race(
            lambda: predict_and_learn(learner, many),
            lambda: [learner.play_one(x, y) for x, y in many],
            lambda: [learner.learn_one(x, y) for x, y in many],
            lambda: predict_and_learn(peer, many),
            lambda: [peer.learn_one(x, y) for x, y in many],
            seconds=0 if quick else 8,
        )
    )
    beside = f"River {duration(peer_both)}"
    yield faster(
        "dict of 20, predict_one + learn_one", duration(both), beside, peer_both / both, TARGET
    )
    yield faster("dict of 20, both in one: play_one", duration(play), beside, peer_both / play)
    beside = f"River {duration(peer_learn)}"
    yield faster("dict of 20, learn_one alone", duration(learn), beside, peer_learn / learn)
    outcomes = [outcome for _, outcome in examples]
    yield strings(list(examples[0][0]), outcomes, seconds=0 if quick else 2)


def some_examples() -> Examples:
    """Return few enough examples to stay in cache, as one does that a stream has just made."""
    X, y = regression(300, 20)
    keys = names(20)  # the same strings in every dict, as CSV readers and literals give them
    dicts = [dict(zip(keys, x, strict=True)) for x in X.tolist()]
    return list(zip(dicts, y.tolist(), strict=True))


def strings(keys: list[str], y: list[float], seconds: float) -> Row:
    """Measure what a string costs: rows of 20 strings, of 20 values each."""
    texts = [f"value {k}" for k in range(20)]
    rows = [{key: texts[(row * 7 + k) % 20] for k, key in enumerate(keys)} for row in range(len(y))]
    learner = WidrowHoff(rate=RATE)

    def learn() -> None:
        for x, outcome in zip(rows, y, strict=True):
            learner.learn_one(x, outcome)

    each = race(learn, seconds=seconds)[0] / (len(y) * len(keys))
    work = "dict of 20 strings, learn_one, per string"
    return Row(work, duration(each), "", "", "≤ 0.1 µs", each <= 1e-7)


def ours() -> Any:
    return WidrowHoff(rate=2 * RATE)


def river() -> Any:
    return LinearRegression(optimizer=SGD(RATE), intercept_lr=0)


def predict_and_learn(learner: Any, examples: Examples) -> list[float]:
    guesses = []
    for x, y in examples:
        guesses.append(learner.predict_one(x))
        learner.learn_one(x, y)
    return guesses
