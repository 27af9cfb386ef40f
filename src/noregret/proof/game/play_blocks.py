"""Play the blocks of a stream row by row; rejected rows are skipped or raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, NoRegretError
from noregret.linear import learn_many
from noregret.linear.engine import block_rows
from noregret.linear.learner import is_of_classes
from noregret.streams.block import Block, Fault, Sparse

if TYPE_CHECKING:
    from noregret.linear.class_learner import ClassLearner
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
    chances: Floats | None = None  # of the class predicted in each row learned from, where known


def play_block(
    learner: Learner, reading: Reading, block: Block, scores: Floats | None = None
) -> Played:
    """Predict and learn from the rows of a block, in order.

    Rows that the learner rejects are skipped if the stream's ``on_error`` is ``skip``; else the
    first error is raised with its place. ``scores`` is filled in for rows that are played.
    """
    chances = None
    if scores is not None and is_of_classes(learner):
        chances = np.zeros(len(block))
        learner.engine.note_chances(chances)
    try:
        played = play_parts(learner, reading, block, scores)
    finally:
        if chances is not None and is_of_classes(learner):
            learner.engine.note_chances(None)
    if chances is not None:
        chances = chances[: len(block) if played.kept is None else played.kept.sum()]
    return played._replace(chances=chances)


def play_parts(learner: Learner, reading: Reading, block: Block, scores: Floats | None) -> Played:
    """Play the rows of a block; after one that is refused, continue with the next."""
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
    if is_of_classes(learner):
        reading.take_classes()
    if reading.options.prices:
        raise NoRegretError("prices are made into relatives for portfolios alone", "leave it out")
    if not (reading.named and learner._entry.known.names) or len(reading.vocabulary):
        return
    if reading.options.hash is not None:
        raise NoRegretError("this learner has features already: hashing begins with a new learner")
    reading.vocabulary.positions(learner.features, True)


def play_rows(
    learner: Learner, reading: Reading, block: Block, part: slice, scores: Floats | None
) -> None:
    """Play some of a block's rows."""
    X, y = block.rows(part.start, part.stop), block.y[part]
    out = None if scores is None else scores[part]
    entry = learner._entry
    if is_of_classes(learner):
        X = X if isinstance(X, Sparse) else sparse_of(X)
    if isinstance(X, Sparse):
        importances = None if block.importances is None else block.importances[part]
        if reading.fixed:
            entry.meet_columns(reading.width, True)
        entry.hold()
        try:
            if is_of_classes(learner):
                y = codes_of(learner, block.classes or [], y)
            block_rows.play_rows(entry, *X, y, importances, out, reading.name_source)
        finally:
            entry.let_go()
        return
    names = reading.names(0, reading.features) if reading.named else None
    learn_many.play_columns(entry, X, y, names, out)


def codes_of(learner: ClassLearner, classes: list[Any], y: Floats) -> Floats:
    """Return classes, given by their positions in a list, as the learner numbers them."""
    numbers, first, places = np.unique(y, return_index=True, return_inverse=True)
    codes = np.zeros(len(numbers))
    for k in np.argsort(first).tolist():
        codes[k] = learner._entry.code_of(classes[int(numbers[k])])
    return codes[places]


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

    Learners over several classes have a row of scores per row, one for each class. Nothing is
    learned. If the stream's ``on_error`` is ``stop``, the first error is raised.
    """
    wide = learner._entry.outputs
    scores = np.full(len(block) * wide, np.nan)
    refused: list[Fault] = []
    try:
        score_rows(learner, block.X, scores)
    except NoRegretError:  # find it row by row
        for row in range(len(block)):
            try:
                part = slice(row * wide, (row + 1) * wide)
                score_rows(learner, block.rows(row, row + 1), scores[part])
            except NoRegretError as error:
                error.at(block.place_of(row))
                if reading.options.on_error == "stop":
                    raise
                scores[part] = np.nan
                refused.append(Fault(row, error.with_traceback(None)))
    return scores.reshape(-1, wide) if is_of_classes(learner) else scores, refused


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
