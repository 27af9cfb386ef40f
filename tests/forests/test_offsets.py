"""Where the outcomes lie does not matter: the promise and the predictions are those near 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from tests.forests.trees import RATES, STOP, Floats, tables
from tests.thorough import sized

SEEDS = range(sized(2, full=30))
OFFSETS = (0.0, 1e3, 1e6, -1e8, 1e8, 1e12)
SCALES = (1e-3, 1.0, 1e3)
ROWS = 120


def stream(seed: int, scale: float, offset: float = 0.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 2))
    return X, offset + scale * (np.sign(X[:, 0] * X[:, 1]) + 0.5 * rng.normal(size=ROWS))


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_promise_is_kept(seed: int, scale: float, offset: float) -> None:
    """By the forest's own account, and by the predictions: their loss after the first round."""
    X, y = stream(seed, scale, offset)
    learner = nr.MondrianForest(seed=seed)
    promise = nr.play(learner, X, y).certificate().theorem
    assert promise is not None
    assert promise.holds is True
    found = learner.engine.accounts()
    errors = nr.MondrianForest(seed=seed).play_many(X, y)[1:] - y[1:]
    assert np.square(errors).sum() <= (found["pruned"] + found["price"]).min()
    digits = np.spacing(abs(offset)) / scale  # of predictions, which are rounded to those of y
    assert found["lost"][0] == pytest.approx(np.square(errors).sum(), rel=1e-9 + 2 * digits)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", SEEDS)
def test_predictions_are_within_the_outcomes_so_far(seed: int, scale: float, offset: float) -> None:
    X, y = stream(seed, scale, offset)
    learner = nr.MondrianForest(seed=seed)
    guesses = learner.play_many(X, y)[1:]
    low, high = np.minimum.accumulate(y)[:-1], np.maximum.accumulate(y)[:-1]
    rounding = 2 * np.spacing(abs(offset)) + 1e-13 * scale
    assert (guesses >= low - rounding).all()
    assert (guesses <= high + rounding).all()
    for table in tables(learner):
        inner = table[table[:, 0] > 0]
        stop, go = inner[:, STOP : STOP + RATES], inner[:, STOP + RATES : STOP + 2 * RATES]
        np.testing.assert_allclose(stop + go, 1.0, rtol=1e-13)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", SEEDS)
def test_errors_are_those_near_zero(seed: int, scale: float, offset: float) -> None:
    """Of the outcomes as they are at the offset, moved back: that is exact."""
    X, y = stream(seed, scale, offset)
    moved = y - offset
    near = nr.MondrianForest(seed=seed).play_many(X, moved)[1:] - moved[1:]
    far = nr.MondrianForest(seed=seed).play_many(X, y)[1:] - y[1:]
    if np.spacing(abs(offset)) < 1e-3 * scale:
        np.testing.assert_allclose(far, near, atol=2 * np.spacing(abs(offset)) + 1e-9 * scale)
    assert np.square(far).mean() <= 1.1 * np.square(near).mean() + np.spacing(abs(offset)) ** 2


def test_the_first_outcome_may_be_far_from_all_others() -> None:
    """Its range is then that of the promise."""
    X, y = stream(0, 1.0)
    y[0] = 1e8
    promise = nr.play(nr.make("mondrian-forest"), X, y).certificate().theorem
    assert promise is not None
    assert promise.holds is True


def test_certificates_far_from_zero_verify(tmp_path: Path) -> None:
    X, y = stream(1, 1.0, 1e8)
    lines = [
        "a,b,y",
        *(f"{a!r},{b!r},{out!r}" for (a, b), out in zip(X.tolist(), y.tolist(), strict=True)),
    ]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join(lines) + "\n")
    game = nr.play(nr.MondrianForest(), str(table), target="y", progress=False)
    assert nr.verify(game.certificate(), str(table), target="y").confirmed


def test_states_without_an_origin_are_read() -> None:
    """Their trees have learned outcomes as they are, and go on so."""
    X, y = stream(2, 1.0)
    y[0] = 0.0  # as if
    whole, earlier, later = (nr.MondrianForest() for _ in range(3))
    guesses = whole.play_many(X, y)
    earlier.learn_many(X[:60], y[:60])
    arrays, numbers = earlier.engine.get_state()
    assert arrays.pop("origin") == [0.0]
    later.learn_many(X[:1], y[:1] + 5)
    later.engine.set_state(arrays, numbers)
    np.testing.assert_array_equal(later.play_many(X[60:], y[60:]), guesses[60:])
