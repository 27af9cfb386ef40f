"""Promises from the same sources that no theorem object states, and what they rest on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from tests.proof.theorems.hostile import Floats, Plan, in_ball, plans
from tests.proof.theorems.test_long_games import Teacher, every_teacher, separable
from tests.thorough import draws

SLACK = 1 + 1e-9  # rounding, nothing else
seeds = st.integers(0, 2**32 - 1)


def test_spread_counts_announced_features_that_are_absent_as_zero() -> None:
    """R of the promise is max x_i − min x_i over all n features, those never named included."""
    learner = nr.ExponentiatedGradient(dimension=4)
    learner.learn_one({"a": 1.0}, 1.0)
    assert learner.measured["spread"].largest == 1.0


def test_exponentiated_gradient_pays_little_for_a_thousand_useless_features() -> None:
    """One feature is the outcome: the loss stays below (1/2 + 1/c) R² ln n."""
    n, c = 1000, 2.0
    learner = nr.ExponentiatedGradient(rate=2 * c / (4 * (2 + c)))
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, n))
    learner.learn_many(X, X[:, 0])
    assert learner.total_loss <= (0.5 + 1 / c) * 4 * np.log(n) * SLACK


@pytest.mark.parametrize("name", ["gradient-descent", "ftrl"])
@pytest.mark.parametrize("schedule", ["horizon", "sqrt"])
@draws(25)
@given(plan=plans(rounds=200, columns=2), radius=st.floats(0.1, 10))
def test_linear_losses_chosen_to_hurt_keep_within_the_bound(
    name: str, schedule: str, plan: Plan, radius: float
) -> None:
    """The adversary turns every gradient so that it costs, and leads the sum ever farther."""
    known = {"horizon": plan.rounds} if schedule == "horizon" else {}
    learner = nr.make(name, loss="linear", rate=radius, schedule=schedule, radius=radius, **known)
    total, rng = np.zeros(plan.columns), plan.rng
    for example in in_ball(plan, learner):
        away = learner.decision_one(example) < 0 or (rng.random() < 0.5 and example @ total < 0)
        g = -example if away else example
        total += g
        learner.learn_one(g, 1.0)
    regret = learner.total_loss + radius * float(np.linalg.norm(total))
    times = 1 if schedule == "horizon" else 3
    assert regret <= times * radius * np.sqrt(plan.rounds) * SLACK


@pytest.mark.parametrize("domain", ["ball", "box"])
@pytest.mark.parametrize("T", [1, 2, 51, 1000])
def test_follow_the_leader_fails_in_every_round_but_the_first(domain: str, T: int) -> None:
    learner = nr.FollowTheLeader(domain=domain)
    for t in range(T):
        learner.learn_one([1.0], 0.5 if t == 0 else (-1.0) ** t)
    assert learner.total_loss == T - 1


# Passive-aggressive: the other bounds of Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, 2006.


def lost(
    learner: nr.Learner, X: Floats, y: Floats, teach: Teacher
) -> tuple[Floats, Floats, Floats]:
    """Return the rounds that were played and the hinge loss of each."""
    rows, labels, losses = [], [], []
    for x, label in teach(learner, X, y, 120):
        losses.append(max(0.0, 1 - label * learner.decision_one(x)))
        rows.append(x)
        labels.append(label)
        learner.learn_one(x, label)
    return np.array(rows), np.array(labels), np.array(losses)


def hinge(u: Floats, X: Floats, y: Floats) -> Floats:
    return np.maximum(0.0, 1 - y * (X @ u))


@every_teacher
@draws(12)
@given(seed=seeds, margin=st.sampled_from([0.05, 0.3]))
def test_passive_aggressive_pays_little_where_there_is_a_margin(
    teach: Teacher, seed: int, margin: float
) -> None:
    """Σ hinge² ≤ ‖u‖²R² for every u without loss."""
    v, X, y = separable(np.random.default_rng(seed), 3, margin)
    X, y, losses = lost(nr.PassiveAggressive(form="pa"), X, y, teach)
    norm = 1 / float(np.min(y * (X @ v)))
    assert np.sum(losses**2) <= norm**2 * np.max(np.sum(X**2, axis=1)) * SLACK


@every_teacher
@draws(12)
@given(seed=seeds, noise=st.sampled_from([0.0, 0.2, 0.5]), c=st.sampled_from([0.01, 0.3, 10.0]))
def test_passive_aggressive_pays_little_on_any_data(
    teach: Teacher, seed: int, noise: float, c: float
) -> None:
    """Against every u with hinge losses h_t and examples of norm at most R.

    pa, ‖x‖ = 1:  Σ hinge² ≤ (‖u‖ + 2√Σh_t²)²
    pa-ii:        Σ hinge² ≤ (R² + 1/(2C))·(‖u‖² + 2C Σh_t²)
    """
    rng = np.random.default_rng(seed)
    v, pool, labels = separable(rng, 3, 0.1)
    labels = np.where(rng.random(len(labels)) < noise, -labels, labels)
    unit = pool / np.linalg.norm(pool, axis=1, keepdims=True)
    others = [np.zeros(3), v, 5 * v, *rng.normal(size=(10, 3)), *(10 * rng.normal(size=(5, 3)))]

    X, y, losses = lost(nr.PassiveAggressive(form="pa"), unit, labels, teach)
    for u in others:
        size = float(np.linalg.norm(u)) + 2 * np.sqrt(np.sum(hinge(u, X, y) ** 2))
        assert np.sum(losses**2) <= size**2 * SLACK

    second = nr.PassiveAggressive(form="pa-ii", aggressiveness=c)
    X, y, losses = lost(second, pool, labels, teach)
    assert second.total_loss == pytest.approx(float(np.sum(losses**2)), rel=1e-9)
    largest = float(np.max(np.sum(X**2, axis=1)))
    for u in others:
        price = float(u @ u) + 2 * c * float(np.sum(hinge(u, X, y) ** 2))
        assert second.total_loss <= (largest + 1 / (2 * c)) * price * SLACK
