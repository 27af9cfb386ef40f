"""Each strategy by what is known of it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

import noregret as nr
from noregret.hindsight.solvers.active_set import least_quadratic
from noregret.portfolios import (
    BuyAndHold,
    EgPortfolio,
    FollowTheLeader,
    OnsPortfolio,
    UniformRebalanced,
    UniversalPortfolio,
)
from noregret.portfolios.costs import left_after
from noregret.portfolios.strategies.ons_portfolio import rate_of, ratio_of
from tests.portfolios.tables import Floats, alternating, tables, usual
from tests.thorough import draws

halves = st.lists(st.tuples(*[st.sampled_from([0.25, 0.5, 1.0, 2.0])] * 2), min_size=1, max_size=7)


# Cover's.


@draws(30)
@given(rows=halves)
def test_two_assets_are_integrated_exactly(rows: list[tuple[float, float]]) -> None:
    strategy = UniversalPortfolio()
    strategy.learn_many(np.array(rows))
    wealth, first = integrals([(Fraction(a), Fraction(b)) for a, b in rows])
    assert strategy.wealth == pytest.approx(float(wealth), rel=1e-13)
    assert strategy.weights()[0] == pytest.approx(float(first / wealth), rel=1e-13)


def integrals(rows: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Return ∫ S(u) du and ∫ u S(u) du: every way to pick one asset a round is a beta integral."""
    total = first = Fraction(0)
    for picked in product((0, 1), repeat=len(rows)):
        k, n = picked.count(0), len(rows)
        gain = Fraction(math.prod(row[i] for row, i in zip(rows, picked, strict=True)))
        beta = Fraction(math.factorial(k) * math.factorial(n - k), math.factorial(n + 1))
        total, first = total + gain * beta, first + gain * beta * Fraction(k + 1, n + 2)
    return total, first


def test_the_universal_wealth_is_the_mean_of_all() -> None:
    X = usual(300, 2, width=0.2)
    strategy = UniversalPortfolio()
    strategy.learn_many(X)
    at, weights = np.polynomial.legendre.leggauss(200)
    at, weights = (at + 1) / 2, weights / 2
    wealth = np.exp(np.log(at[:, None] * X[:, 0] + (1 - at[:, None]) * X[:, 1]).sum(axis=1))
    assert strategy.wealth == pytest.approx(float(weights @ wealth), rel=1e-11)


def test_portfolios_drawn_have_the_mean_wealth_and_a_known_error() -> None:
    X = usual(200, 3, width=0.3, seed=3)
    exact = mean_over_the_triangle(X)
    for seed in range(5):
        strategy = UniversalPortfolio(points=4000, seed=seed)
        strategy.learn_many(X)
        assert 0 < strategy.error < 0.1
        assert abs(strategy.wealth / exact - 1) < 4 * strategy.error


def mean_over_the_triangle(X: Floats) -> float:
    """Return the mean wealth of all portfolios of three assets, by quadrature."""
    at, weights = np.polynomial.legendre.leggauss(80)
    a, b = np.meshgrid((at + 1) / 2, (at + 1) / 2, indexing="ij")
    u = np.stack([1 - a, a * (1 - b), a * b]).reshape(3, -1)
    wealth = np.exp(np.log(X @ u).sum(axis=0)).reshape(a.shape)
    return float(2 * (weights / 2) @ (wealth * a) @ (weights / 2))


def test_too_few_points_claim_nothing_of_all_portfolios() -> None:
    X = usual(400, 8, width=0.8, seed=1)
    certificate = nr.play(UniversalPortfolio(points=20), X).certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.name == "universal-portfolio-drawn"
    assert certificate.theorem.bound == math.log(20)
    assert certificate.theorem.holds
    assert certificate.hindsight.comparator == "20 constant rebalanced portfolios drawn by seed 0"
    assert nr.verify(certificate, X).confirmed


def test_many_points_are_refused_where_they_do_not_fit() -> None:
    with pytest.raises(nr.NoRegretError, match="fewer points"):
        UniversalPortfolio(points=10**7).learn(np.ones(50))


# Exponentiated gradient.


@draws(30)
@given(X=tables())
def test_eg_is_the_update_of_the_page(X: Floats) -> None:
    strategy, w = EgPortfolio(rate=0.7), np.full(X.shape[1], 1.0 / X.shape[1])
    for x in X:
        assert strategy.weights(len(w)) == pytest.approx(w, rel=1e-9)
        strategy.learn(x)
        w = w * np.exp(0.7 * x / (w @ x))
        w /= w.sum()


