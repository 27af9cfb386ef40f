"""Learners over several classes beside plain NumPy: every form, and classes that come late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import lambertw

import noregret as nr
from tests.thorough import draws

Floats = NDArray[np.float64]


def gradient(loss: str, s: Floats, y: int) -> tuple[float, Floats]:
    """Return the loss of scores, and its gradient by them."""
    g = np.zeros(len(s))
    if loss == "softmax":
        g = np.exp(s - np.logaddexp.reduce(s))
        g[y] -= 1
        return float(np.logaddexp.reduce(s) - s[y]), g
    rivals = np.where(np.arange(len(s)) == y, -np.inf, s)
    r = int(rivals.argmax())
    if len(s) == 1:
        return 0.0, g
    excess = s[r] - s[y]
    value = max(0.0, 1 + excess) if loss == "multiclass-hinge" else float(excess >= 0)
    if value > 0:
        g[y], g[r] = -1, 1
    return float(value), g


def softmax_after(s: Floats, y: int, reach: float) -> Floats:
    """Return p − e_y at the scores s' = s − reach (p − e_y), with p = softmax(s').

    p_c = W(reach · exp(b_c − Z))/reach with Lambert's W, b = s + reach e_y, and Z so that the p_c
    sum to 1.
    """
    b = s + reach * (np.arange(len(s)) == y)

    def chances(Z: float) -> Floats:
        # W(exp(v)) for large v by its fixed point, as exp(v) overflows.
        v = np.log(reach) + b - Z
        small = np.minimum(v, 300.0)
        w = np.real(lambertw(np.exp(small)))
        for _ in range(60):
            w = np.where(v > 300.0, v - np.log(np.maximum(w, 1.0)), w)
        return np.asarray(w / reach)

    low, high = b.min() - reach - 50.0, b.max() + 50.0
    Z = brentq(lambda z: chances(z).sum() - 1, low, high, xtol=1e-15, rtol=1e-15, maxiter=500)
    p = chances(Z)
    return np.asarray(p / p.sum() - (np.arange(len(s)) == y))


def hinge_after(s: Floats, y: int, reach: float) -> Floats:
    """Return the pull of the implicit step: α_c ≥ 0 of rivals with Σ α ≤ 1, found by bisection.

    It minimises reach (Σ α_c² + (Σ α_c)²)/2 − Σ α_c (1 + s_c − s_y): α_c = max(0, short_c − θ) with
    θ = Σ α + μ, where μ ≥ 0 is 0 unless Σ α = 1; short_c in units of reach.
    """
    short = (1 + s - s[y]) / reach
    short[y] = -np.inf

    def shares(theta: float) -> Floats:
        return np.asarray(np.maximum(0.0, short - theta))

    if short.max() <= 0:
        return np.zeros(len(s))
    theta = brentq(lambda t: min(1.0, shares(t).sum()) - min(t, 1.0), 0.0, short.max() + 1.0) \
        if shares(1.0).sum() <= 1.0 else None  # fmt: skip
    if theta is None:
        theta = brentq(lambda t: shares(t).sum() - 1.0, 0.0, short.max(), xtol=1e-15)
    pull = shares(float(theta))
    pull[y] = -pull.sum()
    return pull


class Several:
    """One weight vector per class, in columns; a class joins when it first appears."""

    def __init__(self, loss: str, n: int, **params: Any) -> None:
        self.loss = loss
        self.params: dict[str, Any] = {"rate": 1.0, "schedule": "sqrt"} | params
        if loss == "multiclass-mistake":
            self.params["schedule"] = "constant"
        self.W, self.known = np.zeros((n, 0)), list[Any]()
        self.squares, self.sums = np.zeros((n, 0)), np.zeros((n, 0))
        self.rounds, self.total = 0, 0.0

    def learn(self, x: Floats, label: Any, importance: float = 1.0) -> None:
        if label not in self.known:
            self.known.append(label)
            more = np.zeros((len(x), 1))
            self.W, self.squares, self.sums = (
                np.hstack([each, more]) for each in (self.W, self.squares, self.sums)
            )
        y, s, params = self.known.index(label), x @ self.W, self.params
        value, g = gradient(self.loss, s, y)
        self.rounds += 1
        self.total += importance * value
        rate = params["rate"]
        form = params.get("form", "gradient")
        if form == "gradient":
            if params["schedule"] == "sqrt":
                rate /= np.sqrt(self.rounds)
            elif params["schedule"] == "horizon":
                rate /= np.sqrt(params["horizon"])
            rate *= importance
            reach = float(rate * (x @ x))
            implicit = importance != 1 and self.loss != "multiclass-mistake"
            if (params.get("step") == "implicit" or implicit) and reach > 0 and g.any():
                g = (softmax_after if self.loss == "softmax" else hinge_after)(s, y, reach)
            self.W = self.W - rate * np.outer(x, g)
            radius, size = params.get("radius"), np.linalg.norm(self.W)
            if radius is not None and size > radius:
                self.W *= radius / size
            return
        G = importance * np.outer(x, g)
        before = np.sqrt(self.squares)
        self.squares = self.squares + G**2
        after = np.sqrt(self.squares)
        if form == "adagrad":
            self.W = self.W - rate * np.divide(G, after, out=np.zeros_like(G), where=after > 0)
            return
        self.sums = self.sums + G - (after - before) / rate * self.W
        l1, l2 = params.get("l1", 0.0), params.get("l2", 0.0)
        shrunk = np.sign(self.sums) * np.maximum(0.0, np.abs(self.sums) - l1)
        self.W = -shrunk / ((1.0 + after) / rate + l2)


LOSSES = {
    "softmax": "softmax",
    "multiclass-hinge": "multiclass-hinge",
    "multiclass-perceptron": "multiclass-mistake",
}
STEPS: list[dict[str, Any]] = [
    {},
    {"radius": 0.7},
    {"schedule": "constant", "rate": 0.3},
    {"schedule": "horizon", "horizon": 60, "rate": 2.0, "radius": 1.5},
    {"step": "implicit"},
    {"step": "implicit", "schedule": "constant", "rate": 0.4, "radius": 0.7},
    {"step": "implicit", "schedule": "constant", "rate": 1000.0},
]
CASES: list[tuple[str, dict[str, Any]]] = [
    *(("softmax", params) for params in STEPS),
    *(("multiclass-hinge", params) for params in STEPS),
    ("multiclass-perceptron", {}),
    ("softmax", {"form": "adagrad", "rate": 0.5}),
    ("softmax", {"form": "ftrl-proximal", "rate": 0.5}),
    ("softmax", {"form": "ftrl-proximal", "rate": 1.0, "l1": 0.2, "l2": 0.5}),
]


def sequence(seed: int, rounds: int = 40) -> tuple[Floats, list[Any]]:
    """Return rows, some empty or long, and classes of which some come late, up to nine."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    X = rng.normal(size=(rounds, n)) * (rng.random((rounds, n)) < 0.7)
    X *= rng.choice([0.1, 1.0, 5.0], size=(rounds, 1))
    codes = (X @ rng.normal(size=(n, 9)) + rng.gumbel(size=(rounds, 9))).argmax(axis=1)
    codes = np.minimum(codes, np.arange(rounds) // 4)
    return X, [f"class {code}" for code in codes]


@pytest.mark.parametrize(("name", "params"), CASES, ids=str)
@draws(12)
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_every_form_is_that_of_its_reference(
    name: str, params: dict[str, Any], seed: int, weighted: bool
) -> None:
    X, y = sequence(seed)
    rng = np.random.default_rng(seed)
    importance = rng.choice([0.0, 0.5, 1.0, 3.0], size=len(X)) if weighted else np.ones(len(X))
    learner, plain = nr.make(name, **params), Several(LOSSES[name], X.shape[1], **params)
    learner.learn_many(sp.csr_array(X), y, importance)
    for x, label, share in zip(X, y, importance, strict=True):
        plain.learn(x, label, share)
    assert learner.classes == plain.known
    np.testing.assert_allclose(learner.weights, plain.W, rtol=1e-7, atol=1e-8)
    assert learner.total_loss == pytest.approx(plain.total, rel=1e-7)
    scores = learner.decision_many(X)
    np.testing.assert_allclose(scores, X @ plain.W, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("name", ["softmax", "multiclass-hinge"])
def test_an_implicit_step_ends_where_its_gradient_is_that_of_the_scores_there(
    name: str, size: float
) -> None:
    """W' = W − η g xᵀ, with g a subgradient of the loss at W' x."""
    rng = np.random.default_rng(3)
    learner = nr.make(name, step="implicit", schedule="constant", rate=1.0)
    for k in range(6):
        learner.learn_one([0.0, 0.0], k)
    for _ in range(40):
        x, y = size * rng.normal(size=2), int(rng.integers(6))
        before = learner.weights
        learner.learn_one(x, y)
        after = learner.weights
        at = x @ after
        pull = (x @ before - at) / (x @ x)
        if name == "softmax":
            expected = gradient("softmax", at, y)[1]
            np.testing.assert_allclose(pull, expected, atol=float(1e-9 + 1e-9 / (x @ x)))
            continue
        # Of the hinge: shares of the rivals that lead by most, in all at most 1.
        lead = 1 + at - at[y]
        lead[y] = 0.0
        slack = 1e-9 * max(1.0, np.abs(at).max())
        assert (np.delete(pull, y) >= -1e-9).all()
        assert np.delete(pull, y).sum() <= 1 + 1e-9
        used = np.flatnonzero(pull > 1e-9)
        assert (lead[used] >= lead.max() - slack).all()
        if -pull[y] < 1 - 1e-9 and len(used):
            assert lead.max() <= slack


def test_two_classes_are_those_of_the_logistic_loss() -> None:
    """Softmax of two classes with rate η moves their difference as the logistic loss with 2η."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, 1, -1)
    y[:2] = 1, -1
    X[:2] = 0.0
    several = nr.Softmax(rate=0.2, schedule="constant")
    two = nr.Logistic(rate=0.4, schedule="constant")
    several.learn_many(X, y)
    two.learn_many(X, y)
    np.testing.assert_allclose(several.weights[:, 0] - several.weights[:, 1], two.weights)
    assert several.total_loss == pytest.approx(two.total_loss - np.log(2))  # the first is alone
    chances = several.predict_proba_many(X)[:, 0]
    np.testing.assert_allclose(chances, two.predict_proba_many(X)[:, 1])


@pytest.mark.parametrize("kind", [nr.Softmax, nr.MulticlassHinge])
@pytest.mark.parametrize("r", [2, 3, 9])
def test_a_broken_assumption_is_named_with_its_round(kind: Any, r: int) -> None:
    """The first round has one class and no gradient, so it breaks nothing."""
    usual = [([0.6, 0.8], "a"), ([0.6, -0.8], "b")] * 10
    learner = kind(radius=1.0, rate=1.0 / 3.0, schedule="sqrt")
    rows = [*usual[: r - 1], ([6e5, -8e5], "c"), *usual[:4]]
    failed = nr.play(learner, rows).certificate().theorem.failed
    assert failed.name.startswith("norm(gradient)")
    assert failed.first_violation == r
    short = kind(radius=1.0, rate=1.0 / 3.0, schedule="horizon", horizon=r)
    failed = nr.play(short, usual[: r + 2]).certificate().theorem.failed
    assert failed.name.startswith("rounds <=")
    assert failed.first_violation == r + 1


def test_classes_that_cannot_be_separated_are_named_with_their_round() -> None:
    rows = [([1.0, 0.0], "a"), ([0.0, 1.0], "b"), ([1.0, 1.0], "c"), ([1.0, 0.0], "b")]
    promise = nr.play(nr.MulticlassPerceptron(), rows * 2).certificate().theorem
    assert promise.bound is None
    assert promise.failed.first_violation == 4
