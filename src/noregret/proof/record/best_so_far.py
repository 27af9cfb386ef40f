"""The least square loss of a linear predictor at a point of the curve, if it is known.

Sums over the rows lose digits where columns are far from zero or nearly dependent: a spread of s
around an offset of m leaves (s/m)² of a sum of squares. The loss is then not known from them, and
NaN. A triangular factor of the rows keeps s/m.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.blocks import is_sparse, padded
from noregret.hindsight.proofs.rounding import growth
from noregret.limits import UNIT

if TYPE_CHECKING:
    from noregret.hindsight import LeastSquares

Floats = NDArray[np.float64]
# Features up to which NumPy solves the system, ignoring its symmetry: importing SciPy's linear
# algebra takes 0.2 s, more than everything else before the first row is learned.
MAX_NUMPY_FEATURES = 64
# A loss is known if its error is at most this share of the larger of it and the learner's loss.
KNOWN_SHARE = 1e-6
# A direction counts as independent above this many times the rounding errors.
SOLVABLE = 256
# Moments of at most this many roundings, in directions that may be dependent, count as zero.
NULL = 8
# Columns of sizes with a larger ratio are nearly dependent rather than dependent.
MAX_RATIO = 1e8
# Columns whose products add up to smaller whole numbers are dependent or far from it.
SMALL_SUM = 2.0**30
# The least share of a column in a direction that it is part of.
PART = 1e-6
# Multiplications in factors of rows, and n³ of them per factor that is solved.
MAX_WORK, SOLVED = 1e10, 10


class Factor:
    """A triangular factor of (X, y), in place of sums over the rows.

    Parameters
    ----------
    R
        The factor.
    """

    def __init__(self, R: Floats) -> None:
        self.R = R

    @property
    def gram(self) -> Floats:
        """Σ x xᵀ."""
        return np.asarray(self.R[:, :-1].T @ self.R[:, :-1])

    def least_loss(self, penalty: float, usual: float) -> float:
        """Return the least  L(u) + penalty · ‖u‖²; NaN if its error is large for ``usual``."""
        n = self.R.shape[1] - 1
        X = np.vstack([self.R[:, :-1], math.sqrt(penalty) * np.eye(n)])
        y = np.append(self.R[:, -1], np.zeros(n))
        norms = np.linalg.norm(X, axis=0)
        if not (np.isfinite(norms).all() and np.isfinite(y).all()):
            return math.nan
        X = X[:, norms > 0] / norms[norms > 0]
        U, s, V = np.linalg.svd(X, full_matrices=False)
        error = (n + 8) * UNIT
        solved = s > SOLVABLE * error
        if (s[~solved] > error).any():
            return math.nan
        shares = U[:, solved].T @ y
        rest = y - U[:, solved] @ shares
        u = V[solved].T @ (shares / s[solved])
        size = error * float(np.linalg.norm(y) + np.abs(u).sum())
        loss = float(rest @ rest)
        return known(loss, 2 * math.sqrt(loss) * size + size * size, usual)


def least_loss(sums: LeastSquares, penalty: float, usual: float, sure: bool = False) -> float:
    """Return the least  L(u) + penalty · ‖u‖²; NaN if its error is large for ``usual``.

    With ``sure``, it is NaN too if columns may be nearly dependent instead of dependent.
    """
    whole = sums.whole
    energy, error = float(whole[0, 0]), growth(sums.depth + 4)
    gram, moment = whole[1:, 1:], whole[0, 1:]
    diagonal = gram.diagonal() + penalty
    if not math.isfinite(float(diagonal.sum())):
        return math.nan
    if not diagonal.all():  # columns of zeros
        used = np.flatnonzero(diagonal)
        gram, moment, diagonal = gram[np.ix_(used, used)], moment[used], diagonal[used]
    if not len(moment):
        return energy
    scale = 1 / np.sqrt(diagonal)
    system = gram * (scale * scale[:, None])
    system.reshape(-1)[:: len(moment) + 1] = 1.0
    moment = moment * scale
    if not (np.isfinite(system).all() and np.isfinite(moment).all()):
        return math.nan
    if sure and sums.rounds <= len(moment) and not are_counts(gram):
        return math.nan  # fewer rows than columns: dependent, or nearly so
    u, steepness, left, part = solution(system, moment, error)
    loss = energy - 2 * float(moment @ u) + float(u @ system @ u)
    size = math.sqrt(energy) + float(np.abs(u).sum())
    if len(part) and not are_counts(gram[np.ix_(part, part)]):
        ratio = float(scale[part].max() / scale[part].min())
        if sure or left > NULL * UNIT * size or ratio > MAX_RATIO:
            return math.nan
    doubt = error * size * size * (1 + len(u) * error * steepness)
    return known(loss, doubt, usual)


def solution(
    system: Floats, moment: Floats, error: float
) -> tuple[Floats, float, float, NDArray[np.intp]]:
    """Return the solution, a bound on the inverse, and what was left out.

    Directions in which the system may be zero are left out: the largest moment in one, and the
    columns that are part of them.
    """
    n, none = len(moment), np.zeros(0, np.intp)
    least = SOLVABLE * n * error
    if n > MAX_NUMPY_FEATURES:
        from scipy.linalg.lapack import dpocon, dpotrf, dpotrs

        width = float(np.abs(system).sum(axis=0).max())
        factor, failed = dpotrf(system)
        reciprocal = 0.0 if failed else float(dpocon(factor, width)[0])
        if reciprocal * width > least:
            return np.asarray(dpotrs(factor, moment)[0]), 1 / (reciprocal * width), 0.0, none
    else:
        try:
            inverse = np.linalg.inv(system)
        except np.linalg.LinAlgError:
            inverse = np.full((1, 1), np.inf)
        steepness = float(inverse.diagonal().sum())
        if steepness < 1 / least and inverse.diagonal().min() > 0:
            return np.asarray(inverse @ moment), steepness, 0.0, none
    values, vectors = np.linalg.eigh(system)
    shares, solved = vectors.T @ moment, values > least
    u = vectors[:, solved] @ (shares[solved] / values[solved])
    left = float(np.abs(shares[~solved]).max(initial=0.0))
    part = np.flatnonzero((np.abs(vectors[:, ~solved]) > PART).any(axis=1))
    return u, 1 / float(values[solved].min(initial=1.0)), left, part


def are_counts(sums: Floats) -> bool:
    """Return whether sums are small whole numbers, such as those of indicators."""
    return bool((np.abs(sums) < SMALL_SUM).all() and (sums == np.rint(sums)).all())


def known(loss: float, doubt: float, usual: float) -> float:
    """Return a loss; NaN if it is not known well enough."""
    return max(0.0, loss) if doubt <= KNOWN_SHARE * max(loss, usual) else math.nan


def factors(blocks: Iterator[tuple[Any, Floats]], stops: list[int]) -> Iterator[Factor]:
    """Yield the factor of the rows up to each of some growing numbers of rows.

    It ends early if that takes more than a second or two, as for many columns.
    """
    kept, done, at, left = np.zeros((0, 1)), 0, 0, MAX_WORK
    for block, outcomes in blocks:
        if block.shape[1] ** 3 > MAX_WORK:
            return
        if block.shape[1] + 1 > kept.shape[1]:  # new columns come before the outcomes
            kept = np.insert(kept, [kept.shape[1] - 1] * (block.shape[1] + 1 - kept.shape[1]), 0, 1)
        start, rows, n = 0, len(outcomes), kept.shape[1] - 1
        while start < rows:
            left -= (n + min(rows - start, max(1, n, 2**17 // (n + 1)))) * n * n
            if left < 0:
                return
            stop = min(rows, stops[at] - done, start + max(1, n, 2**17 // (n + 1)))
            X = padded(block[start:stop], n)
            X = X.toarray() if is_sparse(X) else X
            part = np.column_stack([X, outcomes[start:stop]])
            kept = np.asarray(np.linalg.qr(np.vstack([kept, part]), mode="r"))
            if done + stop == stops[at]:
                left -= SOLVED * n**3
                yield Factor(kept)
                at += 1
                if at == len(stops):
                    return
            start = stop
        done += rows
