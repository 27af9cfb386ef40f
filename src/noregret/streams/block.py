"""Blocks of rows that a stream yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError, Place

Floats = NDArray[np.float64]


class Fault(NamedTuple):
    """A row that cannot be used: the number of good rows before it, and the error."""

    row: int
    error: NoRegretError


class Sparse(NamedTuple):
    """Sparse rows, with strictly increasing positions in each row."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: Floats

    def part(self, start: int, stop: int) -> Sparse:
        """Return a range of rows."""
        return Sparse(self.starts[start : stop + 1], self.indices, self.data)


def placed(faults: Iterable[Fault], file: str, before: int) -> list[Fault]:
    """Return faults with line numbers of the whole file instead of a piece of it."""
    for _, error in (told := list(faults)):
        error.file, error.line = file, before + (error.line or 0)
    return told


@dataclass
class Block:
    """Consecutive rows of a stream, with their outcomes.

    ``y`` is NaN for rows without an outcome, which are only predicted. ``place_of(row)`` returns
    the place of a row in its file. ``mark`` is the position after this block, and ``size`` the
    bytes of input read up to it. ``booleans`` is True if outcomes are written as true and false.
    ``tags`` holds a text for each row: its tag, or, in JSON, the values of columns to pass on.
    ``keys`` holds the id of each row whose outcome comes later or has come for an earlier row.
    ``groups`` holds the group number of each row, if there are groups, and ``batches`` that of its
    batch. If rows were filtered out,
    ``read`` is the number of rows read, and ``numbers`` the index of each row among them. If
    outcomes are text, ``y`` holds positions in ``values``; if they are classes, in ``classes``.
    ``bases`` are the initial predictions, if any row has one: ``y`` is what is left to predict, and
    they are to be added to predictions.
    """

    X: Floats | Sparse
    y: Floats
    place_of: Callable[[int], Place]
    mark: dict[str, Any]
    size: int = 0
    importances: Floats | None = None
    tags: Sequence[str] | None = None
    faults: list[Fault] = field(default_factory=list)
    booleans: bool = False
    groups: NDArray[np.int64] | None = None
    batches: NDArray[np.int64] | None = None
    read: int | None = None
    numbers: NDArray[np.int64] | None = None
    values: list[str] | None = None
    classes: list[Any] | None = None
    keys: list[str | None] | None = None
    bases: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, start: int, stop: int) -> Floats | Sparse:
        """Return a range of rows."""
        if isinstance(self.X, Sparse):
            return self.X.part(start, stop)
        return self.X[start:stop]

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have an outcome."""
        return ~np.isnan(self.y)


def without(block: Block, bad: Mapping[int, NoRegretError]) -> Block:
    """Return a block with some of its rows turned into faults."""
    keep = np.ones(len(block), dtype=bool)
    keep[list(bad)] = False
    before = np.cumsum(keep) - keep  # good rows before each
    faults = [Fault(int(before[row]), error.at(block.place_of(row))) for row, error in bad.items()]
    made = only(block, keep)
    order = sorted([*made.faults, *faults], key=lambda fault: fault.row)
    return replace(made, faults=order)


def only(block: Block, keep: NDArray[np.bool_]) -> Block:
    """Return a block with some of its rows."""
    kept, old = np.flatnonzero(keep), block.place_of

    def some(values: Floats | None) -> Floats | None:
        return None if values is None else values[keep]

    if isinstance(block.X, Sparse):
        entries = np.repeat(keep, np.diff(block.X.starts))
        inside = slice(int(block.X.starts[0]), int(block.X.starts[-1]))
        starts = np.concatenate([[0], np.cumsum(np.diff(block.X.starts)[keep])]).astype(np.int64)
        indices, data = block.X.indices[inside][entries], block.X.data[inside][entries]
        X: Floats | Sparse = Sparse(starts, indices, data)
    else:
        X = block.X[keep]
    return replace(
        block,
        X=X,
        y=block.y[keep],
        place_of=lambda row: old(int(kept[row])),
        importances=some(block.importances),
        bases=some(block.bases),
        tags=None if block.tags is None else picked(block.tags, kept),
        keys=None if block.keys is None else [block.keys[k] for k in kept.tolist()],
        groups=None if block.groups is None else block.groups[keep],
        batches=None if block.batches is None else block.batches[keep],
        numbers=None if block.numbers is None else block.numbers[keep],
        faults=[f._replace(row=int(keep[: f.row].sum())) for f in block.faults],
    )


def picked(tags: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
    """Return the tags of some rows."""
    some: Callable[[NDArray[np.int64]], Sequence[str]] | None = getattr(tags, "some", None)
    return [tags[row] for row in rows.tolist()] if some is None else some(rows)


def until(block: Block, row: int, faults: list[Fault]) -> Block:
    """Return a block's rows before one of them, with these faults."""
    return replace(
        block,
        X=block.rows(0, row),
        y=block.y[:row],
        importances=None if block.importances is None else block.importances[:row],
        bases=None if block.bases is None else block.bases[:row],
        tags=None if block.tags is None else block.tags[:row],
        keys=None if block.keys is None else block.keys[:row],
        groups=None if block.groups is None else block.groups[:row],
        batches=None if block.batches is None else block.batches[:row],
        numbers=None if block.numbers is None else block.numbers[:row],
        faults=faults,
    )
