"""The losses of experts, per round and in total.

Experts are the columns of a table. It holds either their advice, with an outcome per round and a
loss to compare the two, or the losses themselves. For a game with sleeping experts it is the
completed table, where a sleeping expert has the forecast of the mixture.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.base.compiled.losses import Loss, PythonLoss
from noregret.errors import BadExample, NoRegretError
from noregret.hindsight.blocks import is_sparse
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.rows import Rows
from noregret.hindsight.sums import ColumnSums
from noregret.limits import SMALLEST, UNIT

# Numbers processed at a time.
NUMBERS_PER_BLOCK = 2**16
# Bound on the relative error of one computed loss, in units of 2⁻⁵³.
LOSS_ROUNDINGS = 16
# A finite sum that overflows is at least this large.
MAX_FLOAT = sys.float_info.max
NO_OUTCOMES = "a loss needs outcomes: pass blocks of (advice, outcomes), or losses without a loss"

Given = Rows | ArrayLike | Callable[[], Iterable[Any]]
# Bounds on the error of each loss, in units of 2⁻⁵³: relative to the loss, and absolute.
Doubts = tuple[int, int]


@dataclass(frozen=True)
class Totals:
    """The cumulative loss of every expert.

    Parameters
    ----------
    parts
        Three numbers per expert, which sum to its loss.
    off
        Bounds on the error of these sums.
    endless
        Which experts had an infinite loss in some round, so that their sum is infinite too.
    rounds
        The number of rounds.
    """

    parts: Floats
    off: Floats
    endless: NDArray[np.bool_]
    rounds: int

    exact: ClassVar[bool] = True  # sums, not the result of a search

    @property
    def values(self) -> Floats:
        """The losses, rounded once."""
        return sum_of_parts(self.parts)

    @property
    def best(self) -> int:
        """The expert with the smallest loss, compared without rounding; the first of several."""
        values = self.values
        least = int(np.argmin(values))
        if math.isfinite(values[least]):
            for other in np.flatnonzero(values == values[least]).tolist():
                if math.fsum([*self.parts[:, other], *-self.parts[:, least]]) < 0:
                    least = other
        return least

    @property
    def below(self) -> Floats:
        """Lower bounds on the losses."""
        values = self.values
        with np.errstate(invalid="ignore"):
            below = np.where(self.off > 0, np.nextafter(values - self.off, -np.inf), values)
        below[np.isinf(values)] = MAX_FLOAT
        return np.where(self.endless, np.inf, below)

    @property
    def above(self) -> Floats:
        """Upper bounds on the losses."""
        values = self.values
        return np.where(self.off > 0, np.nextafter(values + self.off, np.inf), values)

    def answer(self, comparator: str) -> Answer:
        """Return the best expert, with a proof that no other has a smaller loss."""
        best, witness = self.best, np.zeros(len(self.off))
        witness[best] = 1.0
        above, lower = float(self.above[best]), float(self.below.min())
        return Answer(comparator, above, lower, witness, exact=True)


def expert_losses(
    given: Given,
    loss: Any = None,
    *,
    loss_parameter: float | None = None,
    doubts: Doubts | None = None,
) -> Totals:
    """Return the cumulative loss of every expert, from compensated sums.

    The parameters are those of ``best_expert``.

    Examples
    --------
    >>> expert_losses([[1e300, 0.0], [1e-300, 1.0]]).values
    array([1.e+300, 1.e+000])
    >>> expert_losses(Rows([[0.0, 1.0], [0.5, 1.0]], [0.0, 1.0]), "square").values
    array([0.25, 1.  ])
    """
    blocks = loss_blocks(given, loss, loss_parameter)
    first = next(blocks)
    sums, size = ColumnSums(first.shape[1]), np.zeros(first.shape[1])
    endless = np.zeros(first.shape[1], bool)
    for block in chain([first], blocks):
        sums.add(block)
        with np.errstate(over="ignore"):
            size += np.abs(block).sum(axis=0)
        endless |= np.isposinf(block).any(axis=0)
    values = sum_of_parts(sums.parts)
    doubt, of_one = doubts_of(loss) if doubts is None else doubts
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = sum_of_parts(np.vstack([sums.parts, -values]))
        lost = UNIT * (sums.rows * sums.lost + doubt * size) * (1 + sums.rows * 4 * UNIT)
        off = (
            lost + np.abs(rounded) * (1 + 4 * UNIT) + sums.rows * (doubt * SMALLEST + of_one * UNIT)
        )
    return Totals(sums.parts, np.nan_to_num(off, nan=0.0), endless, sums.rows)


def sum_of_parts(parts: Floats) -> Floats:
    """Return the sum of each column, rounded once; NaN where infinities cancel."""
    sums = parts.sum(axis=0)
    for i in np.flatnonzero(np.isfinite(sums)).tolist():
        sums[i] = math.fsum(parts[:, i].tolist())
    return np.asarray(sums)


def doubts_of(loss: Any) -> Doubts:
    """Return bounds on the error of a computed loss: relative and absolute, in units of 2⁻⁵³."""
    name = loss if isinstance(loss, str) else getattr(loss, "name", "")
    if loss is None or (name == "zero-one" and not isinstance(loss, PythonLoss)):
        return 0, 0
    return LOSS_ROUNDINGS, 4 if name == "log" else 0


def loss_blocks(given: Given, loss: Any, loss_parameter: float | None = None) -> Iterator[Floats]:
    """Yield the losses of all experts, block by block."""
    value = None if loss is None else value_of(loss, loss_parameter)
    rounds, width = 0, 0
    for X, y in blocks_of(given):
        if value is None and y is not None:
            raise ValueError("advice and outcomes need a loss: pass one, such as loss='square'")
        if value is not None and y is None:
            raise ValueError(NO_OUTCOMES)
        step = max(1, NUMBERS_PER_BLOCK // max(1, X.shape[1]))
        for start in range(0, len(X), step):
            part = X[start : start + step]
            if value is not None:
                with np.errstate(all="ignore"):
                    part = value(part, y[start : start + step, None])
            part = np.ascontiguousarray(part, dtype=np.float64)
            check_losses(part, rounds, width)
            rounds, width = rounds + len(part), part.shape[1]
            yield part
    if not rounds:
        raise NoRegretError("there are no rounds, so the experts cannot be compared")


def blocks_of(given: Given) -> Iterator[tuple[Floats, Any]]:
    """Yield tables of advice with their outcomes, or tables of losses with None."""
    if isinstance(given, Rows):
        blocks: Iterable[Any] = given.blocks()
    elif callable(given):
        blocks = given()
    else:
        blocks = [given]
    for block in blocks:
        X, y = block if isinstance(block, tuple) else (block, None)
        X = X.toarray() if is_sparse(X) else np.asarray(X, dtype=np.float64)
        y = None if y is None else np.asarray(y, dtype=np.float64)
        if X.ndim != 2 or (y is not None and y.shape != X.shape[:1]):
            raise BadExample(
                "expected a 2-d table with one column per expert, and one outcome per row if any:"
                f" got shapes {X.shape} and {None if y is None else y.shape}"
            )
        if len(X) and not X.shape[1]:
            raise NoRegretError("there are no experts to compare with")
        yield X, y


def value_of(loss: Any, loss_parameter: float | None) -> Callable[[Floats, Floats], Floats]:
    """Return the loss as a function of arrays of advice and outcomes."""
    if isinstance(loss, Loss):
        vectorised = np.frompyfunc(loss.value, 2, 1)
        return lambda x, y: np.asarray(vectorised(x, y), dtype=np.float64)
    if not isinstance(loss, str):
        value: Callable[[Floats, Floats], Floats] = loss.value
        return value
    from noregret.base.expert_losses import expert_loss

    return value_of(expert_loss(loss, loss_parameter), None)


def check_losses(losses: Floats, before: int, width: int) -> None:
    """Raise an error for losses that are not numbers, or for another number of experts."""
    if before and losses.shape[1] != width:
        raise BadExample(f"a block has {losses.shape[1]} experts, but earlier ones have {width}")
    wrong = ~(losses > -np.inf)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise BadExample(
            f"the loss of expert {column + 1} is {losses[row, column]}. For sleeping experts, fill"
            " in the forecasts of the mixture",
            round=before + row + 1,
        )
