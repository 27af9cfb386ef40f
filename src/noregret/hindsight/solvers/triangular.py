"""The square loss on rows whose columns are nearly dependent: large offsets, timestamps, trends.

If columns have the condition number κ, their Gram matrix has κ², so from κ = 10⁸ on it cannot tell
them from dependent ones. A triangular factor R of the rows (Rᵀ R is the Gram matrix) is as good as
the rows. It is used twice: to find the weights, and to prove them. With S = R⁻¹ the rows X S are
nearly orthonormal, and around any w

    L(w + S v) = L(w) + 2 h·v + ‖X S v‖² ≥ L(w) − ‖h‖²/m,   h = (X S)ᵀ(X w − y),  m ≤ σ_min(X S)².

S is triangular without a zero on its diagonal, so w + S v reaches every vector; the proof does not
need S to be the exact inverse of R.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from noregret.hindsight.blocks import is_sparse, padded
from noregret.hindsight.proofs.deadline import check_time
from noregret.hindsight.proofs.rounding import (
    Floats,
    downward,
    growth,
    norm,
    norm_above,
    two_sum,
    upward,
)
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import USUAL, Search, back_substituted, solved
from noregret.hindsight.solvers.tangent import OnRows
from noregret.limits import SMALLEST, UNIT

# Most numbers per block of dense rows.
MAX_NUMBERS = 2**20
# Most changes of the set of points in a search for the one nearest to zero.
MAX_STEPS = 2_000
# Veltkamp's constant, which splits a number into two halves of 26 digits.
SPLITTER = 2.0**27 + 1


def triangle(rows: Rows) -> tuple[Floats, Floats]:
    """Return R and z with Rᵀ R = Σ x xᵀ and Rᵀ z = Σ y x, by a factorisation block by block."""
    n, kept = rows.shape[1], factor_of(rows)
    return kept[:n, :n], kept[:n, n]


def few_rows(rows: Rows) -> Rows:
    """Return n + 1 rows on which every predictor has the same square loss."""
    n, kept = rows.shape[1], factor_of(rows)
    return Rows(kept[:, :n], kept[:, n], features=n)


def corners(rows: Rows, weight: float | None) -> Floats:
    """Return points, one per column, such that a weighting's loss is its squared norm.

    They are the few rows minus their outcomes, as all weights sum to 1; with a ``weight`` U, for
    the features (U x, −U x).
    """
    n, kept = rows.shape[1], factor_of(rows)
    X = kept[:, :n] if weight is None else weight * np.hstack([kept[:, :n], -kept[:, :n]])
    return np.asarray(X - kept[:, n:])


def nearest_to_zero(points: Floats) -> Floats:
    """Return the weights of the point nearest to zero in the convex hull of some points.

    Wolfe's method: a system gives the point nearest to zero in the affine hull of the active
    points; one whose weight would become negative leaves, one that lies nearer to zero joins. The
    systems are solved by orthogonal transformations, which are as accurate as the points.

    Examples
    --------
    >>> nearest_to_zero(np.array([[1.0, -1.0, 5.0], [1.0, 1.0, 5.0]])).round(3)
    array([0.5, 0.5, 0. ])
    """
    from scipy.linalg import solve_triangular

    sizes = np.linalg.norm(points, axis=0)
    held, v = [int(sizes.argmin())], np.ones(1)
    for _ in range(MAX_STEPS):
        check_time()
        point = nearest_in_plane(points[:, held])
        slopes = points.T @ point
        rounding = 4 * UNIT * len(point) * sizes * norm(point)
        joins = int(np.argmin(slopes + rounding))
        if joins in held or slopes[joins] + rounding[joins] >= float(point @ point):
            break
        held, v = [*held, joins], np.append(v, 0.0)
        while True:
            factor = np.linalg.qr(points[:, held], mode="r")
            if len(factor) < len(held) or not np.diag(factor).all():
                return spread(v, held, points.shape[1])
            inner = solve_triangular(factor, np.ones(len(held)), trans="T", check_finite=False)
            target = solve_triangular(factor, inner, check_finite=False)
            target = target / target.sum()
            if not np.isfinite(target).all():
                return spread(v, held, points.shape[1])
            short = target <= 0
            if not short.any():
                v = target
                break
            steps = np.where(short, v / np.where(short, v - target, 1.0), np.inf)
            first = int(steps.argmin())
            v = np.maximum(v + steps[first] * (target - v), 0.0)
            v[first] = 0.0
            if not v.sum() > 0:
                return np.full(points.shape[1], 1.0 / points.shape[1])
            held = [at for at, share in zip(held, v.tolist(), strict=True) if share > 0]
            v = v[v > 0] / v.sum()
    return spread(v, held, points.shape[1])


def nearest_in_plane(points: Floats) -> Floats:
    """Return the point nearest to zero in the affine hull of some points.

    It is projected repeatedly, so that no rounding errors of large numbers that cancel remain in
    the directions of the hull, which decide whether another point is nearer.
    """
    first = points[:, 0]
    if points.shape[1] == 1:
        return first
    along = np.linalg.qr(points[:, 1:] - first[:, None])[0]
    for _ in range(3):
        first = first - along @ (along.T @ first)
    return np.asarray(first)


def spread(v: Floats, held: list[int], count: int) -> Floats:
    """Return weights for all points."""
    weights = np.zeros(count)
    weights[held] = np.maximum(v, 0.0) / np.maximum(v, 0.0).sum()
    return weights


def factor_of(rows: Rows) -> Floats:
    """Return the triangular factor of (X, y)."""
    kept = np.zeros((0, rows.shape[1] + 1))
    for X, y in dense_blocks(rows):
        kept = np.asarray(np.linalg.qr(np.vstack([kept, np.column_stack([X, y])]), mode="r"))
    return kept


def dense_blocks(rows: Rows) -> Iterator[tuple[Floats, Floats]]:
    """Yield the rows as dense blocks of all columns.

    Blocks end at the same rows however the stream was split, so that repeated computations agree to
    the last bit. A block is overwritten by the next. Raise OutOfTime if time is up.
    """
    total, n = rows.shape
    size = min(total, max(1, n, MAX_NUMBERS // max(1, n)))
    X, outcomes, filled = np.empty((size, n)), np.empty(size), 0
    for block, y in rows.blocks():
        start = 0
        while start < len(y):
            stop = min(len(y), start + size - filled)
            part = padded(block[start:stop], n)
            here = slice(filled, filled + stop - start)
            X[here] = part.toarray() if is_sparse(part) else part
            outcomes[here] = y[start:stop]
            filled, start = here.stop, stop
            if filled == size:
                check_time()
                yield X, outcomes
                filled = 0
    if filled:
        check_time()
        yield X[:filled], outcomes[:filled]


class Triangular:
    """H = Rᵀ R, solved by orthogonal transformations of R. It is a ``Curvature``."""

    def __init__(self, R: Floats) -> None:
        self.R = R
        norms = np.linalg.norm(R, axis=0)
        self.diagonal: Floats = norms * norms

    def times(self, v: Floats) -> Floats:
        """Return H v."""
        return np.asarray(self.R.T @ (self.R @ v))

    def solve(self, added: Floats | float, r: Floats, search: Search = USUAL) -> Floats:
        """Return v with (H + diag(added)) v = r."""
        return solved(self.factor(added).T, r)

    def factor(self, added: Floats | float) -> Floats:
        """Return a triangular T with Tᵀ T = H + diag(added), kept solvable if H is singular."""
        n = len(self.diagonal)
        extra = np.maximum(added, (n * UNIT) ** 2 * self.diagonal)
        extra[self.diagonal + extra == 0] = 1.0
        stacked = np.vstack([self.R, np.diag(np.sqrt(extra))])
        return np.asarray(np.linalg.qr(stacked, mode="r"))


class Careful(OnRows):
    """The square loss on rows, with residuals as accurate as in twice the precision.

    If large numbers cancel, as with offset columns, plain scores lose most of their digits.
    """

    def residues(self, w: Floats) -> tuple[Floats, Floats]:
        """Return X w − y, and a bound on each error."""
        return joined([compensated(X, w, y) for X, y in dense_blocks(self.rows)], len(w))

    def pull(self, residues: Floats) -> Floats:
        """Return Xᵀ r, half the gradient."""
        found, at = np.zeros(self.rows.shape[1]), 0
        for X, y in dense_blocks(self.rows):
            found += X.T @ residues[at : at + len(y)]
            at += len(y)
        return found

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at w."""
        return 2 * self.pull(self.residues(w)[0])

    def interval(self, w: Floats) -> tuple[float, float]:
        """Return a lower and an upper bound of the loss."""
        return self.between(*self.residues(w))

    def high(self, w: Floats) -> float:
        """Return an upper bound of the loss."""
        return self.interval(w)[1]


