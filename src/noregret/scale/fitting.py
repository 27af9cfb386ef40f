"""Methods that need only sums, fitted by several workers.

The sums of every block of 65,536 rows are computed alone and merged over a binary tree that depends
on the number of blocks only, so their bits do not depend on the workers. Blocks are the parts of
the digest, so neither does the certificate.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from noregret.batch.summed import Summed
from noregret.batch.sums import own_parts, resumed
from noregret.errors import NoRegretError
from noregret.hindsight import LeastSquares
from noregret.proof.game.play_blocks import play_block
from noregret.proof.record.parts_digest import BLOCK_ROWS, Part, PartsDigest
from noregret.scale.pool import Pool
from noregret.scale.processes import Processes
from noregret.scale.survey import NumberedBlocks, Survey, block_ends, surveyed
from noregret.scale.tree import Key, grown, reduced

if TYPE_CHECKING:
    from noregret.batch.game import BatchGame
    from noregret.streams.stream import Stream

S = TypeVar("S", bound=Summed)


@dataclass(frozen=True)
class Node:
    """The sums of some blocks, as a worker sends them."""

    reader: tuple[Any, Any, Any]
    sums: tuple[Any, Any]
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, method: Summed) -> Node:
        """Return the node of a method that has seen these blocks."""
        state = method._fixed.get_state()
        return cls(state, method.sums.get_state(), own_parts(method))

    def method(self, kind: S) -> S:
        """Return a method of this kind that has seen the blocks."""
        made = kind.clone()
        fixed = made._new_fixed()
        fixed.set_state(*self.reader)
        game = resumed(made, fixed, LeastSquares.from_state(*self.sums))
        game.ledger.digest = PartsDigest(self.parts)
        made._adopt(game)
        return made


def fit(
    method: S,
    data: str | Path | Sequence[str | Path] | Stream,
    target: str | None = None,
    *,
    pool: Pool | None = None,
    **options: Any,
) -> S:
    r"""Fit a method to files on several workers; return it.

    Parameters
    ----------
    method
        A method that needs only sums: ``LinearRegression`` or ``Ridge`` of ``noregret.batch``.
        What it has learned before is forgotten.
    data
        Files, or a stream of ``noregret.streams``. Workers read them by themselves.
    target
        The column that holds the outcomes.
    pool
        The workers; by default as many processes as there are processors.
    **options
        Reading options: see ``noregret.streams.Options``. Rows must not depend on earlier ones.

    Notes
    -----
    Weights and certificate are the same to the bit for any number of workers. The files are read
    twice: first to count rows and find the names of features.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret.batch import Ridge
    >>> from noregret.scale import Processes, fit
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,sold\n1,4\n1,4\n1,4\n")
    >>> with Processes(1) as pool:
    ...     fit(Ridge(penalty=1.0), file, "sold", pool=pool).weights
    array([3.])
    """
    if not isinstance(method, Summed):
        raise TypeError(f"fit takes a method that needs only sums, such as Ridge(): got {method!r}")
    stream = stream_of(data, target, options)
    if pool is None:
        with Processes() as made:
            return fitted(method, stream, made)
    return fitted(method, stream, pool)


def stream_of(
    data: str | Path | Sequence[str | Path] | Stream, target: str | None, options: dict[str, Any]
) -> Stream:
    """Return the stream of some files."""
    from noregret import streams

    if isinstance(data, streams.Stream):
        if target is not None or options:
            raise TypeError("a stream has its target and options already")
        return data
    return streams.read(data, target, **options)


def fitted(method: S, stream: Stream, pool: Pool, sizes: int | Sequence[int] = BLOCK_ROWS) -> S:
    """Fit a method to a stream, in blocks of so many rows."""
    survey = surveyed(stream, pool)
    if not survey.rows:
        raise NoRegretError(f"there are no examples to fit {method.name} to")
    fit_surveyed(method, survey, pool, sizes)
    return method


def fit_surveyed(
    method: Summed, survey: Survey, pool: Pool, sizes: int | Sequence[int] = BLOCK_ROWS
) -> BatchGame:
    """Fit a method to rows that were counted, in blocks of so many; return its game."""
    ends, nodes = block_ends(survey.rows, sizes), dict[Key, Node]()
    for found in pool.map(summed, tasks_of(method.clone(), survey, ends)):
        nodes |= found

    def taken(key: Key) -> Summed | None:
        node = nodes.pop(key, None)
        return None if node is None else node.method(method)

    game: BatchGame | None
    game = reduced(taken, len(ends) - 1, lambda left, right: left.merge(right)).game
    assert game is not None
    names = survey.feature_names(game.width)
    game.intake.describe(survey.transforms, survey.target, names)
    game.method = game.learner = method
    method._adopt(game)
    return game


def tasks_of(
    method: Summed, survey: Survey, ends: Sequence[int]
) -> list[tuple[Summed, NumberedBlocks]]:
    """Return a task for each part of the files: the blocks that begin in it."""
    found, first = [], 0
    for end in survey.ends:
        number, stop = bisect_left(ends, first), bisect_left(ends, end)
        if number < stop:
            found.append((method, survey.numbered(number, stop, ends)))
        first = end
    return found


def summed(task: tuple[Summed, NumberedBlocks]) -> dict[Key, Node]:
    """Return the sums of some blocks, merged as far as the tree allows."""
    kind, blocks = task

    def methods() -> Iterator[tuple[int, Summed]]:
        for number, block, columns in blocks:
            method = kind.clone()
            game = method._new_game(keep="sums", progress=False)
            reading: Any = columns
            with game.intake.recorded():
                _, played = play_block(game.intake.learner, reading, block)
            if played.error is not None:
                raise played.error
            method._adopt(game)
            yield number, method

    nodes = grown(methods(), lambda left, right: left.merge(right))
    return {key: Node.of(method) for key, method in nodes.items()}
