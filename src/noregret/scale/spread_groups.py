"""One learner per group of rows, on several workers: ``noregret run --group COLUMN --workers N``.

First, workers read the parts of the files, and write their rows sorted by bucket, a share of the
groups. Then workers play the buckets, each with the rows of all parts in order. Every group has its
rows in the order of the files, and its learner the features in the order in which one process would
meet them, so models and predictions are the same bits.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret._version import __version__
from noregret.base.model_file import dumps
from noregret.errors import NoRegretError, Place, Use
from noregret.linear.groups import Groups
from noregret.linear.keyed_rows import worst_first
from noregret.linear.learner import is_of_classes
from noregret.proof.game.grouping import MAX_KNOWN, Grouping
from noregret.proof.game.play_blocks import Played
from noregret.scale.parts import Data, located, parts_of
from noregret.scale.row_files import (
    Stored,
    as_text,
    file_digest,
    in_order,
    moved,
    sparse_of,
    stored,
    write,
)
from noregret.scale.split_rows import Splitting, bucket_count, bucket_rows, keys_of, split
from noregret.scale.survey import check_alike
from noregret.scale.work_folder import Interrupted, work_folder
from noregret.streams import many_values
from noregret.streams.block import Block, Fault, Sparse
from noregret.streams.open_file import stamp_of
from noregret.streams.source import Indivisible, Part

if TYPE_CHECKING:
    from noregret.linear.keyed_rows import Key
    from noregret.linear.learner import Learner
    from noregret.scale.pool import Pool
    from noregret.streams.options import Options
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]
# Rows that a worker plays at a time.
ROWS_AT_ONCE = 1 << 16
# Steps, in words, and the shares of the work that are done before and after them, about.
STAGES = {"split": ("parts read:", 0.0, 0.4), "play": ("buckets played:", 0.4, 0.8)}
# A row that a learner refuses: its part, its number there, and why.
Refused = tuple[int, int, NoRegretError]


@dataclass(frozen=True)
class Job:
    """All that the buckets have in common.

    The first ``known`` features have the same positions in every part; ``places`` are those, in one
    process, of the features that each part has added. ``saved`` if the models are wanted.
    """

    learner: Learner
    columns: tuple[str, ...]
    options: Options
    names: list[str]
    known: int
    places: list[NDArray[np.int32]]
    parts: list[str]
    saved: bool
    buckets: int


@dataclass(frozen=True)
class Bucket:
    """The second step for one bucket: play the rows of its groups in all parts."""

    number: int
    job: Job
    file: str

    def __str__(self) -> str:
        return f"bucket {self.number} of {self.job.buckets}"


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


def play(task: Bucket) -> list[Refused]:
    """Play the rows of a bucket; write its scores and figures, and its models to another file."""
    job = task.job
    grouping, refused = Grouping(job.learner, job.columns), list[Refused]()
    grouping.at_once = ROWS_AT_ONCE
    scores, chances, groups = [np.zeros(0)], [np.zeros(0)], [np.zeros(0, np.int64)]
    lengths, at = [0], (0, np.zeros(0, np.int64))  # the rows per part, and those of the last one
    before = known_before(job.places, job.known)
    # The first refused row of all buckets may end the run: only the driver knows which it is.
    reading: Any = Prepared(replace(job.options, on_error="skip"), job.names)

    def blocks() -> Iterator[Block]:
        nonlocal at
        for number, path in enumerate(job.parts):
            block, rows = bucket_rows(Stored(path), task.number, job.places[number], job.known)
            lengths.append(len(rows))
            at = number, rows  # no other part stays in memory
            block = replace(block, X=as_read(block.X, before[number]))
            if len(block):
                yield block

    def note(block: Block, played: Played) -> None:
        assert played.scores is not None
        assert played.kept is not None
        assert played.groups is not None
        scores.append(played.scores)
        groups.append(played.groups * job.buckets + task.number)  # no other bucket has these
        if played.chances is not None:
            sure = np.zeros(len(block))
            sure[played.kept] = played.chances
            chances.append(sure)
        number, rows = at
        lost = rows[~played.kept].tolist()
        refused.extend(zip([number] * len(lost), lost, played.refused, strict=True))

    grouping.play(reading, blocks(), note, may_stop=False)
    keys, rounds, losses = grouping.groups.figures()
    arrays: dict[str, NDArray[Any]] = {
        "scores": np.concatenate(scores),
        "groups": np.concatenate(groups),
        "ends": np.cumsum(lengths),
        "keys": as_text(keys),
        "rounds": np.array(rounds, dtype=np.int64),
        "losses": np.array(losses, dtype=np.float64),
    }
    if is_of_classes(job.learner):
        arrays["chances"] = np.concatenate(chances)
    if job.saved:
        grouping.groups.save(models_of(task.file))
    models = file_digest(models_of(task.file)) if job.saved else None
    facts = {"rounds": grouping.rounds, "mistakes": grouping.mistakes, "models": models}
    write(task.file, arrays, faults=len(refused), **facts)
    return refused


def models_of(file: str) -> str:
    """Return the file for the models of a bucket."""
    return f"{file}.models"


class FoundGroups(Groups):
    """The groups that workers have played: their figures, and their models if they were wanted."""

    def __init__(self, learner: Learner) -> None:
        super().__init__(learner)
        self.found: tuple[list[Key], list[int], list[float]] = [], [], []

    def take(self, played: Stored, models: str | None) -> None:
        """Add the groups of a bucket."""
        keys, rounds, losses = self.found
        keys += keys_of(played["keys"])
        rounds += played["rounds"].tolist()
        losses += played["losses"].tolist()
        if models is not None:
            self.add_file(models)

    def figures(self) -> tuple[list[Key], list[int], list[float]]:
        """Return the keys, rounds and losses, those with the largest mean loss first."""
        return worst_first(*self.found)


class SpreadGrouping(Grouping):
    """The learners of all groups, played by several workers.

    Parameters
    ----------
    learner, columns
        As in ``Grouping``.
    pool
        The workers.
    folder
        A folder that all workers can use, for intermediate files. If the process is killed, the
        same job continues there with the parts and buckets that were done. By default a temporary
        one.
    saved, tagged
        Whether models are wanted, and the values that rows pass on.
    """

    def __init__(
        self,
        learner: Learner,
        columns: Sequence[str],
        pool: Pool,
        folder: str | None,
        saved: bool = True,
        tagged: bool = True,
    ) -> None:
        self.found = FoundGroups(learner)
        super().__init__(self.found, columns)
        self.learner, self.columns, self.pool = learner, tuple(columns), pool
        self.within, self.folder = folder, ""
        # Called as tasks end, with the share of the work that is done, and with what it is.
        self.told: Callable[[float, str], None] | None = None
        self.saved, self.tagged = saved, tagged

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
        files = [(path, *stamp_of(path)) for path in data.paths]
        job = (files, data.options, dumps(self.learner), self.columns, self.saved, self.tagged)
        try:
            with work_folder(self.within, __version__, *job) as self.folder:
                self.play_parts(data, reading, observe)
        except Interrupted:
            return

    def play_parts(
        self, data: Data, reading: Reading, observe: Callable[[Block, Played], None]
    ) -> None:
        """Play with intermediate files in a folder."""
        parts, files, faults = self.split(data, reading)
        if not parts:  # all files are empty, which the run tells
            return
        stops = reading.options.on_error == "stop"
        if stops and (bad := next((each[0] for each in faults if each), None)):
            raise bad.error
        done = list(map(Stored, files))
        if self.record is not None:
            check_alike(
                reading.transforms,
                (
                    (tuple(each.facts["transforms"]), data.given[part.file])
                    for part, each in zip(parts, done, strict=True)
                    if len(each["y"])
                ),
            )
        names, places = merged(reading.vocabulary.names(), [each.facts["names"] for each in done])
        if reading.options.hash is None:
            check_values(names)
        filled = np.sum([np.diff(each["spans"]) > 0 for each in done], axis=0)
        job = Job(
            self.learner,
            self.columns,
            reading.options,
            names,
            len(reading.vocabulary),
            places,
            files,
            self.saved,
            len(filled),
        )
        tasks = [
            Bucket(number, job, self.file(f"bucket-{number}"))
            for number in np.flatnonzero(filled).tolist()
        ]
        refused = [each for some in self.map(play, tasks, reading) for each in some]
        reading.vocabulary.positions(names, True)
        played = {task.number: Stored(task.file) for task in tasks}
        for number, bucket in played.items():
            file = self.file(f"bucket-{number}")
            self.found.take(bucket, models_of(file) if self.saved else None)
            self.rounds += bucket.facts["rounds"]
            self.mistakes += bucket.facts["mistakes"]
        self.loss = math.fsum(self.found.found[2])
        classes = None if reading.classes is None else reading.classes.names
        before = known_before(places, job.known)
        for number, part in enumerate(parts):
            block, said = part_of(number, done[number], played)
            # The workers' share of the work is done.
            size = data.size_up_to(part)
            block.size = size + int(STAGES["play"][2] * (data.size - size))
            block.faults = faults[number]
            lost = {row: error for at, row, error in refused if at == number}
            if lost:
                name_places(data, part, lost)
            if stops and lost:
                raise lost[min(lost)]
            told = [*block.faults, *(Fault(row, error) for row, error in lost.items())]
            told.sort(key=lambda fault: fault.row)
            if classes is not None:
                block, said = renumbered(block, said, done[number].facts["classes"], classes)
            if self.record is not None:
                assert said.kept is not None
                X = as_read(rows_of(done[number], places[number], job.known), before[number])
                self.record(reading, replace(block, X=X), self.codes_of(done[number]), said.kept)
            observe(block, said._replace(refused=[error for _, error in told]))

    def codes_of(self, part: Stored) -> NDArray[np.int64]:
        """Return the number of each row's group in a part, in the order of its rows."""
        numbers = [np.zeros(0, np.int64)]
        for bucket, (first, stop) in enumerate(pairwise(part["spans"].tolist())):
            keys = keys_of(part["keys"][slice(*part["key_spans"][bucket : bucket + 2].tolist())])
            own = np.array(list(map(self.keys.code, keys)), dtype=np.int64)
            numbers.append(own[part["codes"][first:stop]])
        if len(self.keys.names) > MAX_KNOWN:
            self.keys.era = 1  # one process would have given them other numbers
        found = np.empty(len(part["order"]), np.int64)
        found[part["order"]] = np.concatenate(numbers)
        return found

    def file(self, name: str) -> str:
        """Return the path of an intermediate file."""
        return os.path.join(self.folder, name)

    def split(
        self, data: Data, reading: Reading
    ) -> tuple[list[Part], list[str], list[list[Fault]]]:
        """Read all parts, or whole files if they cannot be cut; return their files and faults."""
        buckets = bucket_count(data.size)
        for kind in ("part", "whole"):
            parts = parts_of(data, kind == "part")
            files = [self.file(f"{kind}-{number}") for number in range(len(parts))]
            whose = data if kind == "part" else data.whole()
            tasks = [
                Splitting(whose, part, self.columns, buckets, self.tagged, file)
                for part, file in zip(parts, files, strict=True)
            ]
            try:
                faults = self.map(split, tasks, reading)
                return parts, files, self.with_dates(tasks, faults, reading)
            except Indivisible:
                continue
        raise AssertionError("whole files can be read")

    def with_dates(
        self, tasks: list[Splitting], faults: list[list[Fault]], reading: Reading
    ) -> list[list[Fault]]:
        """Read parts again in which gaps take dates of earlier parts; return the faults of all."""
        last, again = dict[str, float](), dict[int, Splitting]()
        for number, task in enumerate(tasks):
            facts = Stored(task.file).facts
            if any(last.get(name) != used for name, used in facts["borrowed"].items()):
                again[number] = replace(task, data=task.data.after(dict(last)))
            last |= facts["positions"]
        found = self.map(split, list(again.values()), reading, again=True) if again else []
        told = dict(zip(again, found, strict=True))
        return [told.get(number, before) for number, before in enumerate(faults)]

    def map(
        self,
        function: Callable[[Any], list[Any]],
        tasks: Sequence[Any],
        reading: Reading,
        again: bool = False,
    ) -> list[list[Any]]:
        """Return what tasks return; those whose files tell that nothing went wrong were done.

        They are done ``again`` nevertheless, if asked to.
        """
        left = [task for task in tasks if again or not was_done(task.file)]
        found = list[list[Any]]()
        for each in self.pool.map(function, left, reading.wanted):
            found.append(each)
            if self.told is not None:
                words, start, stop = STAGES[function.__name__]
                done = len(tasks) - len(left) + len(found)
                share = start + (stop - start) * done / len(tasks)
                self.told(share, f"{words} {done} of {len(tasks)}")
        if len(found) < len(left):
            raise Interrupted
        told = {task.file: each for task, each in zip(left, found, strict=True)}
        return [told.get(task.file, []) for task in tasks]