def careful_scores(rows: Rows, w: Floats) -> tuple[Floats, Floats]:
    """Return X w as accurately as in twice the precision, and a bound on each error."""
    blocks = dense_blocks(rows)
    return joined([compensated(X, w, np.zeros(len(y))) for X, y in blocks], len(w))


def joined(parts: list[tuple[Floats, Floats]], columns: int) -> tuple[Floats, Floats]:
    """Return what ``compensated`` found for some blocks, and a bound on each error."""
    if not parts:
        return np.zeros(0), np.zeros(0)
    found, sizes = (np.concatenate(each) for each in zip(*parts, strict=True))
    terms = columns + 2
    off = 2 * UNIT * np.abs(found) + 4 * growth(terms) ** 2 * sizes + 8 * terms * SMALLEST
    return found, off * (1 + 4 * UNIT)


def compensated(X: Floats, w: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return X w − y by compensated summation (Ogita, Rump, Oishi), and |X||w| + |y|.

    The sizes are rounded as usual.
    """
    high, low, sizes = -y, np.zeros(len(y)), np.abs(y)
    for column, weight in zip(X.T, w.tolist(), strict=True):
        if weight == 0.0:
            continue
        product = column * weight
        high, lost = two_sum(high, product)
        low += lost + product_error(column, weight, product)
        sizes = sizes + np.abs(product)
    return high + low, sizes


def product_error(a: Floats, b: float, product: Floats) -> Floats:
    """Return a b − product, exactly except for underflow (Dekker)."""
    left, right = split(a), split(np.asarray(b))
    rest = product - left[0] * right[0] - left[1] * right[0] - left[0] * right[1]
    return np.asarray(left[1] * right[1] - rest)


def split(a: Floats) -> tuple[Floats, Floats]:
    """Return two numbers of half the digits whose sum is a."""
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def lowest_paid(
    loss: Careful,
    curvature: Triangular,
    w: Floats,
    penalty: float,
    line: Floats | None = None,
) -> float:
    """Return a lower bound of L(u) + penalty ‖u‖² − line·u over all u, proven around w.

    It is minus infinity if columns are too nearly dependent to prove anything.
    """
    n, rows = len(w), loss.rows
    factor = curvature.factor(penalty)
    S = back_substituted(factor, np.eye(n))
    if not (np.isfinite(S).all() and np.diag(S).all()):
        return -math.inf
    residues, off = loss.residues(w)
    gram, off_by, size = np.zeros((n, n)), 0.0, 0.0
    slope, slope_size, doubt = np.zeros(n), np.zeros(n), np.zeros(n)
    at, most, blocks = 0, 0, 0
    for X, y in dense_blocks(rows):
        r, o = residues[at : at + len(y)], off[at : at + len(y)]
        Q = X @ S
        E = growth(n + 2) * (np.abs(X) @ np.abs(S)) + 2 * n * SMALLEST
        gram += Q.T @ Q
        slope += Q.T @ r
        off_by += float(np.sum(E * E))
        size += float(np.sum(Q * Q))
        doubt += np.abs(Q).T @ o + E.T @ (np.abs(r) + o)
        slope_size += np.abs(Q).T @ np.abs(r)
        at, most, blocks = at + len(y), max(most, len(y)), blocks + 1
    depth = most + blocks + 2 * n + 16
    roomy = 1 + 4 * growth(depth)
    # The distance of (X S)ᵀ(X S) + penalty SᵀS from the identity, in the Frobenius norm.
    gram += penalty * (S.T @ S)
    size = (size + penalty * float(np.sum(S * S))) * roomy
    gram[np.diag_indices_from(gram)] -= 1.0
    away = (norm_above(gram.ravel()) + growth(depth) * (size + n)) * roomy + n * n * SMALLEST
    smallest = math.sqrt(max(0.0, downward(1 - away, 1.0))) - math.sqrt(off_by) * roomy
    if not smallest > 0:
        return -math.inf
    slope += penalty * (S.T @ w)
    slope_size += penalty * (np.abs(S).T @ np.abs(w))
    gained = gained_size = 0.0
    if line is not None:
        slope -= 0.5 * (S.T @ line)
        slope_size += np.abs(S).T @ np.abs(line)
        gained, gained_size = float(line @ w), float(np.abs(line) @ np.abs(w))
    doubt += 2 * growth(depth) * slope_size + depth * SMALLEST
    steepest = norm_above((np.abs(slope) + doubt) * roomy)
    drop = upward(steepest * steepest, SMALLEST) / downward(smallest * smallest)
    low = loss.between(residues, off)[0]
    paid = penalty * float(w @ w) * (1 - growth(n + 8))
    gained += growth(n + 4) * gained_size
    return downward(low + paid - gained - upward(drop), low + paid + gained_size)
