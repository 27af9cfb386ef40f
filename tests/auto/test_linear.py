"""The forward filter and the promise against every linear predictor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from tests.auto.streams import Floats, auto, stream, weighted
from tests.thorough import draws

KINDS = ["noise", "line", "heavy", "spikes", "against", "offset", "late", "sparse", "growing"]


def least_by_numpy(X: Floats, y: Floats, c: Floats) -> tuple[float, Floats]:
    """Return the least penalised loss of an affine predictor, and the price of each round."""
    Z = np.column_stack([np.ones(len(y)), X - X[0]])
    first = [column[np.flatnonzero(column)[0]] if column.any() else 0.0 for column in Z.T]
    known = np.array(first) != 0
    Z, penalty = Z[:, known], np.array(first)[known] ** 2
    A, b, prices = np.diag(penalty), np.zeros(len(penalty)), []
    for x, outcome, worth in zip(Z, y - y[0], c, strict=True):
        z = worth * float(x @ np.linalg.solve(A, x))
        prices.append(worth * outcome**2 * z / (1 + z))
        A, b = A + worth * np.outer(x, x), b + worth * outcome * x
    u = np.linalg.solve(A, b)
    loss = float(c @ (Z @ u - (y - y[0])) ** 2 + penalty @ u**2)
    return loss, np.array(prices)


def drawn(kind: str, rng: np.random.Generator, rows: int, columns: int) -> tuple[Floats, Floats]:
    X = rng.normal(size=(rows, columns))
    y = X @ rng.normal(size=columns) + rng.normal(size=rows)
    if kind == "noise":
        y = rng.normal(size=rows)
    elif kind == "heavy":
        X, y = rng.standard_cauchy((rows, columns)), rng.standard_cauchy(rows)
    elif kind == "spikes":
        y = y * 10.0 ** rng.choice([0, 0, 0, 4], size=rows)
    elif kind == "offset":
        X, y = X + 1e3, y - 1e4
    elif kind == "late":
        X[: rows // 2] = 0
    elif kind == "sparse":
        X *= rng.random(X.shape) < 0.2
    elif kind == "growing":
        y = y * 1.5 ** np.arange(rows)
    return X, y


def account(learner: nr.Auto) -> tuple[float, float]:
    bound, lost = learner._accounts()["linear"].tolist()
    return bound, lost


@draws(40)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 60),
    columns=st.integers(0, 4),
    kind=st.sampled_from(KINDS),
)
def test_no_linear_predictor_is_better_by_more_than_promised(
    seed: int, rows: int, columns: int, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    X, y = drawn(kind, rng, rows, columns)
    learner = auto()
    for t in range(rows):
        if kind == "against":
            y[t] = -1.0 if learner.decision_one(X[t]) >= 0 else 1.0
        learner.learn_one(X[t], y[t])
        bound, lost = account(learner)
        assert lost == 0
        assert learner.total_loss <= bound * (1 + 1e-9) + 1e-12
    own = learner.engine.members.forward
    loss = next(each.loss for each in learner.members if each.name.startswith("forward"))
    assert loss <= (y[0] ** 2 + own.least + own.price) * (1 + 1e-9) + 1e-12


@draws(30)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["noise", "line", "late", "sparse"]))
def test_the_sums_are_those_of_the_formula(seed: int, kind: str) -> None:
    """The least penalised loss is the exact minimum, as NumPy solves for it."""
    rng = np.random.default_rng(seed)
    X, y = drawn(kind, rng, 40, 3)
    c = rng.choice([1.0, 1.0, 0.5, 3.0], size=40) if seed % 2 else np.ones(40)
    learner = auto()
    weighted(learner, X, y, c)
    least, prices = least_by_numpy(X, y, c)
    own = learner.engine.members.forward
    assert own.least == pytest.approx(least, rel=1e-8)
    if (c == 1).all():
        assert prices.sum() * (1 - 1e-9) <= own.price
    assert own.price >= prices.sum() * (1 - 1e-9)


def test_an_adversary_reaches_three_quarters_of_the_bound() -> None:
    """Each feature alone in turn, and the sign that was not predicted."""
    learner, rows, outcomes, reached = auto(recent=False), np.eye(10), [], []
    for t in range(60):
        x = rows[t % 10]
        outcomes.append(-1.0 if learner.decision_one(x) >= 0 else 1.0)
        learner.learn_one(x, outcomes[-1] if t else 1e-9)
        X, y = rows[np.arange(t + 1) % 10], np.array(outcomes)
        y[0] = 1e-9
        best = float(np.sum((X @ np.linalg.lstsq(X, y, rcond=None)[0] - y) ** 2))
        reached.append((learner.total_loss - best) / (account(learner)[0] - best))
    assert max(reached) <= 1 + 1e-9
    assert max(reached[10:]) > 0.75  # the first rounds reach any bound


def test_units_and_origins_do_not_matter() -> None:
    X, y = stream(1, 200, 3)
    here, there = auto(), auto()
    here.learn_many(X, y)
    there.learn_many(1e6 * X + 5e6, 10 * y)
    ours, theirs = here.engine.members.forward, there.engine.members.forward
    assert theirs.least == pytest.approx(100 * ours.least, rel=1e-4)
    assert theirs.price == pytest.approx(100 * ours.price, rel=1e-4)


def test_a_certificate_states_it_and_is_confirmed() -> None:
    X, y = stream(1, 300, 3)
    certificate = nr.play(auto(), X, y).certificate()
    (promise,) = certificate.further
    assert (promise.name, promise.holds) == ("auto-linear", True)
    assert promise.bound is not None
    assert nr.verify(certificate, X, y).confirmed


def test_too_many_features_claim_no_bound() -> None:
    X = np.random.default_rng(0).normal(size=(3, 300))
    (promise,) = nr.play(auto(), X, X[:, 0]).certificate().further
    assert promise.bound is None
    assert promise.failed is not None


def test_other_losses_have_no_such_promise() -> None:
    X, y = stream(1, 50, 2)
    assert nr.play(auto("absolute"), X, y).certificate().further == ()
