"""The least square loss of many tables at once, against exact arithmetic and NumPy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.hindsight.best import best_linear
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers import square_stack
from noregret.hindsight.solvers.square_stack import LeastLosses, least_losses
from tests.thorough import sized

Floats = NDArray[np.float64]


def exact_least(X: Floats, y: Floats) -> Fraction:
    """Return the least square loss in exact arithmetic, by Gram and Schmidt."""
    columns = [[Fraction(v) for v in column] for column in X.T.tolist()]
    rest, basis = [Fraction(v) for v in y.tolist()], list[list[Fraction]]()
    for column in [*columns, rest]:
        for other in basis:
            length = Fraction(sum(a * a for a in other))
            share = sum(a * b for a, b in zip(column, other, strict=True)) / length
            column[:] = [a - share * b for a, b in zip(column, other, strict=True)]
        if column is not rest and any(column):
            basis.append(column)
    return Fraction(sum(a * a for a in rest))


def check(tables: list[tuple[Floats, Floats]]) -> LeastLosses:
    """Return the bounds, and check them in exact arithmetic."""
    stops = np.cumsum([len(y) for _, y in tables])
    X, y = (np.concatenate([table[part] for table in tables]) for part in (0, 1))
    found = least_losses(X, y, stops)
    for (own, outcomes), loss, lower in zip(tables, found.losses, found.lowers, strict=True):
        exact = exact_least(own, outcomes)
        assert Fraction(lower) <= exact <= Fraction(loss)
    return found


def drawn(rng: np.random.Generator, rows: int, columns: int = 3) -> tuple[Floats, Floats]:
    return rng.normal(size=(rows, columns)), rng.normal(size=rows)


@pytest.mark.parametrize("seed", range(sized(4, 40)))
def test_intervals_contain_the_exact_least_loss_and_are_sharp(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = check([drawn(rng, int(rows)) for rows in rng.integers(1, 30, 20)])
    assert found.sharp.all()  # with fewer rows than columns too, which fit without error


@pytest.mark.parametrize("seed", range(sized(4, 40)))
@pytest.mark.parametrize("size", [1e-90, 1e-8, 1.0, 1e8, 1e90])
def test_intervals_hold_at_any_scale_and_offset(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    tables = []
    for rows in (1, 2, 4, 9):
        X, y = drawn(rng, rows)
        offset = 10.0 ** rng.integers(0, 9)
        tables += [(X * size, y), (X, y * size), (X + offset, y), (X, y + offset)]
        tables.append((X * 10.0 ** rng.integers(-60, 60, 3), y))
    check(tables)


@pytest.mark.parametrize("seed", range(sized(4, 40)))
def test_dependent_columns_prove_nothing_false(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = []
    for near in (0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3):
        X, y = drawn(rng, 8, 4)
        X[:, 3] = 0.3 * X[:, 0] + 0.7 * X[:, 1] + near * X[:, 3]
        tables.append((X, y))
    found = check(tables)
    assert not found.sharp[0]
    assert found.sharp[-1]


def test_constant_and_empty_columns_are_no_obstacle() -> None:
    rng = np.random.default_rng(0)
    tables = []
    for constant in (0.37, -3.0, 0.0):
        X, y = drawn(rng, 9, 4)
        X[:, 1], X[:, 3] = constant, 1.0
        tables.append((X, y))
    X, y = drawn(rng, 9, 4)
    tables += [(np.zeros((5, 4)), y[:5]), (X, np.zeros(9)), (np.ones((1, 4)), y[:1])]
    assert check(tables).sharp.all()


def test_stacks_of_any_size_have_the_losses_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    tables = [drawn(rng, rows) for rows in rng.integers(5, 200, 60).tolist()]
    X, y = (np.concatenate([table[part] for table in tables]) for part in (0, 1))
    stops = np.cumsum([len(y) for _, y in tables])
    wanted = [np.linalg.lstsq(*table, rcond=None)[1][0] for table in tables]
    for numbers in (1, 1000, square_stack.MAX_NUMBERS):
        monkeypatch.setattr(square_stack, "MAX_NUMBERS", numbers)
        found = least_losses(X, y, stops)
        assert found.losses == pytest.approx(wanted, rel=1e-12)
        assert found.lowers == pytest.approx(wanted, rel=1e-12)


def test_a_table_alone_has_the_same_interval_up_to_rounding() -> None:
    X, y = drawn(np.random.default_rng(2), 50)
    found, plain = least_losses(X, y, np.array([50])), best_linear(Rows(X, y))
    assert found.losses[0] == pytest.approx(plain.loss, rel=1e-13)
    assert found.lowers[0] == pytest.approx(plain.lower, rel=1e-11)


def test_what_is_too_large_for_a_stack_has_the_loss_of_zero_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(square_stack, "MAX_ROWS", 10)
    rng = np.random.default_rng(3)
    found = check([drawn(rng, 10), drawn(rng, 11)])
    assert found.sharp.tolist() == [True, False]
    huge = check([(np.full((4, 1), 1e200), np.arange(4.0))])
    assert not huge.sharp.any()
