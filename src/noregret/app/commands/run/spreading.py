"""One learner per group of rows, on several workers: ``noregret run --group COLUMN --workers N``.

First, workers read the parts of the files, and write their rows sorted by bucket: a number that the
group's name tells. Then workers play the buckets, each with the rows of all parts in order. Every
group has its rows in the order of the files, and its learner the features in the order in which one
process would meet them, so models and predictions are the same bits.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.run.grouping import Grouping, GroupKeys
from noregret.base.model_file import dumps, loads
from noregret.errors import NoRegretError, Place
from noregret.linear.groups import Groups
from noregret.linear.learner import is_of_classes
from noregret.proof.game.play_blocks import Played
from noregret.scale.parts import Data, located, parts_of
from noregret.scale.row_files import moved, rows_in, write
from noregret.streams.block import Block, Fault, Sparse
from noregret.streams.source import Indivisible, Part

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.scale.pool import Pool
    from noregret.streams.options import Options
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]
# Tasks of the second step, whatever the number of workers; each has the groups of one bucket.
BUCKETS = 64


@dataclass(frozen=True)
class Splitting:
    """The first step for one part: read it, and write its rows by bucket."""

    data: Data
    part: Part
    columns: tuple[str, ...]
    file: str


@dataclass(frozen=True)
class Split:
    """A part that was read: its rows, and what it adds to the names of features and classes.

    ``faults`` are rows that cannot be used, each with the number of rows before it. ``buckets`` are
    those that it has rows of.
    """

    rows: int
    read: int
    names: list[str]
    classes: list[Any]
    faults: list[Fault]
    buckets: set[int]


@dataclass(frozen=True)
class Bucket:
    """The second step for one bucket: play the rows of its groups in all parts.

    The first ``known`` features have the same positions in every part; ``places`` are those, in one
    process, of the features that each part has added.
    """

    number: int
    learner: bytes
    columns: tuple[str, ...]
    options: Options
    names: list[str]
    known: int
    places: list[NDArray[np.int32]]
    parts: list[str]
    classes: list[list[Any]]
    file: str


@dataclass(frozen=True)
class Bucketful:
    """The result of a bucket; ``refused`` rows by part and row."""

    rounds: int
    mistakes: int
    loss: float
    refused: list[tuple[int, int, NoRegretError]]


def bucket_of(tag: str, columns: int) -> int:
    """Return the bucket of a row, from the name of its group."""
    return zlib.crc32(json.dumps(json.loads(tag)[:columns]).encode()) % BUCKETS


# The first step.


def split(task: Splitting) -> Split:
    """Read a part, and write its rows sorted by bucket."""
    reading, blocks = task.data.reading(task.part), list[Block]()
    keys = GroupKeys(task.columns)
    known, faults, rows = len(reading.vocabulary), list[Fault](), 0
    try:
        for found in reading:
            _, block = keys.of(found)
            faults += [Fault(rows + fault.row, fault.error) for fault in block.faults]
            rows += len(block)
            blocks.append(block)
    except NoRegretError as error:
        raise located(error, task.data, task.part) from None
    for fault in faults:
        located(fault.error.with_traceback(None), task.data, task.part)
    tags = [tag for block in blocks for tag in block.tags or []]
    numbers = dict(zip(dict.fromkeys(tags), count(), strict=False))
    codes = np.array([numbers[tag] for tag in tags], dtype=np.int64)
    buckets = np.array([bucket_of(tag, len(task.columns)) for tag in numbers], dtype=np.int64)[
        codes
    ]
    order = np.argsort(buckets, kind="stable")
    arrays = rows_in(blocks, order) | {
        "order": order,
        "spans": np.searchsorted(buckets[order], np.arange(BUCKETS + 1)),
        "codes": codes[order],
        "tags": np.frombuffer(json.dumps(list(numbers)).encode(), dtype=np.uint8),
        "y": np.concatenate([np.zeros(0), *(block.y for block in blocks)])[order],
        "booleans": np.array([any(block.booleans for block in blocks)]),
    }
    write(task.file, arrays)
    classes = [] if reading.classes is None else list(reading.classes.names)
    names, used = reading.vocabulary.names(known), set(buckets.tolist())
    return Split(rows, rows + len(faults), names, classes, faults, used)


# The second step.


class Prepared:
    """Rows that were read before, in place of a pass through files."""

    def __init__(self, options: Options, names: list[str]) -> None:
        self.options, self.names, self.features = options, names, len(names)

    def feature_names(self, count: int) -> list[str]:
        """Return the names of the first features."""
        return self.names[:count]

    def wanted(self) -> bool:
        """Return True: all rows are wanted."""
        return True


def play(task: Bucket) -> Bucketful:
    """Play the rows of a bucket, and write its models and scores."""
    learner: Learner = loads(task.learner, "the learner")
    grouping = Grouping(learner, task.columns)
    refused: list[tuple[int, int, NoRegretError]] = []
    scores: list[Floats] = []
    chances: list[Floats] = []
    # The first refused row of all buckets may end the run: only the driver knows which it is.
    reading: Any = Prepared(replace(task.options, on_error="skip"), task.names)
    for number, path in enumerate(task.parts):
        found = bucket_rows(path, task.number, task.places[number], task.known)
        if found is None:
            scores.append(np.zeros(0))
            chances.append(np.zeros(0))
            continue
        block, at = found
        block.classes = task.classes[number]
        made, sure = np.full(len(block), np.nan), np.zeros(len(block))

        def note(
            block: Block,
            played: Played,
            made: Floats = made,
            sure: Floats = sure,
            at: NDArray[np.int64] = at,
            number: int = number,
        ) -> None:
            assert played.scores is not None
            made[:] = played.scores
            if played.chances is not None:
                sure[played.kept] = played.chances
            assert played.kept is not None
            lost = at[~played.kept].tolist()
            refused.extend(zip([number] * len(lost), lost, played.refused, strict=True))

        grouping.play(reading, [block], note, may_stop=False)
        scores.append(made)
        chances.append(sure)
    told = {f"scores.{n}": made for n, made in enumerate(scores)}
    if is_of_classes(learner):
        told |= {f"chances.{n}": made for n, made in enumerate(chances)}
    write(task.file, told)
    grouping.groups.save(models_of(task.file))
    return Bucketful(grouping.rounds, grouping.mistakes, grouping.loss, refused)


def models_of(file: str) -> str:
    """Return the file for the models of a bucket."""
    return f"{file}.models"


def bucket_rows(
    path: str, bucket: int, places: NDArray[np.int32], known: int
) -> tuple[Block, NDArray[np.int64]] | None:
    """Return the rows of a bucket in one part, and their numbers in it; None if it has none.

    The first ``known`` features have the same positions in every part; ``places`` has those of the
    others.
    """
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        start, stop = file.get_tensor("spans")[bucket : bucket + 2].tolist()
        if start == stop:
            return None
        rows = slice(start, stop)
        tags = json.loads(file.get_tensor("tags").tobytes())
        named = [tags[code] for code in file.get_slice("codes")[rows].tolist()]
        at, y = file.get_slice("order")[rows], file.get_slice("y")[rows]
        X: Floats | Sparse
        if "X" in file.keys():  # noqa: SIM118  (it is no dict)
            X = file.get_slice("X")[rows]
        else:
            starts = file.get_slice("starts")[start : stop + 1]
            inside = slice(int(starts[0]), int(starts[-1]))
            indices, data = file.get_slice("indices")[inside], file.get_slice("data")[inside]
            X = moved(Sparse(starts - starts[0], indices, data), places, known)
        booleans = bool(file.get_tensor("booleans")[0])
    return Block(X, y, lambda row: Place(), {}, tags=named, booleans=booleans), at


# Both steps.


class SpreadGrouping:
    """The learners of all groups, played by several workers.

    Parameters
    ----------
    learner, columns
        As in ``Grouping``.
    pool
        The workers.
    folder
        A folder that all workers can use, for intermediate files; a temporary one by default.
    """

    def __init__(
        self, learner: Learner, columns: Sequence[str], pool: Pool, folder: str | None
    ) -> None:
        self.learner, self.columns, self.pool = learner, tuple(columns), pool
        self.groups = Groups(learner)
        self.rounds = self.mistakes = 0
        self.loss = 0.0
        self.within, self.folder = folder, ""

    def play(
        self,
        reading: Reading,
        blocks: Iterable[Block],
        observe: Callable[[Block, Played], None],
        may_stop: bool = True,
    ) -> None:
        """Predict and learn all rows, then observe them part by part, in order.

        The files are read by the workers; of ``blocks``, only the first is taken, as it tells the
        columns.
        """
        next(iter(blocks), None)
        data = Data.of(reading.stream, reading)
        with TemporaryDirectory(prefix="noregret-", dir=self.within) as self.folder:
            self.play_parts(data, reading, observe)

    def play_parts(
        self, data: Data, reading: Reading, observe: Callable[[Block, Played], None]
    ) -> None:
        """Play with intermediate files in a folder."""
        parts, done = self.split(data, reading)
        if not parts:
            return
        stops = reading.options.on_error == "stop"
        if stops and (bad := next((each.faults[0] for each in done if each.faults), None)):
            raise bad.error
        names, places = merged(reading.vocabulary.names(), [each.names for each in done])
        buckets = [
            Bucket(
                number,
                dumps(self.learner),
                self.columns,
                reading.options,
                names,
                len(reading.vocabulary),
                places,
                [self.file(f"part-{n}") for n in range(len(parts))],
                [each.classes for each in done],
                self.file(f"bucket-{number}"),
            )
            for number in sorted(set[int]().union(*(each.buckets for each in done)))
        ]
        found = list(self.pool.map(play, buckets, reading.wanted))
        if len(found) < len(buckets):
            return
        refused = sorted((each for one in found for each in one.refused), key=lambda r: r[:2])
        reading.vocabulary.positions(names, True)
        self.take(buckets, found)
        classes = None if reading.classes is None else reading.classes.names
        self.report(data, parts, done, refused, observe, stops, classes)

    def file(self, name: str) -> str:
        """Return the path of an intermediate file."""
        return os.path.join(self.folder, name)

    def split(self, data: Data, reading: Reading) -> tuple[list[Part], list[Split]]:
        """Read all parts, or whole files if they cannot be cut; return nothing if interrupted."""
        for cut in (True, False):
            parts = parts_of(data, cut)
            tasks = [
                Splitting(
                    data if cut else data.whole(), part, self.columns, self.file(f"part-{number}")
                )
                for number, part in enumerate(parts)
            ]
            try:
                done = list(self.pool.map(split, tasks, reading.wanted))
            except Indivisible:
                continue
            return (parts, done) if len(done) == len(parts) else ([], [])
        raise AssertionError("whole files can be read")

    def take(self, buckets: list[Bucket], found: list[Bucketful]) -> None:
        """Take the models and figures of all buckets."""
        for bucket, each in zip(buckets, found, strict=True):
            self.groups.add_all(Groups.load(models_of(bucket.file)))
            self.rounds += each.rounds
            self.mistakes += each.mistakes
        self.loss = self.groups.total_loss

    def report(
        self,
        data: Data,
        parts: list[Part],
        done: list[Split],
        refused: list[tuple[int, int, NoRegretError]],
        observe: Callable[[Block, Played], None],
        stops: bool,
        classes: list[Any] | None,
    ) -> None:
        """Observe the rows of all parts, in order, without their features."""
        for number, (part, facts) in enumerate(zip(parts, done, strict=True)):
            block, played = self.part(number, facts)
            block.size = data.size_up_to(part)
            lost = {row: error for at, row, error in refused if at == number}
            if lost:
                name_places(data, part, lost)
            if stops and lost:
                raise lost[min(lost)]
            told = [*facts.faults, *(Fault(row, error) for row, error in lost.items())]
            told.sort(key=lambda fault: fault.row)
            block.faults = facts.faults
            if classes is not None:
                block, played = renumbered(block, played, facts.classes, classes)
            observe(block, played._replace(refused=[error for _, error in told]))

    def part(self, number: int, facts: Split) -> tuple[Block, Played]:
        """Return the rows of a part with their scores, without their features."""
        from safetensors import safe_open
        from safetensors.numpy import load_file

        kept = load_file(self.file(f"part-{number}"))
        order, spans = kept["order"], kept["spans"]
        scores, chances = np.empty(len(order)), np.zeros(len(order))
        sure = False
        for bucket in facts.buckets:
            rows = order[spans[bucket] : spans[bucket + 1]]
            with safe_open(self.file(f"bucket-{bucket}"), framework="np") as file:
                scores[rows] = file.get_tensor(f"scores.{number}")
                if sure := f"chances.{number}" in file.keys():  # noqa: SIM118  (it is no dict)
                    chances[rows] = file.get_tensor(f"chances.{number}")
        tags = json.loads(kept["tags"].tobytes())
        y, codes = np.empty(len(order)), np.empty(len(order), np.int64)
        y[order], codes[order] = kept["y"], kept["codes"]
        named = [tags[code] for code in codes.tolist()]
        block = Block(np.zeros((len(y), 0)), y, lambda row: Place(), {}, tags=named)
        there = ~np.isnan(scores)
        return block, Played(there, [], scores, chances[there] if sure else None)


def renumbered(
    block: Block, played: Played, here: list[Any], classes: list[Any]
) -> tuple[Block, Played]:
    """Return rows whose classes have the numbers of all parts, and add those that are new."""
    classes += [name for name in here if name not in classes]
    numbers = np.array([*map(classes.index, here), -1.0])

    def renamed(codes: Floats | None) -> Floats | None:
        if codes is None:
            return None
        there = ~np.isnan(codes)
        found = codes.copy()
        found[there] = numbers[codes[there].astype(np.intp)]
        return found

    y = renamed(block.y)
    assert y is not None
    return replace(block, y=y, classes=classes), played._replace(scores=renamed(played.scores))


def merged(names: list[str], added: list[list[str]]) -> tuple[list[str], list[NDArray[np.int32]]]:
    """Return all names in the order in which they appear, and the places of those of each part."""
    known = dict(zip(names, count(), strict=False))
    places = []
    for more in added:
        found = [known.setdefault(name, len(known)) for name in more]
        places.append(np.array(found, dtype=np.int32))
    return list(known), places


def name_places(data: Data, part: Part, lost: dict[int, NoRegretError]) -> None:
    """Add the places of rows of a part to their errors."""
    before = 0
    for block in data.reading(part):
        for row, error in lost.items():
            if before <= row < before + len(block):
                located(error.at(block.place_of(row - before)), data, part)
        before += len(block)
