"""Recorded examples that can be iterated repeatedly.

Rows come in blocks, dense or sparse, held in memory or read again from a source in each pass.
Everything in hindsight is computed from passes over them: scores X w, combinations Xᵀ a, and the
weighted Gram matrix Σ d_t x_t x_tᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.hindsight.blocks import (
    Block,
    is_sparse,
    magnitude,
    max_row_entries,
    padded,
    pieces,
    products,
    row_scaled,
    row_slice,
    row_squares,
    squared,
    with_values,
)
from noregret.hindsight.proofs.rounding import Floats, growth, norm_above, two_sum
from noregret.limits import MAX_VALUE, MIN_NORM, SMALLEST

# Rows per partial sum in sums whose error is bounded.
ROWS_PER_SUM = 128

TOO_LARGE = (
    "the squared norm of a row is not a finite number, so no predictor is best",
    f"look for NaN, infinities or values beyond {MAX_VALUE:g}",
)
Source = Callable[[], Iterable[tuple[Any, Any]]]


class Survey(NamedTuple):
    """Summary of the rows, from one pass.

    Parameters
    ----------
    outcomes
        All outcomes, in order.
    features
        n; blocks with fewer columns are padded with zeros.
    longest
        An upper bound on max ‖x_t‖.
    numbers
        Stored entries in total, including zeros of dense rows.
    filled
        Stored entries in the fullest row, including zeros of dense rows.
    depth
        The largest number of consecutive additions in a sum over all rows.
    """

    outcomes: Floats
    features: int
    longest: float
    numbers: int
    filled: int
    depth: int


class Rows:
    """Examples with their outcomes, block by block.

    Blocks are not copied: do not modify an array after passing it.

    Parameters
    ----------
    X, y
        The first block, if any.
    features
        The minimum number of columns; blocks may have more.
    source
        Instead of blocks in memory: a function that returns a new iterator of (X, y) blocks each
        time it is called, always over the same rows.

    Examples
    --------
    >>> rows = Rows([[1.0, 0.0], [1.0, 2.0]], [3.0, 4.0])
    >>> rows.scores(np.array([1.0, 1.0]))
    array([1., 3.])
    >>> rows.combine(np.array([1.0, 1.0]))
    array([2., 2.])
    """

    # A score is multiplied by this after summation, and so is its underflow.
    factor = 1.0

    outputs = 1  # scores per row

    def __init__(
        self,
        X: Any = None,
        y: Any = None,
        *,
        features: int = 0,
        source: Source | None = None,
    ) -> None:
        self.kept: list[tuple[Block, Floats]] = []
        self.least_features = features
        self.source = source
        if X is not None:
            self.add(X, y)

    def add(self, X: Any, y: Any) -> Rows:
        """Add rows."""
        if self.source is not None:
            raise ValueError("blocks cannot be added to rows that are read from a source")
        self.kept.extend(pieces(X, y))
        self.__dict__.pop("survey", None)
        return self

    def blocks(self) -> Iterator[tuple[Block, Floats]]:
        """Yield the blocks with their outcomes, in order."""
        if self.source is None:
            yield from self.kept
        else:
            for X, y in self.source():
                yield from pieces(X, y)

    @cached_property
    def survey(self) -> Survey:
        """Summary of the rows, computed once."""
        outcomes, features, longest = [], self.least_features, 0.0
        numbers, filled, most, blocks = 0, 0, 0, 0
        for block, y in self.blocks():
            outcomes.append(y)
            features = max(features, block.shape[1])
            squares = row_squares(block)
            if not np.isfinite(squares).all():
                raise BadExample(*TOO_LARGE)
            length = float(np.sqrt(squares.max(initial=0.0)))
            if length < MIN_NORM:
                length = faint_length(block)
            longest = max(longest, length)
            numbers += block.nnz if is_sparse(block) else block.size
            filled = max(filled, max_row_entries(block))
            most, blocks = max(most, block.shape[0]), blocks + 1
        return Survey(
            np.concatenate(outcomes) if outcomes else np.zeros(0),
            features,
            norm_above(np.array([longest])) * (1 + growth(filled)),
            numbers,
            filled,
            most + blocks,
        )

    @property
    def outcomes(self) -> Floats:
        """The outcomes y_t."""
        return self.survey.outcomes

    @property
    def shape(self) -> tuple[int, int]:
        """Rounds and features."""
        return len(self.survey.outcomes), self.survey.features

    def scores(self, weights: Floats, *, absolute: bool = False) -> Floats:
        """Return X w, or |X| |w|, which bounds the rounding error of X w."""
        parts = [
            (magnitude(block) if absolute else block) @ weights[: block.shape[1]]
            for block, _ in self.blocks()
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def combine(self, shares: Floats, *, absolute: bool = False) -> Floats:
        """Return Xᵀ a, or |X|ᵀ |a|, which bounds the rounding error of Xᵀ a."""
        sums = np.zeros(self.shape[1])
        for block, part in self.paired(shares):
            sums[: block.shape[1]] += (magnitude(block) if absolute else block).T @ part
        return sums

    def combined(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return Xᵀ a from compensated sums, and bounds on the errors.

        Partial sums over a few rows are added without loss, so the error does not grow with the
        number of rows.
        """
        sums, lost, sizes = (np.zeros(self.shape[1]) for _ in range(3))
        for block, part in self.paired(shares):
            width = block.shape[1]
            for start in range(0, len(part), ROWS_PER_SUM):
                few = slice(start, start + ROWS_PER_SUM)
                rows, a = row_slice(block, few), part[few]
                sums[:width], more = two_sum(sums[:width], rows.T @ a)
                lost[:width] += more
                sizes[:width] += magnitude(rows).T @ np.abs(a)
        return sums + lost, growth(ROWS_PER_SUM + 8) * sizes + len(shares) * SMALLEST

    def bend(self, weights: Floats, v: Floats) -> Floats:
        """Return Σ d_t x_t (x_t·v)."""
        return self.combine(weights * self.scores(v))

    def gram(self, weights: Floats, before_each: Callable[[], None] = lambda: None) -> Floats:
        """Return Σ d_t x_t x_tᵀ for weights d_t ≥ 0; rows of weight zero are skipped."""
        features = self.shape[1]
        sums = np.zeros((features, features))
        for block, part in self.paired(weights):
            before_each()
            width = block.shape[1]
            for product in products(row_scaled(block, np.sqrt(part))):
                sums[:width, :width] += product
        return sums

    def column_squares(self, weights: Floats) -> Floats:
        """Return the diagonal of the weighted Gram matrix."""
        sums = np.zeros(self.shape[1])
        for block, part in self.paired(weights):
            sums[: block.shape[1]] += squared(block).T @ part
        return sums

    def curvature(self, weights: Floats) -> Any:
        """Return the matrix of Newton's equations where rows have one of their own, else None."""
        return None

    def square_sums(self) -> Any:
        """Return the ``LeastSquares`` of rows that have sums of their own, else None."""
        return None

    def pick(self, chosen: NDArray[Any]) -> Block:
        """Return the rows where ``chosen`` is not zero as one block."""
        from scipy import sparse

        features = self.shape[1]
        parts = [
            padded(block[np.flatnonzero(part)], features) for block, part in self.paired(chosen)
        ]
        if any(map(is_sparse, parts)):
            return sparse.csr_array(sparse.vstack(parts, format="csr"))
        return np.concatenate(parts) if parts else np.zeros((0, features))

    def only(self, columns: NDArray[np.intp]) -> Rows:
        """Return the rows restricted to some columns."""
        features = self.shape[1]
        return Rows(
            features=len(columns),
            source=lambda: ((padded(block, features)[:, columns], y) for block, y in self.blocks()),
        )

    def paired(self, values: NDArray[Any]) -> Iterator[tuple[Block, NDArray[Any]]]:
        """Yield the blocks, each with its part of a vector over all rounds."""
        start = 0
        for block, _ in self.blocks():
            stop = start + block.shape[0]
            yield block, values[start:stop]
            start = stop


def faint_length(block: Block) -> float:
    """Return the norm of the longest row of a block whose squares would underflow."""
    largest = float(magnitude(block).max()) if min(block.shape) else 0.0
    if largest == 0.0:
        return 0.0
    unit = with_values(block, block.data / largest) if is_sparse(block) else block / largest
    return largest * float(np.sqrt(row_squares(unit).max())) * (1 + growth(8)) + SMALLEST


def score_error(rows: Rows, weights: Floats, blur: int = 0) -> Floats:
    """Return bounds on the errors of the scores, for weights that are off by ``blur`` roundings."""
    if not weights.any():
        return np.zeros(rows.shape[0] * rows.outputs)
    filled = rows.survey.filled
    sizes = rows.scores(np.abs(weights), absolute=True)
    return growth(filled + blur) * sizes + filled * (1 + rows.factor) * SMALLEST
