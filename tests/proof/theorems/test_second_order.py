"""Attacks on the second-order bounds: columns of every size, the same twice, late, constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import noregret as nr
from tests.proof.theorems.hostile import Floats, Pairs
from tests.thorough import draws

LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("vaw", {}),
    ("vaw", {"penalty": 1e-6}),
    ("online-newton", {}),
    ("online-newton", {"penalty": 1e-4, "radius": 10.0}),
    ("online-newton", {"form": "diagonal"}),
    ("online-newton", {"form": "diagonal", "radius": 0.1}),
    *(
        ("online-newton", {"loss": loss, "radius": radius, "form": form})
        for loss in ("logistic", "squared-hinge")
        for radius in (0.1, 30.0)
        for form in ("full", "diagonal")
    ),
    ("arow", {}),
    ("arow", {"penalty": 1e-3}),
    ("arow", {"form": "diagonal"}),
]
SIZES = st.sampled_from([1e-9, 1e-3, 1.0, 1e3, 1e9])
OUTCOMES = ("noise", "a rule", "against", "with", "one outlier")


def columns(rng: np.random.Generator, rounds: int, sizes: list[float]) -> Floats:
    """Return columns of those sizes; one constant, one a copy, one late, one mostly absent."""
    X = rng.normal(size=(rounds, len(sizes))) * sizes
    kinds = rng.permutation(len(sizes))
    X[:, kinds[0]] = sizes[kinds[0]]
    if len(sizes) > 1:
        X[:, kinds[1]] = 3 * X[:, kinds[0]]
    if len(sizes) > 2:
        X[: rounds // 2, kinds[2]] = 0
    if len(sizes) > 3:
        X[:, kinds[3]] *= rng.random(rounds) < 0.1
    return X


def answer(rng: np.random.Generator, kind: str, score: float, rule: float, t: int) -> float:
    return {
        "noise": float(rng.normal()),
        "a rule": rule,
        "against": -1.0 if score > 0 else 1.0,
        "with": 1.0 if score > 0 else -1.0,
        "one outlier": 1e6 if t == 5 else 0.1 * float(rng.normal()),
    }[kind]


@pytest.mark.parametrize(("name", "params"), LEARNERS, ids=str)
@draws(60, quick=3)
@given(
    seed=st.integers(0, 2**32 - 1),
    rounds=st.integers(1, 60),
    sizes=st.lists(SIZES, min_size=1, max_size=6),
    size=SIZES,
    outcomes=st.sampled_from(OUTCOMES),
)
@example(seed=0, rounds=40, sizes=[1e-9, 1e9, 1.0], size=1.0, outcomes="against")
@example(seed=1, rounds=60, sizes=[1.0] * 6, size=1e9, outcomes="one outlier")
def test_no_columns_and_no_outcomes_break_a_bound(
    name: str,
    params: dict[str, Any],
    seed: int,
    rounds: int,
    sizes: list[float],
    size: float,
    outcomes: str,
) -> None:
    rng = np.random.default_rng(seed)
    X = columns(rng, rounds, sizes)
    rule = rng.normal(size=len(sizes)) / sizes
    learner = nr.make(name, **params)
    labels = learner.engine.loss.labels

    def pairs() -> Pairs:
        for t, x in enumerate(X):
            y = answer(rng, outcomes, learner.decision_one(x), float(rule @ x), t)
            yield x, (1.0 if y > 0 else -1.0) if labels else size * y

    promise = nr.play(learner, pairs()).certificate().theorem
    assert promise is not None
    if promise.failed is not None:  # more than sixteen digits between the rows and the penalty
        assert promise.failed.name.startswith("norm(x)")
        assert max(sizes) ** 2 > 1e17 * params.get("penalty", 1.0)
        return
    assert promise.bound is not None
    assert np.isfinite(promise.bound)
    assert promise.holds is not False, promise


def test_newton_without_a_radius_meets_its_bound() -> None:
    """For the square loss it is an identity: the bound is what was paid."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.normal(size=300)
    promise = nr.play(nr.make("online-newton"), X, y).certificate().theorem
    assert promise is not None
    assert promise.bound == pytest.approx(promise.measured, rel=1e-9)


@pytest.mark.parametrize("form", ["full", "diagonal"])
def test_the_bound_of_arow_is_good_where_labels_can_be_separated(form: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    X += 0.3 * np.sign(X[:, :1]) * np.eye(4)[0]
    promise = nr.play(nr.make("arow", form=form), X, np.sign(X[:, 0])).certificate().theorem
    assert promise is not None
    assert promise.bound is not None
    assert promise.bound < 60


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_regret_grows_like_a_logarithm(loss: str) -> None:
    """Ten times the rounds add about as much as ten times before did."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20_000, 3))
    y = np.sign(X @ [1.0, -1.0, 0.5] + rng.normal(size=20_000))
    bounds = []
    for rounds in (200, 2000, 20_000):
        learner = nr.make("online-newton", loss=loss, radius=3.0)
        promise = nr.play(learner, X[:rounds], y[:rounds]).certificate().theorem
        assert promise is not None
        assert promise.bound is not None
        bounds.append(promise.bound)
    assert bounds[2] - bounds[1] < 1.3 * (bounds[1] - bounds[0])
