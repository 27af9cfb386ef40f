"""No stream breaks the promise: to be little worse than whoever in the bank turns out best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.learners.auto import Auto
from tests.auto.streams import (
    LOSSES,
    Floats,
    auto,
    member_losses,
    member_weights,
    parts_of,
    played,
    stream,
    weighted,
)
from tests.thorough import draws

KINDS = ["noise", "against", "spikes", "constant", "steps", "alternating", "tiny", "growing"]


def adversarial(kind: str, t: int, rng: np.random.Generator, learner: Auto, x: Floats) -> float:
    """Return an outcome that is unpleasant after what came before."""
    if kind == "against":  # as far as can be from what is predicted
        return -1.0 if learner.decision_one(x) >= 0 else 1.0
    if kind == "spikes":
        return float(rng.normal() * 10.0 ** rng.choice([0, 0, 0, 0, 100, -100]))
    return {
        "noise": float(rng.normal()),
        "constant": 5.0,
        "steps": float(t // 10 % 2),
        "alternating": float(t % 2),
        "tiny": 1e-160 * float(rng.normal()),
        "growing": 2.0**t,
    }[kind]


def no_member_is_better_by_more_than_its_price(learner: Auto) -> None:
    told = learner._accounts()
    rounding = 1e-9 * (abs(learner.total_loss) + float(np.abs(told["excess"]).max()))
    assert np.isfinite(told["price"]).all()
    assert (-told["excess"] <= told["price"] + rounding + 1e-300).all()
    assert (told["cost"] <= told["price"]).all()
    assert (-told["excess"] <= told["cost"] + rounding + 1e-300).all()


@pytest.mark.parametrize("loss", LOSSES)
@draws(60)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 60),
    columns=st.integers(0, 4),
    kind=st.sampled_from(KINDS),
    recent=st.booleans(),
)
def test_regret_to_every_member_is_no_more_than_its_price(
    loss: str, seed: int, rows: int, columns: int, kind: str, recent: bool
) -> None:
    rng = np.random.default_rng(seed)
    learner = auto(loss, recent=recent)
    for t in range(rows):
        x = rng.normal(size=columns)
        y = adversarial(kind, t, rng, learner, x)
        learner.learn_one(x, (1.0 if y > 0 else -1.0) if loss == "logistic" else y)
        no_member_is_better_by_more_than_its_price(learner)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_price_is_what_the_theorem_says(loss: str) -> None:
    """For labels the prior alone; else by how far losses of each round are apart."""
    learner = auto(loss)
    prior = parts_of(learner)["final.prior"]
    assert math.isclose(prior.sum(), 1)
    if loss == "logistic":
        alone = -np.log(prior)[: len(learner.members)]
        assert learner._accounts()["price"] == pytest.approx(alone)
        return
    X, y = stream(1, 100, 3)
    squares, widest, before = 0.0, 0.0, learner.engine.mixer.final.excess()
    mixing, log_n = 0.0, math.log(len(prior))
    for x, outcome in zip(X, y, strict=True):
        learner.learn_one(x, outcome)
        after = learner.engine.mixer.final.excess()
        apart = float(np.ptp(after - before))
        mixing += cost_of_mixing(prior, before, after - before, mixing / log_n)
        squares, widest, before = squares + apart**2, max(widest, apart), after
    cost = math.sqrt(squares * log_n) / 2 + widest * (2 / 3 * log_n + 1)
    price = (1 - np.log(prior) / log_n) * cost + np.maximum(0.0, parts_of(learner)["beyond"])
    assert learner._accounts()["price"] == pytest.approx(price[: len(learner.members)])
    measured = (1 - np.log(prior) / log_n) * mixing + np.maximum(0.0, parts_of(learner)["beyond"])
    assert learner._accounts()["cost"] == pytest.approx(measured[: len(learner.members)])


def cost_of_mixing(prior: Floats, before: Floats, losses: Floats, inverse_rate: float) -> float:
    """Return the mean of losses minus their mix loss, for weights by the losses so far."""
    behind = before - before.min()
    if inverse_rate == 0:
        weights = prior * (behind == 0)
        return float(weights @ losses / weights.sum() - ((behind + losses).min()))
    weights = prior * np.exp(-behind / inverse_rate)
    weights /= weights.sum()
    mixed = -inverse_rate * math.log(float(weights @ np.exp(-losses / inverse_rate)))
    return float(weights @ losses) - mixed


@pytest.mark.parametrize("loss", LOSSES)
def test_what_members_lost_is_what_it_lost_and_the_difference(loss: str) -> None:
    X, y = stream(1, 100, 3, loss)
    learner = auto(loss)
    played(learner, X, y)
    told = learner._accounts()["excess"][: len(learner.members)]
    assert member_losses(learner) == pytest.approx(learner.total_loss + told)
    assert len(learner.members) == len(learner.history[1].T)
    assert (member_losses(learner) >= -1e-9).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_certificate_is_confirmed_and_a_changed_one_is_not(loss: str) -> None:
    X, y = stream(1, 150, 3, loss)
    made = nr.play(auto(loss), X, y)
    certificate = made.certificate()
    promise = certificate.theorem
    assert promise is not None
    assert promise.name == ("auto-chances" if loss == "logistic" else "auto-mixing")
    assert promise.holds is True
    assert nr.verify(certificate, X, y).confirmed
    changed = y.copy()
    changed[77] *= -1
    assert not nr.verify(certificate, X, changed).confirmed


def test_an_adversary_reaches_two_thirds_of_the_measured_bound() -> None:
    """Outcomes 1 above each prediction: members that follow faster pay less, but not for long."""
    learner, reached = auto(recent=False), []
    nothing = np.zeros(0)
    for t in range(100):
        learner.learn_one(nothing, learner.decision_one(nothing) + 1)
        told = learner._accounts()
        best = int(told["excess"].argmin())
        if t < 4:  # all members say the same at first
            continue
        reached.append(float(-told["excess"][best] / told["cost"][best]))
    assert 0.66 < max(reached) <= 1


# Streams that numbers can hardly hold.

SIZES = [0.0, 1.0, -1.0, 1e-300, 1e-160, -1e-149, 1e-75, 1e-9, 1e9, 1e40, -1e100, 1e140, 1e149]


@pytest.mark.parametrize("loss", LOSSES)
@draws(80)
@given(data=st.data())
def test_whatever_it_takes_leaves_numbers(loss: str, data: st.DataObject) -> None:
    """Values, outcomes and importances of every size; some rounds are refused."""
    columns = data.draw(st.integers(0, 3))
    size = st.sampled_from(SIZES) | st.floats(-10, 10)
    outcome = st.sampled_from([-1.0, 1.0]) if loss == "logistic" else size
    weight = st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 1.0, 1.0, 50.0, 1e20, 1e149])
    rows = data.draw(
        st.lists(
            st.tuples(st.lists(size, min_size=columns, max_size=columns), outcome, weight),
            min_size=1,
            max_size=12,
        )
    )
    learner = auto(loss)
    for x, y, importance in rows:
        before = parts_of(learner)
        try:
            weighted(learner, np.array([x]), np.array([y]), np.array([importance]))
        except nr.NoRegretError:
            after = parts_of(learner)
            assert all(after[k].tobytes() == before[k].tobytes() for k in before)
        assert all(np.isfinite(array).all() for array in parts_of(learner).values())
        assert math.isfinite(learner.decision_one(np.array(x)))
        assert np.isfinite(member_weights(learner)).all()


def test_importance_is_like_coming_as_often() -> None:
    """Least squares from rows that count three times is that from rows that come three times."""
    X, y = stream(0, 400, 2)
    once, often = auto(), auto()
    weighted(once, X, y, np.full(400, 3.0))
    played(often, np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert once.weights == pytest.approx(often.weights, rel=0.05, abs=0.05)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_no_importance_teach_no_weight(loss: str) -> None:
    X, y = stream(0, 100, 2, loss)
    learner = auto(loss)
    weighted(learner, X, y, np.zeros(100))
    assert not learner.weights.any()
    assert learner.total_loss == 0
    played(learner, X, y)
    assert learner.total_loss < 100 * 3 * np.var(y)


def test_a_first_row_of_no_importance_still_says_where_outcomes_begin() -> None:
    learner = auto()
    weighted(learner, np.ones((2, 1)), np.array([1e6, 1e6 + 1]), np.array([0.0, 1.0]))
    assert learner.total_loss < 10