def was_done(file: str) -> bool:
    """Return whether a task has written its files, without anything to tell besides.

    Damaged files count as not written.
    """
    found = stored(file) if os.path.exists(file) else None
    if found is None or found.facts["faults"]:
        return False
    models = found.facts.get("models")
    try:
        return models is None or file_digest(models_of(file)) == models
    except OSError:
        return False


def part_of(number: int, part: Stored, played: dict[int, Stored]) -> tuple[Block, Played]:
    """Return the rows of a part with their scores, without their features."""

    def gathered(name: str) -> Floats:
        """Return an array of the buckets, in the order of the part's rows."""
        some = [np.zeros(0)]
        for bucket in played.values():
            start, stop = bucket["ends"][number : number + 2].tolist()
            some.append(bucket[name][start:stop])
        found = np.empty(len(order))
        found[order] = np.concatenate(some)
        return found

    order, y = part["order"], np.empty(len(part["y"]))
    y[order] = part["y"]
    scores, tags = gathered("scores"), None
    there = ~np.isnan(scores)
    sure = all("chances" in each for each in played.values())
    chances = gathered("chances")[there] if sure and played else None
    if "tags" in part:
        texts = json.loads(part["tags"].tobytes())
        tags = [texts[code] for code in part["tag_codes"].tolist()]
    block = Block(np.zeros((len(y), 0)), y, lambda row: Place(), {}, tags=tags)
    block.booleans = part.facts["booleans"]
    return block, Played(there, [], scores, chances, groups=gathered("groups").astype(np.int64))


