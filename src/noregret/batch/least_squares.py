"""The shortest of the weights that fit best, from rows or from sums over them.

Rows are first brought into a few that have the same sums: by orthogonal transformations where the
rows are at hand, which costs no digits, else from the Gram matrix, whose digits are half as many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.hindsight import LeastSquares, Rows
from noregret.hindsight.solvers.triangular import triangle
from noregret.limits import UNIT

Floats = NDArray[np.float64]
# Of the scaled Gram matrix, eigenvalues below this share for each column are rounding.
ROUNDING_SHARE = 2.0**-44
# Gradient descent is done when the weights are within this share of the best.
WEIGHT_TOLERANCE = 1e-12
# Where the largest eigenvalue is so many times the smallest, no number of steps would do.
MAX_CONDITION = 1e30


@dataclass(frozen=True)
class Few:
    """A few rows R with outcomes z, for which every predictor pays as for all, but for a constant.

    ``rank`` is the number of columns that do not depend on others, ``rest`` an orthonormal basis of
    the weights that make no difference.
    """

    R: Floats
    z: Floats
    rank: int
    rest: Floats

    @property
    def features(self) -> int:
        """Number of columns."""
        return int(self.R.shape[1])

    def shortest(self) -> Floats:
        """Return the shortest of the weights that fit best: the pseudoinverse of R, times z."""
        scale = lengths(self.R)
        left, values, right = np.linalg.svd(self.R / scale, full_matrices=False)
        k = self.rank
        w = right[:k].T @ ((left[:, :k].T @ self.z) / values[:k]) / scale
        return np.asarray(w - self.rest @ (self.rest.T @ w))


def few_of(rows: Rows | None, sums: LeastSquares | None) -> Few:
    """Return the few rows that stand for all."""
    with np.errstate(all="ignore"):
        try:
            if rows is not None:
                R, z = triangle(rows)
                return ranked(R, z, max(rows.shape) * 4 * UNIT)
            assert sums is not None
            return ranked(*root(sums), 0.0)
        except np.linalg.LinAlgError:
            raise too_large() from None


def root(sums: LeastSquares) -> tuple[Floats, Floats]:
    """Return R and z from sums, without the directions that are rounding."""
    gram, moment = sums.gram, sums.moment
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1.0
    values, vectors = np.linalg.eigh(gram / scale / scale[:, None])
    kept = values > max(1, len(values)) * ROUNDING_SHARE * values.max(initial=0.0)
    roots = np.sqrt(values[kept])
    z = (vectors[:, kept].T @ (moment / scale)) / roots
    return roots[:, None] * vectors[:, kept].T * scale, z


def ranked(R: Floats, z: Floats, faint: float) -> Few:
    """Find out how many columns of R do not depend on others, whatever their units."""
    if not (np.isfinite(R).all() and np.isfinite(z).all()):
        raise too_large()
    scale = lengths(R)
    values, right = np.linalg.svd(R / scale, full_matrices=True)[1:]
    rank = int(np.count_nonzero(values > faint * values.max(initial=0.0)))
    rest = right[rank:].T / scale[:, None]
    rest = np.linalg.qr(rest / lengths(rest))[0]
    return Few(R, z, rank, rest)


def lengths(R: Floats) -> Floats:
    """Return the norms of the columns; 1 where they are zero."""
    norms: Floats = np.linalg.norm(R, axis=0)
    norms[norms == 0] = 1.0
    return norms


def by_iteration(rows: Rows) -> Floats:
    """Return the shortest of the weights that fit best, where there are too many features."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    matrix = LinearOperator(
        rows.shape, matvec=rows.scores, rmatvec=rows.combine, dtype=np.dtype(np.float64)
    )
    found = lsmr(matrix, rows.outcomes, atol=1e-14, btol=1e-14, conlim=0, maxiter=10_000)
    return np.asarray(found[0], dtype=np.float64)


def too_large() -> NoRegretError:
    """Return the error for examples whose squares do not add up to a number."""
    return NoRegretError(
        "the examples are too large for their squares to be added up", "scale them"
    )


@dataclass(frozen=True)
class Descent:
    """Gradient descent from zero, and where it came to.

    Parameters
    ----------
    weights
        Those of the last step.
    taken, needed
        Steps that were taken, and that bring the weights to within ``WEIGHT_TOLERANCE`` of the
        best.
    left
        The share of the best weights that may be missing.
    """

    weights: Floats
    taken: int
    needed: int
    left: float


def descended(few: Few, most: int) -> Descent:
    """Descend from zero, in steps chosen from the spectrum; so no weights are learned in vain.

    A step goes against the gradient Rᵀ(R w − z), and on in the direction of the step before it, in
    Chebyshev's proportions: with κ the ratio of the largest to the smallest eigenvalue of Rᵀ R that
    is not zero, the share that is missing falls like 2 qᵏ for q = (√κ − 1)/(√κ + 1).
    """
    if not few.rank:
        return Descent(np.zeros(few.features), 0, 0, 0.0)
    values = np.linalg.svd(few.R, compute_uv=False)
    high, low = float(values[0]) ** 2, float(values[few.rank - 1]) ** 2
    if not 0 < low <= high < math.inf or high > MAX_CONDITION * low:
        raise NoRegretError(
            "the features differ too much in size for gradient descent",
            "scale them alike, or use method='pseudoinverse'",
        )
    needed = steps_for(math.sqrt(high / low), WEIGHT_TOLERANCE)
    taken = min(most, needed)
    return Descent(
        chebyshev(few, low, high, taken), taken, needed, missing(math.sqrt(high / low), taken)
    )


def missing(ratio: float, steps: int) -> float:
    """Return the share of the best weights that is missing after so many steps; ratio is √κ."""
    power = math.exp(-2 * steps * math.atanh(1 / ratio)) if ratio > 1 else 0.0
    return 2 * power / (1 + power * power) if steps else 1.0


def steps_for(ratio: float, share: float) -> int:
    """Return the steps after which no more than a share is missing; ratio is √κ."""
    if ratio <= 1:
        return 1
    return math.ceil(math.acosh(1 / share) / (2 * math.atanh(1 / ratio)))


def chebyshev(few: Few, low: float, high: float, steps: int) -> Floats:
    """Take so many steps from zero; all eigenvalues but those at zero lie from low to high."""
    R = few.R
    w, pull = np.zeros(few.features), R.T @ few.z
    centre, half = (high + low) / 2, (high - low) / 2
    step, before = pull / centre, half / centre
    for _ in range(steps):
        w += step
        pull -= R.T @ (R @ step)
        now = 1.0 / (2 * centre / half - before) if half else 0.0
        step = now * before * step + (2 * now / half if half else 0.0) * pull
        before = now
    return w
