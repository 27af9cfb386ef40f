"""``progressive_val_score`` of River with our estimators, against River's own.

Loop, metric and data are the same for both: dicts of 20 numbers. So is what is learned, with an
intercept where River's rule for it is ours. Its passive-aggressive step leaves the intercept out
of the norm; and its regression measures the loss at 2y − 1, which is mended here, so that the work
is the same. What River's loop costs with a model that does nothing stands beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from river import base, evaluate, linear_model, metrics, optim

from benchmarks._data import names, regression
from benchmarks._harness import Row, duration, faster, must_agree, race
from noregret import river

PACKAGES = ("river",)
COLUMNS, RATE = 20, 0.01


class Contest(NamedTuple):
    """Two models that are to predict the same."""

    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    metric: Callable[[], Any]
    labels: bool


class Tube(optim.losses.EpsilonInsensitiveHinge):
    """The ε-insensitive loss at the outcome itself."""

    def __call__(self, y_true: float, y_pred: float) -> float:
        """Return the loss."""
        return float(max(abs(y_pred - y_true) - self.eps, 0.0))


class Nothing(base.Regressor):
    """A model that does nothing: what is left is River's loop and metric."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn nothing."""

    def predict_one(self, x: Any) -> float:
        """Predict the same."""
        return 0.5


def tube() -> Any:
    peer = linear_model.PARegressor(learn_intercept=False)
    peer.loss = Tube(peer.eps)
    return peer


CONTESTS = (
    Contest(
        "LinearRegression",
        lambda: river.WidrowHoffRegressor(rate=2 * RATE, step="explicit"),
        lambda: linear_model.LinearRegression(optim.SGD(RATE), intercept_lr=RATE),
        metrics.MSE,
        False,
    ),
    Contest(
        "LogisticRegression",
        lambda: river.LogisticClassifier(rate=RATE, schedule="constant"),
        lambda: linear_model.LogisticRegression(optim.SGD(RATE), intercept_lr=RATE),
        metrics.Accuracy,
        True,
    ),
    Contest(
        "PAClassifier",
        lambda: river.PassiveAggressiveClassifier(intercept=False),
        lambda: linear_model.PAClassifier(learn_intercept=False),
        metrics.Accuracy,
        True,
    ),
    Contest(
        "PARegressor",
        lambda: river.PassiveAggressiveRegressor(intercept=False),
        tube,
        metrics.MAE,
        False,
    ),
)


def run(quick: bool) -> Iterator[Row]:
    rows = 300 if quick else 1500
    X, y = regression(rows, COLUMNS)
    dicts = [dict(zip(names(COLUMNS), x, strict=True)) for x in X.tolist()]
    numbers = list(zip(dicts, y.tolist(), strict=True))
    labels = list(zip(dicts, (y > np.median(y)).tolist(), strict=True))
    for contest in CONTESTS:
        data = labels if contest.labels else numbers
        must_agree(said(contest.ours(), data), said(contest.peer(), data), contest.name)
        ours, peer, loop = (
            seconds / rows
            for seconds in race(
                scored(data, contest.ours, contest.metric),
                scored(data, contest.peer, contest.metric),
                scored(numbers, Nothing, metrics.MSE),
                seconds=0 if quick else 6,
            )
        )
        work = f"River's progressive_val_score, dict of {COLUMNS}, {contest.name}"
        beside = f"River {duration(peer)}, its loop alone {duration(loop)}"
        yield faster(work, duration(ours), beside, peer / ours, 3)


def said(model: Any, data: list[Any]) -> list[float]:
    """Return the predictions from the third on: River's own knows its labels from the start."""
    guesses = []
    for x, y in data:
        guesses.append(model.predict_one(x))
        model.learn_one(x, y)
    return [float(guess) for guess in guesses[2:]]


def scored(data: list[Any], model: Callable[[], Any], metric: Callable[[], Any]) -> Any:
    return lambda: evaluate.progressive_val_score(data, model(), metric())
