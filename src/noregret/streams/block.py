"""Rows on their way from a file to a learner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError, Place

Floats = NDArray[np.float64]


class Fault(NamedTuple):
    """A row that cannot be used: how many good ones come before it, and what is wrong with it."""

    row: int
    error: NoRegretError


class Sparse(NamedTuple):
    """Sparse rows: positions strictly increasing in each."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: Floats

    def part(self, start: int, stop: int) -> Sparse:
        """Return some of the rows."""
        return Sparse(self.starts[start : stop + 1], self.indices, self.data)


def placed(faults: Iterable[Fault], file: str, before: int) -> list[Fault]:
    """Return faults whose lines were counted in a piece of a file, counted in the whole file."""
    for _, error in (told := list(faults)):
        error.file, error.line = file, before + (error.line or 0)
    return told


@dataclass
class Block:
    """Some rows of a stream, their outcomes, and what is known of them.

    ``y`` holds NaN where rows come without outcomes, to be predicted only. ``place_of(row)`` says
    where a row came from. ``mark`` is where reading goes on after this block; ``size`` is
    how many bytes of input were read up to there. ``booleans`` says whether outcomes are written as
    true and false. ``groups`` holds for each row the number of its group, where rows have one.
    ``read`` says how many rows were read, where some are neither here nor among the faults, and
    ``numbers`` which of them these are, counted from 0.
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
        """Return some of its rows."""
        if isinstance(self.X, Sparse):
            return self.X.part(start, stop)
        return self.X[start:stop]
