"""Proofs that columns are linearly dependent or independent.

Independence is proven by a matrix that is positive definite in spite of rounding. Dependence can
only be proven in the rows themselves, where it must hold exactly: as it does for duplicates, for
columns of zeros, and for the indicators of several string columns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.blocks import is_sparse
from noregret.hindsight.proofs.deadline import OutOfTime
from noregret.hindsight.proofs.rounding import Floats, growth, two_sum
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import back_substituted
from noregret.hindsight.solvers.triangular import triangle
from noregret.limits import UNIT

# A column is tested for dependence if its residual by the others is this share of its length.
DEPENDENT_SHARE = 1e-12
# The weight of the last column relative to the first when columns are chosen.
LAST_COLUMN_WEIGHT = 1e-6
# Sums that exceed a bound on their underflow by this factor lose no digit by it.
UNDERFLOW_MARGIN = 2.0**60
# Up to this many columns, QR factors with pivoting are computed without SciPy.
MAX_PLAIN_COLUMNS = 32
# Beyond MAX_EXACT_COLUMNS the smallest eigenvalue is found by iteration.
MAX_EXACT_COLUMNS, ITERATIONS = 256, 40


def faint_columns(gram: Floats, lost: float, rows: Rows | None) -> NDArray[np.bool_]:
    """Return which columns may be nonzero, but too small to show up in the sums.

    Sums of squares have errors up to ``lost`` by underflow. Only the rows show whether a column
    with a sum of 0 is zero.
    """
    faint: NDArray[np.bool_] = np.diag(gram) < UNDERFLOW_MARGIN * lost
    if faint.any() and rows is not None:
        some = np.zeros(len(faint), dtype=bool)
        for block, _ in rows.blocks():
            used = (block != 0).sum(axis=0)
            some[: block.shape[1]] |= np.asarray(used).ravel() > 0
        faint &= some
    return faint


def surely_curved(gram: Floats | None, gram_error: float) -> tuple[Floats, float]:
    """Return D and s with G − s D² proven positive semidefinite; s is 0 if nothing is proven.

    D are the norms of the columns, G is the Gram matrix up to gram_error times D_i D_j. If
    D⁻¹GD⁻¹ − s has a Cholesky factor in floating point, that is a proof up to rounding, provided
    that no column is faint: see ``faint_columns``.
    """
    if gram is None:
        return np.zeros(0), 0.0
    norms = np.sqrt(np.diag(gram))
    used = norms > 0
    scale = norms[used]
    count = len(scale)
    if not count:
        return norms, math.inf
    unit = gram[np.ix_(used, used)] / scale / scale[:, None]
    least = 0.5 * smallest_eigenvalue(unit)
    doubt = count * (2 * gram_error + 20 * UNIT + 2 * growth(count + 2))
    if least <= 2 * doubt:
        return norms, 0.0
    unit[np.diag_indices_from(unit)] -= least
    try:
        np.linalg.cholesky(unit)
    except np.linalg.LinAlgError:
        return norms, 0.0
    return norms, least - doubt


def smallest_eigenvalue(matrix: Floats) -> float:
    """Return the smallest eigenvalue of a matrix, approximately if it is large.

    Examples
    --------
    >>> large = np.diag(np.arange(1.0, MAX_EXACT_COLUMNS + 2.0))
    >>> round(smallest_eigenvalue(large), 6)
    1.0
    """
    if len(matrix) <= MAX_EXACT_COLUMNS:
        return float(np.linalg.eigvalsh(matrix)[0])
    from scipy.linalg import cho_factor, cho_solve

    try:
        factor = cho_factor(matrix, lower=True)
    except np.linalg.LinAlgError:
        return 0.0
    vector, length = np.cos(np.arange(len(matrix)) ** 2.0), 1.0
    for _ in range(ITERATIONS):
        vector = cho_solve(factor, vector / np.linalg.norm(vector))
        length = float(np.linalg.norm(vector))
    return 1 / length


def independent_columns(rows: Rows) -> NDArray[np.intp] | None:
    """Return columns of which all others are proven to be combinations; None if not found."""
    try:  # from the rows: the Gram matrix cannot tell large offsets from dependence
        R = triangle(rows)[0]
    except OutOfTime:
        return None
    norms = np.linalg.norm(R, axis=0)
    if not np.isfinite(norms).all():
        return None
    # Of equal columns the first is kept, whatever rounding says.
    scale = np.where(norms > 0, norms, 1.0) / np.linspace(1.0, 1.0 - LAST_COLUMN_WEIGHT, len(norms))
    factor, order = pivoted(R / scale)
    left = np.abs(np.diag(factor))
    rank = int(np.count_nonzero(left > DEPENDENT_SHARE))
    if not rank or rank == len(order):
        return None
    kept, others = order[:rank], order[rank:]
    shares = back_substituted(factor[:rank, :rank], factor[:rank, rank:])
    shares = powers_of_two(shares / scale[kept, None] * scale[others])
    if all(is_combination(rows, kept, j, share) for j, share in zip(others, shares.T, strict=True)):
        return np.asarray(np.sort(kept))
    return None


def pivoted(matrix: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the triangle of a QR factorisation with pivoting, and the order of its columns.

    By SciPy, which takes a quarter of a second to load, only if columns are many.

    Examples
    --------
    >>> R, order = pivoted(np.array([[1.0, 2.0], [1.0, 2.0]]))
    >>> order, np.abs(R).round(3)
    (array([1, 0]), array([[2.828, 1.414],
           [0.   , 0.   ]]))
    """
    if len(matrix) > MAX_PLAIN_COLUMNS:
        from scipy.linalg import qr

        factor, order = qr(matrix, mode="r", pivoting=True)
        return np.asarray(factor), np.asarray(order)
    left, count = matrix.copy(), matrix.shape[1]
    factor, order = np.zeros_like(matrix), np.arange(count)
    for k in range(min(matrix.shape)):
        longest = k + int(np.argmax(np.linalg.norm(left[:, k:], axis=0)))
        for columns in (left, factor, order[None]):
            columns[:, [k, longest]] = columns[:, [longest, k]]
        factor[k, k] = np.linalg.norm(left[:, k])
        if factor[k, k] == 0:
            break
        unit = left[:, k] / factor[k, k]
        factor[k, k + 1 :] = unit @ left[:, k + 1 :]
        left[:, k + 1 :] -= np.outer(unit, factor[k, k + 1 :])
    return factor, order


def powers_of_two(numbers: Floats) -> Floats:
    """Return the nearest of 0 and ±2^k; products with these are exact."""
    size = np.abs(numbers)
    size[size < 1e-4] = 0.0
    some = size > 0
    size[some] = 2.0 ** np.round(np.log2(size[some]))
    return np.copysign(size, numbers)


def is_combination(rows: Rows, kept: NDArray[np.intp], column: int, shares: Floats) -> bool:
    """Return whether a column is exactly that combination of others in every row."""
    used = np.flatnonzero(shares)
    columns = np.append(kept[used], column)
    factors = np.append(shares[used], -1.0)
    for block, _ in rows.blocks():
        there = columns < block.shape[1]
        part = block[:, columns[there]]
        part = part.toarray() if is_sparse(part) else part
        total = np.zeros(len(part))
        for number, factor in zip(part.T, factors[there], strict=True):
            term = number * factor
            total, lost = two_sum(total, term)
            if lost.any() or (term / factor != number).any():
                return False  # this sum was rounded
        if total.any():
            return False
    return True
