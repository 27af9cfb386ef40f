"""Examples to learn from, the same in every run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


def regression(rows: int, columns: int) -> tuple[Floats, Floats]:
    """Return rows of norm about 1 and noisy linear outcomes."""
    random = np.random.default_rng(7)
    X = random.standard_normal((rows, columns))
    X /= columns**0.5
    return X, X @ random.standard_normal(columns) + 0.1 * random.standard_normal(rows)


def names(columns: int) -> list[str]:
    """Return names whose alphabetical order is that of the columns."""
    return [f"x{column:03d}" for column in range(columns)]


def sparse_rows(rows: int, nonzeros: int, dimension: int, used: int | None = None) -> Any:
    """Return a CSR matrix of rows of norm about 1.

    Each row has one entry, at random, in every one of ``nonzeros`` equal parts of the columns, or
    of the first ``used`` of them.
    """
    random = np.random.default_rng(7)
    part = (used or dimension) // nonzeros
    at = np.arange(nonzeros) * part + random.integers(0, part, (rows, nonzeros))
    values = random.standard_normal(rows * nonzeros) / nonzeros**0.5
    starts = np.arange(0, rows * nonzeros + 1, nonzeros, dtype=np.int32)
    shape = (rows, dimension)
    return sparse.csr_matrix((values, at.ravel().astype(np.int32), starts), shape)


def coin_tosses(rows: int) -> Floats:
    """Return outcomes −1 and +1 that nothing can predict, so no round is easier than another."""
    return np.random.default_rng(8).choice([-1.0, 1.0], rows)
