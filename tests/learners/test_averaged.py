"""The averaged learner is the plain mean of the weights that were used, w_1 to w_m."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from tests import reference
from tests.cases import CASES, ROUNDS, Case
from tests.following import follow_mean
from tests.sequences import SEQUENCES, arriving, binary, fixed
from tests.thorough import draws, in_turn, picked

N = 5


AVERAGED = [case for case in CASES if case.learner().engine.linear]


@in_turn("case", AVERAGED[::2], share=3)
def test_averaged_learner_has_the_mean_of_the_weights_used(case: Case) -> None:
    for kind in picked(("sparse", "against", "huge-then-tiny"), str(case)):
        as_dict = kind == "sparse"
        more = {"dimension": N} if as_dict and case.takes_dimension else {}
        rng = np.random.default_rng(list(str(case).encode()))
        sequence = SEQUENCES[kind](rng, N, ROUNDS, case.labels, case.hurt)
        follow_mean(nr.averaged(case.learner(**more)), case.reference(N), sequence, as_dict)


@pytest.mark.parametrize("kind", SEQUENCES)
def test_averaged_perceptron_has_the_mean_of_the_weights_used(kind: str) -> None:
    rng = np.random.default_rng(3)
    sequence = SEQUENCES[kind](rng, N, 200, True, -1.0)
    follow_mean(nr.make("perceptron", averaged=True), reference.Perceptron(N), sequence)


@pytest.mark.parametrize("kind", ["rule", "chance", "against"])
@pytest.mark.parametrize("as_dict", [False, True])
def test_averaged_winnow1_has_the_mean_of_the_weights_used(kind: str, as_dict: bool) -> None:
    rng = np.random.default_rng(4)
    learner = nr.averaged(nr.make("winnow", form="winnow1", dimension=N))
    used, model = [], reference.Winnow1(N)
    for x, answer in binary(rng, N, 40, kind):
        y = answer(model.score(x))
        used.append(model.w)
        learner.learn_one({str(i): v for i, v in enumerate(x) if v or not as_dict}, y)
        model.learn(x, y)
        at = [int(name) for name in learner.features]
        np.testing.assert_allclose(learner.weights, np.mean(used, axis=0)[at], rtol=1e-9)


@pytest.mark.parametrize("kind", ["rule", "chance", "against"])
def test_averaged_conjunction_has_the_mean_of_the_weights_used(kind: str) -> None:
    sequence = binary(np.random.default_rng(6), N, 40, kind)
    learner, model, used = nr.averaged(nr.make("conjunction")), reference.Conjunction(N), []
    for x, answer in sequence:
        y = answer(model.score(x))
        used.append(model.w)
        learner.learn_one(x, y)
        model.learn(x, y)
        np.testing.assert_allclose(learner.weights, np.mean(used, axis=0), rtol=1e-9)


LATE = [case for case in CASES if case.takes_dimension and case.params.get("rate", 1.0) <= 0.3]


@pytest.mark.parametrize("case", LATE[::5], ids=str)
def test_a_late_name_had_no_weight_before_it_came(case: Case) -> None:
    model = case.reference(N)
    rng = np.random.default_rng(list(str(case).encode()))
    sequence = arriving(rng, N, ROUNDS, case.labels, model)
    follow_mean(nr.averaged(case.learner()), model, sequence, as_dict=True)


def test_mean_counts_every_round_in_a_ball_that_pulls_back_hard() -> None:
    """The weights are 0 in the first round and −1 in the eleven after it."""
    learner = nr.make("gradient-descent", loss="linear", rate=1.0, radius=1.0)
    mean = nr.averaged(learner)
    for _ in range(12):
        mean.learn_one([100.0], 1.0)
    assert mean.weights == pytest.approx([-11 / 12], rel=1e-9)


def test_mean_counts_every_round_on_the_simplex_after_a_fall_and_a_rise() -> None:
    """Uniform weights in all rounds but the second."""
    mean = nr.averaged(nr.make("exponentiated-gradient", loss="linear", rate=1.0))
    for x in ([50.0, 60.0], [-50.0, -60.0], *[[0.0, 0.0]] * 8):
        mean.learn_one(x, 1.0)
    corner = 1 / (1 + np.exp(-10))
    expected = [(4.5 + corner) / 10, (4.5 + 1 - corner) / 10]
    assert mean.weights == pytest.approx(expected, rel=1e-9)


LONG = [
    ("gradient-descent", {"radius": 0.5, "rate": 0.5, "schedule": "sqrt"}),
    ("exponentiated-gradient", {"rate": 0.3}),
    ("exponentiated-gradient", {"rate": 0.3, "weight": 2.0}),
    ("ftrl", {"radius": 0.5, "rate": 0.5, "schedule": "sqrt"}),
]


@pytest.mark.parametrize(("name", "params"), LONG, ids=str)
def test_mean_does_not_drift_over_thousands_of_rounds(name: str, params: dict[str, float]) -> None:
    """Every change of scale on the way is credited to the mean: checked against the weights."""
    rng = np.random.default_rng(5)
    plain, mean = nr.make(name, **params), nr.averaged(nr.make(name, **params))
    total = np.zeros(8)
    plain.learn_one(np.zeros(8), 0.0)
    mean.learn_one(np.zeros(8), 0.0)
    total += plain.weights
    for t in range(3000):
        x, y = (
            rng.uniform(-1, 1, size=8) * (rng.random(8) < 0.3),
            float(rng.normal() * 10 ** (t % 3)),
        )
        total += plain.weights
        plain.learn_one(x, y)
        mean.learn_one(x, y)
    np.testing.assert_allclose(mean.weights, total / 3001, rtol=0, atol=1e-9)


@draws(60)
@given(rows=st.lists(st.tuples(*[st.integers(-4, 4)] * 2, st.booleans()), max_size=12))
def test_averaged_perceptron_is_exact_on_whole_numbers(rows: list[tuple[int, int, bool]]) -> None:
    sequence = ((np.array([a, b], dtype=float), fixed(1.0 if y else -1.0)) for a, b, y in rows)
    follow_mean(nr.make("perceptron", averaged=True), reference.Perceptron(2), sequence)
