"""From many rounds to the next one: on populations whose risk is known, the bounds hold."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from tests.proof.theorems.hostile import Floats
from tests.proof.theorems.test_bounds_on_losses import ridge
from tests.thorough import sized

RUNS = sized(80, full=400)


def population(seed: int) -> tuple[Floats, Floats]:
    """Return a few equally likely examples of norm at most 1, and their outcomes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, X @ np.array([1.0, -0.5, 0.2]) + rng.choice([-0.5, 0.5], size=7)


@pytest.mark.parametrize("m", [1, 5, 40])
@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_the_mean_risk_of_the_mean_weights_obeys_its_bound(m: int, rate: float) -> None:
    """E[R_v] ≤ min over u of  R_u/(1−η) + ‖u‖²/(ηm)."""
    X, y = population(m)
    rng = np.random.default_rng(1)
    risks = np.empty(RUNS)
    for run in range(RUNS):
        learner = nr.averaged(nr.WidrowHoff(rate=rate))
        drawn = rng.integers(len(X), size=m)
        learner.learn_many(X[drawn], y[drawn])
        risks[run] = np.mean((X @ learner.weights - y) ** 2)
    bound = ridge(X, y, 1 / (rate * m), 1 / (len(X) * (1 - rate)))
    surely = 3 * risks.std() / np.sqrt(RUNS)  # what chance may add to the mean of the runs
    assert risks.mean() - surely <= bound
    if m == 1:
        assert risks.mean() == pytest.approx(np.mean(y**2))  # v is the first weights alone: zero


@pytest.mark.parametrize("chance", [0.5, 0.1])
@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_with_high_probability_the_risk_is_below_the_bound(loss: str, chance: float) -> None:
    """The bound of the certificate covers at least 1 − δ of the runs."""
    X, y = population(3)
    largest = float(np.max(np.abs(y)) + 1) ** (2 if loss == "square" else 1)
    rng, covered, runs, m = np.random.default_rng(2), 0, sized(40, full=200), 30
    for _ in range(runs):
        learner = nr.averaged(nr.GradientDescent(loss=loss, rate=0.1, radius=1.0))
        drawn = rng.integers(len(X), size=m)
        promise = (
            nr.play(learner, X[drawn], y[drawn])
            .certificate("online-to-batch-high-probability", largest_loss=largest, chance=chance)
            .theorem
        )
        assert promise is not None
        assert promise.bound is not None
        error = X @ learner.weights - y
        risk = float(np.mean(error**2 if loss == "square" else np.abs(error)))
        covered += risk <= promise.bound
    assert covered >= (1 - chance) * runs


@pytest.mark.parametrize("chance", [0.0, 1.0, -0.1])
def test_a_chance_that_is_none_is_refused(chance: float) -> None:
    game = nr.play(nr.averaged(nr.WidrowHoff()), [([1.0], 0.5)] * 5)
    with pytest.raises(ValueError, match="chance, of being wrong, lies between 0 and 1"):
        game.certificate("online-to-batch-high-probability", largest_loss=1.0, chance=chance)


def test_online_to_batch_says_what_must_be_trusted() -> None:
    promise = nr.play(nr.WidrowHoff(), [([1.0], 0.5)] * 5).certificate("online-to-batch").theorem
    assert promise is not None
    assert promise.bound is None  # it holds for the mean over samples, of which this is one
    trusted = [found.name for found in promise.assumptions if found.holds is None]
    assert trusted == ["examples are independent and identically distributed"]
