"""The promises of kernel learners hold against every u, whatever the budget removes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import noregret as nr
from tests.linear.kernels.reference import Function, kernel
from tests.proof.theorems.hostile import Plan, against, plans
from tests.thorough import few

FORMS: list[dict[str, Any]] = [{"kernel": "rbf", "width": 0.5}, {"kernel": "polynomial"}]


def figures(learner: Any) -> dict[str, float]:
    return {name: float(v[0]) for name, v in learner._accounts().items() if v.shape == (1,)}


def comparators(form: dict[str, Any], rows: list[Any], seed: int) -> list[Function]:
    """Some functions that know the labels, of all sizes."""
    rng = np.random.default_rng(seed)
    made = kernel(form["kernel"], **{k: v for k, v in form.items() if k != "kernel"})
    found = []
    for _ in range(12):
        some = [rows[int(k)] for k in rng.integers(len(rows), size=5)]
        sizes = rng.exponential(size=5) * 10 ** rng.uniform(-2, 1)
        signs = np.array([1.0 if y > 0 else -1.0 for _, y in some])
        found.append(Function(made, [x for x, _ in some], (sizes * signs).tolist()))
    return found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["kernel"])
@few(plan=plans(rounds=60), budget=st.integers(1, 8))
def test_mistakes_within_a_budget(form: dict[str, Any], plan: Plan, budget: int) -> None:
    learner = nr.KernelPerceptron(**form, budget=budget)
    rows = []
    for x, y in against(plan, learner):
        rows.append((x, y))
        learner.learn_one(x, y)
    kept = figures(learner)
    for u in comparators(form, rows, plan.seed):
        hinge = sum(max(0.0, 1 - y * u(x)) for x, y in rows)
        assert learner.mistakes <= hinge + u.norm * (kept["norm"] + kept["moved"]) + 1e-6


@pytest.mark.parametrize("radius", [None, 1.5])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["kernel"])
@few(plan=plans(rounds=40), budget=st.integers(1, 8), loss=st.sampled_from(["hinge", "absolute"]))
def test_regret_within_a_budget(
    form: dict[str, Any], radius: float | None, plan: Plan, budget: int, loss: str
) -> None:
    rate = 0.2
    learner = nr.KernelGradientDescent(loss=loss, rate=rate, radius=radius, **form, budget=budget)
    rows = []
    for x, y in against(plan, learner):
        rows.append((x, y))
        learner.learn_one(x, y)
    kept, value = figures(learner), learner.engine.loss.value
    for u in comparators(form, rows, plan.seed):
        if radius is not None and u.norm > radius:
            u.coefficients = [c * radius / u.norm * 0.999 for c in u.coefficients]
        paid = sum(value(u(x), y) for x, y in rows)
        bound = u.norm**2 / (2 * rate) + rate / 2 * kept["gradient_squares"]
        bound += (kept["exchanged"] + 2 * u.norm * kept["moved"]) / (2 * rate)
        assert learner.total_loss - paid <= bound + 1e-6 * (1 + abs(bound))


def boundary(learner: nr.Learner, rounds: int, seed: int) -> Any:
    """Yield of many examples the one that the learner is least sure of, with the other label."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        many = rng.uniform(-1, 1, size=(16, 2))
        scores = learner.decision_many(many)
        x = many[int(np.argmin(np.abs(scores)))]
        yield x, -1.0 if learner.decision_one(x) > 0 else 1.0


@pytest.mark.parametrize("budget", [2, 10, 256])
def test_certificates_hold_against_an_adversary_and_are_confirmed(budget: int) -> None:
    for learner in (
        nr.KernelPerceptron(width=0.5, budget=budget),
        nr.KernelGradientDescent(loss="hinge", width=0.5, rate=0.2, budget=budget),
        nr.KernelGradientDescent(loss="square", width=0.5, radius=3.0, budget=budget),
    ):
        rows: list[Any] = []

        def seen(learner: Any = learner, rows: list[Any] = rows) -> Any:
            for x, y in boundary(learner, 120, budget):
                rows.append((x, y))
                yield x, y

        certificate = nr.play(learner, seen()).certificate()
        promise = certificate.theorem
        assert promise is not None
        assert promise.holds is True
        assert math.isfinite(promise.bound or math.inf)
        assert bool(nr.verify(certificate, iter(rows)))


def test_beyond_the_limit_the_comparison_is_with_the_support_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("noregret.hindsight.kernel_rows.MAX_WHOLE_SPACE_ROUNDS", 50)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    y = np.sign(X[:, 0] * X[:, 1])
    learner = nr.KernelGradientDescent(loss="hinge", radius=2.0, budget=20)
    certificate = nr.play(learner, X, y).certificate()
    assert certificate.hindsight.comparator == "RKHS ball of radius 2, of the support vectors kept"
    assert certificate.theorem is not None
    assert certificate.theorem.holds is True
    assert len(certificate.hindsight.witness) <= 20
    assert bool(nr.verify(certificate, X, y))


def test_too_many_numbers_to_look_back_on_are_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("noregret.hindsight.kernel_rows.MAX_WHOLE_SPACE_ROUNDS", 50)
    monkeypatch.setattr("noregret.hindsight.kernel_rows.MAX_NUMBERS", 1000)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    game = nr.play(nr.KernelGradientDescent(loss="hinge", budget=20), X, np.sign(X[:, 0]))
    with pytest.raises(nr.NoRegretError, match="with a budget of at most 5"):
        game.certificate()