def test_eg_is_tuned_by_its_theorem() -> None:
    strategy = EgPortfolio.tuned(ratio=2.0, horizon=1000, assets=4)
    assert strategy.rate == pytest.approx(0.5 * math.sqrt(8 * math.log(4) / 1000))
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 1.0, (1000, 4))
    X[0] = [0.5, 1.0, 1.0, 1.0]
    promise = nr.play(strategy, X).certificate("eg-portfolio").theorem
    assert promise is not None
    assert promise.bound is not None
    assert promise.bound <= math.sqrt(1000 * math.log(4) / 2) / 0.5 * 1.01
    spread = nr.play(strategy.clone(), X).certificate("eg-portfolio-spread").theorem
    assert spread is not None
    assert spread.bound is not None
    assert spread.bound < promise.bound
    for wrong in ({"ratio": 0.5}, {"ratio": 0.0}, {"assets": 1}, {"horizon": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            EgPortfolio.tuned(**{"ratio": 2.0, "horizon": 10, "assets": 3} | wrong)


def test_a_zero_leaves_the_bound_by_spreads() -> None:
    X = usual(50, 3)
    X[20, 1] = 0.0
    game = nr.play(EgPortfolio(), X)
    first = game.certificate("eg-portfolio").theorem
    assert first is not None
    assert first.failed is not None
    assert first.failed.first_violation == 21
    chosen = game.certificate().theorem
    assert chosen is not None
    assert chosen.name == "eg-portfolio-spread"
    assert chosen.holds


# Newton.


@draws(60)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 7), ridge=st.sampled_from([1e-6, 0.1, 10.0]))
def test_the_quadratic_is_as_low_as_it_goes(seed: int, n: int, ridge: float) -> None:
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n + 2, n))
    A, c = B.T @ B + ridge * np.eye(n), rng.normal(size=n) * 3
    w = least_quadratic(A, c, rng.dirichlet(np.ones(n)))
    assert (w >= 0).all()
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    slopes = A @ w - c  # the same for all that are held, and not less for the others
    level = slopes[w > 0].mean()
    assert slopes[w > 0] == pytest.approx(level, abs=1e-7)
    assert (slopes >= level - 1e-7).all()


