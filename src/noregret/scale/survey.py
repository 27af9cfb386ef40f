"""Rows of files by their numbers: workers count them once, then each reads the ranges it needs.

Features have the positions that one process would give them, in order of appearance, so the rows
of any range are the same numbers as in one pass through all files.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.positions import Positions
from noregret.errors import NoRegretError, Place, Use, WrongUsage
from noregret.limits import INTERCEPT
from noregret.scale.parts import Data, parts_of
from noregret.scale.pool import Pool
from noregret.scale.row_files import moved, rows_in
from noregret.streams.block import Block, Sparse, only
from noregret.streams.options import Options
from noregret.streams.source import Indivisible, Part
from noregret.streams.stream import Stream


@dataclass(frozen=True)
class Counted:
    """The rows of a part with an outcome, its new names, its columns, and how it was read."""

    rows: int
    names: list[str]
    width: int
    transforms: tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """The features of some rows, in place of a pass through files."""

    options: Options
    named: bool
    known: list[str]
    width: int

    @property
    def fixed(self) -> bool:
        """True if the number of columns is known and they have no names."""
        return not self.named

    @property
    def features(self) -> int:
        """The number of features."""
        return len(self.known) if self.named else self.width

    def names(self, start: int, stop: int) -> list[str]:
        """Return the names of some features."""
        return self.known[start:stop]

    @property
    def name_source(self) -> Any:
        """A function that returns names; None if features are numbered columns."""
        return self.names if self.named else None


@dataclass(frozen=True)
class Survey:
    """The rows of some files: how many each part has, and the positions of its features.

    Parameters
    ----------
    data, parts
        The files, and ranges of them.
    ends
        The number of rows up to the end of each part.
    columns
        All features.
    known, places
        How many features have the same positions in every part, and the positions of those that
        each part adds.
    transforms, target
        How the files were read.
    """

    data: Data
    parts: list[Part]
    ends: list[int]
    columns: Columns
    known: int
    places: list[NDArray[np.int32]]
    transforms: tuple[str, ...]
    target: str | None

    @property
    def rows(self) -> int:
        """The number of rows with an outcome."""
        return self.ends[-1] if self.ends else 0

    def restricted(self, first: int, stop: int) -> tuple[Survey, int]:
        """Return what a worker needs for a range of rows, and the row that it begins with."""
        low, high = bisect_right(self.ends, first), bisect_right(self.ends, stop - 1) + 1
        before = self.ends[low - 1] if low else 0
        part = slice(low, high)
        ends = [end - before for end in self.ends[part]]
        made = replace(self, parts=self.parts[part], ends=ends, places=self.places[part])
        return made, before

    def numbered(self, number: int, stop: int, ends: Sequence[int]) -> NumberedBlocks:
        """Return some of the blocks, as a worker needs them; ``ends`` are those of all, from 0."""
        here, before = self.restricted(ends[number], ends[stop])
        sizes = [b - a for a, b in pairwise(ends[number : stop + 1])]
        return NumberedBlocks(here, ends[number] - before, number, sizes)

    def blocks(self, sizes: Iterable[int], skip: int = 0) -> Iterator[tuple[Block, Columns]]:
        """Yield rows in blocks of these sizes, after skipping some; the last may be smaller."""
        stream, held, have = self.pieces(skip), list[Block](), 0
        for size in sizes:
            while have < size and (block := next(stream, None)) is not None:
                held.append(block)
                have += len(block)
            if not have:
                return
            taken, left = list[Block](), min(size, have)
            have -= left
            while left:
                block = held.pop(0)
                if len(block) > left:
                    held.insert(0, part_of(block, left, len(block)))
                    block = part_of(block, 0, left)
                taken.append(block)
                left -= len(block)
            yield self.joined(taken)

    def pieces(self, skip: int) -> Iterator[Block]:
        """Yield the rows with an outcome, after skipping some, with features at their positions."""
        for part, places in zip(self.parts, self.places, strict=True):
            with self.data.read(part) as reading:
                for block in reading:
                    if block.faults:
                        raise block.faults[0].error
                    rows = block if block.labelled.all() else only(block, block.labelled)
                    if skip >= len(rows):
                        skip -= len(rows)
                        continue
                    rows = part_of(rows, skip, len(rows))
                    skip = 0
                    rows = replace(rows, place_of=partial(place_of, self.data, part, rows))
                    if isinstance(rows.X, Sparse) and len(places):
                        inner = slice(int(rows.X.starts[0]), int(rows.X.starts[-1]))
                        X = Sparse(
                            rows.X.starts - rows.X.starts[0],
                            rows.X.indices[inner],
                            rows.X.data[inner],
                        )
                        rows = replace(rows, X=moved(X, places, self.known))
                    yield rows

    def joined(self, blocks: Sequence[Block]) -> tuple[Block, Columns]:
        """Return several blocks as one, and its features."""
        ends = list(accumulate(map(len, blocks)))
        arrays = rows_in(list(blocks), np.arange(ends[-1]))
        dense = "X" in arrays
        X = arrays["X"] if dense else Sparse(arrays["starts"], arrays["indices"], arrays["data"])

        def place(row: int) -> Place:
            at = bisect_right(ends, row)
            return blocks[at].place_of(row - (ends[at - 1] if at else 0))

        if any(block.importances is not None or block.bases is not None for block in blocks):
            raise NoRegretError(
                "rows with importances or initial predictions are not for several workers",
                "leave the workers out",
            )
        y = np.concatenate([block.y for block in blocks])
        booleans = any(block.booleans for block in blocks)
        columns = self.columns
        if dense and columns.named:
            columns = replace(columns, known=columns.known[: arrays["X"].shape[1]])
        return Block(X, y, place, {}, booleans=booleans), columns

    def feature_names(self, count: int) -> Sequence[str] | None:
        """Return the names of columns without names, as users know them; None if they have some."""
        if self.columns.named:
            return None
        return Positions(count, [INTERCEPT] if self.columns.options.intercept else ())


@dataclass(frozen=True)
class NumberedBlocks:
    """Some blocks of these sizes: ``number`` is the first, and it begins after ``skip`` rows."""

    survey: Survey
    skip: int
    number: int
    sizes: list[int]

    def __str__(self) -> str:
        return self.survey.data.words(self.survey.parts[0])

    def __iter__(self) -> Iterator[tuple[int, Block, Columns]]:
        """Read the blocks; yield the number of each, its rows, and their features."""
        found = self.survey.blocks(self.sizes, self.skip)
        for number, (block, columns) in enumerate(found, self.number):
            yield number, block, columns


def block_ends(rows: int, sizes: int | Sequence[int]) -> list[int]:
    """Return where blocks of rows end, from 0: of one size, or of these and the rest as one."""
    if isinstance(sizes, int):
        return [*range(0, rows, sizes), rows]
    return sorted({0, rows, *(min(end, rows) for end in accumulate(sizes))})


def place_of(data: Data, part: Part, rows: Block, row: int) -> Place:
    """Return the place of a row, of those that were read from a part, in its file."""
    return data.place(part, rows.place_of(row))


def part_of(block: Block, start: int, stop: int) -> Block:
    """Return a range of rows of a block."""
    if start == 0 and stop == len(block):
        return block
    old = block.place_of
    return replace(
        block,
        X=block.rows(start, stop),
        y=block.y[start:stop],
        place_of=lambda row: old(start + row),
        importances=None if block.importances is None else block.importances[start:stop],
        bases=None if block.bases is None else block.bases[start:stop],
        tags=None,
    )


class Counting(NamedTuple):
    """A part of which the rows are counted."""

    data: Data
    part: Part

    def __str__(self) -> str:
        return self.data.words(self.part)


def counted(task: Counting) -> Counted:
    """Count the rows of a part."""
    data, part = task
    rows = 0
    with data.read(part) as reading:
        known = len(reading.vocabulary)
        for block in reading:
            if block.faults:
                raise block.faults[0].error
            rows += int(block.labelled.sum())
    return Counted(rows, reading.vocabulary.names(known), reading.width, reading.transforms)


def surveyed(stream: Stream, pool: Pool) -> Survey:
    """Count the rows of a stream on workers."""
    check(stream.options)
    reading = stream.reading()
    if next(iter(reading), None) is None:
        raise NoRegretError("there are no examples in it", file=stream.paths[0])
    data = Data.of(stream, reading)
    for cut in (True, False):
        parts = parts_of(data, cut)
        try:
            here = data if cut else data.whole()
            found = list(pool.map(counted, [Counting(here, part) for part in parts]))
            break
        except Indivisible:
            continue
    transforms = reading.transforms
    check_alike(
        transforms,
        (
            (each.transforms, stream.paths[part.file])
            for part, each in zip(parts, found, strict=True)
            if each.rows
        ),
    )
    names = reading.vocabulary.names(0)
    known = dict(zip(names, count(), strict=False))
    places = [
        np.array([known.setdefault(name, len(known)) for name in each.names], dtype=np.int32)
        for each in found
    ]
    width = max((each.width for each in found), default=0)
    columns = Columns(reading.options, reading.named, list(known), max(width, reading.width))
    ends = list(accumulate(each.rows for each in found))
    return Survey(here, parts, ends, columns, len(names), places, transforms, reading.stream.target)


def check_alike(transforms: tuple[str, ...], found: Iterable[tuple[tuple[str, ...], str]]) -> None:
    """Raise an error if a part, of which the file is given, was read unlike the first rows.

    Parts without rows tell nothing of how rows would be read: leave them out.
    """
    for each, file in found:
        if each != transforms:
            other = sorted({*each} ^ {*transforms})
            raise NoRegretError(
                f"this file reads in another way than the first rows of all ({', '.join(other)})",
                Use("workers", text="leave {} out, or say how to read all of them"),
                file=file,
            )


def check(options: Options) -> None:
    """Refuse options by which a row depends on those before it."""
    if options.scale != "none" or options.add:
        what = "scale" if options.scale != "none" else "add"
        raise WrongUsage(
            f"{what} makes rows depend on those before them, which other workers read",
            Use(what, text="leave {} out, or scale the files first"),
        )
    if options.on_error != "stop" or options.id is not None or options.fourier is not None:
        raise WrongUsage("on_error, id and fourier are not for several workers", "leave them out")
