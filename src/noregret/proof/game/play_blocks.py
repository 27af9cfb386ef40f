"""Play the blocks of a stream row by row; rejected rows are skipped, or end the pass."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, NoRegretError
from noregret.linear import learn_many
from noregret.linear.engine import block_rows
from noregret.linear.learner import is_of_classes
from noregret.streams.block import Block, Fault, Sparse, until
from noregret.streams.class_labels import bases_refused

if TYPE_CHECKING:
    from noregret.linear.class_learner import ClassLearner
    from noregret.linear.learner import Learner
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]
# Losses that depend on prediction − outcome only, so that a part of both can be taken off.
LOSSES_OF_DIFFERENCES = (
    "square",
    "absolute",
    "quantile",
    "epsilon-insensitive",
    "squared-epsilon-insensitive",
    "huber",
)
# Rows per attempt after one was refused.
ROWS_AFTER_REFUSAL = 1_024


class Played(NamedTuple):
    """The result of playing a block: the rows learned or predicted, and those refused.

    An ``error`` ends the pass, after the rows before it.
    """

    kept: NDArray[np.bool_] | None  # which rows were not refused; None for all
    refused: list[NoRegretError]
    scores: Floats | None = None
    chances: Floats | None = None  # of the class predicted in each row kept, where known
    error: NoRegretError | None = None
    late: Late | None = None
    groups: NDArray[np.int64] | None = None  # the numbers of the groups of all rows


class Late(NamedTuple):
    """Of a block with ids, what is needed to count losses of classes whose outcome comes later."""

    scores: dict[int, dict[Any, float]]  # of all classes, by rows without an outcome
    losses: dict[int, float]  # when they were learned, of rows whose outcome came later


def play_block(
    learner: Learner, reading: Reading, block: Block, scores: Floats | None = None
) -> tuple[Block, Played]:
    """Predict and learn from the rows of a block, in order; predict those without an outcome.

    Rows that the learner rejects are skipped if the stream's ``on_error`` is ``skip``; else the
    first one ends the pass. ``scores`` is filled in for rows that are kept. The block is returned
    as far as it was played.
    """
    check_bases(learner, block)
    chances = None
    if scores is not None and is_of_classes(learner):
        chances = np.zeros(len(block))
    faults: list[Fault] = []
    labelled = block.labelled
    before = learner.rounds
    # Runs of rows with and without an outcome; there is usually one.
    ends = [0, *(np.flatnonzero(np.diff(labelled)) + 1).tolist(), len(block)] if len(block) else []
    late = None
    if chances is not None and block.keys is not None:
        late = Late({}, {})
        alone = [k for k, key in enumerate(block.keys) if key is not None and labelled[k]]
        ends = sorted({*ends, *alone, *(k + 1 for k in alone)})
    stopped: NoRegretError | None = None
    try:
        for start, stop in pairwise(ends):
            part = slice(start, stop)
            if not labelled[start]:
                predict_part(learner, reading, block, part, scores, chances, faults, late)
            elif chances is None:
                play_part(learner, reading, block, part, scores, faults)
            else:
                paid = learner.total_loss
                play_classes(learner, reading, block, part, scores, chances, faults)
                if late is not None and stop == start + 1:
                    late.losses[start] = learner.total_loss - paid
    except NoRegretError as error:
        row, stopped = faults.pop().row, error
        block = until(block, row, [fault for fault in block.faults if fault.row <= row])
        scores = None if scores is None else scores[:row]
        chances = None if chances is None else chances[:row]
    if block.booleans and learner.rounds > before:
        learner._entry.note_booleans()
    if block.faults and reading.options.on_error == "stop":
        return block, Played(None, [], scores, chances, block.faults[0].error, late)
    kept = None
    if faults:
        kept = np.ones(len(block), dtype=bool)
        kept[[fault.row for fault in faults]] = False
        chances = None if chances is None else chances[kept]
    refused = sorted([*block.faults, *faults], key=lambda fault: fault.row)
    return block, Played(kept, [error for _, error in refused], scores, chances, stopped, late)


def check_bases(learner: Learner, block: Block) -> None:
    """Refuse initial predictions if the loss does not depend on the difference to outcomes only."""
    if block.bases is not None:
        loss = learner.engine.loss
        if is_of_classes(learner) or loss.name not in LOSSES_OF_DIFFERENCES:
            raise bases_refused(block)


def play_part(
    learner: Learner,
    reading: Reading,
    block: Block,
    part: slice,
    scores: Floats | None,
    refused: list[Fault],
) -> None:
    """Play some rows of a block; after one that is ``refused``, continue with the next, or raise.

    Its error is added in either case.
    """
    start, rows = part.start, part.stop
    while start < rows:
        # After a refusal attempts are small, as each one checks all of its rows.
        stop = min(rows, start + ROWS_AFTER_REFUSAL) if refused else rows
        before = learner.rounds
        try:
            play_rows(learner, reading, block, slice(start, stop), scores)
            start = stop
        except NoRegretError as error:
            row = min(rows - 1, start + learner.rounds - before)
            error.at(block.place_of(row))
            refused.append(Fault(row, error))
            of_a_row = isinstance(error, BadExample) and error.round is not None
            if not of_a_row or reading.options.on_error == "stop":
                raise
            error.with_traceback(None)
            start = row + 1


def play_classes(
    learner: Any,
    reading: Reading,
    block: Block,
    part: slice,
    scores: Floats | None,
    chances: Floats,
    refused: list[Fault],
) -> None:
    """Play some rows of a block, with the chances of predicted classes."""
    told = np.zeros(part.stop - part.start)  # of the rows that are not refused
    learner.engine.note_chances(told)
    try:
        play_part(learner, reading, block, part, scores, refused)
    finally:
        learner.engine.note_chances(None)
        rows = np.setdiff1d(np.arange(part.start, part.stop), [fault.row for fault in refused])
        chances[rows] = told[: len(rows)]


def predict_part(
    learner: Learner,
    reading: Reading,
    block: Block,
    part: slice,
    scores: Floats | None,
    chances: Floats | None,
    refused: list[Fault],
    late: Late | None = None,
) -> None:
    """Predict rows of a block that have no outcome; nothing is learned."""
    found, faults = score_part(learner, reading, block, part)
    refused += faults
    if is_of_classes(learner):
        if late is not None:
            for row, each in enumerate(found.tolist(), part.start):
                late.scores[row] = dict(zip(learner.classes, each, strict=True))
        found, certain = best_of(found)
        if chances is not None:
            chances[part] = certain
    if scores is not None:
        scores[part] = found
    if faults and reading.options.on_error == "stop":
        raise faults[0].error


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
    # Those of the columns: of rows that workers have read, more features may be known by now.
    names = reading.names(0, X.shape[1]) if reading.named else None
    learn_many.play_columns(entry, X, y, names, out)


def codes_of(learner: ClassLearner, classes: list[Any], y: Floats) -> Floats:
    """Return classes, given by their positions in a list, as the learner numbers them.

    Rows without a class stay NaN.
    """
    if (unknown := np.isnan(y)).any():
        codes = np.full(len(y), np.nan)
        codes[~unknown] = codes_of(learner, classes, y[~unknown])
        return codes
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
    scores, refused = score_part(learner, reading, block, slice(0, len(block)))
    if refused and reading.options.on_error == "stop":
        raise refused[0].error
    return scores, refused


def score_part(
    learner: Learner, reading: Reading, block: Block, part: slice
) -> tuple[Floats, list[Fault]]:
    """Return the scores of some rows, and the errors of others, up to the first that stops."""
    wide, rows = learner._entry.outputs, range(part.start, part.stop)
    scores = np.full(len(rows) * wide, np.nan)
    refused: list[Fault] = []
    try:
        score_rows(learner, block.rows(part.start, part.stop), scores)
    except NoRegretError:  # find it row by row
        for k, row in enumerate(rows):
            try:
                here = slice(k * wide, (k + 1) * wide)
                score_rows(learner, block.rows(row, row + 1), scores[here])
            except NoRegretError as error:
                scores[here] = np.nan
                refused.append(Fault(row, error.at(block.place_of(row)).with_traceback(None)))
                if reading.options.on_error == "stop":
                    break
    return scores.reshape(len(rows), wide) if is_of_classes(learner) else scores, refused


def best_of(scores: Floats) -> tuple[Floats, Floats]:
    """Return the number of the class with the highest score, and its chance; NaN for no scores."""
    from noregret.linear.class_learner import softmax

    if not scores.shape[1]:
        return np.full(len(scores), -1.0), np.zeros(len(scores))
    there = ~np.isnan(scores[:, 0])
    return np.where(there, scores.argmax(axis=1), np.nan), softmax(scores).max(axis=1)


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
