"""``learn_many`` and ``predict_many``: examples of every kind, as rounds of an entry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.sparse_rows import checked_csr, sparse_parts
from noregret.errors import BadExample
from noregret.linear import data_frames as frames
from noregret.linear import inputs
from noregret.linear.engine import block_rows
from noregret.linear.engine.entry import Entry, SparseRow

Floats = NDArray[np.float64]
Block = Floats | tuple[NDArray[np.int64], NDArray[np.int32], Floats, int]


# Learning.


def learn(entry: Entry, X: Any, y: Any, importance: Any) -> None:
    """Learn from rows of any kind, with optional importances."""
    weights = inputs.as_importances(importance, inputs.row_count(X))
    if weights is not None and not entry.engine.takes_importance:
        X, y = repeated(X, y, copies_of(weights))
        weights = None
    play(entry, X, y, None, weights)


def copies_of(weights: Floats) -> NDArray[np.int64]:
    """Return importances as numbers of copies, or raise BadExample."""
    whole = (weights == np.floor(weights)) & (weights >= 0) & (weights < 2**31)
    if not whole.all():
        row = int(np.argmin(whole))
        raise BadExample(
            f"the importance is {weights[row]:g}: this learner takes only whole numbers,"
            " as numbers of copies. Learners with an implicit step take any",
            row=row,
        )
    return weights.astype(np.int64)


def learn_block(
    entry: Entry,
    block: Block,
    y: Floats,
    importances: Floats | None = None,
    constant: float = 0.0,
) -> None:
    """Learn from an array, or from (starts, indices, data, width).

    With a constant, every row has one more column of that value, without a copy.
    """
    given, whole = entry.outcomes(y), slice(None)
    if isinstance(block, np.ndarray):
        with _held(entry, block.shape[1] + bool(constant)):
            told = (entry.coded(given, whole), None, importances, constant)
            block_rows.play_dense(entry, block, *told)
    else:
        starts, indices, data, width = block
        with _held(entry, width + bool(constant)):
            told = (entry.coded(given, whole), None, importances, constant)
            block_rows.play_sparse(entry, starts, indices, data, *told)


def play(
    entry: Entry, X: Any, y: Any, scores: Floats | None = None, weights: Floats | None = None
) -> None:
    """Predict and learn row by row; fill in the scores of the rows played."""
    outcomes = entry.outcomes(y)
    rows = inputs.row_count(X)
    if outcomes.bad is None and len(outcomes.values) != rows:
        raise BadExample(f"{rows} rows, but {len(outcomes.values)} outcomes")
    if outcomes.bad is not None:  # the rows before it are learned, as one by one
        X = (checked_csr(X) if hasattr(X, "tocsr") else X)[: len(outcomes.values)]
        fine = slice(len(outcomes.values))
        scores, weights = some(scores, fine), some(weights, fine)
    before = entry.engine.played
    if entry.prepare is not None:
        X = entry.prepare.rows(X, True, before + 1)
    try:
        if len(outcomes.values) == 0:
            pass
        elif inputs.is_named(X):
            _play_named(entry, X, outcomes, scores, weights)
        else:
            _play_table(entry, X, outcomes, scores, weights)
    finally:
        if outcomes.first_boolean is not None and (
            entry.engine.played - before > outcomes.first_boolean
        ):
            entry.note_booleans()
    if outcomes.bad is not None:
        raise entry.bad_outcome(outcomes.bad)


def _play_table(
    entry: Entry, X: Any, given: inputs.Outcomes, scores: Floats | None, weights: Floats | None
) -> None:
    outcomes = given.values
    if hasattr(X, "tocsr"):
        starts, indices, data, width = sparse_parts(X, copied=False)
        if len(starts) != len(outcomes) + 1:
            raise BadExample(f"{len(starts) - 1} rows, but {len(outcomes)} outcomes")
        step = inputs.block_rows(max(1, len(data) // max(1, len(outcomes))))
        for start in range(0, len(outcomes), step):
            part = slice(start, start + step)
            with _held(entry, width):
                told = (entry.coded(given, part), some(scores, part), some(weights, part))
                block_rows.play_sparse(
                    entry, starts[start : start + step + 1], indices, data, *told
                )
        return
    table = inputs.as_array(X)
    if len(table) != len(outcomes):
        raise BadExample(f"{len(table)} rows, but {len(outcomes)} outcomes")
    for part, block in inputs.dense_blocks(table):
        with _held(entry, table.shape[1]):
            told = (entry.coded(given, part), some(scores, part), some(weights, part))
            block_rows.play_dense(entry, block, *told)


@contextmanager
def _held(entry: Entry, width: int | None = None) -> Iterator[None]:
    """Lock the learner for a block, with a number of columns if these have no names.

    New features are removed again if no row was learned.
    """
    entry.hold()
    try:
        size, kind, played = entry.engine.size, entry.feature_kind, entry.engine.played
        try:
            if width is not None:
                entry.meet_columns(width, True)
            yield
        except BaseException:
            if entry.engine.played == played:
                entry.undo(size, kind)
            raise
    finally:
        entry.let_go()


def play_columns(
    entry: Entry, X: Floats, y: Floats, names: list[str] | None, out: Floats | None
) -> None:
    """Play dense rows of a stream whose columns have these names in this order, or no names."""
    if names is None:
        with _held(entry, X.shape[1]):
            block_rows.play_dense(entry, X, y, out)
        return
    with _held(entry):
        if entry.known.names != names:
            block_rows.admit_names(entry, names)
        if entry.known.names != names:
            raise BadExample(
                "this learner knows other features, or the same in another order",
                "give it a stream like the one that it has learned from",
            )
        block_rows.play_dense(entry, X, y, out)


def _play_named(
    entry: Entry,
    X: Any,
    given: inputs.Outcomes,
    scores: Floats | None,
    weights: Floats | None,
) -> None:
    if isinstance(X, list | tuple):
        told = given.labels or given.values.tolist()
        if entry.prepare is not None and given.labels is None:
            told = list(map(inputs.Coded, told))
        pairs = zip(X, told, strict=True)
        if weights is None:
            block_rows.play_pairs(entry, pairs, len(X), scores)
            return
        for (x, y), weight in zip(pairs, weights.tolist(), strict=True):
            block_rows.learn_weighted(entry, x, y, weight)
        return
    for part, block in frames.named_blocks(X):
        before = entry.engine.played
        try:
            _play_block(entry, block, 0, part.start, given, scores, weights)
        except BadExample:
            done = entry.engine.played - before
            if done >= block.rows or not block.has_gap(done):
                raise
            _play_block(entry, block.with_gaps(), done, part.start, given, scores, weights)
        if block.fault is not None:
            raise block.fault.at(round=entry.engine.played + 1)


def _play_block(
    entry: Entry,
    block: frames.NamedBlock,
    begin: int,
    before: int,
    given: inputs.Outcomes,
    scores: Floats | None,
    weights: Floats | None,
) -> None:
    """Play the rows of a block from ``begin`` on, in parts whose new features come first."""
    new = block.arrivals(entry)
    for start, stop in pairwise(sorted({begin, *(row for row in new if row > begin), block.rows})):
        place = slice(before + start, before + stop)
        told = (given, place, some(scores, place), some(weights, place))
        _play_segment(entry, block, start, stop, new.get(start, set()), *told)


def _play_segment(
    entry: Entry,
    block: frames.NamedBlock,
    start: int,
    stop: int,
    new: set[str],
    given: inputs.Outcomes,
    place: slice,
    out: Floats | None,
    weights: Floats | None,
) -> None:
    """Play rows whose new features all appear in the first row."""
    with _held(entry):
        outcomes = entry.coded(given, place)
        block_rows.admit_names(entry, new)
        order = block.in_order(entry)
        if order:
            columns = [block.columns[k][start:stop] for k in order]
            block_rows.play_columns(entry, columns, outcomes, out, weights)
        else:
            part = block.sparse(entry, start, stop)
            parts = (part.starts, part.indices, part.data)
            block_rows.play_sparse(entry, *parts, outcomes, out, weights)


# Predicting.


def scores_of(entry: Entry, X: Any) -> Floats:
    """Return the score of every row as an array, for rows of any kind."""
    if inputs.row_count(X) == 0 and isinstance(X, list | tuple):
        return np.empty(0)
    if entry.prepare is not None:
        X = entry.prepare.rows(X, False, entry.engine.played + 1)
    if inputs.is_named(X):
        return _scores_of_named(entry, X)
    if hasattr(X, "tocsr"):
        starts, indices, data, width = sparse_parts(X)
        entry.meet_columns(width, False)
        if entry.engine.size != width:
            parts = (slice(start, stop) for start, stop in pairwise(starts.tolist()))
            each = (SparseRow(indices[part], data[part], width) for part in parts)
            return entry.decisions(each)
        rows = len(starts) - 1
        scores = np.empty(rows * entry.outputs)
        none, nothing = np.zeros(rows, dtype=np.int64), np.zeros(rows)
        block_rows.score_sparse(entry, starts, indices, data, none, nothing, nothing, scores)
        return scores
    table = inputs.as_array(X)
    entry.meet_columns(table.shape[1], False)
    if entry.engine.size != table.shape[1]:
        return entry.decisions(table)
    wide = entry.outputs
    scores = np.empty(len(table) * wide)
    for part, block in inputs.dense_blocks(table):
        block_rows.score_dense(entry, block, scores[part.start * wide : part.stop * wide])
    return scores


def _scores_of_named(entry: Entry, X: Any) -> Floats:
    if isinstance(X, list | tuple):
        return entry.decisions(X)
    parts = [np.empty(0)]
    entry.meet_names()
    wide = entry.outputs
    for _, block in frames.named_blocks(X):
        scores = np.empty(block.rows * wide)
        try:
            _score_named_block(entry, block, scores)
        except BadExample:
            gapped = block.with_gaps()
            if not any(gap.any() for gap in gapped.gaps or ()):
                raise
            _score_named_block(entry, gapped, scores)
        if block.fault is not None:
            raise block.fault.at(round=entry.engine.played + 1)
        parts.append(scores)
    return np.concatenate(parts)


def _score_named_block(entry: Entry, block: frames.NamedBlock, scores: Floats) -> None:
    order = block.in_order(entry)
    if order:
        block_rows.score_columns(entry, [block.columns[k] for k in order], scores)
    else:
        block_rows.score_sparse(entry, *block.sparse(entry, 0, block.rows), scores)


def answers(entry: Entry, scores: Floats) -> NDArray[Any]:
    """Convert scores to the user's kind of outcomes: numbers, or labels like those seen."""
    return np.asarray(entry.answers(scores))


def label_pair(entry: Entry) -> tuple[Any, Any]:
    """Return the negative and the positive label, as written in the data."""
    if entry.prepare is not None and entry.prepare.labels is not None:
        low, high = entry.prepare.labels
        return low, high
    return (False, True) if entry.predicts_booleans else (entry.negative_label, 1)


def some(values: Floats | None, part: slice) -> Floats | None:
    """Return a slice of an array, or None."""
    return None if values is None else values[part]


def repeated(X: Any, y: Any, copies: NDArray[np.int64]) -> tuple[Any, Any]:
    """Repeat rows and outcomes."""
    rows = np.repeat(np.arange(len(copies)), copies)
    if isinstance(X, list | tuple) and (not X or inputs.is_named(X)):
        taken: Any = [X[row] for row in rows]
    elif inputs.is_named(X):
        taken = frames.rows_of(X, rows)
    else:
        taken = (checked_csr(X) if hasattr(X, "tocsr") else inputs.as_array(X))[rows]
    return taken, [y[row] for row in rows] if isinstance(y, list | tuple) else np.asarray(y)[rows]
