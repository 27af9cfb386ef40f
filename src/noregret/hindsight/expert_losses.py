"""What every expert pays in every round, and in all.

Experts are the columns of a table. It holds either their advice, with an outcome for every round
and a loss to compare the two, or their losses themselves. In a game in which experts slept, it is
the completed table: a sleeper counts as having said what the mixture said.
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
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.rows import Rows
from noregret.hindsight.sums import ColumnSums
from noregret.limits import SMALLEST, UNIT

# How many numbers are looked at in one go.
NUMBERS_PER_BLOCK = 2**16
# By how many roundings the loss of one round may be off.
ROUNDINGS = 16
# Finite sums that are too large for a number are above this.
MAX_FLOAT = sys.float_info.max

Given = Rows | ArrayLike | Callable[[], Iterable[Any]]
Doubts = tuple[int, int]


@dataclass(frozen=True)
class Totals:
    """The cumulative loss of every expert.

    Parameters
    ----------
    parts
        Three numbers for every expert, whose sum it is.
    off
        By how much that sum may be off.
    endless
        Whether the loss of some round was infinite, so that the sum is beyond doubt.
    rounds
        How many rounds were summed.
    """

    parts: Floats
    off: Floats
    endless: NDArray[np.bool_]
    rounds: int

    exact: ClassVar[bool] = True  # sums, not the end of a search

    @property
    def values(self) -> Floats:
        """The losses, rounded."""
        return sum_of_parts(self.parts)

    @property
    def best(self) -> int:
        """The expert of least loss, as exactly as the sums are known; of several, the first."""
        values = self.values
        least = int(np.argmin(values))
        if math.isfinite(values[least]):
            for other in np.flatnonzero(values == values[least]).tolist():
                if math.fsum([*self.parts[:, other], *-self.parts[:, least]]) < 0:
                    least = other
        return least

    @property
    def below(self) -> Floats:
        """What the losses are surely not below."""
        values = self.values
        with np.errstate(invalid="ignore"):
            below = np.where(self.off > 0, np.nextafter(values - self.off, -np.inf), values)
        below[np.isinf(values)] = MAX_FLOAT
        return np.where(self.endless, np.inf, below)

    @property
    def above(self) -> Floats:
        """What the losses are surely not above."""
        values = self.values
        return np.where(self.off > 0, np.nextafter(values + self.off, np.inf), values)


def expert_losses(
    given: Given,
    loss: Any = None,
    *,
    loss_parameter: float | None = None,
    doubts: Doubts | None = None,
) -> Totals:
    """Return the cumulative loss of every expert, summed so that rounding hardly shows.

    Parameters
    ----------
    given
        Advice and outcomes as ``Rows``; or a table of losses; or a function that returns a fresh
        iterator of blocks each time it is called, (advice, outcomes) or losses.
    loss
        By name, or one of your own; None where the table holds losses.
    loss_parameter
        The loss's quantile, where it was given by name.
    doubts
        By how much the losses themselves may be off, where the table holds computed ones: see
        ``doubts_of``. Those of a loss are known, and a table is exact if nothing is said.

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
    """Return by how many roundings of itself the loss of a round may be off, and of 1."""
    name = loss if isinstance(loss, str) else getattr(loss, "name", "")
    if loss is None or (name == "zero-one" and not isinstance(loss, PythonLoss)):
        return 0, 0
    return ROUNDINGS, 4 if name == "log" else 0


def loss_blocks(given: Given, loss: Any, loss_parameter: float | None = None) -> Iterator[Floats]:
    """Yield the losses of all experts, few rounds at a time."""
    value = None if loss is None else value_of(loss, loss_parameter)
    rounds, width = 0, 0
    for X, y in blocks_of(given):
        if value is None and y is not None:
            raise ValueError("there are outcomes: say by which loss the advice is to be judged")
        if value is not None and y is None:
            raise ValueError("a loss needs outcomes: give (advice, outcomes), or only losses")
        step = max(1, NUMBERS_PER_BLOCK // max(1, X.shape[1]))
        for start in range(0, len(X), step):
            part = X[start : start + step]
            if value is not None:
                with np.errstate(all="ignore"):
                    part = value(part, y[start : start + step, None])
            part = np.ascontiguousarray(part, dtype=np.float64)
            refuse_unfit(part, rounds, width)
            rounds, width = rounds + len(part), part.shape[1]
            yield part
    if not rounds:
        raise NoRegretError("there are no rounds to compare the experts on")


def blocks_of(given: Given) -> Iterator[tuple[Floats, Any]]:
    """Yield tables with their outcomes, or with None."""
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
                "experts are the columns of a table, with one outcome a row or none at all:"
                f" got shapes {X.shape}, {None if y is None else y.shape}"
            )
        if len(X) and not X.shape[1]:
            raise NoRegretError("there are no experts to compare with")
        yield X, y


def value_of(loss: Any, loss_parameter: float | None) -> Callable[[Floats, Floats], Floats]:
    """Return the loss as a function of arrays of advice and outcomes."""
    if isinstance(loss, Loss):
        asked = np.frompyfunc(loss.value, 2, 1)
        return lambda x, y: np.asarray(asked(x, y), dtype=np.float64)
    if not isinstance(loss, str):
        value: Callable[[Floats, Floats], Floats] = loss.value
        return value
    from noregret.base.expert_losses import expert_loss

    return value_of(expert_loss(loss, loss_parameter), None)


def refuse_unfit(losses: Floats, before: int, width: int) -> None:
    """Refuse losses that are no numbers, and those of other experts than before."""
    if before and losses.shape[1] != width:
        raise BadExample(f"a block has {losses.shape[1]} experts, those before it {width}")
    wrong = ~(losses > -np.inf)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise BadExample(
            f"the loss of expert {column + 1} is {losses[row, column]}. Where experts"
            " slept, give the table with the mixture's forecasts in their places",
            round=before + row + 1,
        )
