"""Examples as points in a kernel's space, in coordinates that the linear solvers can search.

Some of the examples are landmarks. With K their Gram matrix and K = L Lᵀ, the coordinates of x are
L⁻¹ k(landmarks, x). Their rounding errors grow with the condition number of K, so they are used for
the search only. The proofs (see ``kernel_proofs``) are about functions Σ c_i k(s_i, ·) in exact
arithmetic, and use kernels with bounds on their errors.

Up to ``MAX_WHOLE_SPACE_ROUNDS`` rounds, the comparators are all functions of the space; beyond,
those of the support vectors that the learner kept.
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

# Rounds up to which the comparators are all functions of the space.
MAX_WHOLE_SPACE_ROUNDS = 2_000
# Numbers in the coordinates of all examples: half a gigabyte.
MAX_NUMBERS = 2**26
# An example is a landmark if the others leave at least this share of k(x, x).
MIN_NEW_SHARE = 1e-13
# The same for support vectors, tried in this order until independence is proven.
MIN_NEW_SHARES_OF_VECTORS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)

# From one or two tables to k(x, z) for all pairs of rows, with bounds on the errors.
Gram = Callable[..., tuple[Floats, Floats]]


@dataclass
class KernelRows:
    """The examples of a game in the space of a kernel.

    Parameters
    ----------
    rows
        The examples.
    gram
        From one or two tables to k(x, z) for all pairs of rows, with bounds on the errors.
    vectors
        The support vectors that the learner kept.
    """

    rows: Rows
    gram: Gram
    vectors: Floats

    @property
    def complete(self) -> bool:
        """True if the comparators are all functions of the space."""
        return self.rows.shape[0] <= MAX_WHOLE_SPACE_ROUNDS

    @cached_property
    def distinct(self) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
        """The distinct rows, the first occurrence of each, and for each row its distinct row.

        Equal rows are one point of the space, and must not differ by rounding.
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
        """The distinct rows, from which the landmarks are chosen."""
        return self.distinct[0]

    @cached_property
    def products(self) -> tuple[Floats, Floats]:
        """The Gram matrix of the table, and bounds on its errors."""
        return self.gram(self.table)

    @cached_property
    def chosen(self) -> tuple[NDArray[np.intp], Floats, Floats]:
        """The landmarks as rows of the table, their factor L, and the coordinates of all rows.

        Landmarks that are support vectors are proven to be independent.
        """
        if self.complete:
            return self.pivoted(MIN_NEW_SHARE)
        for share in MIN_NEW_SHARES_OF_VECTORS:
            chosen = self.pivoted(share)
            if self.curved(chosen[0])[1] > 0:
                return chosen
        return self.pivoted(1.0)

    def pivoted(self, share: float) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Choose landmarks by a pivoted Cholesky factorisation."""
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
        """Return D and s such that K − s D² is positive semidefinite, for rows of the table."""
        K, off = (matrix[np.ix_(at, at)] for matrix in self.products)
        lengths = np.sqrt(K.diagonal())
        if not len(at) or not lengths.all():
            return lengths, 0.0
        error = float((off / lengths / lengths[:, None]).max())
        return surely_curved(K, error * (1 + 1e-9))

    @property
    def independent(self) -> bool:
        """True if all rows of the table other than the landmarks are zero in the space."""
        lengths = self.products[0].diagonal()
        return len(self.chosen[0]) == int(np.count_nonzero(lengths))

    @property
    def landmarks(self) -> Floats:
        """The landmarks."""
        return np.asarray(self.table[self.chosen[0]])

    @property
    def names(self) -> list[str]:
        """The names of the landmarks: their round, or their number among the support vectors."""
        return [self.name_of(at) for at in self.distinct[1][self.chosen[0]].tolist()]

    def name_of(self, at: int) -> str:
        """Return the name of a round or a support vector."""
        return f"{'row' if self.complete else 'vector'} {at + 1}"

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of the table for each name that a witness may contain."""
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
                f"{rounds} rounds with {rank} support vectors are too many to search for the best"
                " function in hindsight",
                f"play fewer rounds, or with a budget of at most {MAX_NUMBERS // rounds}",
            )
        made, outcomes = Rows(features=rank), iter(self.rows.blocks())
        for near, _ in self.near(self.chosen[0]):
            made.add(solve_triangular(factor, near.T, lower=True).T, next(outcomes)[1])
        return made

    def near(self, at: NDArray[np.intp]) -> Iterator[tuple[Floats, Floats]]:
        """Yield k(x, s) and its errors, for the examples x of each block and s in the table."""
        if self.complete:
            K, off = (matrix[:, at] for matrix in self.products)
            yield K[self.distinct[2]], off[self.distinct[2]]
            return
        for block, _ in self.rows.blocks():
            yield self.gram(dense(block, self.table.shape[1]), self.table[at])

    def coefficients(self, w: Floats, count: int | None = None) -> Floats:
        """Return the coefficients of the function with these coordinates.

        With a ``count``, only the first coordinates are used: they belong to the first landmarks.
        """
        from scipy.linalg import solve_triangular

        made, first = np.zeros(len(w)), len(w) if count is None else count
        if first:
            factor = self.chosen[1][:first, :first]
            made[:first] = solve_triangular(factor.T, w[:first], lower=False)
        return made

    def counts(self) -> list[int]:
        """Return numbers of landmarks to try: fewer landmarks give smaller coefficients."""
        factor = self.chosen[1]
        pivots = factor.diagonal() / np.sqrt(self.products[0].diagonal()[self.chosen[0]])
        counts = {int(np.count_nonzero(pivots >= least)) for least in (0, 1e-6, 1e-5, 1e-4, 1e-3)}
        return sorted(counts - {0} or {0})


def dense(block: object, width: int) -> Floats:
    """Return a block as a dense array, padded to a width."""
    full = padded(block, width)
    return np.ascontiguousarray(full.toarray() if is_sparse(full) else full, dtype=np.float64)
