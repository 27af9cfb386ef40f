"""Sparse rows in three arrays, read by compiled passes that two threads share.

Rows are always cut in two at the same place, so that sums do not depend on the number of cores.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.hindsight import passes
from noregret.hindsight.blocks import SPARSE_ROWS, Block, is_sparse
from noregret.hindsight.proofs.rounding import Floats, growth, norm_above, two_sum
from noregret.hindsight.rows import ROWS_PER_SUM, TOO_LARGE, Rows, Survey
from noregret.limits import MIN_NORM, SMALLEST

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# Most numbers held in memory, at 12 bytes each.
MAX_NUMBERS = 50_000_000
# A table with one nonzero number in this many is processed as a dense one.
DENSE_RATIO = 4
# Most columns that count as full, and most numbers in their part of the Gram matrix. A full column
# has a number in one of FULL_RATIO rows, and in MIN_FULL at least.
MAX_FULL, MAX_CROSS, FULL_RATIO, MIN_FULL = 192, 4_000_000, 1_000, 100
# Numbers whose columns are counted at a time.
COUNTED_AT_ONCE = 2**20
# Fewer numbers are read by one thread: waking another would take longer.
SMALL = 100_000


class SparseRows(Rows):
    """Rows as in a CSR matrix: starts, columns (ascending in each row) and values.

    Parameters
    ----------
    starts, at, values
        The three arrays.
    outcomes
        One outcome per row.
    features
        The number of columns.
    """

    def __init__(
        self,
        starts: NDArray[np.int64],
        at: NDArray[np.int32],
        values: Floats,
        outcomes: Floats,
        features: int,
    ) -> None:
        super().__init__(features=features)
        self.parts = starts, at, values
        self.own_outcomes = outcomes

    def add(self, X: Any, y: Any) -> Rows:
        """Refuse more rows."""
        raise ValueError("blocks cannot be added to rows that are held in three arrays")

    def blocks(self) -> Iterator[tuple[Block, Floats]]:
        """Yield the rows as CSR arrays, without a copy."""
        from scipy import sparse

        starts, at, values = self.parts
        for first in range(0, len(self.own_outcomes), SPARSE_ROWS):
            own = starts[first : first + SPARSE_ROWS + 1]
            inner = slice(own[0], own[-1])
            made = sparse.csr_array(
                (values[inner], at[inner], own - own[0]), shape=(len(own) - 1, self.least_features)
            )
            made.has_canonical_format = True
            yield made, self.own_outcomes[first : first + SPARSE_ROWS]

    @cached_property
    def squares(self) -> Floats:
        """‖x_t‖² of every row."""
        starts, _, values = self.parts
        return self.each(
            lambda first, stop, out: passes.lengths(starts, values, first, stop, out),
            len(self.own_outcomes),
        )

    @cached_property
    def fullest_columns(self) -> NDArray[np.intp]:
        """The columns with the most numbers, in ascending order, without nearly empty ones."""
        at, counts = self.parts[1], np.zeros(self.least_features, np.intp)
        for first in range(0, len(at), COUNTED_AT_ONCE):  # each part is copied as int64
            some = at[first : first + COUNTED_AT_ONCE]
            counts += np.bincount(some, minlength=self.least_features)
        most = min(MAX_FULL, MAX_CROSS // max(1, self.least_features))
        full = np.argsort(-counts, kind="stable")[:most]
        least = max(MIN_FULL, len(self.own_outcomes) // FULL_RATIO)
        return np.sort(full[counts[full] >= least])

    @cached_property
    def survey(self) -> Survey:
        """Summary of the rows, computed once."""
        starts, _, values = self.parts
        rounds, unit = len(self.own_outcomes), np.ones(self.least_features)
        with np.errstate(all="ignore"):
            largest = float(self.squares.max(initial=0.0))
            if not math.isfinite(largest):
                raise BadExample(*TOO_LARGE)
            length = math.sqrt(largest)
            if length < MIN_NORM and values.any():
                # Squares would underflow: no row is longer than the sum of its numbers.
                length = float(self.scores(unit, absolute=True).max()) * (1 + 1e-9) + SMALLEST
        filled = int(np.diff(starts).max(initial=0))
        longest = norm_above(np.array([length])) * (1 + growth(filled))
        return Survey(
            self.own_outcomes, self.least_features, longest, len(values), filled, rounds + 2
        )

    def each(self, act: Callable[[int, int, Floats], None], rounds: int) -> Floats:
        """Fill in one number per row, in two threads, each for half of the rows."""
        out = np.empty(rounds)
        self.halves(lambda first, stop, _: act(first, stop, out))
        return out

    def halves(self, act: Callable[[int, int, int], None]) -> None:
        """Call a function with the first half of the rows and with the second."""
        starts = self.parts[0]
        rounds, numbers = len(starts) - 1, int(starts[-1])
        middle = int(np.searchsorted(starts, numbers // 2))
        if numbers < SMALL:
            act(0, middle, 0)
            act(middle, rounds, 1)
            return
        other = pool().submit(act, 0, middle, 0)
        try:
            act(middle, rounds, 1)
        finally:
            other.result()

    def scores(self, weights: Floats, *, absolute: bool = False) -> Floats:
        """Return X w, or |X| |w|, which bounds the rounding error of X w."""
        w = np.ascontiguousarray(weights)
        return self.each(
            lambda first, stop, out: passes.scores(*self.parts, w, first, stop, absolute, out),
            len(self.own_outcomes),
        )

    def combine(self, shares: Floats, *, absolute: bool = False) -> Floats:
        """Return Xᵀ a, or |X|ᵀ |a|, which bounds the rounding error of Xᵀ a."""
        return self.summed(shares, 0 if absolute else 1)

    def column_squares(self, weights: Floats) -> Floats:
        """Return the diagonal of the weighted Gram matrix."""
        return self.summed(weights, 2)

    def summed(self, shares: Floats, power: int) -> Floats:
        """Return Σ a_t x_t, or the same of sizes or of squares."""
        a, sums = np.ascontiguousarray(shares, np.float64), np.zeros((2, self.least_features))
        self.halves(
            lambda first, stop, k: passes.combine(*self.parts, a, first, stop, power, sums[k])
        )
        return np.asarray(sums[0] + sums[1])

    def combined(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return Xᵀ a from compensated sums, and bounds on the errors."""
        a, sums = np.ascontiguousarray(shares), np.zeros((2, 3, self.least_features))
        self.halves(
            lambda first, stop, k: passes.combine_carefully(*self.parts, a, first, stop, *sums[k])
        )
        high, lost = two_sum(sums[0, 0], sums[1, 0])
        low = lost + sums[0, 1] + sums[1, 1]
        # Each product is rounded once; the errors of the sums are kept up to second order.
        off = growth(ROWS_PER_SUM + 8) * (sums[0, 2] + sums[1, 2]) + len(shares) * SMALLEST
        return high + low, off

    def bend(self, weights: Floats, v: Floats) -> Floats:
        """Return Σ d_t x_t (x_t·v), in one pass."""
        d, v = np.ascontiguousarray(weights), np.ascontiguousarray(v)
        sums = np.zeros((2, self.least_features))
        self.halves(lambda first, stop, k: passes.bend(*self.parts, d, v, first, stop, sums[k]))
        return np.asarray(sums[0] + sums[1])

    def gram(self, weights: Floats, before_each: Callable[[], None] = lambda: None) -> Floats:
        """Return Σ d_t x_t x_tᵀ for weights d_t ≥ 0; rows of weight zero are skipped."""
        d, sums = np.ascontiguousarray(weights), np.zeros((2, *2 * (self.least_features,)))
        self.halves(lambda first, stop, k: passes.gram(*self.parts, d, first, stop, sums[k]))
        upper = sums[0] + sums[1]
        return np.asarray(upper + np.triu(upper, 1).T)

    def cross_of(self, columns: NDArray[np.intp], weights: Floats) -> Floats:
        """Return some columns of the weighted Gram matrix."""
        places = np.full(self.least_features, -1, dtype=np.int32)
        places[columns] = np.arange(len(columns))
        d, sums = np.ascontiguousarray(weights), np.zeros((2, self.least_features, len(columns)))

        def add(first: int, stop: int, k: int) -> None:
            own = np.empty(len(columns), np.int32), np.empty(len(columns))
            passes.cross(*self.parts, d, places, first, stop, *own, sums[k])

        self.halves(add)
        sums[0] += sums[1]
        return np.asarray(sums[0])


