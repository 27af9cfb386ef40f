"""Where River is wrong, and what is right.

Each test first shows that the installed River still has the defect; where a newer one does not, it
is skipped and says so.
"""

from __future__ import annotations

import importlib.metadata
import math
from typing import Any

import numpy as np
import pytest
from river import base, ensemble, linear_model, optim

import noregret as nr
from noregret import river
from tests.river.data import approval, played, scaled

VERSION = importlib.metadata.version("river")
POLLS = scaled(approval(300))


def mended(what: str) -> None:
    pytest.skip(f"River {VERSION} has mended {what}: nothing is left to show")


class Says(base.Regressor):
    """A forecaster who always says what a feature says."""

    def __init__(self, name: str) -> None:
        self.name = name

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        pass

    def predict_one(self, x: dict[str, Any]) -> float:
        return float(x[self.name])


def test_expert_weights_start_at_one_over_n() -> None:
    """Two forecasters who say 10: River's mixture of them says 20 at first."""
    peer = ensemble.EWARegressor([Says("left"), Says("right")])
    x = {"left": 10.0, "right": 10.0}
    if peer.predict_one(x) == 10.0:
        mended("the first weights of EWARegressor")
    assert peer.predict_one(x) == 20.0
    master = nr.experts.WeightedAverage()
    assert master.predict_one([10.0, 10.0]) == 10.0


def test_expert_weights_survive_one_large_loss() -> None:
    """exp(−η·loss) of one outlier is zero for all: River's weights are zero for ever after."""
    rows = [([0.0, 1.0], 0.0), ([0.0, 1.0], 1e3), *[([0.0, 1.0], 0.0)] * 50]
    peer = ensemble.EWARegressor([Says("0"), Says("1")])
    for advice, y in rows:
        peer.learn_one({"0": advice[0], "1": advice[1]}, y)
    if any(peer.weights):
        mended("the weights of EWARegressor after a large loss")
    assert peer.predict_one({"0": 5.0, "1": 5.0}) == 0.0
    master = nr.experts.Hedge(schedule="constant", rate=0.5)
    for advice, y in rows:
        master.learn_one(advice, y)
    weights = master.weights()
    losses = np.array([[(a - y) ** 2 for a in advice] for advice, y in rows]).sum(axis=0)
    expected = np.exp(-0.5 * (losses - losses.min()))
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-9)
    assert master.predict_one([5.0, 5.0]) == pytest.approx(5.0)


def test_averaged_weights_are_the_mean_of_all_weights() -> None:
    """River's Averager computes the mean and then predicts with the last weights."""
    last = linear_model.LinearRegression(optim.SGD(0.05), intercept_lr=0)
    peer = linear_model.LinearRegression(optim.Averager(optim.SGD(0.05)), intercept_lr=0)
    if played(peer, POLLS) != played(last, POLLS):
        mended("optim.Averager, which was not averaging")
    ours = river.WidrowHoffRegressor(rate=0.1, step="explicit", averaged=True, intercept=False)
    said = played(ours, POLLS)
    names = sorted(POLLS[0][0])
    w, total = np.zeros(len(names)), np.zeros(len(names))
    for t, (x, y) in enumerate(POLLS, start=1):
        v = np.array([x[name] for name in names])
        mean = total / max(1, t - 1)
        assert said[t - 1] == pytest.approx(mean @ v, rel=1e-9, abs=1e-9)
        total += w
        w = w - 0.1 * (w @ v - y) * v
    assert ours.weights == pytest.approx(dict(zip(names, total / len(POLLS), strict=True)))
    assert not np.allclose(total / len(POLLS), w)


def test_a_tube_is_around_the_outcome_itself() -> None:
    """River's passive-aggressive regression takes y for 2y − 1 when it measures the loss."""
    peer = linear_model.PARegressor(mode=0, eps=0.5, learn_intercept=False)
    peer.learn_one({"a": 1.0}, 10.0)
    if peer.predict_one({"a": 1.0}) == 9.5:
        mended("the loss of PARegressor")
    assert peer.predict_one({"a": 1.0}) == 18.5
    ours = river.PassiveAggressiveRegressor(form="pa", epsilon=0.5, intercept=False)
    ours.learn_one({"a": 1.0}, 10.0)
    assert ours.predict_one({"a": 1.0}) == 9.5


def test_the_smallest_step_that_suffices_counts_the_intercept_too() -> None:
    """River leaves the intercept out of ‖x‖² and then moves it too: the step is too long."""
    peer = linear_model.PAClassifier(mode=0)
    peer.learn_one({"a": 1.0}, True)
    score = peer.weights["a"] + peer.intercept
    if score == 1.0:
        mended("the norm of PAClassifier")
    assert score == 2.0
    ours = river.PassiveAggressiveClassifier(form="pa")
    ours.learn_one({"a": 1.0}, True)
    ours.learn_one({"a": -1.0}, True)
    assert ours.learner.decision_one({"a": 1.0, "intercept": 1.0}) == pytest.approx(1.0)


def test_divergence_is_said_and_not_predicted() -> None:
    """On raw features River's weights overflow without a word."""
    raw = approval(300)
    peer = linear_model.LinearRegression()
    with np.errstate(all="ignore"):
        said = played(peer, raw)
    if all(abs(guess) < 1e6 for guess in said):
        mended("divergence on raw features")
    assert not math.isfinite(said[-1]) or abs(said[-1]) > 1e6
    ours = river.WidrowHoffRegressor(rate=0.02, step="explicit")
    with pytest.raises(nr.Diverged, match="rate"):
        played(ours, raw)
    assert all(math.isfinite(weight) for weight in ours.weights.values())
    fine = river.WidrowHoffRegressor(rate=0.02, step="explicit", norm=1e6)
    assert all(math.isfinite(guess) for guess in played(fine, raw))
