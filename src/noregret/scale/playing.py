"""Learners on shards of one stream, each played by a worker, with one certificate for all rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.model_file import dumps, loads, with_preparation
from noregret.checks import one_of, whole
from noregret.errors import NoRegretError
from noregret.experts.ensemble import Experts
from noregret.experts.masters.blend import Blend
from noregret.linear.engine.block_rows import admit_names
from noregret.linear.learner import Learner
from noregret.proof.game.play_blocks import play_block
from noregret.proof.game.shards import Shard, Sharded, ShardsGame, rows_of
from noregret.proof.record.pages import Pages
from noregret.proof.record.parts_digest import BLOCK_ROWS, MAX_PARTS, PartsDigest
from noregret.scale.fitting import stream_of
from noregret.scale.pool import Pool
from noregret.scale.processes import Processes
from noregret.scale.survey import Columns, Survey, surveyed
from noregret.streams.block import Block, Sparse

if TYPE_CHECKING:
    from noregret.experts.master import Master
    from noregret.streams.stream import Stream

# What can be kept for hindsight.
KEEP = ("sums", "rows")


@dataclass(frozen=True)
class Rows:
    """The rows of a shard, for a learner to play: so many after ``skip``."""

    learner: bytes
    survey: Survey
    skip: int
    count: int

    def __str__(self) -> str:
        return f"the shard that begins in {self.survey.data.words(self.survey.parts[0])}"


def play(
    learner: Learner,
    data: str | Path | Sequence[str | Path] | Stream,
    target: str | None = None,
    *,
    shards: int | None = None,
    keep: str | None = None,
    pool: Pool | None = None,
    **options: Any,
) -> ShardsGame:
    r"""Play shards of the rows of files, each with a learner of its own; return the game of all.

    Parameters
    ----------
    learner
        An untrained learner of numbers or of two classes. It does not change. The certificate has a
        bound if the learner has a theorem about shards.
    data
        Files, or a stream of ``noregret.streams``. Workers read them by themselves.
    target
        The column that holds the outcomes.
    shards
        The number of shards, each with as many consecutive rows; by default one per file.
    keep
        What to keep for hindsight: ``sums`` over the rows, or ``rows``; by default sums for the
        square loss, unless the theorem needs rows. For rows, this process reads the files once more
        and writes most of them to a temporary file. Sums have too few digits for a certificate if
        the best predictor's loss is tiny compared with the squares of outcomes or columns, such as
        prices that are all near 1,000.
    pool
        The workers; by default as many processes as there are processors.
    **options
        Reading options: see ``noregret.streams.Options``. Rows must not depend on earlier ones.

    Returns
    -------
    ShardsGame
        Its ``certificate()`` compares the sum of all losses with the best fixed predictor for the
        rows of all shards; its ``learners`` are those of the shards, in order.

    Notes
    -----
    Every shard pays for learning from nothing: more shards are faster, and have more regret. The
    result does not depend on the number of workers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import Vaw
    >>> from noregret.scale import Processes, play
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,sold\n" + "1,4\n2,7\n" * 50)
    >>> with Processes(1) as pool:
    ...     game = play(Vaw(), file, "sold", shards=2, pool=pool)
    >>> game.rounds, len(game.learners), game.certificate().theorem.holds
    (100, 2, True)
    """
    if not isinstance(learner, Learner):
        raise TypeError(f"play shards with a learner, such as Vaw(): got {learner!r}")
    if learner.rounds:
        raise NoRegretError(f"this {learner.name} has learned before", "take a new one")
    sharded, stream = Sharded(learner), stream_of(data, target, options)
    if keep is None:
        keep = "rows" if sharded.needs_rows else "sums"
    if one_of("keep", keep, KEEP) == "sums" and not sharded.square:
        raise ValueError("sums are enough for the square loss only: use keep='rows'")
    if shards is not None and whole("shards", shards) > MAX_PARTS:
        raise ValueError(f"shards must be at most {MAX_PARTS:,}: got {shards}")
    if pool is None:
        with Processes() as made:
            return played(sharded, stream, shards, keep, made)
    return played(sharded, stream, shards, keep, pool)


def played(
    sharded: Sharded, stream: Stream, shards: int | None, keep: str, pool: Pool
) -> ShardsGame:
    """Play the shards of a stream."""
    survey = surveyed(stream, pool)
    kept = stream if keep == "rows" else None
    return play_surveyed(sharded, survey, shards_of(survey, shards), pool, kept)


def play_surveyed(
    sharded: Sharded,
    survey: Survey,
    ends: Sequence[int],
    pool: Pool,
    kept: Stream | None = None,
) -> ShardsGame:
    """Play shards that end at these rows, and keep the rows if their stream is given."""
    model, tasks = dumps(sharded.learner), []
    for first, stop in pairwise(ends):
        here, before = survey.restricted(first, stop)
        tasks.append(Rows(model, here, first - before, stop - first))
    found = list(pool.map(shard_of, tasks))
    results = [shard for shard, _ in found]
    learners: list[Any] = [loads(model, "the learner") for _, model in found]
    pages = None if kept is None else pages_of(sharded, results, kept)
    game = ShardsGame(sharded, results, learners, pages)
    game.read = survey.data.kept_with_model()
    notes = (note for shard in results for note in shard.notes)
    game.describe(
        tuple(dict.fromkeys([*survey.transforms, *notes])),
        survey.target,
        survey.feature_names(game.width),
    )
    return game


def pages_of(sharded: Sharded, shards: list[Shard], stream: Stream) -> Pages:
    """Read the rows that workers have played, and keep them."""
    ledger = rows_of(sharded, [shard.part.rounds for shard in shards], stream).ledger
    assert isinstance(ledger.digest, PartsDigest)
    assert ledger.pages is not None
    if [part.digest for part in ledger.digest.parts] != [shard.part.digest for shard in shards]:
        raise NoRegretError("the data have changed since they were played", "play them again")
    return ledger.pages


def mixture(game: ShardsGame, master: Master | None = None) -> Experts:
    r"""Return the models of all shards as one model: an ensemble that predicts and learns on.

    Parameters
    ----------
    game
        The game of the shards, from ``play``. It does not change.
    master
        The untrained master that mixes them; by default ``Blend()``.

    Returns
    -------
    Experts
        It begins with equal weights, takes rows with the columns of the files, and can be saved,
        for ``noregret predict`` too. The promise of its master is about the rows
        that it learns from now on: its loss is nearly that of the best of the shards' models, each
        of which learns on.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import Vaw
    >>> from noregret.scale import Processes, mixture, play
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,sold\n" + "1,4\n2,7\n" * 50)
    >>> with Processes(1) as pool:
    ...     model = mixture(play(Vaw(), file, "sold", shards=2, pool=pool))
    >>> round(model.predict_one({"sun": 2.0}), 1)
    6.9
    """
    if not isinstance(game, ShardsGame) or not game.learners:
        raise TypeError(f"give the game of shards that play returns: got {game!r}")
    digits = len(str(len(game.learners)))
    named = {
        f"shard {number:0{digits}}": copy.deepcopy(learner)
        for number, learner in enumerate(game.learners, 1)
    }
    if game.read is not None:
        for learner in named.values():
            with_preparation(learner, game.read[1], dict(game.read[0]), "the shards")
    return Experts(named, Blend() if master is None else master)


def shards_of(survey: Survey, shards: int | None) -> list[int]:
    """Return where shards begin, and the end of the last."""
    rows = survey.rows
    if not rows:
        raise NoRegretError("there are no examples to play")
    if shards is None:
        last = {part.file: end for part, end in zip(survey.parts, survey.ends, strict=True)}
        return sorted({0, *last.values()})
    if shards > rows:
        counted = f"{rows:,} row{'s' * (rows > 1)}"
        raise NoRegretError(f"{shards:,} shards of {counted} would be empty", "use fewer")
    return [k * rows // shards for k in range(shards + 1)]


def shard_of(task: Rows) -> tuple[Shard, bytes]:
    """Play a shard; return its result and its learner."""
    game = Sharded(loads(task.learner, "the learner")).game()
    learner: Any = game.learner
    sizes = [BLOCK_ROWS] * (task.count // BLOCK_ROWS) + [task.count % BLOCK_ROWS]
    reading: Any = task.survey.columns
    introduce(learner, reading)
    with game.recorded():
        for block, _ in task.survey.blocks([size for size in sizes if size], task.skip):
            _, done = play_block(learner, reading, widened(block, reading.features))
            if done.error is not None:
                raise done.error
    return Shard.of(game), dumps(learner)


def introduce(learner: Learner, columns: Columns) -> None:
    """Let a learner know the features of all shards from its first row on, as a replay does."""
    if not columns.named:
        learner._entry.meet_columns(columns.width, True)
        return
    names = columns.known  # new names are admitted in alphabetical order: so by rising runs
    falls = [k for k in range(1, len(names)) if names[k] < names[k - 1]]
    for start, stop in pairwise([0, *falls, len(names)]):
        admit_names(learner._entry, names[start:stop])


def widened(block: Block, features: int) -> Block:
    """Return a block with a column for every feature; those that joined later are 0."""
    if isinstance(block.X, Sparse) or block.X.shape[1] == features:
        return block
    return replace(block, X=np.pad(block.X, ((0, 0), (0, features - block.X.shape[1]))))