def compact(rows: Rows) -> Rows:
    """Return rows that are sparse throughout as ``SparseRows``; others as they are."""
    if type(rows) is not Rows:
        return rows
    kept = []
    for block, y in rows.blocks():
        if not is_sparse(block) or DENSE_RATIO * block.nnz > block.shape[0] * block.shape[1]:
            return rows
        kept.append((block, y))
    numbers = sum(block.nnz for block, _ in kept)
    if not kept or numbers > MAX_NUMBERS:
        return rows
    starts, filled = [np.zeros(1, np.int64)], 0
    for block, _ in kept:
        starts.append(block.indptr[1:].astype(np.int64) + filled)
        filled += block.nnz
    at = np.concatenate([block.indices for block, _ in kept]).astype(np.int32)
    values = np.concatenate([block.data for block, _ in kept])
    outcomes = np.concatenate([y for _, y in kept])
    features = max(rows.least_features, *(block.shape[1] for block, _ in kept), 0)
    return SparseRows(np.concatenate(starts), at, values, outcomes, features)


_POOLS: dict[int, ThreadPoolExecutor] = {}


def pool() -> ThreadPoolExecutor:
    """Return the worker thread, started on first use.

    A forked process has no threads, and starts its own.
    """
    from concurrent.futures import ThreadPoolExecutor

    return _POOLS.get(os.getpid()) or _POOLS.setdefault(
        os.getpid(), ThreadPoolExecutor(1, "passes")
    )
