"""Scoring new data with a model: read as the model's own data were, and nothing is learned."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.outputs import Outputs
from noregret.app.commands.run import predictions
from noregret.app.commands.run.model_reading import Opened, opened
from noregret.app.results.run import MAX_REPORTED_ROWS
from noregret.base.numbers import clean
from noregret.errors import NoRegretError, on_command_line
from noregret.linear.learner import Learner, is_of_classes
from noregret.proof.game.play_blocks import best_of, check_bases, numbers_of, score_block
from noregret.streams.stream import Reading

if TYPE_CHECKING:
    from noregret.experts.ensemble import Experts
    from noregret.scale.pool import Pool
    from noregret.streams.options import Options

# The options of ‘predict’ that an error may advise.
CURES = ("format", "missing", "on_error")


def score(
    model: str,
    data: list[str],
    path: str | None,
    *,
    format: str | None,
    missing: str | None,
    on_error: str,
    workers: Callable[[], AbstractContextManager[Pool | None]] = nullcontext,
    folder: str | None = None,
) -> None:
    """Write the predictions of a model for some data.

    ``workers`` starts those that share the work, if any, once the model is known to be usable, as
    that may take long. ``folder`` is one that all of them can use, for intermediate files.
    """
    found = opened(model, data, format=format, missing=missing, mixtures=True, on_error=on_error)
    Outputs(predictions=path).check([model, *found.stream.paths])
    with workers() as pool:
        write_scores(found, path, pool, folder)


def write_scores(found: Opened, path: str | None, pool: Pool | None, folder: str | None) -> None:
    """Write the predictions of a model, by workers if a pool is given."""
    learner, stream = found.learner, found.stream
    reading = stream.reading(learning=False)
    found.restore(reading)
    if learner._caveat is not None:
        print(f"note: {learner._caveat}", file=sys.stderr)
    scorer = found.experts or learner
    if pool is not None:
        from noregret.app.commands.run.spread_scoring import spread_blocks

        blocks = spread_blocks(scorer, reading, pool, folder)
    else:
        blocks = blocks_of(scorer, reading)
    draw = partial(tables_of, learner)
    if found.experts is not None:
        from noregret.app.commands.run import ensemble_scoring

        draw = partial(ensemble_scoring.tables_of, found.experts)
    tables = scored(draw, reading, blocks)
    try:
        if path is not None:
            predictions.write(path, tables)
        else:
            predictions.show(tables)
    finally:
        reading.close()


class ScoredBlock(NamedTuple):
    """The rows of a block: their numbers in it, scores, no outcomes, and certainties of classes.

    ``read`` is the number of rows read, with those that cannot be used, and ``faults`` why.
    """

    rows: NDArray[np.float64]
    tags: list[str] | None
    read: int
    faults: list[NoRegretError]


def score_blocks(learner: Learner, reading: Reading) -> Iterator[ScoredBlock]:
    """Yield the scores of the rows of each block."""
    tagged = reading.stream.name == "vw"  # whether or not any is seen: the columns stay the same
    for block in reading:
        check_bases(learner, block)
        scores, refused = score_block(learner, reading, block)
        if block.bases is not None:
            scores = scores + block.bases
        numbers, nothing = numbers_of(block, 0), np.full(len(block), np.nan)
        chances: list[Any] = []
        if is_of_classes(learner):
            scores, *chances = best_of(scores)
        there = ~np.isnan(scores)
        rows = np.column_stack([numbers, scores, nothing, *chances])[there]
        tags = None
        if tagged:
            given = block.tags or [""] * len(block)
            tags = [tag for tag, kept in zip(given, there, strict=True) if kept]
        faults = sorted([*refused, *block.faults], key=lambda fault: fault.row)
        read = len(block) + len(block.faults)
        yield ScoredBlock(rows, tags, read, [fault.error for fault in faults])


def blocks_of(model: Learner | Experts, reading: Reading) -> Iterator[ScoredBlock]:
    """Yield the scores of the rows of each block, by a learner or by an ensemble."""
    if isinstance(model, Learner):
        return score_blocks(model, reading)
    from noregret.app.commands.run.ensemble_scoring import ensemble_blocks

    return ensemble_blocks(model, reading)


def tables_of(learner: Learner, block: ScoredBlock, options: Options) -> Iterator[Any]:
    """Yield tables of the predictions of a learner."""
    tagged = None if block.tags is None else iter([block.tags])
    return predictions.tables(iter([block.rows]), tagged, learner, options, False)


def scored(
    draw: Callable[[ScoredBlock, Options], Iterator[Any]],
    reading: Reading,
    blocks: Iterator[ScoredBlock],
) -> Iterator[Any]:
    """Yield tables of predictions, which ``draw`` makes of each block."""
    seen = skipped = 0
    for block in blocks:
        rows, _, read, faults = block
        rows[:, 0] += seen
        yield from draw(block, reading.options)
        seen += read
        for error in faults:
            if reading.options.on_error == "stop":
                raise error
            skipped += 1
            if skipped <= MAX_REPORTED_ROWS:
                print(f"skipped: {clean(on_command_line(error.only(CURES)))}", file=sys.stderr)
    if skipped > MAX_REPORTED_ROWS:
        print(f"skipped: {skipped} rows in all", file=sys.stderr)
    if not seen:
        raise NoRegretError(f"{', '.join(reading.paths)}: there are no examples in it")
