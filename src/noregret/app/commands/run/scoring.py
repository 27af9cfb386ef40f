"""Scoring new data with a model: read as the model's own data were, and nothing is learned."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.outputs import Outputs
from noregret.app.commands.run import predictions
from noregret.app.results.run import MAX_REPORTED_ROWS
from noregret.base.model_file import UNUSABLE, load_with_stream
from noregret.base.numbers import clean
from noregret.errors import ModelFileError, NoRegretError, on_command_line
from noregret.linear.learner import Learner, is_of_classes
from noregret.proof.game.play_blocks import best_of, check_bases, numbers_of, score_block
from noregret.streams import format_of, formats, stream_of
from noregret.streams.addresses import scheme_of
from noregret.streams.open_file import is_remote
from noregret.streams.options import FORM, Options
from noregret.streams.source import suffix_of
from noregret.streams.stream import Reading

if TYPE_CHECKING:
    from noregret.scale.pool import Pool

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
    pool: Pool | None = None,
    folder: str | None = None,
) -> None:
    """Write the predictions of a model for some data, by workers if a pool is given.

    ``folder`` is one that all workers can use, for intermediate files.
    """
    learner, kept, arrays = load_with_stream(model)
    if learner.family == "batch":
        learner = learner._predictor()
    if learner.family != "learners":
        raise NoRegretError(
            f"{model}: {learner.name} is not a linear learner: noregret.load reads it in Python;"
            " ‘noregret mix’ forecasts the rows of its data that have no outcome"
        )
    if not isinstance(learner, Learner):
        raise NoRegretError(
            f"{model}: the model of {learner.name} ({learner.family}), which predicts nothing from"
            " features: load it in Python"
        )
    kind = format
    if kind is None and kept is not None and suffix_of(data[0]) not in formats():
        kind = kept.get("format")
    try:
        options = Options() if kept is None else Options.of(**kept["options"])
        options = replace(options, format=kind, on_error=on_error)
        if missing is not None:
            options = replace(options, missing=missing)
        stream = stream_of(data, for_format(data, options))
        Outputs(predictions=path).check([model, *stream.paths])
        reading = stream.reading(learning=False)
        restore(reading, learner, kept, arrays)
    except NoRegretError:
        raise
    except UNUSABLE as error:
        raise ModelFileError(f"{model}: it has invalid options of reading: {error}") from None
    if learner._caveat is not None:
        print(f"note: {learner._caveat}", file=sys.stderr)
    blocks = score_blocks(learner, reading)
    if pool is not None:
        from noregret.app.commands.run.spread_scoring import spread_blocks

        blocks = spread_blocks(learner, reading, pool, folder)
    found = scored(learner, reading, blocks)
    try:
        if path is not None:
            predictions.write(path, found)
        else:
            predictions.show(found)
    finally:
        reading.close()


def for_format(data: list[str], options: Options) -> Options:
    """Return options without those of how the model's own files were written in another format."""
    usual, alien = Options(), [*FORM, "header", "quotes"]
    if not any(scheme_of(each) and not is_remote(each) for each in data):
        meaningless = format_of(data, options).meaningless
        alien = [name for name in alien if name in meaningless]
    return replace(options, **{name: getattr(usual, name) for name in alien})


def restore(
    reading: Reading,
    learner: Learner,
    kept: dict[str, Any] | None,
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Restore the state of reading from when the model was trained."""
    _, _, names = learner.get_state()
    if bool(names) != reading.named and learner.rounds:
        known = "by name" if names else "by number"
        raise NoRegretError(
            f"this model knows its features {known}, and {reading.stream.name} data do not"
        )
    if kept is not None:
        reading.set_state(arrays, kept)
    if reading.named and reading.options.hash is None:
        reading.vocabulary.positions(names, True)


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


def scored(learner: Learner, reading: Reading, blocks: Iterator[ScoredBlock]) -> Iterator[Any]:
    """Yield tables of predictions."""
    seen = skipped = 0
    for rows, tags, read, faults in blocks:
        rows[:, 0] += seen
        tagged = None if tags is None else iter([tags])
        yield from predictions.tables(iter([rows]), tagged, learner, reading.options, False)
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
