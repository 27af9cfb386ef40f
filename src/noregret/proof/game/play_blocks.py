"""Play the blocks of a stream row by row; rejected rows are skipped or raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, NoRegretError
from noregret.linear import learn_many
from noregret.linear.engine import block_rows
from noregret.streams.block import Block, Fault, Sparse

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]
# Rows per attempt after one was refused.
ROWS_AFTER_REFUSAL = 1_024


class Played(NamedTuple):
    """The result of playing a block: the rows learned from, and those that were refused."""

    kept: NDArray[np.bool_] | None  # which rows were learned from; None for all
    refused: list[NoRegretError]
    scores: Floats | None = None


def play_block(
    learner: Learner, reading: Reading, block: Block, scores: Floats | None = None
) -> Played:
    """Predict and learn from the rows of a block, in order.

    Rows that the learner rejects are skipped if the stream's ``on_error`` is ``skip``; else the
    first error is raised with its place. ``scores`` is filled in for rows that are played.
    """
    start, rows = 0, len(block)
    left_out: list[int] = []
    refused = list(block.faults)
    while start < rows:
        # After a refusal attempts are small, as each one checks all of its rows.
        stop = min(rows, start + ROWS_AFTER_REFUSAL) if left_out else rows
        before = learner.rounds
        try:
            play_rows(learner, reading, block, slice(start, stop), scores)
            start = stop
        except NoRegretError as error:
            row = min(rows - 1, start + learner.rounds - before)
            error.at(block.place_of(row))
            of_a_row = isinstance(error, BadExample) and error.round is not None
            if not of_a_row or reading.options.on_error == "stop":
                raise
            refused.append(Fault(row, error.with_traceback(None)))
            left_out.append(row)
            start = row + 1
    if block.booleans and len(left_out) < rows:
        learner._entry.note_booleans()
    if block.faults and reading.options.on_error == "stop":
        raise block.faults[0].error
    kept = None
    if left_out:
        kept = np.ones(rows, dtype=bool)
        kept[left_out] = False
    refused.sort(key=lambda found: found[0])
    return Played(kept, [found for _, found in refused], scores)


def acquaint(learner: Learner, reading: Reading) -> None:
    """Start a pass with the features that the learner knows already, in their positions."""
    refuse_classes(learner)
    if reading.options.prices:
        raise NoRegretError("prices are made into relatives for portfolios alone", "leave it out")
    if not (reading.named and learner._entry.known.names) or len(reading.vocabulary):
        return
    if reading.options.hash is not None:
        raise NoRegretError("this learner has features already: hashing begins with a new learner")
    reading.vocabulary.positions(learner.features, True)


def refuse_classes(learner: Learner) -> None:
    """Raise NoRegretError for a learner of classes, as streams have numbers for outcomes."""
    if learner._notes():
        raise NoRegretError(
            f"{learner.name} learns classes, and streams give numbers for outcomes",
            "give a table and its classes: noregret.play(learner, X, y)",
        )


def play_rows(
    learner: Learner, reading: Reading, block: Block, part: slice, scores: Floats | None
) -> None:
    """Play some of a block's rows."""
    X, y = block.rows(part.start, part.stop), block.y[part]
    out = None if scores is None else scores[part]
    if isinstance(X, Sparse):
        importances = None if block.importances is None else block.importances[part]
        if reading.fixed:
            learner._entry.meet_columns(reading.width, True)
        block_rows.play_rows(learner._entry, *X, y, importances, out, reading.name_source)
        return
    names = reading.names(0, reading.features) if reading.named else None
    learn_many.play_columns(learner._entry, X, y, names, out)


def numbers_of(block: Block, before: int) -> Floats:
    """Return the numbers of a block's rows in the data, given the number of rows before it."""
    if block.numbers is not None:
        return before + 1 + block.numbers.astype(np.float64)
    numbers = before + 1 + np.arange(len(block) + len(block.faults), dtype=np.float64)
    if not block.faults:
        return numbers
    return np.delete(numbers, [fault.row + k for k, fault in enumerate(block.faults)])


def score_block(learner: Learner, reading: Reading, block: Block) -> tuple[Floats, list[Fault]]:
    """Return the scores of a block's rows, NaN for rejected ones, and the errors of these.

    Nothing is learned. If the stream's ``on_error`` is ``stop``, the first error is raised.
    """
    refuse_classes(learner)
    scores = np.full(len(block), np.nan)
    refused: list[Fault] = []
    try:
        score_rows(learner, block.X, scores)
    except NoRegretError:  # find it row by row
        for row in range(len(block)):
            try:
                score_rows(learner, block.rows(row, row + 1), scores[row : row + 1])
            except NoRegretError as error:
                error.at(block.place_of(row))
                if reading.options.on_error == "stop":
                    raise
                scores[row] = np.nan
                refused.append(Fault(row, error.with_traceback(None)))
    return scores, refused


def score_rows(learner: Learner, X: Floats | Sparse, scores: Floats) -> None:
    """Fill in the scores of some rows."""
    if not len(scores):
        return
    if isinstance(X, Sparse):
        block_rows.score_rows(learner._entry, *X, scores)
    elif X.shape[1] == learner.engine.size:
        block_rows.score_dense(learner._entry, X, scores)
    else:
        block_rows.score_rows(learner._entry, *sparse_of(X), scores)


def sparse_of(X: Floats) -> Sparse:
    """Return dense rows as sparse ones."""
    rows, columns = X.shape
    return Sparse(
        np.arange(rows + 1, dtype=np.int64) * columns,
        np.tile(np.arange(columns, dtype=np.int32), rows),
        np.ascontiguousarray(X).reshape(-1),
    )
