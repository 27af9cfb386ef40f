"""The quality of its predictions, against the best possible on simulated data."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.linear.learn_many import play
from tests.auto.streams import Floats, auto, labels, played


def best_linear(X: Floats, y: Floats) -> float:
    """Return what the best linear predictor, with a constant, loses in hindsight."""
    wide = np.column_stack([np.ones(len(y)), X])
    w = np.linalg.lstsq(wide, y, rcond=None)[0]
    return float(((wide @ w - y) ** 2).sum())


def made(seed: int, rows: int, columns: int, noise: float = 1.0) -> tuple[Floats, Floats]:
    """Return rows of mixed units and means, with outcomes that are linear in them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + rng.normal(size=columns)
    y = X @ rng.normal(size=columns) + noise * rng.normal(size=rows) + 10
    return X * 10.0 ** rng.integers(-6, 7, size=columns), y


@pytest.mark.parametrize(("columns", "rows"), [(1, 2000), (5, 3000), (30, 5000), (120, 6000)])
def test_regret_on_steady_data_is_what_learning_weights_costs(columns: int, rows: int) -> None:
    """Least squares costs σ² a weight and ln T; twice that, and what the first rounds may cost.

    Before there are as many rounds as weights nobody can know them: those are charged the variance
    of the outcomes, 2 columns + 10 of them.
    """
    X, y = made(columns, rows, columns)
    regret = float(((played(auto(), X, y) - y) ** 2).sum()) - best_linear(X, y)
    first = (2 * columns + 10) * np.var(y) + y[0] ** 2
    assert regret <= 2 * (columns + 1) * math.log(rows) + first


@pytest.mark.parametrize("columns", [5, 40])
def test_rows_in_no_order_are_predicted_nearly_as_well_as_by_the_best_linear(columns: int) -> None:
    """Within 3 %, counted after the first tenth."""
    X, y = made(columns, 10_000, columns)
    lost = (played(auto(), X, y) - y) ** 2
    assert lost[1000:].sum() <= 1.03 * best_linear(X[1000:], y[1000:])


def test_weights_that_drift_are_followed_better_than_any_fixed_ones_do() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 4))
    w = np.cumsum(0.03 * rng.normal(size=(8000, 4)), axis=0)
    y = (X * w).sum(axis=1) + 0.3 * rng.normal(size=8000)
    assert ((played(auto(), X, y) - y) ** 2).sum() < 0.5 * best_linear(X, y)


def test_weights_that_jump_are_learned_anew() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    w = np.where((np.arange(6000) < 3000)[:, None], [1.0, 2.0, -1.0, 0.0], [-2.0, 1.0, 0.0, 3.0])
    y = (X * w).sum(axis=1) + 0.3 * rng.normal(size=6000)
    lost = (played(auto(), X, y) - y) ** 2
    assert lost[4000:].mean() < 1.5 * 0.3**2


@pytest.mark.parametrize("columns", [3, 30])
def test_labels_are_predicted_nearly_as_well_as_by_the_odds_they_were_drawn_from(
    columns: int,
) -> None:
    """Half a ln T for each weight is what Bayes pays; four times that here."""
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(8000, columns)) * 10.0 ** rng.integers(-6, 7, size=columns)
    odds = (X / X.std(axis=0)) @ rng.normal(size=columns) / math.sqrt(columns) * 2
    y = labels(1 / (1 + np.exp(-odds)) - rng.random(8000))
    learner = auto("logistic")
    played(learner, X, y)
    ideal = np.logaddexp(0, -y * odds).sum()
    assert learner.total_loss - ideal <= 2 * (columns + 1) * math.log(8000)


@pytest.mark.parametrize("tilt", [0.1, 0.5, 0.9])
def test_quantiles_are_exceeded_as_often_as_they_say(tilt: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.exponential(size=10_000)
    learner = nr.make("auto", loss="quantile", loss_parameter=tilt)
    said = np.empty(10_000)
    play(learner._entry, X, y, said)
    assert (y <= said)[1000:].mean() == pytest.approx(tilt, abs=0.03)
    cut = np.quantile(y - X @ [1.0, -2.0, 0.5], tilt)
    error = y - X @ [1.0, -2.0, 0.5] - cut
    ideal = np.where(error > 0, tilt * error, (tilt - 1) * error)[1000:].mean()
    off = (y - said)[1000:]
    assert np.where(off > 0, tilt * off, (tilt - 1) * off).mean() < 1.1 * ideal


def test_outcomes_that_follow_each_other_are_followed() -> None:
    """An autoregression: within a tenth of its own noise, which is a fifth of the variance."""
    rng = np.random.default_rng(0)
    y = np.zeros(6000)
    for t in range(1, 6000):
        y[t] = 0.9 * y[t - 1] + rng.normal()
    lost = (played(auto(), rng.normal(size=(6000, 3)), y + 100) - y - 100) ** 2
    assert lost[500:].mean() < 1.1