def rows_of(part: Stored, places: NDArray[np.int32], known: int) -> Floats | Sparse:
    """Return the features of a part's rows at their positions, in the order of the rows."""
    where = np.empty(len(part["order"]), np.int64)
    where[part["order"]] = np.arange(len(where))
    if "X" in part:
        X: Floats = part["X"][where]
        return X
    return in_order(
        moved(Sparse(part["starts"], part["indices"], part["data"]), places, known), where
    )


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


def known_before(places: Sequence[NDArray[np.int32]], known: int) -> list[int]:
    """Return how many features one process knows before each part."""
    found = [known]
    for each in places:
        found.append(max(found[-1], int(each.max(initial=-1)) + 1))
    return found[:-1]


def as_read(X: Floats | Sparse, known: int) -> Floats | Sparse:
    """Return rows as one process reads them: sparse once it knows more than their columns."""
    return sparse_of(X) if not isinstance(X, Sparse) and X.shape[1] < known else X


def check_values(names: list[str]) -> None:
    """Refuse columns of so many values that later ones share features, as one process decides."""
    if len(names) <= many_values.MAX_VALUES:
        return
    counts = Counter(name.partition("=")[0] for name in names)
    column, count = counts.most_common(1)[0]
    if count > many_values.MAX_VALUES:
        raise NoRegretError(
            f"column {column!r} has more than {many_values.MAX_VALUES:,} different values: which of"
            " them share features is for one process to say",
            (Use("hash", 18), Use("drop", column), Use("workers", text="leave {} out")),
        )


def name_places(data: Data, part: Part, lost: dict[int, NoRegretError]) -> None:
    """Add the places of rows of a part to their errors."""
    before = 0
    for block in data.reading(part):
        for row, error in lost.items():
            if before <= row < before + len(block):
                located(error.at(block.place_of(row - before)), data, part)
        before += len(block)
