"""Examples as points of a kernel's space, in coordinates: so that all of hindsight applies there.

Some of the examples are landmarks. With K their Gram matrix and K = L Lᵀ, the coordinates of x are
L⁻¹ k(landmarks, x). Coordinates serve to search; they carry rounding errors that grow with the
condition of K, so nothing is proven by them. What is proven (see ``kernel_proofs``) is about
functions Σ c_i k(s_i, ·) as exact arithmetic would have them, from kernels with their errors.

Up to ``MAX_WHOLE_SPACE_ROUNDS`` rounds the functions are those of the whole space; beyond, those of
the support vectors that the learner kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.hindsight.blocks import is_sparse, padded
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.dependence import surely_curved

# Rounds up to which functions are those of the whole space.
MAX_WHOLE_SPACE_ROUNDS = 2_000
# Numbers in all coordinates together, at most: half a gigabyte.
MAX_NUMBERS = 2**26
# Landmarks of which less than this share of k(x, x) is new are left out.
MIN_NEW_SHARE = 1e-13
# The same for support vectors, tried one after the other until independence is proven.
CLEARLY_NEW = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)

# From one table, or two, to k(x, z) for all pairs of their rows, and the error of each.
Gram = Callable[..., tuple[Floats, Floats]]


@dataclass
class KernelRows:
    """A game's examples in the space of a kernel.

    Parameters
    ----------
    rows
        The examples as they came.
    gram
        From one table, or two, to k(x, z) for all pairs of rows, and by how much each may be off.
    vectors
        The support vectors that the learner kept.
    """

    rows: Rows
    gram: Gram
    vectors: Floats

    @property
    def complete(self) -> bool:
        """Whether functions are those of the whole space."""
        return self.rows.shape[0] <= MAX_WHOLE_SPACE_ROUNDS

    @cached_property
    def distinct(self) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
        """The different rows that landmarks are chosen from, where each was first, and each row's.

        Equal rows are one point of the space: as one they cannot differ by rounding.
        """
        table = self.vectors
        if self.complete:
            parts = [dense(block, self.rows.shape[1]) for block, _ in self.rows.blocks()]
            table = np.concatenate(parts) if parts else np.zeros((0, self.rows.shape[1]))
        table = table + 0.0  # so that −0 is 0
        if not table.size:
            count = min(1, len(table))
            return table[:count], np.arange(count), np.zeros(len(table), dtype=np.intp)
        _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return table[first[order]], first[order], rank[place.ravel()]

    @property
    def table(self) -> Floats:
        """The rows that landmarks are chosen from."""
        return self.distinct[0]

    @cached_property
    def products(self) -> tuple[Floats, Floats]:
        """The Gram matrix of the table, and its errors."""
        return self.gram(self.table)

    @cached_property
    def chosen(self) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Which rows of the table are landmarks, their factor L, and coordinates of all.

        Where functions are those of the support vectors, landmarks are surely independent.
        """
        if self.complete:
            return self.pivoted(MIN_NEW_SHARE)
        for share in CLEARLY_NEW:
            chosen = self.pivoted(share)
            if self.curved(chosen[0])[1] > 0:
                return chosen
        return self.pivoted(1.0)

    def pivoted(self, share: float) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Choose landmarks by a Cholesky factor with pivots."""
        from scipy.linalg import lapack

        K = self.products[0]
        if not K.any():
            return np.zeros(0, dtype=np.intp), np.zeros((0, 0)), np.zeros((len(K), 0))
        lengths = np.sqrt(K.diagonal())
        scale = np.where(lengths > 0, lengths, 1.0)
        unit = K / scale / scale[:, None]
        factor, order, rank, _ = lapack.dpstrf(unit, lower=1, tol=share)
        factor, order = np.tril(factor)[:, :rank], order - 1
        coordinates = np.empty_like(factor)
        coordinates[order] = factor
        coordinates *= scale[:, None]
        return order[:rank], coordinates[order[:rank]], coordinates

    def curved(self, at: NDArray[np.intp]) -> tuple[Floats, float]:
        """Return D and s with K − s D² surely positive semidefinite, of some rows of the table."""
        K, off = (matrix[np.ix_(at, at)] for matrix in self.products)
        lengths = np.sqrt(K.diagonal())
        if not len(at) or not lengths.all():
            return lengths, 0.0
        error = float((off / lengths / lengths[:, None]).max())
        return surely_curved(K, error * (1 + 1e-9))

    @property
    def independent(self) -> bool:
        """Whether no row of the table but the landmarks says anything."""
        lengths = self.products[0].diagonal()
        return len(self.chosen[0]) == int(np.count_nonzero(lengths))

    @property
    def landmarks(self) -> Floats:
        """The examples that functions are made of."""
        return np.asarray(self.table[self.chosen[0]])

    @property
    def names(self) -> list[str]:
        """What the landmarks are called: by their round, or their number among support vectors."""
        return [self.name_of(at) for at in self.distinct[1][self.chosen[0]].tolist()]

    def name_of(self, at: int) -> str:
        """Return what a round, or a support vector, is called."""
        return f"{'row' if self.complete else 'vector'} {at + 1}"

    @cached_property
    def places(self) -> dict[str, int]:
        """Where in the table everything is that a function may be made of, by its name."""
        if self.complete:
            return {self.name_of(k): int(at) for k, at in enumerate(self.distinct[2])}
        return dict(zip(self.names, self.chosen[0].tolist(), strict=True))

    @cached_property
    def model(self) -> Rows:
        """The examples in coordinates, with their outcomes."""
        from scipy.linalg import solve_triangular

        _, factor, coordinates = self.chosen
        rounds, rank = self.rows.shape[0], factor.shape[1]
        if self.complete:
            return Rows(coordinates[self.distinct[2]], self.rows.outcomes, features=rank)
        if rounds * rank > MAX_NUMBERS:
            raise NoRegretError(
                f"{rounds} rounds with {rank} support vectors are too many to look back on",
                f"play fewer rounds, or with a budget of at most {MAX_NUMBERS // rounds}",
            )
        made, outcomes = Rows(features=rank), iter(self.rows.blocks())
        for near, _ in self.near(self.chosen[0]):
            made.add(solve_triangular(factor, near.T, lower=True).T, next(outcomes)[1])
        return made

    def near(self, at: NDArray[np.intp]) -> Iterator[tuple[Floats, Floats]]:
        """Yield k(x, s) and its errors, x the examples of a block and s some rows of the table."""
        if self.complete:
            K, off = (matrix[:, at] for matrix in self.products)
            yield K[self.distinct[2]], off[self.distinct[2]]
            return
        for block, _ in self.rows.blocks():
            yield self.gram(dense(block, self.table.shape[1]), self.table[at])

    def coefficients(self, w: Floats, count: int | None = None) -> Floats:
        """Return the coefficients of the function with these coordinates, or the first of them.

        The first coordinates are those of the first landmarks, whatever the others are.
        """
        from scipy.linalg import solve_triangular

        made, first = np.zeros(len(w)), len(w) if count is None else count
        if first:
            factor = self.chosen[1][:first, :first]
            made[:first] = solve_triangular(factor.T, w[:first], lower=False)
        return made

    def counts(self) -> list[int]:
        """Return how many landmarks to make functions of: fewer have smaller coefficients."""
        factor = self.chosen[1]
        pivots = factor.diagonal() / np.sqrt(self.products[0].diagonal()[self.chosen[0]])
        counts = {int(np.count_nonzero(pivots >= least)) for least in (0, 1e-6, 1e-5, 1e-4, 1e-3)}
        return sorted(counts - {0} or {0})


def dense(block: object, width: int) -> Floats:
    """Return a block with all its columns, zeros written out."""
    full = padded(block, width)
    return np.ascontiguousarray(full.toarray() if is_sparse(full) else full, dtype=np.float64)
