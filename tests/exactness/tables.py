"""Tables that are hard on floating-point sums, and exact arithmetic about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Generator = np.random.Generator
# Digits of logarithms, and what is left for their error.
DIGITS, LAST = 70, Fraction(1, 10**60)
LONG = 6_000


def plain(rng: Generator, rows: int, columns: int) -> Floats:
    return rng.normal(size=(rows, columns))


def tied(rng: Generator, rows: int, columns: int) -> Floats:
    return rng.integers(-2, 3, size=(rows, columns)) / 2.0


def zeros(rng: Generator, rows: int, columns: int) -> Floats:
    return rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.2)


def ill_scaled(rng: Generator, rows: int, columns: int) -> Floats:
    return rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-150, 150, (rows, columns))


def ill_scaled_columns(rng: Generator, rows: int, columns: int) -> Floats:
    return rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-150, 150, columns)


def ill_scaled_rows(rng: Generator, rows: int, columns: int) -> Floats:
    return rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-150, 150, (rows, 1))


def huge_offset(rng: Generator, rows: int, columns: int) -> Floats:
    return 1e8 + rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-6, 1)


def cancelling(rng: Generator, rows: int, columns: int) -> Floats:
    table = 10.0 ** rng.integers(0, 100) * rng.normal(size=(rows, columns))
    half = rows // 2
    table[half : 2 * half] = -table[:half]
    return rng.permutation(table) + rng.normal(size=(rows, columns)) * (rng.random() < 0.5)


def repeated(rng: Generator, rows: int, columns: int) -> Floats:
    few = rng.normal(size=(2, columns))
    return few[rng.integers(0, 2, rows)]


def collinear(rng: Generator, rows: int, columns: int) -> Floats:
    table = rng.normal(size=(rows, 1)) * rng.integers(-3, 4, columns)
    return table * (1 + 2.0**-50 * rng.integers(0, 2, table.shape))


def subnormal(rng: Generator, rows: int, columns: int) -> Floats:
    return rng.integers(-9, 10, (rows, columns)) * 5e-324 * 10.0 ** rng.integers(0, 12)


def tenths(rng: Generator, rows: int, columns: int) -> Floats:
    return np.asarray(np.full((LONG, columns), 0.1) * rng.choice([1.0, 3.0, 7.0], size=columns))


KINDS: dict[str, Callable[[Generator, int, int], Floats]] = {
    "plain": plain,
    "ties": tied,
    "zeros": zeros,
    "ill-scaled": ill_scaled,
    "ill-scaled columns": ill_scaled_columns,
    "ill-scaled rows": ill_scaled_rows,
    "huge offset": huge_offset,
    "cancelling": cancelling,
    "repeated": repeated,
    "collinear": collinear,
    "subnormal": subnormal,
}


def exactly(table: Floats) -> list[list[Fraction]]:
    """Return a table as rational numbers."""
    return [[Fraction(value) for value in row] for row in table.tolist()]


def logarithm(value: Fraction) -> Fraction:
    """Return the natural logarithm of a positive number, right to ``LAST``."""
    with localcontext() as context:
        context.prec = DIGITS + 20
        near = Decimal(value.numerator) / Decimal(value.denominator)
        return Fraction(near.ln())


def dot(one: Iterable[Fraction], other: Iterable[Fraction]) -> Fraction:
    """Return the sum of products."""
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def weights_of(witness: Floats) -> list[Fraction]:
    """Return weights of the simplex, divided by their exact sum."""
    exact = [Fraction(value) for value in witness.tolist()]
    return [value / sum(exact) for value in exact]


def solved(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Return a solution of linear equations, or nothing where the matrix is singular."""
    n = len(right)
    work = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if work[i][k]), None)
        if pivot is None:
            return []
        work[k], work[pivot] = work[pivot], work[k]
        for i in range(n):
            if i != k and work[i][k]:
                factor = work[i][k] / work[k][k]
                work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    return [work[k][n] / work[k][k] for k in range(n)]


def outside(low: float, high: float, least: Fraction, error: Fraction = Fraction(0)) -> str:
    """Return what is wrong with an interval that should hold a number; empty if nothing is."""
    if low > high:
        return f"an interval from {low!r} down to {high!r}"
    if low > -np.inf and not (low < np.inf and Fraction(low) <= least + error):
        return f"lower end {low!r} is above {float(least)!r} by {excess(low, least)}"
    if high < np.inf and Fraction(high) < least - error:
        return f"upper end {high!r} is below {float(least)!r} by {excess(high, least)}"
    return ""


def excess(end: float, value: Fraction) -> str:
    """Return how far apart two numbers are."""
    return "infinitely much" if np.isinf(end) else f"{float(abs(Fraction(end) - value)):.3g}"
