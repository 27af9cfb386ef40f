"""The best expert and the best mixture: lower ≤ minimum ≤ loss, against independent solvers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import BadExample, NoRegretError
from noregret.hindsight import Answer, Limits, Rows, best_convex, best_expert, experts
from noregret.hindsight.expert_losses import expert_losses
from noregret.hindsight.solvers.logarithmic import best_logarithm
from tests.hindsight.problems import Floats, cp, solved
from tests.thorough import draws, sized

LOSSES = {"square": None, "absolute": None, "quantile": 0.8, "percentage": None, "log": None}
KINDS = ("plain", "one expert", "copies", "constants", "perfect", "many experts", "one round")


def advice(kind: str, loss: str, seed: int = 0) -> tuple[Floats, Floats]:
    """Forecasts and outcomes of a kind; probabilities of 0 and 1 for the log loss."""
    draw = np.random.default_rng([seed, KINDS.index(kind)])
    rounds = 1 if kind == "one round" else 40
    n = {"one expert": 1, "many experts": 60}.get(kind, 5)
    y = 3 + draw.normal(size=rounds)
    X = y[:, None] + draw.normal(size=n) + draw.normal(size=(rounds, n))
    if kind == "constants":
        X = np.tile(np.linspace(1, 5, n), (rounds, 1))
    if loss == "log":
        X, y = 1 / (1 + np.exp(3 - X)), (y > 3).astype(float)
        y[::7] = 0.25
    if kind == "copies":
        X[:, 3] = X[:, 1]
    if kind == "perfect":
        X[:, 2] = y
    return X, y


def pays(X: Floats, y: Floats, q: Floats, loss: str) -> Fraction:
    """Return the loss of a mixture, without rounding but for logarithms."""
    weights = [Fraction(v) for v in q.tolist()]
    total = sum(weights)
    paid = Fraction(0)
    for row, outcome in zip(X.tolist(), y.tolist(), strict=True):
        said = sum((Fraction(a) * b for a, b in zip(row, weights, strict=True)), Fraction(0))
        paid += one_loss(loss, said / total, Fraction(outcome))
    return paid


def one_loss(loss: str, s: Fraction, y: Fraction) -> Fraction:
    if loss == "square":
        return (s - y) ** 2
    if loss == "absolute":
        return abs(s - y)
    if loss == "quantile":
        return (s - y) * Fraction(1 - 0.8) if s > y else (y - s) * Fraction(0.8)
    if loss == "percentage":
        return abs(s - y) / abs(y)
    parts = ((y, s), (1 - y, 1 - s))
    return sum((-w * Fraction(math.log(p)) for w, p in parts if w), Fraction(0))


def written(X: Floats, y: Floats, q: Any, loss: str) -> Any:
    """The loss of a mixture for CVXPY."""
    off = X @ q - y
    if loss == "log":
        of_one, of_other = cp.multiply(y, cp.log(X @ q)), cp.multiply(1 - y, cp.log((1 - X) @ q))
        return -cp.sum(of_one) - cp.sum(of_other)
    return {
        "square": lambda: cp.sum_squares(off),
        "absolute": lambda: cp.norm1(off),
        "quantile": lambda: cp.sum(cp.maximum(-0.8 * off, 0.2 * off)),
        "percentage": lambda: cp.norm1(cp.multiply(1 / np.abs(y), off)),
    }[loss]()


def mixed(X: Floats, y: Floats, loss: Any, **more: Any) -> Answer:
    parameter = LOSSES.get(loss) if isinstance(loss, str) else None
    return best_convex(Rows(X, y), loss, loss_parameter=parameter, **more)


# The best expert.

numbers = st.one_of(
    st.floats(-1e9, 1e9), st.sampled_from([0.0, 1e300, -1e300, 1e-300, 5e-324, 1.0, 0.1])
)
tables = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=1, max_size=12)
)


@draws(200)
@given(tables)
def test_no_expert_is_better_than_the_best(table: list[list[float]]) -> None:
    found = best_expert(np.array(table))
    sums = [sum(map(Fraction, column), Fraction(0)) for column in zip(*table, strict=True)]
    assert Fraction(found.lower) <= min(sums) <= Fraction(found.loss)
    assert sums[int(np.argmax(found.witness))] <= Fraction(found.loss)
    assert sorted(found.witness.tolist())[-2:] in ([1.0], [0.0, 1.0])
    assert found.exact


def test_the_smallest_loss_decides_next_to_the_largest() -> None:
    table = [[1e300, 1e300, 1e300], [1e-300, 0.0, 1e-300], [1.0, 1.0, 1.0]]
    assert best_expert(table).witness.tolist() == [0.0, 1.0, 0.0]
    assert best_expert(table[::-1]).witness.tolist() == [0.0, 1.0, 0.0]


def test_a_million_small_losses_after_a_large_one_are_all_counted() -> None:
    table = np.full((1_000_001, 2), 0.1)
    table[0] = 1e16, 1e16 + 2
    table[-1, 0] += 2.5
    found = best_expert(table)
    assert found.witness.tolist() == [0.0, 1.0]
    assert found.relative_gap < 1e-15


def test_whole_numbers_are_summed_without_rounding() -> None:
    draw = np.random.default_rng(0)
    table = draw.integers(0, 2, (1000, 4)).astype(float)
    found = best_expert(table)
    assert found.loss == found.lower == table.sum(axis=0).min()
    counted = best_expert(Rows(table, np.ones(1000)), "zero-one")
    assert counted.loss == counted.lower == (table == 0).sum(axis=0).min()


def test_of_several_best_experts_it_is_the_first() -> None:
    assert best_expert([[1.0, 0.5, 0.5]]).witness.tolist() == [0.0, 1.0, 0.0]


def test_losses_without_end() -> None:
    found = best_expert([[math.inf, 1.0], [0.0, 2.0]])
    assert found.witness.tolist() == [0.0, 1.0]
    assert found.loss == pytest.approx(3.0)
    hopeless = best_expert([[math.inf, math.inf]])
    assert (hopeless.loss, hopeless.lower) == (math.inf, math.inf)
    overflown = best_expert([[1e308]] * 4)
    assert overflown.loss == math.inf
    assert 1e308 < overflown.lower < math.inf


@pytest.mark.parametrize("loss", LOSSES)
def test_an_expert_pays_what_its_corner_pays(loss: str) -> None:
    X, y = advice("plain", loss)
    totals = expert_losses(Rows(X, y), loss, loss_parameter=LOSSES[loss])
    for i, (value, off) in enumerate(zip(totals.values, totals.off, strict=True)):
        exactly = pays(X, y, np.eye(5)[i], loss)
        assert abs(Fraction(value) - exactly) <= Fraction(off)
        assert off < 1e-13 * value
    assert best_expert(Rows(X, y), loss, loss_parameter=LOSSES[loss]).loss == pytest.approx(
        totals.values.min(), rel=1e-14
    )


# The best mixture.


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_holds_the_minimum_of_an_independent_solver(kind: str, loss: str) -> None:
    X, y = advice(kind, loss)
    found = mixed(X, y, loss)
    q = cp.Variable(X.shape[1])
    least = solved(written(X, y, q, loss), [q >= 0, cp.sum(q) == 1])
    assert q.value is not None
    point = np.maximum(q.value, 0) + 1e-300
    scale = float(pays(X, y, np.ones(X.shape[1]), loss))
    assert found.lower <= float(pays(X, y, point, loss)) + 1e-9 * scale
    assert least is None or found.loss >= least - 1e-6 * (abs(least) + scale)
    assert found.gap <= 1e-6 * found.loss + 1e-9 * scale
    assert found.comparator == "convex combinations of the experts"
    assert (found.witness >= 0).all()
    assert found.witness.sum() == pytest.approx(1.0)
    attained = pays(X, y, found.witness, loss)
    assert attained <= Fraction(found.loss) * (1 + Fraction(1e-15))


@draws(60)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    loss=st.sampled_from(list(LOSSES)),
    steps=st.sampled_from([0, 1, 3, 500]),
    scale=st.sampled_from([1.0, 1e-9, 1e9, 1e-200, 1e120]),
)
def test_no_mixture_is_below(seed: int, kind: str, loss: str, steps: int, scale: float) -> None:
    X, y = advice(kind, loss, seed)
    if loss != "log":
        X, y = X * scale, y * scale
    found = mixed(X, y, loss, limits=Limits(steps=steps))
    draw = np.random.default_rng(seed)
    n = X.shape[1]
    for q in (*np.eye(n)[:3], draw.dirichlet(np.ones(n)), found.witness):
        assert Fraction(found.lower) <= pays(X, y, q, loss) * (1 + Fraction(1e-15))


@pytest.mark.parametrize("loss", ["square", "absolute", "quantile", "percentage"])
@pytest.mark.parametrize("unit", [1e-9, 1e9, 2.0**-600, 2.0**400])
def test_units_do_not_matter(loss: str, unit: float) -> None:
    X, y = advice("plain", loss, seed=4)
    plain, other = mixed(X, y, loss), mixed(unit * X, unit * y, loss)
    degree = {"square": 2, "percentage": 0}.get(loss, 1)
    assert other.relative_gap < 1e-6 or other.loss < 1e-300  # too small for a number, but not zero
    assert other.loss == pytest.approx(plain.loss * unit**degree, rel=2e-6, abs=1e-321)


@pytest.mark.parametrize("loss", ["square", "absolute", "quantile"])
def test_a_large_offset_costs_no_digits(loss: str) -> None:
    """Forecasts near 2³⁰ that are off by a thousandth: all of it in multiples of 2⁻²⁰."""
    X, y = (np.round(v * 2.0**10) / 2.0**20 for v in advice("plain", loss, seed=5))
    near, far = mixed(X, y, loss), mixed(X + 2.0**30, y + 2.0**30, loss)
    assert far.relative_gap < 1e-6
    assert far.loss == pytest.approx(near.loss, rel=1e-6)


def test_an_expert_beyond_all_measure_does_not_blur_the_others() -> None:
    X, y = advice("plain", "absolute", seed=6)
    for loss in ("square", "absolute"):
        alone = mixed(X, y, loss)
        found = mixed(np.column_stack([X, np.full(len(y), 1e12)]), y, loss)
        assert found.loss == pytest.approx(alone.loss, rel=1e-5)
        assert found.lower >= alone.lower * (1 - 1e-5)


def test_log_loss_with_certainties() -> None:
    """Experts that say 0 and 1: the mixture hedges wherever one of them was wrong."""
    X = np.array([[1.0, 0.0, 0.6], [1.0, 1.0, 0.6], [0.0, 1.0, 0.6], [0.0, 0.0, 0.4]])
    y = np.array([1.0, 1.0, 1.0, 0.0])
    found = mixed(X, y, "log")
    assert found.relative_gap < 1e-6
    # By symmetry q = (p, p, 1 − 2p).
    p = np.linspace(0, 0.5, 200_001)[1:]
    third = 1 - 2 * p
    costs = -2 * np.log(p + 0.6 * third) - np.log(2 * p + 0.6 * third) - np.log(1 - 0.4 * third)
    assert found.loss == pytest.approx(costs.min(), rel=1e-6)


def test_log_loss_of_tiny_probabilities_keeps_its_digits() -> None:
    X = np.array([[1e-300, 1e-250], [1e-20, 1e-30], [1 - 1e-16, 1 - 3e-16]])
    found = mixed(X, np.array([1.0, 1.0, 0.0]), "log")
    assert found.relative_gap < 1e-6
    assert found.loss <= -math.log(0.5e-250) - math.log(0.5e-20) - math.log(2e-16)


def test_log_loss_is_infinite_where_all_were_certain_and_wrong() -> None:
    found = mixed(np.array([[0.0, 0.0], [0.5, 0.5]]), np.array([1.0, 1.0]), "log")
    assert (found.loss, found.lower) == (math.inf, math.inf)
    assert found.gap == 0.0


def test_of_losses_a_mixture_pays_its_share_so_that_a_corner_is_best() -> None:
    table = np.random.default_rng(0).random((50, 4))
    mixture, best = best_convex(table), best_expert(table)
    assert mixture.comparator == "convex combinations of the experts"
    assert (mixture.loss, mixture.lower) == (best.loss, best.lower)


def test_rows_may_come_from_anywhere_and_need_not_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = advice("plain", "absolute", seed=7)

    def blocks() -> Any:
        return ((X[start : start + 7], y[start : start + 7]) for start in range(0, len(y), 7))

    held = {loss: mixed(X, y, loss).loss for loss in ("square", "absolute", "percentage")}
    monkeypatch.setattr(experts, "MAX_HELD_NUMBERS", 50)
    for loss, expected in held.items():
        assert best_convex(blocks, loss).loss == pytest.approx(expected, rel=1e-6)
    assert best_expert(blocks, "square").loss == best_expert(Rows(X, y), "square").loss


# Losses of one's own.


def huber(s: float, y: float) -> float:
    return 0.5 * (s - y) ** 2 if abs(s - y) < 1 else abs(s - y) - 0.5


def deviance(s: float, y: float) -> float:
    if not s > 0:
        raise ValueError("only defined for positive forecasts")
    return y * math.log(y / s) - (y - s)


OWN: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "huber": (huber, lambda s, y: max(-1.0, min(1.0, s - y))),
    "deviance": (deviance, lambda s, y: 1 - y / s),
    "absolute": (lambda s, y: abs(s - y), lambda s, y: float(np.sign(s - y))),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("kind", ["plain", *sized([], full=["constants", "perfect", "copies"])])
def test_a_loss_of_ones_own(kind: str, name: str) -> None:
    X, y = (np.abs(v) + 0.1 for v in advice(kind, "absolute", seed=8))
    found = best_convex(Rows(X, y), nr.PythonLoss(*OWN[name]))
    q = cp.Variable(X.shape[1])
    written_out = {
        "huber": lambda: 0.5 * cp.sum(cp.huber(X @ q - y)),
        "deviance": lambda: cp.sum(cp.multiply(y, np.log(y) - cp.log(X @ q)) - y + X @ q),
        "absolute": lambda: cp.norm1(X @ q - y),
    }
    least = solved(written_out[name](), [q >= 0, cp.sum(q) == 1])
    assert least is not None
    size = sum(OWN[name][0](s, o) for s, o in zip(X.mean(axis=1), y, strict=True))
    assert found.lower - 1e-7 * size <= least <= found.loss + 1e-7 * size
    assert found.gap <= 1e-6 * found.loss + 1e-7 * size
    corners = expert_losses(Rows(X, y), nr.PythonLoss(*OWN[name])).values
    assert found.lower <= corners.min() * (1 + 1e-12)


def test_arrays_are_asked_where_the_loss_takes_them() -> None:
    class Cosh:
        name = "cosh"

        def value(self, x: Floats, y: Floats) -> Floats:
            return np.asarray(np.cosh(x - y) - 1)

        def derivative(self, x: Floats, y: Floats) -> Floats:
            return np.asarray(np.sinh(x - y))

    X, y = advice("plain", "square", seed=9)
    found = best_convex(Rows(X, y), Cosh())
    assert found.relative_gap < 1e-6
    draw = np.random.default_rng(0)
    for q in draw.dirichlet(np.ones(5), size=200):
        assert found.lower <= (np.cosh(X @ q - y) - 1).sum()


def test_a_loss_of_ones_own_may_be_called_like_another() -> None:
    X, y = advice("plain", "square", seed=10)
    halved = nr.PythonLoss(lambda s, y: (s - y) ** 2 / 2, lambda s, y: s - y, name="square")
    plain = mixed(X, y, "square").loss
    assert best_convex(Rows(X, y), halved).loss == pytest.approx(plain / 2, rel=1e-6)
    from noregret.base.expert_losses import expert_loss

    for loss, share in ((expert_loss("square"), 1.0), (expert_loss(halved), 0.5)):
        assert best_convex(Rows(X, y), loss).loss == pytest.approx(plain * share, rel=1e-6)


# The largest growth.


def test_growth_of_a_constant_rebalanced_portfolio() -> None:
    """One asset stands still, the other halves and doubles in turn."""
    rows = Rows(np.array([[1.0, 2.0], [1.0, 0.5]] * 10) * 1e-3, np.ones(20))
    found = best_logarithm(rows)
    assert found.witness == pytest.approx([0.5, 0.5], abs=1e-3)
    assert found.loss == pytest.approx(-10 * math.log(1.125e-6))
    assert found.relative_gap < 1e-6


# What cannot be answered.


def test_refusals_say_what_to_do() -> None:
    X, y = np.array([[0.5, 0.1], [0.5, 0.2]]), np.array([1.0, 0.0])
    with pytest.raises(ValueError, match="zero-one loss is not convex"):
        best_convex(Rows(X, y), "zero-one")
    with pytest.raises(ValueError, match="squared"):
        best_convex(Rows(X, y), "squared")
    with pytest.raises(BadExample, match="round 2: the percentage loss is not defined"):
        best_convex(Rows(X, y), "percentage")
    with pytest.raises(BadExample, match="round 1: the log loss needs advice and outcomes between"):
        best_convex(Rows(2 * X + 0.1, y), "log")
    with pytest.raises(BadExample, match="NaN"):
        best_convex(Rows(np.array([[math.nan, 1.0]]), [1.0]), "square")
    with pytest.raises(ValueError, match="a loss needs outcomes"):
        best_convex(X, "square")
    with pytest.raises(ValueError, match="outcomes need a loss"):
        best_expert(Rows(X, y))
    with pytest.raises(NoRegretError, match="no experts"):
        best_convex(np.zeros((3, 0)))
    with pytest.raises(BadExample, match="one column per expert"):
        best_expert([1.0, 2.0])
    with pytest.raises(BadExample, match=r"round 1: the loss of expert 2 is nan.*sleeping"):
        best_expert([[1.0, math.nan]])
