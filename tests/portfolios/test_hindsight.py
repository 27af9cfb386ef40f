"""The best asset and the best constant rebalanced portfolio: lower ≤ minimum ≤ loss."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import NoRegretError
from noregret.hindsight import Limits
from noregret.hindsight.portfolio import best_asset, best_rebalanced, loss_of
from tests.hindsight.problems import cp
from tests.portfolios.tables import ADVERSARIES, Floats, tables, usual
from tests.thorough import draws


def least_loss(X: Floats) -> float:
    """Return the minimum, by another solver."""
    u = cp.Variable(X.shape[1])
    problem = cp.Problem(cp.Maximize(cp.sum(cp.log(X @ u))), [u >= 0, cp.sum(u) == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # near enough to compare with
        return -float(problem.solve(solver=cp.CLARABEL))


def check(X: Floats, tolerance: float = 1e-6) -> None:
    answer = best_rebalanced(lambda: [X])
    u = answer.witness
    assert (u >= 0).all()
    assert math.fsum(u) == pytest.approx(1.0, abs=1e-12)
    own = -math.fsum(np.log(X @ u))
    assert answer.lower <= own <= answer.loss
    assert answer.gap <= tolerance * max(1.0, abs(answer.loss))


@draws(100)
@given(X=tables())
def test_the_interval_is_narrow_and_holds_the_witness(X: Floats) -> None:
    check(X)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("rows", "assets"), [(5, 3), (40, 6), (30, 40), (200, 2)])
def test_it_agrees_with_another_solver(rows: int, assets: int, seed: int) -> None:
    X = usual(rows, assets, seed, width=0.3)
    answer = best_rebalanced(lambda: [X])
    found = least_loss(X)
    assert answer.loss == pytest.approx(found, abs=1e-5)
    assert answer.lower <= found + 1e-6


@draws(30)
@given(X=tables(), seed=st.integers(0, 1000))
def test_nobody_beats_the_lower_end(X: Floats, seed: int) -> None:
    answer = best_rebalanced(lambda: [X])
    rng = np.random.default_rng(seed)
    for concentration in (0.1, 1.0, 10.0):
        u = rng.dirichlet(np.full(X.shape[1], concentration))
        with np.errstate(divide="ignore"):
            assert -np.log(X @ u).sum() >= answer.lower - 1e-12


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda a: str(a.__name__))
def test_adversaries_are_no_harder(adversary: object) -> None:
    for rows, assets in ((1, 1), (1, 4), (60, 3), (61, 5)):
        check(adversary(rows, assets))  # type: ignore[operator]


def test_known_portfolios() -> None:
    """Of assets that pay alone the best shares are the counts; of alike ones any are best."""
    rng = np.random.default_rng(0)
    X = np.eye(4)[rng.integers(0, 4, 100)]
    answer = best_rebalanced(lambda: [X])
    assert answer.witness == pytest.approx(X.mean(axis=0), abs=1e-7)
    alike = np.repeat(usual(50, 1), 3, axis=1)
    assert best_rebalanced(lambda: [alike]).loss == pytest.approx(-np.log(alike[:, 0]).sum())


def test_blocks_make_no_difference() -> None:
    X = usual(500, 5, width=0.2)

    def blocks() -> Iterable[Floats]:
        for start in range(0, 500, 77):
            yield X[start : start + 77]

    one, many = best_rebalanced(lambda: [X]), best_rebalanced(blocks)
    assert many.loss == pytest.approx(one.loss, abs=1e-8)
    assert many.witness == pytest.approx(one.witness, abs=1e-4)
    assert best_asset(blocks).loss == pytest.approx(best_asset(lambda: [X]).loss, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_enormous_ranges_are_met(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = 10.0 ** rng.uniform(-300, 300, (60, 4))
    answer = best_rebalanced(lambda: [X])
    assert math.isfinite(answer.loss)
    assert 0 <= answer.gap <= 1e-6 * abs(answer.loss)
    assert loss_of(lambda: [X], answer.witness)[0] <= answer.loss


def test_a_search_that_is_stopped_is_honest() -> None:
    X = usual(300, 10, width=0.4)
    best = best_rebalanced(lambda: [X])
    for steps in (1, 2, 3):
        early = best_rebalanced(lambda: [X], limits=Limits(steps=steps))
        assert early.lower <= best.loss
        assert early.loss >= best.lower


def test_the_best_asset() -> None:
    X = usual(100, 6, width=0.2)
    answer = best_asset(lambda: [X])
    wealth = np.log(X).sum(axis=0)
    assert answer.witness.argmax() == wealth.argmax()
    assert answer.lower <= -wealth.max() <= answer.loss
    assert answer.exact
    with pytest.raises(NoRegretError, match="every asset fell to 0"):
        best_asset(lambda: [np.array([[0.0, 1.0], [1.0, 0.0]])])
    with pytest.raises(NoRegretError, match="no rounds"):
        best_asset(lambda: [])
