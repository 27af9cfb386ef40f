"""The second-order learners beside explicit matrices, and their matrices under strain."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.linear.engine.second_order import MAX_FEATURES
from tests.learners import second_order_reference as reference
from tests.learners.second_order_reference import Floats
from tests.variants import state

SECOND: list[tuple[str, dict[str, Any]]] = [
    ("vaw", {"penalty": 0.3}),
    ("online-newton", {"penalty": 0.3}),
    ("online-newton", {"form": "diagonal"}),
    ("online-newton", {"radius": 0.7}),
    ("online-newton", {"radius": 0.7, "form": "diagonal"}),
    ("arow", {"penalty": 0.3}),
    ("arow", {"form": "diagonal"}),
]
CURVED: list[dict[str, Any]] = [
    {"loss": loss, "radius": radius, "form": form}
    for loss in ("logistic", "squared-hinge")
    for radius in (0.3, 5.0)
    for form in ("full", "diagonal")
]
KINDS = {"vaw": reference.Vaw, "online-newton": reference.Newton, "arow": reference.Arow}
NAMES = [f"{name} {params}" for name, params in SECOND]
each = pytest.mark.parametrize(("name", "params"), SECOND, ids=NAMES)


def stream(name: str, n: int = 6, rounds: int = 120, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, n)) * (rng.random((rounds, n)) < 0.6)
    y = X @ rng.normal(size=n) + 0.3 * rng.normal(size=rounds)
    return X, np.where(y > 0, 1.0, -1.0) if name == "arow" else y


@each
def test_scores_and_weights_are_those_of_explicit_matrices(
    name: str, params: dict[str, Any]
) -> None:
    X, y = stream(name)
    learner, model = nr.make(name, **params), KINDS[name](6, **params)
    for x, outcome in zip(X, y, strict=True):
        assert learner.decision_one(x) == pytest.approx(model.score(x), rel=1e-9, abs=1e-9)
        learner.learn_one(x, outcome)
        model.learn(x, outcome)
        np.testing.assert_allclose(learner.weights, model.w, rtol=1e-9, atol=1e-9)


@each
def test_columns_that_come_late_had_always_been_zero(name: str, params: dict[str, Any]) -> None:
    X, y = stream(name)
    X[:40, 4:] = 0
    X[:80, 5] = 0
    late, early = nr.make(name, **params), nr.make(name, **params)
    for x, outcome in zip(X, y, strict=True):
        named = {f"x{i}": v for i, v in enumerate(x.tolist()) if v}
        assert late.decision_one(named) == pytest.approx(
            early.decision_one(x), rel=1e-12, abs=1e-12
        )
        late.learn_one(named, outcome)
        early.learn_one(x, outcome)
    order = [int(name.removeprefix("x")) for name in late.features]
    np.testing.assert_allclose(late.weights, early.weights[order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("params", CURVED, ids=str)
def test_curvature_is_that_of_the_largest_parabola_below_the_loss(params: dict[str, Any]) -> None:
    """Found on a grid, which can only overlook a lower point."""
    X, _ = stream("online-newton", 1, 60)
    rng = np.random.default_rng(3)
    for x in X[X[:, 0] != 0]:
        learner = nr.make("online-newton", penalty=1.0, **params)
        model = reference.Newton(1, penalty=1.0, **params)
        for _ in range(3):
            y = float(rng.choice([-1.0, 1.0]))
            before = 1 / learner.engine.get_state()[0]["spreads"][0] if learner.rounds else 1.0
            at_most = model.curvature(x, y)
            learner.learn_one(x, y)
            grown = 1 / learner.engine.get_state()[0]["spreads"][0] - before
            found = grown / x[0] ** 2
            if np.isfinite(at_most):
                assert found == pytest.approx(at_most, rel=3e-2, abs=1e-9)
            model.learn(x, y, max(found, 0.0))
            np.testing.assert_allclose(learner.weights, model.w, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("params", [*CURVED, {"radius": 0.2}], ids=str)
def test_scores_stay_within_the_radius(params: dict[str, Any]) -> None:
    X, y = stream("online-newton", rounds=300)
    y = np.sign(y) if "loss" in params else 100 * y
    learner = nr.make("online-newton", penalty=1e-3, **params)
    learner.learn_many(X[:200], y[:200])
    most = params["radius"] * np.linalg.norm(X, axis=1)
    assert (np.abs(learner.decision_many(X)) <= most * (1 + 1e-12)).all()


def test_forgetting_follows_a_rule_that_changes() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 3))
    X[:, 2] = 0  # never there: its uncertainty must not wind up
    y = X @ [1.0, 2.0, 0.0] * np.where(np.arange(4000) < 2000, 1, -1)
    slow, fast = nr.make("vaw"), nr.make("vaw", forgetting=0.95)
    for learner in (slow, fast):
        learner.learn_many(X, y)
    assert fast.weights[:2] == pytest.approx([-1, -2], abs=1e-6)
    assert fast.total_loss < 0.1 * slow.total_loss
    assert (fast.engine.get_state()[0]["spreads"] <= 1 + 1e-9).all()


def test_forgetting_fades_the_matrix_down_to_what_it_started_with() -> None:
    """A ← f A, but for features that would be less certain than at first."""
    X, y = stream("vaw", 4, 60)
    learner, f = nr.make("vaw", forgetting=0.9), 0.9
    A, w = np.eye(4), np.zeros(4)
    for x, outcome in zip(X, y, strict=True):
        grown = A + np.outer(x, x)
        expected = x @ np.linalg.solve(grown, A @ w)
        assert learner.decision_one(x) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        learner.learn_one(x, outcome)
        w = np.linalg.solve(grown, A @ w + outcome * x)
        uncertain = np.sqrt(np.diag(np.linalg.inv(grown)))
        stretch = np.minimum(1 / math.sqrt(f), 1 / uncertain)
        A = grown / np.outer(stretch, stretch)


def cholesky_solve(A: Any, b: Any) -> tuple[Any, Any]:
    """Return the solution and ln det in the precision of the numbers."""
    n = len(b)
    L = np.zeros_like(A)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    z = np.zeros_like(b)
    for i in range(n):
        z[i] = (b[i] - L[i, :i] @ z[:i]) / L[i, i]
    w = np.zeros_like(b)
    for i in reversed(range(n)):
        w[i] = (z[i] - L[i + 1 :, i] @ w[i + 1 :]) / L[i, i]
    return w, 2 * np.log(np.diag(L)).sum()


@pytest.mark.parametrize("name", ["vaw", "online-newton"])
def test_a_hundred_thousand_ill_conditioned_rounds(name: str) -> None:
    """Nearly the same columns, of sizes 10⁻³ to 10³, beside sums in higher precision."""
    rng = np.random.default_rng(6)
    base = rng.normal(size=(100_000, 1))
    X = (base + 1e-3 * rng.normal(size=(100_000, 5))) * 10.0 ** np.arange(-2, 3)
    y = base[:, 0] + 0.1 * rng.normal(size=100_000)
    learner = nr.make(name)
    learner.learn_many(X, y)
    times = 1 if name == "vaw" else 2
    wide = X.astype(np.longdouble)
    A = np.eye(5, dtype=np.longdouble) + times * (wide.T @ wide)
    w, log_det = cholesky_solve(A, times * (wide.T @ y.astype(np.longdouble)))
    fit = np.abs(wide @ (learner.weights - w)).max()
    assert fit < 1e-8
    spreads = learner.engine.get_state()[0]["spreads"]
    assert (spreads > 0).all()
    assert -np.log(spreads).sum() == pytest.approx(float(log_det), rel=1e-10)
    if name == "vaw":
        assert learner.engine.scalars()["log_det"] == pytest.approx(float(log_det), rel=1e-9)
        assert learner.engine.scalars()["log_det"] >= float(log_det) * (1 - 1e-12)


@each
@pytest.mark.parametrize("size", [1e-140, 1e-9, 1e9, 1e60, 1e140])
def test_nothing_is_ever_infinite(name: str, params: dict[str, Any], size: float) -> None:
    """Rows of any size, one by one: learned or refused, and what is refused leaves no trace."""
    X, y = stream(name, 4, 60)
    rng = np.random.default_rng(7)
    learner = nr.make(name, **params)
    for x, outcome in zip(X * size ** rng.integers(-1, 2, size=X.shape), y, strict=True):
        before = state(learner)
        try:
            learner.learn_one(x, outcome)
        except nr.NoRegretError:
            after = state(learner)
            if before["size"] == after["size"]:
                assert after == before
        arrays, _, _ = learner.get_state()
        assert all(np.isfinite(array).all() for array in arrays.values())
        assert (arrays["spreads"] > 0).all()
        assert np.isfinite(learner.weights).all()


@each
def test_dense_sparse_and_named_rows_are_the_same_to_the_bit(
    name: str, params: dict[str, Any]
) -> None:
    X, y = stream(name, 21, 60)
    X[0] = 1.0
    dense, sparse, named = (nr.make(name, **params) for _ in range(3))
    dense.learn_many(X, y)
    sparse.learn_many(sp.csr_array(X), y)
    for x, outcome in zip(X.tolist(), y, strict=True):
        named.learn_one({f"{i:02d}": v for i, v in enumerate(x) if v}, outcome)
    rows = {f"{i:02d}": v for i, v in enumerate(X[3].tolist()) if v}
    assert dense.weights.tobytes() == sparse.weights.tobytes() == named.weights.tobytes()
    assert dense.total_loss == sparse.total_loss == named.total_loss
    assert dense.decision_one(X[3]) == named.decision_one(rows)


@each
def test_several_threads_may_predict_at_once(name: str, params: dict[str, Any]) -> None:
    X, y = stream(name, 40, 400)
    learner = nr.make(name, **params)
    learner.learn_many(X, y)
    expected = learner.decision_many(X)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: learner.decision_many(X), range(12)):
            assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["vaw", "online-newton", "arow"])
def test_too_many_features_are_refused_and_told_what_to_do(name: str) -> None:
    learner = nr.make(name)
    learner.learn_one({"a": 1.0}, 1.0)
    before = state(learner)
    many = {str(i): 1.0 for i in range(MAX_FEATURES)}
    with pytest.raises(nr.BadExample, match="form='diagonal'"):
        learner.learn_one(many, 1.0)
    assert state(learner) == before
    if name != "vaw":
        nr.make(name, form="diagonal").learn_one(many, 1.0)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_a_loss_that_is_flat_far_out_needs_a_radius(loss: str) -> None:
    with pytest.raises(ValueError, match="radius=10"):
        nr.make("online-newton", loss=loss)


@pytest.mark.parametrize(
    ("name", "params"), [("vaw", {}), ("online-newton", {"radius": 1.0})], ids=str
)
def test_what_predicts_by_more_than_weights_is_not_averaged(
    name: str, params: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="mean of its weights"):
        nr.averaged(nr.make(name, **params))


SPOILT = {
    "spreads": [0.0, -1.0, 1e-305, 1e9, np.nan],
    "factors": [np.inf, 1e300],
    "stored": [np.nan, 1e250],
}


@pytest.mark.parametrize("name", ["vaw", "online-newton", "arow"])
@pytest.mark.parametrize(("array", "values"), SPOILT.items())
def test_states_that_no_rows_lead_to_are_refused(
    name: str, array: str, values: list[float]
) -> None:
    X, y = stream(name)
    learner = nr.make(name)
    learner.learn_many(X, y)
    before = state(learner)
    for value in values:
        arrays, numbers, names = learner.get_state()
        arrays[array][1] = value
        with pytest.raises(ValueError, match=array):
            learner.set_state(arrays, numbers, names)
    arrays, numbers, names = learner.get_state()
    with pytest.raises(ValueError, match="larger than the state says"):
        learner.set_state(arrays, numbers | {"reach": 0.5}, names)
    with pytest.raises(ValueError, match="factors"):
        learner.set_state(arrays | {"factors": arrays["factors"][:-1]}, numbers, names)
    assert state(learner) == before
