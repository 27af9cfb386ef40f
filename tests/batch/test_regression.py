"""Least squares and ridge regression, against NumPy; blocks, merging, and what is singular."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import noregret as nr
from noregret.batch import LinearRegression, Ridge
from noregret.batch.least_squares import few_of, missing, steps_for
from noregret.errors import NoRegretError
from noregret.hindsight import Rows

from .problems import numbers

Floats = NDArray[np.float64]
whole = st.integers(-8, 8).map(float)


@st.composite
def examples(draw: Any, most: int = 9) -> tuple[Floats, Floats]:
    """Whole numbers, so that columns depend on others for sure or not at all."""
    rows, features = draw(st.integers(1, most)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (rows, features), elements=whole))
    return X, draw(arrays(np.float64, rows, elements=whole))


def close(found: Floats, expected: Any, tolerance: float = 1e-9) -> bool:
    return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance))


# The shortest of the best.


@given(examples())
def test_weights_are_those_of_the_pseudoinverse(data: tuple[Floats, Floats]) -> None:
    X, y = data
    expected = np.linalg.pinv(X) @ y
    found = LinearRegression().fit(X, y)
    assert close(found.weights, expected)
    assert found.rank == np.linalg.matrix_rank(X)
    streamed = LinearRegression()
    streamed.learn_many(X[:3], y[:3])
    streamed.learn_many(X[3:], y[3:])
    assert close(streamed.weights, expected, 1e-6)
    assert streamed.rank == found.rank


@given(examples())
def test_gradient_descent_finds_the_same_weights(data: tuple[Floats, Floats]) -> None:
    X, y = data
    expected = LinearRegression().fit(X, y)
    found = LinearRegression("gradient-descent").fit(X, y)
    assert found.converged
    assert close(found.weights, expected.weights)


@given(examples(), st.floats(1e-3, 1e3))
def test_ridge_solves_the_normal_equations(data: tuple[Floats, Floats], penalty: float) -> None:
    X, y = data
    expected = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)
    assert close(Ridge(penalty).fit(X, y).weights, expected)
    A = np.column_stack([np.ones(len(y)), X])
    expected = np.linalg.solve(A.T @ A + penalty * np.eye(A.shape[1]), A.T @ y)
    found = Ridge(penalty, intercept=True).fit(X, y)
    assert close(np.append(found.constant, found.weights), expected)


@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("method", ["pseudoinverse", "gradient-descent"])
def test_columns_that_depend_on_others(rows: int, method: str) -> None:
    X, y = numbers(rows)
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2], np.full(rows, 3.0), np.zeros(rows)])
    found = LinearRegression(method).fit(X, y)
    assert close(found.weights, np.linalg.pinv(X) @ y)
    assert found.rank == min(rows, 5)
    certificate = found.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds is True
    said = next(f for f in certificate.theorem.assumptions if "depend" in f.name)
    assert said.measured == X.shape[1] - found.rank
    assert nr.verify(certificate, X, y).confirmed


def test_units_of_columns_do_not_make_them_dependent() -> None:
    X, y = numbers()
    units = np.array([1e-9, 1.0, 1e9, 1e3])
    found = LinearRegression().fit(X * units, y)
    assert found.rank == 4
    assert close(found.weights * units, np.linalg.lstsq(X, y, rcond=None)[0])


def test_nearly_dependent_columns_are_told_apart_where_the_rows_are_at_hand() -> None:
    X, y = numbers()
    X = np.column_stack([X, X[:, 0] + 1e-9 * np.random.default_rng(1).normal(size=len(y))])
    found = LinearRegression().fit(X, y)
    assert found.rank == 5
    expected = np.linalg.lstsq(X, y, rcond=None)[0]
    assert np.allclose(X @ found.weights, X @ expected, atol=1e-6)


@given(st.floats(1.0, 1e6), st.integers(0, 10_000))
def test_the_share_that_is_missing_falls_as_chebyshev_says(ratio: float, steps: int) -> None:
    q = (ratio - 1) / (ratio + 1)
    assert missing(ratio, steps) == pytest.approx(2 * q**steps / (1 + q ** (2 * steps)), rel=1e-6)
    needed = steps_for(ratio, 1e-12)
    assert missing(ratio, needed) <= 1e-12 * (1 + 1e-6)
    assert missing(ratio, needed - 1) > 1e-12 * (1 - 1e-6)


@given(st.integers(1, 60))
def test_no_more_is_missing_than_is_said(steps: int) -> None:
    X, y = numbers(30)
    X[:, 1] *= 5
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = LinearRegression("gradient-descent", steps=steps).fit(X, y)
    left = found.solution.numbers["left"]
    assert np.linalg.norm(found.weights - best) <= left * np.linalg.norm(best) + 1e-11


def test_too_few_steps_are_said_to_be_so() -> None:
    X, y = numbers()
    X[:, 2] *= 1e4
    with pytest.warns(RuntimeWarning, match="has not converged.*are needed: allow more"):
        found = LinearRegression("gradient-descent", steps=50).fit(X, y)
    assert not found.converged
    assert found.steps_taken == 50
    certificate = found.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None
    assert certificate.theorem.failed is not None
    assert certificate.theorem.failed.name.startswith("steps >= ")
    with pytest.warns(RuntimeWarning, match="not converged"):
        assert nr.verify(certificate, X, y).confirmed


def test_features_too_different_in_size_to_descend() -> None:
    X, y = numbers()
    with pytest.raises(NoRegretError, match="scale them alike, or use method='pseudoinverse'"):
        LinearRegression("gradient-descent").fit(X * [1e-100, 1.0, 1e100, 1.0], y)


@pytest.mark.parametrize("make", [LinearRegression, Ridge])
def test_features_that_are_too_many_for_sums(make: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2100)), rng.normal(size=15)
    found = make().fit(X, y)
    expected = np.linalg.pinv(X) @ y
    if make is Ridge:
        expected = X.T @ np.linalg.solve(X @ X.T + np.eye(15), y)
    assert close(found.weights, expected, 1e-6)
    kept = pickle.loads(pickle.dumps(found))
    assert np.array_equal(kept.predict_many(X), found.predict_many(X))
    with pytest.raises(NoRegretError, match="cannot learn or merge"):
        kept.learn_many(X, y)
    with pytest.raises(NoRegretError, match="cannot learn or merge"):
        kept.merge(found)
    streamed = make()
    streamed.learn_many(X, y)
    with pytest.raises(NoRegretError, match="more than 2000 features"):
        streamed.predict_many(X)


# Streaming and merging.


def parts(X: Floats, y: Floats, cuts: list[int]) -> list[tuple[Floats, Floats]]:
    places = [0, *sorted(min(cut, len(y)) for cut in cuts), len(y)]
    return [(X[a:b], y[a:b]) for a, b in pairwise(places)]


def of(X: Floats, y: Floats, intercept: bool) -> Ridge:
    found = Ridge(penalty=0.5, intercept=intercept)
    if len(y):
        found.fit(X, y)
    return found


def same(one: Ridge, other: Ridge) -> bool:
    if not one.rounds or not other.rounds:
        return bool(one.rounds == other.rounds)
    return bool(
        one.rounds == other.rounds
        and close(one.weights, other.weights)
        and one.constant == pytest.approx(other.constant, rel=1e-9, abs=1e-9)
        and close(one.sums.gram, other.sums.gram)
        and one.sums.energy == pytest.approx(other.sums.energy)
    )


cut = st.lists(st.integers(0, 9), min_size=2, max_size=2)


@given(examples(), cut, st.booleans())
def test_merging_is_fitting_to_both(
    data: tuple[Floats, Floats], cuts: list[int], intercept: bool
) -> None:
    X, y = data
    a, b, c = (of(*part, intercept) for part in parts(X, y, cuts))
    whole = of(X, y, intercept)
    assert same(a.copy().merge(b).merge(c), whole)
    assert same(a.copy().merge(b.copy().merge(c)), whole)
    assert same(c.copy().merge(a).merge(b), whole)
    empty = Ridge(penalty=0.5, intercept=intercept)
    assert same(empty.copy().merge(a), a)
    assert same(a.copy().merge(empty), a)


@given(examples(), cut)
def test_blocks_are_the_same_as_all_at_once(data: tuple[Floats, Floats], cuts: list[int]) -> None:
    X, y = data
    whole, streamed = Ridge().fit(X, y), Ridge()
    for rows, outcomes in parts(X, y, cuts):
        streamed.learn_many(rows, outcomes)
        streamed = pickle.loads(pickle.dumps(streamed))
    assert close(streamed.weights, whole.weights)
    try:
        certificate = streamed.certificate()
    except NoRegretError:  # rows that fit almost without error, or columns that nearly depend
        return
    assert certificate.data == whole.certificate().data
    done = nr.verify(certificate, X, y)
    assert done.confirmed, done.failed


def test_examples_by_name_merge_by_name() -> None:
    here = [{"a": 1.0, "b": 2.0}, {"a": 3.0}]
    there = [{"c": 1.0, "b": 5.0}, {"b": 1.0, "a": 7.0, "c": -2.0}]
    outcomes = [1.0, 2.0, 7.0, 3.0]
    whole = Ridge(intercept=True).fit(here + there, outcomes)
    left = Ridge(intercept=True).fit(here, outcomes[:2])
    right = Ridge(intercept=True).fit(there, outcomes[2:])
    for both in (left.copy().merge(right), right.copy().merge(left)):
        found = dict(zip(both.features, both.weights, strict=True))
        assert found == pytest.approx(dict(zip(whole.features, whole.weights, strict=True)))
        assert both.constant == pytest.approx(whole.constant)
        assert both.predict_one(here[0]) == pytest.approx(whole.predict_one(here[0]))


def test_what_merges_goes_on_learning(tmp_path: Path) -> None:
    X, y = numbers(90)
    a, b = LinearRegression().fit(X[:30], y[:30]), LinearRegression().fit(X[30:60], y[30:60])
    a.merge(b)
    a.save(tmp_path / "model")
    loaded = nr.load(tmp_path / "model")
    loaded.learn_many(X[60:], y[60:])
    assert close(loaded.weights, np.linalg.lstsq(X, y, rcond=None)[0])
    assert loaded.rounds == 90
    certificate = loaded.certificate()
    assert [part.rounds for part in certificate.data.parts] == [30, 30, 30]
    assert nr.verify(certificate, X, y).confirmed
    assert b.certificate().data.rounds == 30  # the other one is as it was
    assert loaded.fit(X, y).certificate().data.rounds == 90


def test_a_copy_certifies_the_weights_that_it_predicts_with() -> None:
    X, y = numbers()
    found = LinearRegression().fit(X, y)
    certificate = found.copy().certificate()
    assert list(certificate.hindsight.witness.values()) == found.weights.tolist()
    assert nr.verify(certificate, X, y).confirmed


def test_sums_that_do_not_tell_what_weights_pay_certify_nothing() -> None:
    X, y = numbers()
    X = np.column_stack([X, X[:, 0] + 1e-9 * np.random.default_rng(1).normal(size=len(y))])
    found = LinearRegression().fit(X, y)
    assert nr.verify(found.certificate(), X, y).confirmed
    with pytest.raises(NoRegretError, match="fit it to rows"):
        found.copy().certificate()


def test_what_does_not_merge() -> None:
    X, y = numbers()
    here = Ridge().fit(X, y)
    with pytest.raises(ValueError, match="merges only with the same"):
        here.merge(Ridge(penalty=3.0).fit(X, y))
    with pytest.raises(ValueError, match="merges only with the same"):
        here.merge(LinearRegression().fit(X, y))
    with pytest.raises(ValueError, match="features differ: 4 by position, and 3 by position"):
        here.merge(Ridge().fit(X[:, :3], y))
    with pytest.raises(ValueError, match=r"4 by position, and 2 by name \(a, b\)"):
        here.merge(Ridge().fit([{"a": 1.0, "b": 2.0}], [1.0]))
    assert here.rounds == len(y)


def test_a_block_that_is_refused_leaves_the_rows_before_it() -> None:
    X, y = numbers()
    streamed = Ridge()
    streamed.learn_many(X[:20], y[:20])
    bad = X[20:40].copy()
    bad[5, 1] = np.nan
    with pytest.raises(nr.BadExample, match="round 26"):
        streamed.learn_many(bad, y[20:40])
    assert streamed.rounds == 25
    assert close(streamed.weights, Ridge().fit(X[:25], y[:25]).weights)


def test_sums_alone_are_kept_of_a_stream() -> None:
    X, y = numbers(3000)
    streamed = Ridge()
    for start in range(0, 3000, 100):
        streamed.learn_many(X[start : start + 100], y[start : start + 100])
    assert streamed.game is not None
    assert streamed.game.ledger.pages is None
    arrays, _, _ = streamed.get_state()
    assert sum(array.nbytes for array in arrays.values()) < 2**17  # most of it for the digest


def test_states_with_wrong_sums_are_refused() -> None:
    found = Ridge().fit(*numbers())
    arrays, figures, names = found.get_state()
    for key, wrong in (("sums.gram.high", np.nan), ("sums.moment.high", np.inf)):
        with pytest.raises(ValueError, match=r"invalid|not expected here"):
            Ridge().set_state(arrays | {key: np.full_like(arrays[key], wrong)}, figures, names)
    with pytest.raises(ValueError, match="reshape"):
        Ridge().set_state(arrays | {"sums.gram.high": np.zeros(3)}, figures, names)


# Figures.


@given(examples(), st.floats(1e-2, 1e2))
def test_the_certificate_of_ridge_is_about_the_objective(
    data: tuple[Floats, Floats], penalty: float
) -> None:
    X, y = data
    found = Ridge(penalty).fit(X, y)
    certificate = found.certificate()
    loss = float(((X @ found.weights - y) ** 2).sum())
    assert certificate.loss.total == pytest.approx(loss, rel=1e-9, abs=1e-9)
    assert certificate.theorem is not None
    objective = loss + penalty * float(found.weights @ found.weights)
    assert certificate.theorem.measured == pytest.approx(objective, rel=1e-9, abs=1e-9)
    assert certificate.theorem.holds is True
    assert certificate.regret.upper <= 1e-6 * (1 + float(y @ y))
    # No weights that are as short pay less: try some.
    rng = np.random.default_rng(0)
    for _ in range(5):
        u = found.weights + 0.1 * rng.normal(size=len(found.weights))
        u *= min(1.0, np.linalg.norm(found.weights) / (np.linalg.norm(u) or 1.0))
        least = certificate.hindsight.loss - certificate.hindsight.gap
        assert ((X @ u - y) ** 2).sum() >= least - 1e-9


def test_outcomes_too_large_to_be_squared() -> None:
    with pytest.raises(NoRegretError, match="scale the outcomes down"):
        Ridge().fit([[1.0]], [1e149])


def test_features_as_large_as_they_may_be() -> None:
    X, y = np.full((300, 1), 1e149), np.ones(300)
    streamed, fitted = LinearRegression(), LinearRegression().fit(X, y)
    streamed.learn_many(X, y)
    assert streamed.weights == pytest.approx([1e-149])
    assert fitted.weights == pytest.approx([1e-149])
    assert nr.verify(fitted.certificate(), X, y).confirmed
    with pytest.raises(NoRegretError, match="fit without error"):
        streamed.certificate()


def test_few_rows_stand_for_all() -> None:
    X, y = numbers(500)
    few = few_of(Rows(X, y), None)
    assert few.R.shape == (4, 4)
    assert np.allclose(few.R.T @ few.R, X.T @ X)
    assert np.allclose(few.R.T @ few.z, X.T @ y)


@pytest.mark.parametrize("offset", [3e6, 1e7, 1e9, 1e12])
def test_what_rounding_hides_is_not_promised(offset: float) -> None:
    """Columns so far from zero that sums lose what tells them apart: some weights pay far less."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 2))
    X, y = Z + offset, Z[:, 0] - Z[:, 1] + 0.3 * rng.normal(size=40)
    found = Ridge(penalty=1.0).fit(X, y).certificate().theorem
    assert found is not None
    least = float(((y - X @ [0.96, -0.96]) ** 2).sum()) + 2 * 0.96**2
    assert found.bound is None or found.bound <= least * (1 + 1e-6)
    assert found.holds is not True or found.measured <= least * (1 + 1e-6)
