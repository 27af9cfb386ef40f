"""Examples as points of a kernel's space, in coordinates: so that all of hindsight applies there.

Some of the examples are landmarks. With K their Gram matrix and K = L Lᵀ, the coordinates of x are
L⁻¹ k(landmarks, x): products and norms of functions of the landmarks are those of coordinates. Up
to ``ALL`` rounds the landmarks span every example but for a rest that is counted; beyond, they are
the support vectors that the learner kept, and the functions are those of these vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from noregret.checks import positive
from noregret.core.losses import Loss
from noregret.errors import NoRegretError
from noregret.hindsight.answer import Answer, Limits
from noregret.hindsight.ball import Ball
from noregret.hindsight.blocks import is_sparse, padded
from noregret.hindsight.losses import losses_of
from noregret.hindsight.newton import minimise, proven
from noregret.hindsight.rounding import UNIT, Floats, norm, norm_above, upward
from noregret.hindsight.rows import Rows

# Rounds up to which every example may be a landmark.
ALL = 2_000
# Numbers in all coordinates together, at most: half a gigabyte.
MOST_NUMBERS = 2**26
# Landmarks of which less than this share of k(x, x) is new are left out.
NEW = 1e-13

Gram = Callable[..., Floats]


@dataclass
class KernelRows:
    """A game's examples in the space of a kernel.

    Parameters
    ----------
    rows
        The examples as they came.
    gram
        From one table, or two, to k(x, z) for all of their rows.
    vectors
        The support vectors that the learner kept.
    """

    rows: Rows
    gram: Gram
    vectors: Floats
    own: Floats = field(init=False)  # k(x, x), once landmarks are chosen

    @property
    def complete(self) -> bool:
        """Whether coordinates stand for all functions of the space."""
        return self.rows.shape[0] <= ALL

    @cached_property
    def table(self) -> Floats:
        """What landmarks are chosen from."""
        if not self.complete:
            return self.vectors
        parts = [block for block, _ in self.rows.blocks()]
        return np.concatenate([dense(part, self.rows.shape[1]) for part in parts])

    @cached_property
    def chosen(self) -> tuple[Floats, Floats, Floats]:
        """Which rows of the table are landmarks, their factor L, and coordinates of all."""
        from scipy.linalg import lapack

        K = self.gram(self.table)
        self.own = K.diagonal().copy()
        factor, order, rank, _ = lapack.dpstrf(
            K, lower=1, tol=NEW * float(K.diagonal().max(initial=0.0))
        )
        rank = rank if K.any() else 0
        factor, order = np.tril(factor)[:, :rank], order - 1
        coordinates = np.empty_like(factor)
        coordinates[order] = factor
        return order[:rank], factor[:rank], coordinates

    @property
    def landmarks(self) -> Floats:
        """The examples that functions are made of."""
        return np.asarray(self.table[self.chosen[0]])

    @property
    def names(self) -> list[str]:
        """What the landmarks are called: by their round, or their number among support vectors."""
        word = "row" if self.complete else "vector"
        return [f"{word} {at + 1}" for at in self.chosen[0].tolist()]

    @cached_property
    def model(self) -> Rows:
        """The examples in coordinates, with their outcomes."""
        from scipy.linalg import solve_triangular

        _, factor, coordinates = self.chosen
        rounds, rank = self.rows.shape[0], factor.shape[1]
        if self.complete:
            return Rows(coordinates, self.rows.outcomes, features=rank)
        if rounds * rank > MOST_NUMBERS:
            raise NoRegretError(
                f"{rounds} rounds with {rank} support vectors are too many to look back on: play"
                f" fewer rounds, or with a budget of at most {MOST_NUMBERS // rounds}"
            )
        made = Rows(features=rank)
        for block, outcomes in self.rows.blocks():
            near = self.gram(dense(block, self.vectors.shape[1]), self.landmarks)
            made.add(solve_triangular(factor, near.T, lower=True).T, outcomes)
        return made

    @cached_property
    def rest(self) -> float:
        """How much larger than in coordinates ‖Σ a_t φ(x_t)‖²/‖a‖² may be, rounding included."""
        if not self.complete:
            return 0.0
        coordinates, own = self.chosen[2], self.own
        left = np.maximum(0.0, own - np.einsum("ti,ti->t", coordinates, coordinates)).sum()
        return upward(float(left) + 8 * (len(own) + 8) * UNIT * float(own.max(initial=0.0)))

    # Functions of the landmarks: by coordinates, or by the coefficients of Σ c_i k(s_i, ·).

    def coefficients(self, w: Floats) -> Floats:
        """Return the coefficients of the function with these coordinates."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.chosen[1].T, w, lower=False))

    def length(self, coefficients: Floats) -> float:
        """Return the norm of a function."""
        return norm(self.chosen[1].T @ coefficients)

    def scores(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return what a function says of every example, and by how much each may be off."""
        found, sizes = [], []
        for block, _ in self.rows.blocks():
            near = self.gram(dense(block, self.table.shape[1]), self.landmarks)
            found.append(near @ coefficients)
            sizes.append(np.abs(near) @ np.abs(coefficients))
        off = 4 * (len(coefficients) + 8) * UNIT
        return np.concatenate(found), off * np.concatenate(sizes)


def dense(block: object, width: int) -> Floats:
    """Return a block with all its columns, zeros written out."""
    full = padded(block, width)
    return np.ascontiguousarray(full.toarray() if is_sparse(full) else full, dtype=np.float64)


class SpannedBall(Ball):
    """A ball of functions, of which the landmarks span all but a rest."""

    left = 0.0

    def lowest_below(self, g: Floats, off: Floats) -> float:
        """Return what the minimum of g·w is surely not below, the rest included."""
        return -upward(
            self.radius * math.hypot(norm_above(np.abs(g) + off), self.left) * (1 + 4 * UNIT)
        )


def best_in_space(space: KernelRows, loss: Loss, radius: float, limits: Limits) -> Answer:
    """Return the best function of norm at most the radius.

    Coordinates are right but for the rest E of the Gram matrix: ‖Σ a_t φ(x_t)‖² is in them too
    small by aᵀEa, which lowers the lower end.
    """
    rows, ball = space.model, SpannedBall(positive("radius", radius))
    losses = losses_of(loss, rows.outcomes)
    found = minimise(rows, losses, ball, np.zeros(rows.shape[1]), limits)
    ball.left = norm_above(found.slopes) * math.sqrt(space.rest)
    attained, lower = proven(rows, losses, ball, found)
    return Answer(f"RKHS ball of radius {radius:g}", attained, lower, found.w)
