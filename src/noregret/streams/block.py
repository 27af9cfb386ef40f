"""Blocks of rows that a stream yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
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
    ``groups`` holds the group number of each row, if there are groups. If rows were filtered out,
    ``read`` is the number of rows read, and ``numbers`` the index of each row among them.
    """

    X: Floats | Sparse
    y: Floats
    place_of: Callable[[int], Place]
    mark: dict[str, Any]
    size: int = 0
    importances: Floats | None = None
    tags: list[str] | None = None
    faults: list[Fault] = field(default_factory=list)
    booleans: bool = False
    groups: NDArray[np.int64] | None = None
    read: int | None = None
    numbers: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, start: int, stop: int) -> Floats | Sparse:
        """Return a range of rows."""
        if isinstance(self.X, Sparse):
            return self.X.part(start, stop)
        return self.X[start:stop]
