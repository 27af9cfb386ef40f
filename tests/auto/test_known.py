"""A prediction is made from what was known: outcomes that are out are not used."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.auto.streams import (
    LOSSES,
    NUMBERS,
    Floats,
    auto,
    labels,
    member_losses,
    member_names,
    played,
    stream,
)


def loss_of(loss: str, said: Floats, y: Floats) -> Floats:
    if loss == "square":
        return np.asarray((said - y) ** 2)
    tilt = 0.8 if loss == "quantile" else 0.5
    scale = 1.0 if loss == "quantile" else 2.0
    return np.asarray(scale * np.where(y > said, tilt * (y - said), (1 - tilt) * (said - y)))


@pytest.mark.parametrize("loss", NUMBERS)
@pytest.mark.parametrize("delay", [0, 1, 2, 7])
def test_the_last_outcome_is_the_last_that_has_arrived(loss: str, delay: int) -> None:
    """Its loss is that of y_{t−1−delay}; before one has arrived, it predicts 0."""
    X, y = stream(delay, 80, 2)
    learner = auto(loss, delay=delay)
    played(learner, X, y)
    says = np.concatenate([np.zeros(delay + 1), y[: len(y) - delay - 1]])
    lost = member_losses(learner)[member_names(learner).index("last outcome")]
    assert lost == pytest.approx(loss_of(loss, says, y).sum(), rel=1e-9)


@pytest.mark.parametrize("loss", NUMBERS)
def test_the_running_mean_is_that_of_the_outcomes(loss: str) -> None:
    X, y = stream(0, 80, 2)
    learner = auto(loss)
    played(learner, X, y)
    says = np.append(0.0, np.cumsum(y)[:-1] / np.arange(1, len(y)))
    lost = member_losses(learner)[member_names(learner).index("running mean")]
    assert lost == pytest.approx(loss_of(loss, says, y).sum(), rel=1e-9)


def test_even_odds_pay_a_bit_a_round() -> None:
    X, y = stream(0, 80, 2, "logistic")
    learner = auto("logistic")
    played(learner, X, y)
    lost = member_losses(learner)[member_names(learner).index("even odds")]
    assert lost == pytest.approx(80 * math.log(2), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("delay", [0, 1, 5])
def test_no_prediction_knows_later_outcomes(loss: str, delay: int) -> None:
    X, y = stream(2, 60, 3, loss)
    changed = y.copy()
    changed[40:] *= -1
    first, second = (played(auto(loss, delay=delay), X, told) for told in (y, changed))
    assert first[: 41 + delay].tobytes() == second[: 41 + delay].tobytes()
    assert first[41 + delay] != second[41 + delay]


@pytest.mark.parametrize("delay", [0, 3, 24])
def test_outcomes_that_are_out_tell_a_filter_nothing(delay: int) -> None:
    """Each outcome follows that of d + 1 rounds ago: to be seen with a delay of d, not of d + 1.

    With a delay of d + 1, what is seen tells nothing where d > 0, and half as much where d = 0.
    """
    rng = np.random.default_rng(0)
    rounds, follows = 3000, 0.95
    y = rng.normal(size=rounds)
    for t in range(delay + 1, rounds):
        y[t] = follows * y[t - delay - 1] + math.sqrt(1 - follows**2) * y[t]
    lost = []
    for known in (delay, delay + 1):
        learner = auto(delay=known)
        played(learner, np.zeros((rounds, 0)), y)
        at = member_names(learner).index("filter with outcomes over all rounds")
        lost.append(member_losses(learner)[at] / rounds / np.var(y))
    assert lost[0] == pytest.approx(1 - follows**2, rel=0.35)
    assert lost[1] == pytest.approx(1 - follows**4 if delay == 0 else 1.0, rel=0.15)


@pytest.mark.parametrize("loss", LOSSES)
def test_without_recent_outcomes_nobody_sees_that_they_alternate(loss: str) -> None:
    """No member is named for outcomes either."""
    learner = auto(loss, recent=False)
    assert not any("outcome" in name or "corrected" in name for name in member_names(learner))
    assert "recent outcomes" not in [member.group for member in learner.members]
    rng = np.random.default_rng(0)
    y = np.where((np.arange(2000) + np.cumsum(rng.random(2000) < 0.02)) % 2 == 0, 1.0, -1.0)
    with_recent = auto(loss)
    played(learner, np.zeros((2000, 0)), y)
    played(with_recent, np.zeros((2000, 0)), y)
    assert with_recent.total_loss < 0.5 * learner.total_loss


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("delay", [0, 4])
def test_what_it_plays_is_what_it_pays_for(loss: str, delay: int) -> None:
    """Row by row or all at once, with outcomes out or not."""
    X, y = stream(4, 60, 3, loss)
    many, one = auto(loss, delay=delay), auto(loss, delay=delay)
    scores = played(many, X, y)
    for x, outcome, score in zip(X, y, scores, strict=True):
        told = one.play_one(x, outcome)
        assert told == (score if loss != "logistic" else 1 if score > 0 else -1)
    if loss != "logistic":
        assert many.total_loss == pytest.approx(loss_of(loss, scores, y).sum(), rel=1e-9)
    assert one.total_loss == many.total_loss


def test_a_prediction_for_now_uses_the_newest_outcome() -> None:
    """A program that learns outcomes as they come predicts with all of them, whatever the delay."""
    y = labels(np.sin(np.arange(3000) / 200)) * 5
    learner = auto(delay=10)
    for outcome in y:
        learner.learn_one({}, float(outcome))
    for _ in range(30):
        learner.learn_one({}, -5.0 if y[-1] > 0 else 5.0)
    assert learner.predict_one({}) * -y[-1] > 0


def test_labels_that_persist_are_foreseen() -> None:
    rng = np.random.default_rng(0)
    turns = rng.random(4000) < 0.05
    y = np.where(np.cumsum(turns) % 2 == 0, 1.0, -1.0)
    learner = auto("logistic")
    played(learner, rng.normal(size=(4000, 2)), y)
    share = (y > 0).mean()
    marginal = -(share * math.log(share) + (1 - share) * math.log(1 - share))
    entropy = -(0.05 * math.log(0.05) + 0.95 * math.log(0.95))
    assert learner.total_loss / 4000 < 0.5 * marginal
    assert learner.total_loss / 4000 < 1.15 * entropy
