"""Predictions do not depend on the unit of any feature, and follow that of the outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.auto.streams import LOSSES, NUMBERS, Floats, auto, played, stream
from tests.thorough import draws

ROWS = 120


def spoilt(seed: int, columns: int, loss: str) -> tuple[Floats, Floats]:
    """Return a stream with zeros, a constant column, a column that comes late and outliers."""
    X, y = stream(seed, ROWS, columns, loss)
    rng = np.random.default_rng(seed + 1)
    X[rng.random(X.shape) < 0.3] = 0
    X[:, 0] = 1
    X[: ROWS // 2, -1] = 0
    X[rng.random(X.shape) < 0.01] *= 1e4
    if loss != "logistic":
        y[rng.random(ROWS) < 0.02] *= 100
    return X, y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("columns", [1, 5, 52, 70, 260])
def test_units_that_are_powers_of_two_change_no_bit(loss: str, columns: int) -> None:
    X, y = spoilt(columns, columns, loss)
    units = 2.0 ** np.random.default_rng(columns).integers(-60, 60, size=columns)
    assert played(auto(loss), X * units, y).tobytes() == played(auto(loss), X, y).tobytes()


@pytest.mark.parametrize("loss", LOSSES)
@draws(15)
@given(seed=st.integers(0, 10**6), columns=st.integers(1, 6), powers=st.lists(st.floats(-9, 9)))
def test_units_change_nothing_but_rounding(
    loss: str, seed: int, columns: int, powers: list[float]
) -> None:
    X, y = spoilt(seed, columns, loss)
    units = 10.0 ** np.resize([*powers, 1.0], columns)
    plain, other = played(auto(loss), X, y), played(auto(loss), X * units, y)
    assert np.abs(other - plain).max() <= 1e-6 * np.abs(plain).max()


@pytest.mark.parametrize("loss", NUMBERS)
@pytest.mark.parametrize("columns", [0, 1, 5, 52, 70, 260])
@pytest.mark.parametrize("power", [-50, -1, 40])
def test_outcomes_in_other_units_give_predictions_in_these(
    loss: str, columns: int, power: int
) -> None:
    X, y = (
        spoilt(columns, columns, loss) if columns else (np.zeros((ROWS, 0)), stream(0, ROWS, 1)[1])
    )
    unit = 2.0**power
    assert (played(auto(loss), X, y * unit) == unit * played(auto(loss), X, y)).all()


@pytest.mark.parametrize("loss", NUMBERS)
@pytest.mark.parametrize("shift", [-1e3, 7.0, 2.0**20])
def test_outcomes_counted_from_elsewhere_give_predictions_counted_from_there(
    loss: str, shift: float
) -> None:
    """From the second prediction on: nothing is known before the first outcome."""
    X, y = spoilt(3, 4, loss)
    plain, other = played(auto(loss), X, y), played(auto(loss), X, y + shift)
    assert plain[0] == other[0] == 0
    assert np.abs(other - shift - plain)[1:].max() < 1e-6 * np.ptp(y)


def test_outcomes_turned_around_turn_predictions() -> None:
    X, y = spoilt(3, 4, "square")
    assert (played(auto(), X, -y) == -played(auto(), X, y)).all()


def test_labels_turned_around_turn_log_odds() -> None:
    X, y = spoilt(3, 4, "logistic")
    turned = played(auto("logistic"), X, -y)
    assert np.abs(turned + played(auto("logistic"), X, y)).max() < 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_features_turned_around_change_no_bit(loss: str) -> None:
    X, y = spoilt(3, 4, loss)
    turned = X * np.array([1.0, -1.0, 1.0, -1.0])
    assert played(auto(loss), turned, y).tobytes() == played(auto(loss), X, y).tobytes()
