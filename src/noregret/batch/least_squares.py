"""The least-squares solution of minimal norm, from rows or from sums over them.

Rows are first reduced to a few with the same sums: by orthogonal transformations if rows were kept,
which loses no accuracy, else from the Gram matrix, with half the digits.
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
# Eigenvalues of the scaled Gram matrix below this fraction per column count as rounding errors.
ROUNDING_SHARE = 2.0**-44
# Gradient descent has converged if the relative error of the weights is at most this.
WEIGHT_TOLERANCE = 1e-12
# The largest ratio of eigenvalues for which gradient descent is tried.
MAX_CONDITION = 1e30


@dataclass(frozen=True)
class Few:
    """A few rows R with outcomes z that give predictors the same loss as all, up to a constant.

    ``rank`` is the number of independent columns, ``rest`` an orthonormal basis of the null space.
    """

    R: Floats
    z: Floats
    rank: int
    rest: Floats

    @property
    def features(self) -> int:
        """The number of columns."""
        return int(self.R.shape[1])

    def shortest(self) -> Floats:
        """Return the least-squares solution of minimal norm: the pseudoinverse of R, times z."""
        scale = lengths(self.R)
        left, values, right = np.linalg.svd(self.R / scale, full_matrices=False)
        k = self.rank
        w = right[:k].T @ ((left[:, :k].T @ self.z) / values[:k]) / scale
        return np.asarray(w - self.rest @ (self.rest.T @ w))


def few_of(rows: Rows | None, sums: LeastSquares | None) -> Few:
    """Return a few rows that are equivalent to all."""
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
    """Return R and z from sums, without directions that are rounding errors."""
    gram, moment = sums.gram, sums.moment
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1.0
    values, vectors = np.linalg.eigh(gram / scale / scale[:, None])
    kept = values > max(1, len(values)) * ROUNDING_SHARE * values.max(initial=0.0)
    roots = np.sqrt(values[kept])
    z = (vectors[:, kept].T @ (moment / scale)) / roots
    return roots[:, None] * vectors[:, kept].T * scale, z


def ranked(R: Floats, z: Floats, faint: float) -> Few:
    """Determine the rank of R, whatever the units of its columns."""
    if not (np.isfinite(R).all() and np.isfinite(z).all()):
        raise too_large()
    scale = lengths(R)
    values, right = np.linalg.svd(R / scale, full_matrices=True)[1:]
    rank = int(np.count_nonzero(values > faint * values.max(initial=0.0)))
    rest = right[rank:].T / scale[:, None]
    rest = np.linalg.qr(rest / lengths(rest))[0]
    return Few(R, z, rank, rest)


def lengths(R: Floats) -> Floats:
    """Return the norms of the columns, or 1 if they are zero."""
    norms: Floats = np.linalg.norm(R, axis=0)
    norms[norms == 0] = 1.0
    return norms


def by_iteration(rows: Rows) -> Floats:
    """Return the least-squares solution of minimal norm for many features, by iteration."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    matrix = LinearOperator(
        rows.shape, matvec=rows.scores, rmatvec=rows.combine, dtype=np.dtype(np.float64)
    )
    found = lsmr(matrix, rows.outcomes, atol=1e-14, btol=1e-14, conlim=0, maxiter=10_000)
    return np.asarray(found[0], dtype=np.float64)


def too_large() -> NoRegretError:
    """Return the error for examples whose sum of squares overflows."""
    return NoRegretError("the sum of squares of the examples overflows", "scale them")


@dataclass(frozen=True)
class Descent:
    """The result of gradient descent from zero.

    Parameters
    ----------
    weights
        The weights after the last step.
    taken, needed
        The number of steps taken, and the number needed for a relative error of the weights of
        ``WEIGHT_TOLERANCE``.
    left
        A bound on the relative error of the weights.
    """

    weights: Floats
    taken: int
    needed: int
    left: float


def descended(few: Few, max_steps: int) -> Descent:
    """Descend from zero, in steps chosen from the spectrum.

    A step is a combination of the gradient Rᵀ(R w − z) and the previous step, with Chebyshev's
    coefficients: if κ is the ratio of the largest to the smallest nonzero eigenvalue of RᵀR, the
    relative error decreases as 2 qᵏ with q = (√κ − 1)/(√κ + 1).
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
    taken = min(max_steps, needed)
    return Descent(
        chebyshev(few, low, high, taken), taken, needed, missing(math.sqrt(high / low), taken)
    )


def missing(ratio: float, steps: int) -> float:
    """Return the bound on the relative error after a number of steps; ratio is √κ."""
    power = math.exp(-2 * steps * math.atanh(1 / ratio)) if ratio > 1 else 0.0
    return 2 * power / (1 + power * power) if steps else 1.0


def steps_for(ratio: float, share: float) -> int:
    """Return the number of steps for a relative error; ratio is √κ."""
    if ratio <= 1:
        return 1
    return math.ceil(math.acosh(1 / share) / (2 * math.atanh(1 / ratio)))


def chebyshev(few: Few, low: float, high: float, steps: int) -> Floats:
    """Take a number of steps from zero; nonzero eigenvalues lie between low and high."""
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
