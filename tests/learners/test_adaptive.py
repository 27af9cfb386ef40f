"""Laws of the adaptive and parameter-free learners, besides those of every learner."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.learners.ftrl_proximal import worst
from tests.thorough import draws, paired
from tests.variants import Floats

seeds = st.integers(0, 2**32 - 1)
SLOPES = ("absolute", "quantile", "epsilon-insensitive", "hinge", "logistic", "huber")
BY_COORDINATE: list[tuple[str, dict[str, Any]]] = [
    ("adagrad", {"loss": "absolute"}),
    ("adagrad", {"loss": "absolute", "radius": 0.5}),
    ("ftrl-proximal", {"loss": "absolute", "l1": 0.1}),
    ("coin-betting", {"loss": "absolute"}),
    ("scale-invariant", {"loss": "absolute"}),
]


def stream(seed: int, rounds: int = 60, columns: int = 4) -> tuple[Floats, Floats]:
    """Return rows with zeros, columns that come late, and outcomes of a rule with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, columns)) * (rng.random((rounds, columns)) < 0.7)
    X[np.arange(rounds)[:, None] < rng.integers(0, rounds // 2, size=columns)] = 0
    return X, X @ rng.normal(size=columns) * 3 + rng.normal(size=rounds)


def outcomes(learner: nr.Learner, y: Floats) -> Floats:
    return np.where(y > 0, 1.0, -1.0) if learner.engine.loss.labels else y


def scores(learner: nr.Learner, X: Floats, y: Floats) -> Floats:
    """Return the predictions made before each outcome."""
    found = []
    for x, outcome in zip(X, y, strict=True):
        found.append(learner.decision_one(x))
        learner.learn_one(x, outcome)
    return np.array(found)


# No units.


@pytest.mark.parametrize("loss", SLOPES)
@draws(30)
@given(seed=seeds, exponents=st.lists(st.integers(-60, 60), min_size=4, max_size=4))
def test_powers_of_two_of_any_column_change_no_bit(
    loss: str, seed: int, exponents: list[int]
) -> None:
    X, y = stream(seed)
    learner, other = nr.ScaleInvariant(loss=loss), nr.ScaleInvariant(loss=loss)
    y = outcomes(learner, y)
    units = 2.0 ** np.array(exponents)
    np.testing.assert_array_equal(scores(other, X * units, y), scores(learner, X, y))
    np.testing.assert_array_equal(other.weights * units, learner.weights)
    assert other.total_loss == learner.total_loss


@pytest.mark.parametrize("loss", ["logistic", "huber"])
@draws(30)
@given(seed=seeds, powers=st.lists(st.floats(-9, 9), min_size=4, max_size=4))
def test_units_make_no_difference(loss: str, seed: int, powers: list[float]) -> None:
    """Where the slope does not jump, and so follows what rounding leaves of the score."""
    X, y = stream(seed)
    learner, other = nr.ScaleInvariant(loss=loss), nr.ScaleInvariant(loss=loss)
    y = outcomes(learner, y)
    found = scores(other, X * 10.0 ** np.array(powers), y)
    np.testing.assert_allclose(found, scores(learner, X, y), rtol=1e-9, atol=1e-9)


@given(seed=seeds)
@draws(20)
def test_the_bound_knows_no_units_either(seed: int) -> None:
    X, y = stream(seed)
    bounds = []
    for units in (np.ones(4), 2.0 ** np.array([-30, 30, 0, 10])):
        promise = nr.play(nr.ScaleInvariant(), X * units, y).certificate().theorem
        assert promise is not None
        assert promise.bound is not None
        bounds.append(promise.bound)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-3)


def test_a_value_a_million_times_larger_than_any_before_breaks_nothing() -> None:
    learner = nr.ScaleInvariant()
    rng = np.random.default_rng(0)
    rows = [([float(rng.normal())], 1.0) for _ in range(50)]
    rows.insert(25, ([1e6], 1.0))
    promise = nr.play(learner, rows).certificate().theorem
    assert promise is not None
    assert promise.holds is True


@pytest.mark.parametrize("loss", ["square", "linear", "squared-hinge"])
def test_a_loss_without_a_largest_slope_needs_to_be_told_one(loss: str) -> None:
    with pytest.raises(ValueError, match=rf"slope of the {loss} loss.*lipschitz"):
        nr.ScaleInvariant(loss=loss)
    assert nr.ScaleInvariant(loss=loss, lipschitz=2.0).lipschitz == 2.0


def test_the_mean_of_weights_that_follow_the_example_is_refused() -> None:
    with pytest.raises(ValueError, match="not w·x alone"):
        nr.averaged(nr.ScaleInvariant())


# A coordinate at a time.


@pytest.mark.parametrize(("name", "params"), BY_COORDINATE)
@draws(15)
@given(seed=seeds)
def test_columns_of_zeros_change_nothing(name: str, params: dict[str, Any], seed: int) -> None:
    X, y = stream(seed)
    learner, other = nr.make(name, **params), nr.make(name, **params)
    wide = np.hstack([X, np.zeros((len(X), 3))])
    np.testing.assert_array_equal(scores(other, wide, y), scores(learner, X, y))
    assert other.weights[:4].tolist() == learner.weights.tolist()
    assert not other.weights[4:].any()


@pytest.mark.parametrize(
    ("name", "params"),
    [*BY_COORDINATE, ("adagrad", {"form": "norm"}), ("coin-betting", {"form": "norm"})],
)
@draws(15)
@given(seed=seeds)
def test_sparse_and_dense_rows_agree_to_the_bit(
    name: str, params: dict[str, Any], seed: int
) -> None:
    X, y = stream(seed)
    dense, sparse = nr.make(name, **params), nr.make(name, **params)
    dense.learn_many(X, y)
    sparse.learn_many(sp.csr_array(X), y)
    assert dense.weights.tobytes() == sparse.weights.tobytes()
    assert dense.total_loss == sparse.total_loss


@draws(15)
@given(seed=seeds)
def test_adagrad_is_blind_to_the_size_of_the_gradients(seed: int) -> None:
    """η g/√Σg² is the same for gradients times any factor, here a power of two a column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    units = 2.0 ** rng.integers(-20, 20, size=3)
    learner, other = nr.Adagrad(loss="linear"), nr.Adagrad(loss="linear")
    learner.learn_many(X, np.ones(40))
    other.learn_many(X * units, np.ones(40))
    assert other.weights.tobytes() == learner.weights.tobytes()


# L1 and sparsity.


def test_l1_keeps_weights_at_zero_and_more_of_it_keeps_more() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    y = np.where(X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=2000) > 0, 1, -1)
    counts = []
    for l1 in (0.0, 2.0, 10.0, 1e6):
        learner = nr.FtrlProximal(rate=0.5, l1=l1)
        learner.learn_many(X, y)
        counts.append(learner.nonzero)
        assert learner.nonzero == np.count_nonzero(learner.weights)
    assert counts[0] == 50
    assert counts[0] > counts[1] > counts[2] >= 2
    assert counts[3] == 0


@draws(100)
@given(seed=seeds, n=st.integers(1, 5), radius=st.floats(1e-3, 1e3))
def test_the_worst_of_a_ball_is_not_exceeded_and_is_met(seed: int, n: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    h, c = rng.exponential(size=n) * (rng.random(n) < 0.8), rng.exponential(size=n)
    V = np.abs(rng.normal(size=(2000, n)))
    V *= radius / np.linalg.norm(V, axis=1, keepdims=True)
    tried = (0.5 * V**2 @ h + V @ c).max()
    found = worst(h, c, radius)
    assert tried <= found * (1 + 1e-9)
    if n == 1:
        assert found == pytest.approx(tried, rel=1e-6)


# Bets.


@pytest.mark.parametrize("form", ["coordinate", "norm"])
@draws(40)
@given(coins=st.lists(st.floats(-1, 1), min_size=1, max_size=200))
def test_the_wealth_stays_positive_and_accounts_for_the_loss(form: str, coins: list[float]) -> None:
    """Wealth = ε − Σ g·w, the identity that the promise rests on."""
    learner = nr.CoinBetting(loss="linear", form=form, wealth=2.0)
    for coin in coins:
        learner.learn_one([1.0], coin)
    arrays, numbers, _ = learner.get_state()
    wealth = numbers["wealth"] if form == "norm" else arrays["wealth"][0]
    assert wealth > 0
    assert wealth == pytest.approx(2.0 - learner.total_loss, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("form", ["coordinate", "norm"])
def test_gradients_beyond_the_limit_do_not_ruin_the_gambler(form: str) -> None:
    learner = nr.CoinBetting(loss="square", form=form)
    rng = np.random.default_rng(0)
    for _ in range(500):
        x = rng.normal(size=3) * 10
        learner.learn_one(x, 100 * float(rng.normal()))
    assert np.isfinite(learner.weights).all()
    arrays, numbers, _ = learner.get_state()
    assert np.all(np.asarray(arrays.get("wealth", numbers.get("wealth"))) > 0)


def test_a_loss_without_end_is_refused_before_it_overflows() -> None:
    learner = nr.CoinBetting(loss="linear")
    with pytest.raises(nr.Diverged, match="bounded below"):
        learner.learn_many(np.ones((5000, 1)), np.ones(5000))
    assert np.isfinite(learner.weights).all()
    assert math.isfinite(learner.total_loss)


# Every bound against adversaries with extreme units, columns that come late and columns twice.

ATTACKED: list[tuple[str, dict[str, Any]]] = [
    *(
        ("adagrad", {"loss": loss, "form": form, "radius": radius})
        for loss in ("absolute", "logistic", "square")
        for form in ("diagonal", "norm")
        for radius in (None, 2.0)
    ),
    *(
        ("ftrl-proximal", {"loss": loss, "l1": l1, "l2": l1 / 3, "rate": 0.5})
        for loss in ("hinge", "logistic", "square")
        for l1 in (0.0, 1.0)
    ),
    *(("scale-invariant", {"loss": loss}) for loss in SLOPES),
]


@pytest.mark.parametrize(("case", "decades"), paired(ATTACKED, [0, 9]))
@draws(12)
@given(seed=seeds, hostile=st.booleans())
def test_bounds_stand_extreme_units_late_columns_and_columns_twice(
    case: tuple[str, dict[str, Any]], decades: int, seed: int, hostile: bool
) -> None:
    name, params = case
    rng = np.random.default_rng(seed)
    X, y = stream(seed, rounds=50, columns=3)
    X = np.hstack([X, X[:, :1]])
    spread = min(decades, 3) if name != "scale-invariant" else decades
    X = X * 10.0 ** rng.integers(-spread, spread + 1, size=4)
    X *= 10.0 ** rng.integers(-decades, decades + 1)
    learner = nr.make(name, **params)
    y = outcomes(learner, y)

    def rows() -> Any:
        for x, outcome in zip(X, y, strict=True):
            against = -abs(outcome) if learner.decision_one(x) > 0 else abs(outcome)
            yield x, against if hostile else outcome

    promise = nr.play(learner, rows()).certificate().theorem
    assert promise is not None
    assert promise.bound is not None
    assert promise.holds is not False, promise


@pytest.mark.parametrize("form", ["coordinate", "norm"])
@pytest.mark.parametrize("loss", SLOPES)
@draws(12)
@given(seed=seeds, power=st.integers(-9, 9))
def test_bets_keep_their_promise_at_any_size(form: str, loss: str, seed: int, power: int) -> None:
    X, y = stream(seed)
    X = X * 10.0**power
    learner = nr.CoinBetting(loss=loss, form=form, lipschitz=float(np.linalg.norm(X, axis=1).max()))
    promise = nr.play(learner, X, outcomes(learner, y)).certificate().theorem
    assert promise is not None
    assert promise.bound is not None
    assert promise.holds is True, promise


# States that make no sense.


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("adagrad", "squares"),
        ("ftrl-proximal", "squares"),
        ("coin-betting", "wealth"),
        ("coin-betting", "count"),
        ("scale-invariant", "peak"),
        ("scale-invariant", "wealth"),
    ],
)
def test_negative_sums_are_refused(name: str, array: str) -> None:
    learner, fresh = nr.make(name), nr.make(name)
    learner.learn_many([[1.0, 2.0]] * 3, [1.0, -1.0, 1.0])
    arrays, numbers, features = learner.get_state()
    arrays[array][0] = -1.0
    with pytest.raises(ValueError, match=f"array {array} holds a negative number"):
        fresh.set_state(arrays, numbers, features)
