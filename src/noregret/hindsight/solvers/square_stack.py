"""The least square loss of many small tables at once, each with a proven interval.

Tables of similar length are stacked, filled up with rows of zeros, and solved together: normal
equations for columns scaled to norm 1, refined on the rows. The proof is that of ``quadratic`` for
one table: the residuals bound the loss from above, and a parabola from below if its curvature is
proven. Without proven curvature only a fit without error is proven, as no loss is below 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.proofs.answer import EXACT_FIT, EXACT_GAP
from noregret.hindsight.proofs.rounding import Floats, growth
from noregret.limits import SMALLEST, UNDERFLOW, UNIT

Bools = NDArray[np.bool_]
# The longest and the widest table of a stack; larger ones are worth a search of their own.
MAX_ROWS, MAX_COLUMNS = 1 << 16, 64
# Numbers of a stack, which fit into the cache.
MAX_NUMBERS = 1 << 17
# Sizes of numbers, and of norms of columns, for which no product overflows or loses digits.
LARGEST, SMALLEST_NORM = 1e100, 1e-100
# The relative eigenvalue below which directions are left out, if columns are dependent.
NULL_SPACE = 1e-12
# Newton's method solves a quadratic in one step; more reduce rounding errors.
REFINEMENTS = 2


@dataclass
class LeastLosses:
    """Lower and upper bounds of the least loss of each table.

    ``sharp`` tells where the interval is rounding only.
    """

    losses: Floats
    lowers: Floats
    sharp: Bools


def least_losses(X: Floats, y: Floats, stops: NDArray[np.int64]) -> LeastLosses:
    """Return the least square loss of each of several tables, which are ranges of rows.

    Of those too large for a stack, the bounds are 0 and the sum of the squared outcomes.

    Parameters
    ----------
    X, y
        The rows of all tables, and their outcomes.
    stops
        Where the range of each table ends, and the next one begins.

    Examples
    --------
    >>> X, y = np.ones((5, 1)), np.array([0.0, 1.0, 1.0, 2.0, 6.0])
    >>> found = least_losses(X, y, np.array([2, 5]))
    >>> found.losses.round(9), found.sharp
    (array([ 0.5, 14. ]), array([ True,  True]))
    """
    starts = np.append(0, stops[:-1])
    counts, size = stops - starts, len(stops)
    found = LeastLosses(np.full(size, np.inf), np.zeros(size), np.zeros(size, dtype=bool))
    with np.errstate(all="ignore"):  # NaN proves nothing
        for length, tables in stacks(counts, X.shape[1]):
            at = np.arange(length)
            there = at < counts[tables, None]
            rows = np.where(there, starts[tables, None] + at, starts[tables, None])
            outcomes = np.where(there, y[rows], 0.0)
            energy = above(np.square(outcomes).sum(axis=1), length)
            own = energy, np.zeros(len(tables)), np.zeros(len(tables), dtype=bool)
            if X.shape[1] <= MAX_COLUMNS and length <= MAX_ROWS:
                filled = np.where(there[..., None], X[rows], 0.0)
                with suppress(np.linalg.LinAlgError):  # no eigenvalues were found
                    own = solved(filled, outcomes, there, energy)
            found.losses[tables], found.lowers[tables], found.sharp[tables] = own
    return found


def stacks(counts: NDArray[np.int64], columns: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield lengths, and the tables that are stacked with so many rows."""
    # Up to an eighth of the rows are zeros.
    unit = 2 ** np.maximum(0, np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64) - 3)
    lengths = -(-counts // unit) * unit
    order = np.argsort(lengths, kind="stable")
    cuts = np.flatnonzero(np.diff(lengths[order])) + 1
    for tables in np.split(order, cuts):
        length = max(1, int(lengths[tables[0]])) if len(tables) else 1
        most = max(1, MAX_NUMBERS // (length * max(1, columns)))
        for first in range(0, len(tables), most):
            yield length, tables[first : first + most]


def above(sums: Floats, terms: int) -> Floats:
    """Return upper bounds of sums of squares."""
    return np.asarray(sums * (1 + growth(terms + 8)) + (terms + 8) * SMALLEST * (sums > 0))


def solved(X: Floats, y: Floats, there: Bools, energy: Floats) -> tuple[Floats, Floats, Bools]:
    """Return upper and lower bounds of the least loss of stacked tables, and where they are sharp.

    ``there`` tells which rows are not filled in, ``energy`` is a bound on the squared outcomes.
    """
    length, columns = X.shape[1:]
    X = without_parallels(X, there)
    across = X.transpose(0, 2, 1)
    gram = across @ X
    norms = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    largest = np.maximum(
        np.abs(X).max(axis=(1, 2), initial=0.0), np.abs(y).max(axis=1, initial=0.0)
    )
    fine = (largest < LARGEST) & ((norms > SMALLEST_NORM) | ~X.any(axis=1)).all(axis=1)
    scale = np.where(norms > 0, norms, 1.0)
    unit = gram / scale[:, None, :] / scale[:, :, None]
    unit[~fine] = 0.0
    unit[:, np.arange(columns), np.arange(columns)] = 1.0
    curved = curvature_below(unit, growth(length + 4))
    w = np.zeros((len(X), columns))
    inverse = inverses(unit, curved > 0)
    for _ in range(1 + REFINEMENTS):
        rest = y - (X @ w[..., None])[..., 0]
        w = w + (inverse @ ((across @ rest[..., None])[..., 0] / scale)[..., None])[..., 0] / scale
    low, high, slopes = between(X, y, w)
    drop = np.square(slopes / scale).sum(axis=1) * (1 + growth(columns + 16)) / curved
    lower = np.maximum(0.0, (low - drop) - 4 * UNIT * (low + drop))
    proven = fine & np.isfinite(high)
    losses = np.where(proven & (high < energy), high, energy)
    lowers = np.where(proven & (curved > 0) & (lower <= losses), lower, 0.0)
    # The sums of squared outcomes are rounded by far less than this.
    rounding = EXACT_GAP * losses + 0.5 * EXACT_FIT * energy + UNDERFLOW
    return losses, lowers, proven & (losses - lowers <= rounding)


def without_parallels(X: Floats, there: Bools) -> Floats:
    """Return tables with zeros for every constant column of a table but its first.

    Constant columns are multiples of one another, so that the others predict nothing more.
    """
    same = ((X[:, :1] == X) | ~there[..., None]).all(axis=1) & (X[:, 0] != 0)
    spare = same & (np.cumsum(same, axis=1) > 1)
    return np.where(spare[:, None, :], 0.0, X) if spare.any() else X


def curvature_below(unit: Floats, gram_error: float) -> Floats:
    """Return s with U − s proven positive semidefinite, 0 if none is; see ``surely_curved``."""
    columns = unit.shape[1]
    doubt = columns * (2 * gram_error + 20 * UNIT + 2 * growth(columns + 2))
    if not columns:
        return np.full(len(unit), np.inf)
    least = 0.5 * np.linalg.eigvalsh(unit)[:, 0]
    sure = np.flatnonzero(least > 2 * doubt)
    shifted = unit[sure] - least[sure, None, None] * np.eye(columns)
    curved = np.zeros(len(unit))
    try:
        np.linalg.cholesky(shifted)  # which proves it
    except np.linalg.LinAlgError:
        return curved
    curved[sure] = least[sure] - doubt
    return curved


def inverses(unit: Floats, curved: Bools) -> Floats:
    """Return the inverse of each matrix, on the directions that rounding leaves of others."""
    made = np.zeros_like(unit)
    made[curved] = np.linalg.inv(unit[curved])
    if not curved.all():
        made[~curved] = np.linalg.pinv(unit[~curved], rcond=NULL_SPACE, hermitian=True)
    return made


def between(X: Floats, y: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
    """Return bounds of the loss of each table, and upper bounds of half its slopes, at w."""
    length, columns = X.shape[1:]
    sizes, across = np.abs(X), np.abs(X).transpose(0, 2, 1)
    rest = (X @ w[..., None])[..., 0] - y
    spread = (sizes @ np.abs(w)[..., None])[..., 0]
    off = growth(columns) * (1 + growth(columns)) * spread + 2 * UNIT * np.abs(rest)
    off = (off + (columns + 4) * SMALLEST * (spread > 0)) * (1 + 8 * UNIT)
    high = above(np.square(np.abs(rest) + off).sum(axis=1), length)
    low = np.square(np.maximum(0.0, np.abs(rest) - off)).sum(axis=1)
    low = np.maximum(0.0, low * (1 - growth(length + 8)) - (length + 8) * SMALLEST)
    pull = np.abs((X.transpose(0, 2, 1) @ rest[..., None])[..., 0])
    blur = (across @ (growth(length) * np.abs(rest) + off)[..., None])[..., 0]
    slopes = (pull + blur * (1 + growth(length + 4)) + 2 * length * SMALLEST) * (1 + 8 * UNIT)
    return low, high, slopes
