"""Newton's equations: (H + diag(e)) v = r with H = Σ d_t x_t x_tᵀ, in the cheapest way.

With few features, a Cholesky factor of the matrix itself; with few curved rows (d_t > 0), one
over those rows; else conjugate gradients over the curved rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from noregret.hindsight.blocks import is_sparse
from noregret.hindsight.proofs.deadline import check_time, expired
from noregret.hindsight.proofs.rounding import Floats, dot, norm
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.doubled import Doubled
from noregret.hindsight.sparse import SparseRows, compact

if TYPE_CHECKING:
    from noregret.hindsight.solvers.full_columns import FullColumns

# Most unknowns of a dense factor.
MAX_DENSE = 2_000
# Increases of the diagonal, relative, if rounding has left a matrix without a factor.
LIFTS = (0.0, 1e-12, 1e-9, 1e-6)
# Up to this many features a dense factor is fast for any rows, and loses the fewest digits.
MAX_ALWAYS_DENSE = 300
# Curved rows are copied out of the record if they are at most this share of it.
COPIED_SHARE = 0.4
# Most numbers that conjugate gradients read per call, within limits on their steps.
MAX_READ_NUMBERS = 400_000_000
STEPS = (200, 2_000)
# Steps of conjugate gradients before the fullest columns are eliminated, which costs ten steps; it
# is put off as long as two steps cut the residual to this share.
PLAIN_STEPS, FAST_CUT = 4, 0.25
# Fewest numbers in the rows for which that pays off.
MIN_BLOCK_NUMBERS = 100_000
# Products of a factor that take as long as reading one number of sparse rows, per solution.
PRODUCTS_PER_READ = 1_000


class Search(NamedTuple):
    """The start of an iterative solution, 0 by default, and where it ends.

    That is when its residual is at most ``accuracy`` times the right-hand side, when it is longer
    than ``longest``, or when ``done`` returns True for the solution and its residual.
    """

    start: Floats | None = None
    accuracy: float = 0.05
    longest: float = math.inf
    done: Callable[[Floats, Floats], bool] | None = None


USUAL = Search()


class Curvature(Protocol):
    """A symmetric matrix H without negative eigenvalues."""

    diagonal: Floats

    def times(self, v: Floats) -> Floats:
        """Return H v."""

    def solve(self, added: Floats | float, r: Floats, search: Search = USUAL) -> Floats:
        """Return v with (H + diag(added)) v = r; ``search`` is for iterative solutions."""


def curvature_of(rows: Rows, weights: Floats) -> Curvature:
    """Return H = Σ d_t x_t x_tᵀ in the form in which it is fastest to solve."""
    if isinstance(rows, Doubled):
        return Twice(curvature_of(rows.single, weights), rows.weight)
    own: Curvature | None = rows.curvature(weights)
    if own is not None:
        return own
    # Negligible weights would only cause overflow.
    bent = weights > max(1e-30 * float(weights.max(initial=0.0)), 1e-290)
    weights = np.where(bent, weights, 0.0)
    count, features = int(np.count_nonzero(bent)), rows.shape[1]
    wide = isinstance(rows, SparseRows) and is_wide(rows)
    small = features <= MAX_ALWAYS_DENSE
    if small or (features <= min(MAX_DENSE, 2 * count) and not wide):
        return Factored(rows.gram(weights, check_time))
    if count <= MAX_DENSE and not wide:
        return FewRows(rows.pick(bent), weights[bent])
    if count <= COPIED_SHARE * len(weights):
        few = Rows(rows.pick(bent), weights[bent], features=features)
        rows, weights = compact(few), weights[bent]
    return ManyRows(rows, weights)


def is_wide(rows: SparseRows) -> bool:
    """Return whether reading the rows repeatedly is cheaper than a factor.

    Conjugate gradients read them about a hundred times; a factor takes n³/3 products.
    """
    features = rows.shape[1]
    return features > MAX_ALWAYS_DENSE and features**3 / 3 > PRODUCTS_PER_READ * rows.survey.numbers


def kept_solvable(diagonal: Floats, added: Floats | float) -> Floats:
    """Return the addition to the diagonal, raised if H may be singular and nothing is added."""
    extra = np.maximum(added, 1e-13 * diagonal)
    extra[diagonal + extra == 0] = 1.0
    return extra


class Factored:
    """H itself, solved by Cholesky factors."""

    def __init__(self, matrix: Floats) -> None:
        self.matrix, self.diagonal = matrix, np.diag(matrix).copy()
        self.made: tuple[Floats, Any] | None = None

    def times(self, v: Floats) -> Floats:
        """Return H v."""
        return self.matrix @ v

    def solve(self, added: Floats | float, r: Floats, search: Search = USUAL) -> Floats:
        """Return v with (H + diag(added)) v = r, the system scaled to ones on its diagonal."""
        scale = 1 / np.sqrt(self.diagonal + kept_solvable(self.diagonal, added))
        lower = self.factor(scale)
        return np.asarray(scale * solved(lower, scale * r))

    def factor(self, scale: Floats) -> Any:
        """Return the factor of the scaled system, kept for the next call."""
        if self.made is not None and np.array_equal(self.made[0], scale):
            return self.made[1]
        system = self.matrix * scale[:, None]
        system *= scale
        # Rounding can give a singular matrix a negative eigenvalue: increase the diagonal then.
        for lift in (*LIFTS, float(len(scale))):
            np.fill_diagonal(system, 1.0 + lift)
            try:
                factor = np.linalg.cholesky(system)
            except np.linalg.LinAlgError:
                continue
            break
        else:  # numbers that overflowed: step along the gradient
            factor = np.eye(len(scale))
        self.made = scale, factor
        return factor


def solved(factor: Floats, r: Floats) -> Floats:
    """Return v with L Lᵀ v = r for a lower triangle L; by SciPy, slow to load, only if large."""
    if len(r) <= MAX_ALWAYS_DENSE:
        return np.asarray(np.linalg.solve(factor.T, np.linalg.solve(factor, r)))
    from scipy.linalg import cho_solve

    return np.asarray(cho_solve((factor, True), r, check_finite=False))


def back_substituted(upper: Floats, r: Floats) -> Floats:
    """Return v with R v = r for an upper triangle R; by SciPy only if it is large."""
    if len(r) <= MAX_ALWAYS_DENSE:
        return np.asarray(np.linalg.solve(upper, r))
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(upper, r, check_finite=False))


class FewRows:
    """H of fewer rows than features, solved by Cholesky factors over the rows (Woodbury)."""

    def __init__(self, block: Any, weights: Floats) -> None:
        self.block, self.weights = block, weights
        self.back = block.T.tocsr() if is_sparse(block) else block.T
        squares = block.multiply(block) if is_sparse(block) else block * block
        self.diagonal = np.asarray(squares.T @ weights)
        self.made: tuple[Floats, Any] | None = None

    def times(self, v: Floats) -> Floats:
        """Return H v."""
        return np.asarray(self.back @ (self.weights * (self.block @ v)))

    def solve(self, added: Floats | float, r: Floats, search: Search = USUAL) -> Floats:
        """Return v with (H + diag(added)) v = r, refined once against cancellation."""
        if not len(self.weights):
            return r / kept_solvable(self.diagonal, added)
        extra = kept_solvable(self.diagonal, added)
        v = self.roughly(extra, r)
        return v + self.roughly(extra, r - self.times(v) - extra * v)

    def roughly(self, extra: Floats, r: Floats) -> Floats:
        """Return v by the Woodbury identity, without refinement."""
        from scipy.linalg import cho_solve

        inner = cho_solve(self.factor(extra), self.block @ (r / extra), check_finite=False)
        return np.asarray((r - self.back @ inner) / extra)

    def factor(self, extra: Floats) -> Any:
        """Return the factor of D⁻¹ + X diag(extra)⁻¹ Xᵀ, kept for the next call."""
        from scipy.linalg import cho_factor

        if self.made is None or not np.array_equal(self.made[0], extra):
            scaled = self.block.multiply(1 / extra) if is_sparse(self.block) else self.block / extra
            kernel = scaled @ self.back
            system = kernel.toarray() if is_sparse(kernel) else kernel
            diagonal = np.diag(system) + 1 / self.weights
            # Repeated rows and many features can leave it without a factor: raise the diagonal.
            for lift in LIFTS:
                np.fill_diagonal(system, diagonal * (1.0 + lift))
                try:
                    factor = cho_factor(system, lower=True, check_finite=False)
                except np.linalg.LinAlgError:
                    continue
                break
            self.made = extra, factor
        return self.made[1]


class ManyRows:
    """H of many rows and features, solved by conjugate gradients.

    The preconditioner is the inverse of the diagonal. If that takes many steps, the fullest columns
    are eliminated, often numbers of different scales (see ``full_columns``); others are often
    indicators, for which the diagonal suits.
    """

    cross: Floats | None = None  # H_·F for the fullest columns F

    def __init__(self, rows: Rows, weights: Floats) -> None:
        self.rows, self.weights = rows, weights
        self.diagonal = rows.column_squares(weights)
        self.steps = int(np.clip(MAX_READ_NUMBERS / max(1, rows.survey.numbers), *STEPS))

    def times(self, v: Floats) -> Floats:
        """Return H v."""
        return self.rows.bend(self.weights, v)

    def solve(self, added: Floats | float, r: Floats, search: Search = USUAL) -> Floats:
        """Return v with (H + diag(added)) v = r, up to a relative residual."""
        extra = kept_solvable(self.diagonal, added)
        scale, full = 1 / (self.diagonal + extra), None
        v = np.zeros_like(r) if search.start is None else search.start.copy()
        residual = r - self.times(v) - extra * v if v.any() else r.copy()
        direction, energy, wanted = np.zeros_like(r), math.inf, search.accuracy * norm(r)
        sizes: list[float] = []  # of the residual before each step
        plain = True
        for taken in range(self.steps):
            sizes.append(norm(residual))
            slow = taken >= PLAIN_STEPS and sizes[-1] > max(wanted, FAST_CUT * sizes[-3])
            if plain and (slow or self.cross is not None):
                full, plain = self.full_columns(extra), False
                if full is not None:
                    shift = full.solve(residual)
                    v[full.columns] += shift
                    residual -= full.image(shift)
                    scale[full.columns], energy = 0.0, math.inf
            lifted = scale * residual
            before, energy = energy, dot(residual, lifted)
            if norm(residual) <= wanted or energy <= 0 or expired():
                break
            direction = lifted + (energy / before) * direction
            image = self.times(direction) + extra * direction
            if full is not None:
                shift = -full.solve(image)
                direction[full.columns] += shift
                image += full.image(shift)
            step = energy / dot(direction, image)
            v += step * direction
            residual -= step * image
            if norm(v) > search.longest or (search.done is not None and search.done(v, residual)):
                break
        return v

    def full_columns(self, extra: Floats) -> FullColumns | None:
        """Return the columns to eliminate from H + diag(extra); None if it does not pay off."""
        rows = self.rows
        if not isinstance(rows, SparseRows) or rows.survey.numbers < MIN_BLOCK_NUMBERS:
            return None
        columns = rows.fullest_columns
        if not len(columns):
            return None
        if self.cross is None:
            self.cross = rows.cross_of(columns, self.weights)
        if not np.isfinite(self.cross).all():
            return None
        from noregret.hindsight.solvers.full_columns import FullColumns

        return FullColumns(columns, self.cross, extra)


class Twice:
    """H of the doubled rows, AᵀHA with A = U (I, −I), solved in the single ones."""

    def __init__(self, single: Curvature, weight: float) -> None:
        self.single, self.weight = single, weight
        self.diagonal = np.tile(weight**2 * single.diagonal, 2)

    def times(self, v: Floats) -> Floats:
        """Return AᵀHA v."""
        return self.spread(self.single.times(self.gathered(v)))

    def gathered(self, v: Floats) -> Floats:
        """Return A v."""
        plus, minus = np.split(v, 2)
        return self.weight * (plus - minus)

    def spread(self, v: Floats) -> Floats:
        """Return Aᵀ v."""
        return np.concatenate([self.weight * v, -self.weight * v])

    def solve(self, added: Floats | float, r: Floats, search: Search = USUAL) -> Floats:
        """Return v by way of A v, which solves (H + E⁻¹) A v = E⁻¹ A D⁻¹ r with E = A D⁻¹ Aᵀ."""
        inverse = 1 / (added + np.zeros_like(r))
        plus, minus = np.split(inverse, 2)
        inner = 1 / (self.weight**2 * (plus + minus))
        free = self.gathered(inverse * r)
        single = self.single.solve(inner, inner * free, Search(accuracy=search.accuracy))
        return inverse * (r - self.spread(inner * (free - single)))
