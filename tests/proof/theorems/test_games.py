"""Promises of games that go on, stop early, have one round, or get features on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import noregret as nr
from tests.proof.theorems.cases import CASES
from tests.proof.theorems.hostile import Pairs, Plan, plans
from tests.thorough import draws


@pytest.mark.parametrize("name", CASES)
@draws(8, quick=2)
@given(plan=plans(rounds=15))
def test_a_game_in_parts_has_the_promise_of_the_whole(name: str, plan: Plan) -> None:
    learner, stream = CASES[name](plan)
    other = learner.clone()
    rows = list(remembered(learner, stream))
    whole = nr.play(learner.clone(), rows).certificate(name).theorem
    half = len(rows) // 2
    game = nr.Game(other)
    game.play(rows[:half])
    if half:
        game.certificate(name)  # asking on the way changes nothing
    parts = game.play(rows[half:]).certificate(name).theorem
    assert whole is not None
    assert parts is not None
    assert parts.holds is True
    assert parts.bound == pytest.approx(whole.bound, rel=1e-9)
    assert parts.measured == pytest.approx(whole.measured, rel=1e-9, abs=1e-12)


def remembered(learner: nr.Learner, stream: Pairs) -> Pairs:
    """Play a stream that looks at the learner, and return its rounds."""
    for x, y in stream:
        learner.learn_one(x, y)
        yield x, y


@pytest.mark.parametrize("name", CASES)
@draws(8)
@given(plan=plans(rounds=1))
def test_a_single_round_keeps_the_promise(name: str, plan: Plan) -> None:
    learner, stream = CASES[name](plan)
    promise = nr.play(learner, stream).certificate(name).theorem
    assert promise is not None
    assert promise.holds is True


@pytest.mark.parametrize("name", ["projected-gradient", "hinge-ogd", "logistic"])
def test_a_game_that_outlives_its_horizon_loses_the_promise(name: str) -> None:
    drawn = (CASES[name](Plan(seed, 20, 3, "dense", "a rule")) for seed in range(20))
    learner, stream = next(pair for pair in drawn if pair[0].params["horizon"])
    horizon = learner.params["horizon"]
    rows = list(stream)
    game = nr.play(learner, [rows[t % len(rows)] for t in range(horizon)])
    before = game.certificate(name).theorem
    assert before is not None
    assert before.holds is True
    after = game.play(rows[:1]).certificate(name).theorem
    assert after is not None
    assert after.bound is None
    assert after.failed is not None
    assert after.failed.first_violation == horizon + 1


@pytest.mark.parametrize("name", sorted({"eg", "winnow", "winnow1"}))
def test_announced_features_may_join_late(name: str) -> None:
    """With ``dimension`` the weights are there from the start, whenever a name is first seen."""
    rng = np.random.default_rng(0)
    kinds: dict[str, nr.Learner] = {
        "eg": nr.ExponentiatedGradient(rate=0.5, dimension=6),
        "winnow": nr.Winnow.tuned(margin=0.3, dimension=6),
        "winnow1": nr.Winnow(form="winnow1", dimension=6),
    }
    rows = []
    for t in range(30):
        x: dict[str, float] = {f"x{j}": float(rng.integers(0, 2)) for j in range(1 + t // 5)}
        x["x0"] = float(rng.integers(0, 2)) if name != "winnow" else float(rng.choice([-1, 1]))
        rows.append((x, x["x0"] if name == "eg" else 1 if x["x0"] > 0 else -1))
    promise = nr.play(kinds[name], rows).certificate(name).theorem
    assert promise is not None
    assert promise.failed is None
    assert promise.holds is True


def test_additive_learners_do_not_mind_features_that_join_late() -> None:
    rows = [({f"x{t % (1 + t // 4)}": 1.0}, float(t % 3) - 1) for t in range(40)]
    labelled = [(x, 1 if y > 0 else -1) for x, y in rows]
    for learner, examples in [
        (nr.WidrowHoff(rate=0.5), rows),
        (nr.Nlms(rate=0.5), rows),
        (nr.Perceptron(), labelled),
        (nr.PassiveAggressive(), labelled),
        (nr.Ftrl.tuned(loss="absolute", radius=2.0, lipschitz=1.0, horizon=40), rows),
        (nr.Hinge.tuned(radius=2.0, norm=1.0, horizon=40), labelled),
        (nr.Logistic.tuned(radius=2.0, norm=1.0), labelled),
    ]:
        promise = nr.play(learner, examples).certificate().theorem
        assert promise is not None
        assert promise.holds is True, learner


@draws(30)
@given(plan=plans())
def test_a_box_keeps_the_promise_of_the_ball_around_it(plan: Plan) -> None:
    """The best loss of the box is an interval, so that the verdict may be open."""
    learner = nr.GradientDescent(
        loss="linear", rate=2.0, schedule="horizon", horizon=plan.rounds, radius=0.5, domain="box"
    )
    X = np.random.default_rng(plan.seed).uniform(-1, 1, size=(plan.rounds, plan.columns))
    X *= 0.25 * np.sqrt(plan.columns) / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    game = nr.play(learner, [(x, 1.0) for x in X])
    promise = game.certificate("projected-gradient").theorem
    assert promise is not None
    assert promise.bound is not None
    assert promise.bound == pytest.approx(0.25 * plan.columns / 2 * np.sqrt(plan.rounds))
    assert promise.holds is not False
    best = -0.5 * float(np.sum(np.abs(X.sum(axis=0))))  # the corner opposite to the sum
    assert game.loss - best <= promise.bound * (1 + 1e-9)
    assert promise.measured is not None
    assert promise.measured >= game.loss - best - 1e-9


@pytest.mark.parametrize("radius", [0.1, 1.0, 50.0])
def test_no_promise_reaches_beyond_the_domain(radius: float) -> None:
    """A radius told to the certificate narrows the comparators of ftrl, and no one else's."""
    rows = [([1.0], 1.0)] * 50
    learners: list[nr.Learner] = [
        nr.GradientDescent.tuned(loss="linear", radius=1.0, lipschitz=1.0, horizon=50),
        nr.GradientDescent.tuned(loss="linear", radius=1.0, lipschitz=1.0),
        nr.Ftrl.tuned(loss="linear", radius=1.0, lipschitz=1.0, horizon=50),
    ]
    for learner in learners:
        game = nr.play(learner, rows)
        if isinstance(learner, nr.Ftrl) and radius <= 1:
            promise = game.certificate(radius=radius).theorem
            assert promise is not None
            assert promise.holds is True
        else:
            with pytest.raises(ValueError, match="radius"):
                game.certificate(radius=radius)
