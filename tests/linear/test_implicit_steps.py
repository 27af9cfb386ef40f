"""The implicit step is the exact minimiser of rate · loss + distance: checked by minimising."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import noregret as nr
from tests import reference
from tests.reference import LABELLED, VALUES, Floats, Reference
from tests.thorough import sized

CONVEX = [name for name in VALUES if name != "mistake"]


def example(rng: np.random.Generator, loss: str, n: int) -> tuple[Floats, float]:
    y = float(rng.choice([-1.0, 1.0])) if loss in LABELLED else float(rng.normal())
    return rng.normal(size=n), y


def least(cost: Callable[[Floats], float], start: Floats, end: Floats) -> float:
    """Return the smallest value of a convex function on a line from start to end."""
    found = minimize_scalar(
        lambda share: cost((1 - share) * start + share * end),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-14, "maxiter": 2000},
    )
    return float(found.fun)


Cost = Callable[[Floats], float]


def additive_cost(model: Reference, rate: float, w: Floats, x: Floats, y: float) -> Cost:
    """Return what the next weights cost: rate · loss + half the squared distance."""
    return lambda new: rate * model.value(float(new @ x), y) + 0.5 * float((new - w) @ (new - w))


def entropic_cost(model: Reference, rate: float, before: Floats, z: Floats, y: float) -> Cost:
    """Return what the next shares cost: rate · loss + relative entropy."""

    def cost(new: Floats) -> float:
        entropy = sum(p * np.log(p / q) for p, q in zip(new, before, strict=True) if p > 0)
        return rate * model.value(float(new @ z), y) + float(entropy)

    return cost


@pytest.mark.parametrize("rate", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("loss", CONVEX)
def test_additive_step_minimises_loss_and_distance(loss: str, rate: float) -> None:
    """Only moves along x can pay, so the search runs over w − t x."""
    rng = np.random.default_rng(1)
    for _ in range(sized(4, full=10)):
        learner = nr.make("gradient-descent", loss=loss, rate=rate, step="implicit")
        model = reference.GradientDescent(2, loss, rate, step="implicit")
        for _ in range(3):
            x, y = example(rng, loss, 2)
            cost = additive_cost(model, rate, model.w, x, y)
            best = least(cost, model.w - 200 * x, model.w + 200 * x)
            learner.learn_one(x, y)
            model.learn(x, y)
            for found in (learner.weights, model.w):
                assert cost(found) <= best + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("weight", [None, 2.0])
@pytest.mark.parametrize("rate", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("loss", CONVEX)
def test_multiplicative_step_minimises_loss_and_relative_entropy(
    loss: str, rate: float, weight: float | None
) -> None:
    """Two features on the simplex, or one of either sign: the shares are on one line."""
    rng = np.random.default_rng(2)
    for _ in range(sized(4, full=10)):
        p = {"loss": loss, "rate": rate, "weight": weight, "step": "implicit"}
        n = 2 if weight is None else 1
        learner = nr.make("exponentiated-gradient", **p)
        model = reference.ExponentiatedGradient(n, loss, rate, weight=weight, step="implicit")
        for _ in range(3):
            x, y = example(rng, loss, n)
            z = x if weight is None else np.array([weight * x[0], -weight * x[0]])
            cost = entropic_cost(model, rate, reference.shares(model.logs), z, y)
            best = least(cost, np.array([0.0, 1.0]), np.array([1.0, 0.0]))
            learner.learn_one(x, y)
            model.learn(x, y)
            first = learner.weights[0] if weight is None else (1 + learner.weights[0] / weight) / 2
            for found in (np.array([first, 1 - first]), reference.shares(model.logs)):
                assert cost(found) <= best + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("loss", CONVEX)
def test_implicit_step_of_the_signed_simplex_beats_its_neighbours(loss: str) -> None:
    """In more dimensions: no small move of mass between two coordinates lowers the cost."""
    rng = np.random.default_rng(3)
    model = reference.ExponentiatedGradient(3, loss, 0.7, weight=2.0, step="implicit")
    for _ in range(sized(4, full=10)):
        x, y = example(rng, loss, 3)
        z = np.concatenate([2 * x, -2 * x])
        cost = entropic_cost(model, 0.7, reference.shares(model.logs), z, y)
        model.learn(x, y)
        new = reference.shares(model.logs)
        for i in range(6):
            for j in range(6):
                moved = new.copy()
                mass = 0.01 * min(new[i], new[j])
                moved[i] -= mass
                moved[j] += mass
                assert cost(new) <= cost(moved) + 1e-12
