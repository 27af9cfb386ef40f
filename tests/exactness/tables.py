"""Tables that are hard on floating-point sums, by kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Generator = np.random.Generator
# Rows of a table whose sums lose digits.
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
