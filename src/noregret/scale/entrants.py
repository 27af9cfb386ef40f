"""Learners that each play a whole stream, every one on a worker, with their forecasts in files.

A worker reads the files by itself, and what it writes is a pure function of them and the learner,
so that a lost worker costs only time, and the bits do not depend on the workers.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret._version import __version__
from noregret.base.atomic_files import opened
from noregret.base.model_file import dumps, loads
from noregret.errors import NoRegretError, WrongUsage
from noregret.experts.members import LearningMember
from noregret.proof.game.play_blocks import acquaint, play_block, score_part
from noregret.scale.parts import as_given
from noregret.scale.row_files import Stored, stored, write
from noregret.scale.work_folder import Interrupted
from noregret.streams.addresses import Address
from noregret.streams.open_file import is_remote, stamp_of
from noregret.streams.options import Options
from noregret.streams.source import STDIN

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.scale.pool import Pool
    from noregret.streams.block import Block
    from noregret.streams.stream import Reading, Stream

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Entry:
    """A learner that is to play all rows, and the file for its forecasts.

    ``says`` is the kind of forecast that the master needs; ``given`` are the files as the user
    names them.
    """

    name: str
    learner: bytes
    says: str
    kind: type[Stream]
    paths: tuple[str, ...]
    given: tuple[str, ...]
    options: Options
    file: str

    def __str__(self) -> str:
        return f"{self.name} on {', '.join(self.given)}"


class Forecasts:
    """The forecasts of one learner, in order: NaN for rows that it refused.

    Parameters
    ----------
    path
        The file that a worker has written.
    """

    def __init__(self, path: str) -> None:
        self.path, self.file, self.taken = path, Stored(path), 0
        self.rows = len(self.file["scores"])
        self.start = self.file.place_of("scores")
        self.digest = hashlib.blake2b()

    @property
    def retired(self) -> str | None:
        """Why the learner has stopped before the end; None if it has not."""
        found: str | None = self.file.facts["retired"]
        return found

    @property
    def learner(self) -> Learner:
        """The learner after the last row that it has played."""
        found: Learner = loads(self.file["model"].tobytes(), "the learner", own=True)
        return found

    def take(self, y: Floats) -> Floats:
        """Return the forecasts of the next rows, which have these outcomes."""
        # Read, as what is mapped would stay in memory.
        count = max(0, min(len(y), self.rows - self.taken))
        here = np.fromfile(self.path, np.float64, count, offset=self.start + 8 * self.taken)
        self.digest.update(y[: len(here)].tobytes())
        self.taken += len(y)
        return np.concatenate([here, np.full(len(y) - len(here), np.nan)])

    def is_of_these_rows(self) -> bool:
        """Return whether the learner has played the rows that were taken."""
        rows = self.taken if self.retired is None else min(self.taken, self.rows)
        same = self.digest.hexdigest() == self.file.facts["outcomes"]
        return same and rows == self.rows


class Entrants:
    """Learners that have played a stream, and their forecasts.

    Parameters
    ----------
    stream
        The stream.
    forecasts
        Those of each learner, by name.
    """

    def __init__(self, stream: Stream, forecasts: dict[str, Forecasts]) -> None:
        self.stream, self.forecasts = stream, forecasts
        self.reading: Reading = stream.reading()

    def blocks(self) -> Iterator[tuple[Block, Floats]]:
        """Yield the blocks of the stream, each with the forecasts of all learners in columns."""
        found = self.forecasts.values()
        for block in self.reading:
            check_plain(block)
            yield block, np.column_stack([each.take(block.y) for each in found])
            if block.faults and self.reading.options.on_error == "stop":
                raise block.faults[0].error
        for name, each in self.forecasts.items():
            if not each.is_of_these_rows():
                raise NoRegretError(
                    f"the data have changed since {name} played them", "play them again"
                )


def entered(
    learners: Mapping[str, Learner],
    says: str,
    stream: Stream,
    pool: Pool,
    folder: str,
    wanted: Callable[[], bool] = lambda: True,
) -> Entrants:
    """Let every learner play a stream on a worker; return their forecasts.

    Those whose files are in the folder already were done before. A learner that refuses a row, or
    diverges, plays no further row; if all do so, it is an error.

    Parameters
    ----------
    learners
        Untrained ones, by name. They do not change.
    says
        The kind of forecast that the master needs: ``prediction``, ``probability`` or ``vote``.
    stream, pool, folder
        The data, the workers, and a folder that all workers can use.
    wanted
        Asked now and then; if it returns False, ``Interrupted`` is raised.
    """
    if STDIN in stream.paths:
        raise WrongUsage("several workers cannot share standard input: name files")
    if any(isinstance(path, Address) for path in stream.paths):
        raise WrongUsage("databases are read by one process: save the rows to a file first")
    if stream.options.follow or stream.options.id is not None:
        raise WrongUsage("several learners play files that are complete: leave follow and id out")
    paths = tuple(p if is_remote(p) else os.path.abspath(p) for p in stream.paths)
    tasks = [
        Entry(
            name,
            dumps(learner),
            says,
            type(stream),
            paths,
            stream.paths,
            stream.options,
            os.path.join(folder, f"learner-{number}"),
        )
        for number, (name, learner) in enumerate(learners.items())
    ]
    left = [task for task in tasks if stored(task.file) is None]
    done = sum(1 for _ in pool.map(played, left, wanted))
    if done < len(left):
        raise Interrupted
    found = {task.name: Forecasts(task.file) for task in tasks}
    if all(each.retired for each in found.values()):
        name, first = next(iter(found.items()))
        raise NoRegretError(
            f"every learner has stopped before the end; {name}: {first.retired}",
            "use on_error='skip' to leave out rows that a learner refuses, or other learners",
        )
    return Entrants(stream, found)


def job_of(learners: Mapping[str, Learner], says: str, stream: Stream) -> tuple[Any, ...]:
    """Return all that the forecasts depend on, to recognise files that were written before."""
    files = [(path, *stamp_of(path)) for path in stream.paths if path != STDIN]
    models = [(name, dumps(learner)) for name, learner in learners.items()]
    return __version__, files, stream.options, models, says


def played(task: Entry) -> None:
    """Play all rows with a learner; write its forecasts, and the learner."""
    learner: Any = loads(task.learner, "the learner")
    member = LearningMember(learner, task.says)
    stream = task.kind(task.paths, task.options)
    reading, retired = stream.reading(), None
    digest, rows = hashlib.blake2b(), 0
    acquaint(learner, reading)
    with opened(None) as file:
        try:
            for block in reading:
                check_plain(block)
                found, error = forecasts_of(member, reading, block)
                digest.update(block.y[: len(found)].tobytes())
                file.add(np.ascontiguousarray(found).data)
                rows += len(found)
                if error is not None:
                    retired = str(as_given(error, task.paths, task.given))
                    break
                if block.faults and task.options.on_error == "stop":
                    raise block.faults[0].error
        except NoRegretError as error:
            raise by_worker(as_given(error, task.paths, task.given), task) from None
        finally:
            reading.close()
        scores: Floats = np.zeros(0)
        if rows:
            file.flush()
            scores = np.memmap(file, dtype=np.float64, mode="r", shape=(rows,))
        arrays: dict[str, NDArray[Any]] = {"scores": scores}
        arrays["model"] = np.frombuffer(dumps(learner), dtype=np.uint8)
        write(task.file, arrays, retired=retired, outcomes=digest.hexdigest())


def forecasts_of(
    member: LearningMember, reading: Reading, block: Block
) -> tuple[Floats, NoRegretError | None]:
    """Play a block; return the forecasts, and the error of the row after which none is played."""
    learner, scores = member.who, np.full(len(block), np.nan)
    done, told = play_block(learner, reading, block, scores)
    error = told.error if told.error not in [fault.error for fault in block.faults] else None
    if error is not None:  # it has predicted the row that it cannot learn from
        at = len(done)
        last, _ = score_part(learner, reading, block, slice(at, at + 1))
        scores = np.concatenate([scores[:at], last])
    said = np.asarray(member.translated(scores), dtype=np.float64)
    return np.where(np.isnan(scores), np.nan, said), error


def check_plain(block: Block) -> None:
    """Refuse rows with importances or initial predictions, which masters do not have."""
    if block.importances is not None or block.bases is not None:
        raise NoRegretError(
            "masters take every row as equally important, without initial predictions",
            "leave these out, or use one learner",
        ).at(block.place_of(0))


def by_worker(error: NoRegretError, task: Entry) -> NoRegretError:
    """Return an error that names the worker by its learner."""
    error.what = f"{error.what} (worker of {task.name})"
    return error