def test_the_quadratic_agrees_with_another_solver() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        B = rng.normal(size=(8, 5))
        A, c = B.T @ B, rng.normal(size=5)
        found = minimize(
            lambda w, A=A, c=c: 0.5 * w @ A @ w - c @ w,
            np.full(5, 0.2),
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        assert least_quadratic(A, c, np.full(5, 0.2)) == pytest.approx(found.x, abs=1e-5)


@draws(20)
@given(X=tables(least=0.3))
def test_newton_is_the_projection_of_the_usual_form(X: Floats) -> None:
    """A⁻¹b with x/(w·x) itself, projected in the norm of A, gives the same shares."""
    n = X.shape[1]
    strategy = OnsPortfolio(rate=0.8, ridge=2.0)
    A, b = 2.0 * np.eye(n), np.zeros(n)
    for x in X:
        g = x / (strategy.weights(n) @ x)
        A, b = A + np.outer(g, g), b + (1 + 1 / 0.8) * g
        strategy.learn(x)
        expected = least_quadratic(A, b, np.full(n, 1 / n))
        assert strategy.weights() == pytest.approx(expected, abs=1e-6)


def test_the_rate_is_the_curvature_of_the_logarithm() -> None:
    for ratio in (1.001, 1.5, 3.0, 100.0):
        rate = rate_of(ratio)
        assert ratio_of(rate) == pytest.approx(ratio, rel=1e-6)
        y = np.linspace(-0.999, ratio - 1, 2001)
        assert (-np.log1p(y) + y >= rate / 2 * y * y * (1 - 1e-9) - 1e-15).all()
        assert -math.log(ratio) + (ratio - 1) == pytest.approx(rate / 2 * (ratio - 1) ** 2)


def test_newton_says_when_an_asset_grew_too_fast() -> None:
    X = usual(30, 3)
    X[11, 2] = 50.0
    promise = nr.play(OnsPortfolio(0.5, 16.0, damping=1.0), X).certificate().theorem
    assert promise is not None
    assert promise.bound is None
    assert promise.failed is not None
    assert promise.failed.first_violation == 12


def test_newton_is_tuned_for_the_largest_ratio() -> None:
    strategy = OnsPortfolio.tuned(ratio=4.0, assets=3)
    assert ratio_of(strategy.rate) == pytest.approx(4.0)
    rng = np.random.default_rng(0)
    X = rng.uniform(0.25, 1.0, (300, 3))
    promise = nr.play(strategy, X).certificate().theorem
    assert promise is not None
    assert promise.holds
    # n/(2γ) ln(1 + T/(ε r²)) + γε/2, the largest that it can be
    rate, ridge = strategy.rate, strategy.ridge
    most = 3 / (2 * rate) * math.log1p(300 / ridge / 0.25**2) + rate * ridge / 2
    assert promise.bound is not None
    assert promise.bound <= most
    with pytest.raises(ValueError, match="ratio"):
        OnsPortfolio.tuned(ratio=0.9, assets=3)


# The simple ones.


def test_equal_shares_grow_where_no_asset_does() -> None:
    X = alternating(100, 2)
    strategy = UniformRebalanced()
    strategy.learn_many(X)
    assert strategy.log_wealth == pytest.approx(50 * math.log(9 / 8), rel=1e-12)
    best = nr.play(BuyAndHold(), X).certificate().hindsight
    assert best.loss == pytest.approx(0.0, abs=1e-9)


@draws(30)
@given(X=tables())
def test_equal_shares_are_worth_the_geometric_mean_at_least(X: Floats) -> None:
    strategy = UniformRebalanced()
    strategy.learn_many(X)
    assert strategy.log_wealth >= np.log(X).sum(axis=0).mean() - 1e-9


@draws(30)
@given(X=tables())
def test_buy_and_hold_has_the_mean_of_all_wealth(X: Floats) -> None:
    strategy = BuyAndHold()
    strategy.learn_many(X)
    wealth = X.prod(axis=0)
    assert strategy.wealth == pytest.approx(wealth.mean(), rel=1e-9)
    assert strategy.weights() == pytest.approx(wealth / wealth.sum(), rel=1e-9)
    regret = strategy.regret_so_far()
    assert regret is not None
    assert regret == pytest.approx(math.log(wealth.max() / wealth.mean()), abs=1e-9)


def test_buy_and_hold_is_as_bad_as_its_promise_allows() -> None:
    X = np.full((60, 4), 0.5)
    X[:, 2] = 1.0
    promise = nr.play(BuyAndHold(), X).certificate().theorem
    assert promise is not None
    assert promise.tightness == pytest.approx(1.0, abs=1e-9)
    assert promise.holds


@pytest.mark.parametrize("little", [1e-3, 1e-100, 1e-300])
def test_the_leader_can_lose_anything(little: float) -> None:
    X = np.array([[1.0, 0.5], [little, 1.0]])
    game = nr.play(FollowTheLeader(), X)
    certificate = game.certificate()
    assert certificate.regret.lower >= math.log(1 / little) - math.log(2)
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None


@draws(15)
@given(X=tables(least=0.2))
def test_the_leader_is_the_best_of_the_past(X: Floats) -> None:
    strategy = FollowTheLeader()
    strategy.learn_many(X)
    u = strategy.weights()
    ratios = X / (X @ u)[:, None]
    assert ratios.mean(axis=0).max() <= 1 + 2e-6


# Costs.


@draws(60)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 6), cost=st.sampled_from([1e-4, 0.01, 0.3, 0.99])
)
def test_costs_leave_what_their_equation_says(seed: int, n: int, cost: float) -> None:
    rng = np.random.default_rng(seed)
    held, wanted = rng.dirichlet(np.full(n, 0.5)), rng.dirichlet(np.full(n, 0.5))

    def excess(left: float) -> float:
        return float(left + cost * np.abs(left * wanted - held).sum() - 1)

    left = left_after(held, wanted, cost)
    assert 0 < left <= 1
    assert left == pytest.approx(brentq(excess, 0.0, 1.0 + 1e-12, xtol=1e-15), abs=1e-12)
    assert left_after(held, held, cost) == pytest.approx(1.0, abs=1e-12)


def test_costs_are_paid_before_the_round_in_which_shares_change() -> None:
    X = np.array([[2.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    strategy = UniformRebalanced(cost=0.01)
    strategy.learn(X[0])
    assert strategy.wealth == pytest.approx(1.5)
    strategy.learn(X[1])
    left = left_after(np.array([2 / 3, 1 / 3]), np.array([0.5, 0.5]), 0.01)
    assert strategy.wealth == pytest.approx(1.5 * left)
    strategy.learn(X[2])
    assert strategy.wealth == pytest.approx(1.5 * left)
