"""Scoring on several workers: ``noregret predict --workers N``.

Workers read the parts of the files and write the scores of their rows; the first process puts them
in order, so that the predictions are the same bytes as those of one process.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noregret.app.commands.run.scoring import ScoredBlock, blocks_of
from noregret.errors import DataWarning, NoRegretError
from noregret.scale.parts import Data, located, parts_of
from noregret.scale.row_files import Stored, as_text, write
from noregret.scale.work_folder import work_folder
from noregret.streams.source import Indivisible, Part

if TYPE_CHECKING:
    from noregret.experts.ensemble import Experts
    from noregret.linear.learner import Learner
    from noregret.scale.pool import Pool
    from noregret.streams.stream import Reading


@dataclass(frozen=True)
class Scoring:
    """The scoring of one part."""

    learner: Learner | Experts
    data: Data
    part: Part
    file: str

    def __str__(self) -> str:
        return self.data.words(self.part)


def score_part(task: Scoring) -> list[tuple[int, NoRegretError]]:
    """Write the scores of a part; return the rows that cannot be used, each with its block."""
    found: list[ScoredBlock] = []
    ends: NoRegretError | None = None  # of a pass that stops here
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the first process has told
            found += blocks_of(task.learner, task.data.reading(task.part))
    except NoRegretError as failure:
        ends = failure.with_traceback(None)
    tags = None if not found or found[0].tags is None else [each.tags for each in found]
    arrays = {
        "rows": np.concatenate([each.rows for each in found] or [np.zeros((0, 3))]),
        "ends": np.cumsum([0, *(len(each.rows) for each in found)]),
        "read": np.array([each.read for each in found], dtype=np.int64),
        "tags": as_text(tags),
    }
    write(task.file, arrays)
    faults = [(at, error) for at, each in enumerate(found) for error in each.faults]
    faults += [] if ends is None else [(len(found), ends)]
    for _, error in faults:
        located(error.with_traceback(None), task.data, task.part)
    return faults


def spread_blocks(
    learner: Learner | Experts, reading: Reading, pool: Pool, folder: str | None
) -> Iterator[ScoredBlock]:
    """Yield what ``score_blocks`` does, from workers."""
    reading.ahead = False
    next(iter(reading), None)  # it tells the columns
    data = Data.of(reading.stream, reading)
    with work_folder(folder, os.getpid()) as place:
        for kind in ("part", "whole"):
            parts = parts_of(data, kind == "part")
            whose = data if kind == "part" else data.whole()
            tasks = [
                Scoring(learner, whose, part, os.path.join(place, f"{kind}-{number}"))
                for number, part in enumerate(parts)
            ]
            try:
                told = list(pool.map(score_part, tasks))
            except Indivisible:
                continue
            break
        for task, faults in zip(tasks, told, strict=True):
            yield from stored_blocks(Stored(task.file), faults)


def stored_blocks(part: Stored, faults: list[tuple[int, NoRegretError]]) -> Iterator[ScoredBlock]:
    """Yield the blocks of a part."""
    ends, read = part["ends"].tolist(), part["read"].tolist()
    tags = json.loads(part["tags"].tobytes())
    for at, (start, stop, count) in enumerate(zip(ends[:-1], ends[1:], read, strict=True)):
        bad = [error for block, error in faults if block == at]
        yield ScoredBlock(part["rows"][start:stop], tags and tags[at], count, bad)
    if faults and faults[-1][0] == len(read):
        raise faults[-1][1]
