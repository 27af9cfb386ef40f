"""Many examples at once, of every kind, as rounds of the core: what ``learn_many`` stands on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.sparse_rows import checked_csr, sparse_parts
from noregret.errors import BadExample, NoRegretError
from noregret.linear import data_frames as frames
from noregret.linear import inputs
from noregret.linear.engine.block_rows import StreamEntry
from noregret.linear.engine.entry import SparseRow

Floats = NDArray[np.float64]
Block = Floats | tuple[NDArray[np.int64], NDArray[np.int32], Floats, int]


class Many(StreamEntry):
    """Blocks of rows for whatever a caller holds: arrays, sparse matrices, data frames, dicts.

    One example comes through the compiled entry: learn_one, predict_one, decision_one, play_one.
    """

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label; only where the loss is logistic."""
        self._check_probable()
        positive = float(_sigmoid(np.float64(self.decision_one(x))))
        low, high = self.label_pair
        return {low: 1.0 - positive, high: positive}

    @property
    def label_pair(self) -> tuple[Any, Any]:
        """The negative and the positive label, as the data write them."""
        return (False, True) if self.predicts_booleans else (self.negative_label, 1)

    def learn_many(self, X: Any, y: Any, importance: Any = None) -> None:
        """Learn from many examples, in order: the same as ``learn_one`` for each.

        Parameters
        ----------
        X
            A 2-d array, a SciPy sparse matrix, a data frame (pandas, polars, Arrow, …) or a list
            of dicts.
        y
            One outcome a row.
        importance
            How much each row counts, 1 if not given. A row of importance k takes one step that
            stands for k, where the learner has such a step; else whole numbers are taken for so
            many rows, and others are refused.

        Notes
        -----
        When a row is refused, the rows before it have been learned, that row and those after it
        have not; the exception's ``round`` says which it was.
        """
        weights = inputs.as_importances(importance, inputs.row_count(X))
        if weights is not None and not self.engine.takes_importance:
            X, y = repeated(X, y, self._copies(weights))
            weights = None
        self._play(X, y, None, weights)

    def _copies(self, weights: Floats) -> NDArray[np.int64]:
        """Return importances as numbers of copies, or refuse them."""
        whole = (weights == np.floor(weights)) & (weights >= 0) & (weights < 2**31)
        if not whole.all():
            row = int(np.argmin(whole))
            raise BadExample(
                f"row {row}: the importance is {weights[row]:g}: {type(self).__name__} takes whole"
                " numbers only, for so many rows each. Learners with an implicit step take any"
            )
        return weights.astype(np.int64)

    def learn_block(
        self, block: Block, y: Floats, importances: Floats | None = None, constant: float = 0.0
    ) -> None:
        """Learn from rows as the core reads them: an array, or (starts, indices, data, width).

        With a constant every row ends in one more column of that value, and no row is copied.
        """
        if isinstance(block, np.ndarray):
            with self._columns(block.shape[1] + bool(constant)):
                self.play_dense(block, y, None, importances, constant)
        else:
            starts, indices, data, width = block
            with self._columns(width + bool(constant)):
                self.play_sparse(starts, indices, data, y, None, importances, constant)

    def play_many(self, X: Any, y: Any) -> Any:
        """Predict, then learn, row by row; return the predictions, each made before its outcome."""
        scores = np.empty(inputs.row_count(X))
        self._play(X, y, scores)
        return frames.series_like(X, self.answers(scores), "prediction")

    def play_scores(self, X: Any, y: Any, scores: Floats) -> None:
        """Play as ``play_many`` does, and fill in the scores as far as rows are played."""
        self._play(X, y, scores)

    def decision_many(self, X: Any) -> Any:
        """Return the score w·x of every row.

        As all that is predicted for many rows: an array; a series of its own library for a data
        frame, with its index.
        """
        return frames.series_like(X, self.scores_of(X), "decision")

    def scores_of(self, X: Any) -> Floats:
        """Return the score of every row, as an array whatever the rows came in."""
        if inputs.row_count(X) == 0 and isinstance(X, list | tuple):
            return np.empty(0)
        if inputs.is_named(X):
            return self._decide_named(X)
        if hasattr(X, "tocsr"):
            starts, indices, data, width = sparse_parts(X)
            self.meet_columns(width, False)
            if self.engine.size != width:
                rows = (slice(start, stop) for start, stop in pairwise(starts.tolist()))
                return np.array(
                    [self.decision_one(SparseRow(indices[r], data[r], width)) for r in rows]
                )
            scores = np.empty(len(starts) - 1)
            none = np.zeros(len(scores), dtype=np.int64)
            nothing = np.zeros(len(scores))
            self.score_sparse(starts, indices, data, none, nothing, nothing, scores)
            return scores
        table = inputs.as_array(X)
        self.meet_columns(table.shape[1], False)
        if self.engine.size != table.shape[1]:
            return np.array([self.decision_one(row) for row in table])
        scores = np.empty(len(table))
        for part, block in inputs.dense_blocks(table):
            self.score_dense(block, scores[part])
        return scores

    def predict_many(self, X: Any) -> Any:
        """Predict the outcome of every row; nothing changes."""
        return frames.series_like(X, self.answers(self.scores_of(X)), "prediction")

    def predict_proba_many(self, X: Any) -> Any:
        """Return an array of two columns, the probabilities of the negative and positive label.

        For a data frame, a frame of its own library with a column a label.
        """
        self._check_probable()
        positive = _sigmoid(self.scores_of(X))
        return frames.frame_like(X, self.label_pair, np.column_stack([1.0 - positive, positive]))

    def _play(self, X: Any, y: Any, scores: Floats | None, weights: Floats | None = None) -> None:
        outcomes = inputs.as_outcomes(y)
        rows = inputs.row_count(X)
        if outcomes.bad is None and len(outcomes.values) != rows:
            raise BadExample(f"{rows} rows, but {len(outcomes.values)} outcomes")
        if outcomes.bad is not None:  # the rows before it are learned, as they would be one by one
            X = (checked_csr(X) if hasattr(X, "tocsr") else X)[: len(outcomes.values)]
            fine = slice(len(outcomes.values))
            scores, weights = some(scores, fine), some(weights, fine)
        before = self.engine.played
        try:
            if len(outcomes.values) == 0:
                pass
            elif inputs.is_named(X):
                self._play_named(X, outcomes.values, scores, weights)
            else:
                self._play_columns(X, outcomes.values, scores, weights)
        finally:
            if outcomes.first_boolean is not None and (
                self.engine.played - before > outcomes.first_boolean
            ):
                self.note_booleans()
        if outcomes.bad is not None:
            raise self.bad_outcome(outcomes.bad)

    def _play_columns(
        self, X: Any, outcomes: Floats, scores: Floats | None, weights: Floats | None
    ) -> None:
        if hasattr(X, "tocsr"):
            starts, indices, data, width = sparse_parts(X)
            if len(starts) != len(outcomes) + 1:
                raise BadExample(f"{len(starts) - 1} rows, but {len(outcomes)} outcomes")
            step = inputs.block_rows(max(1, len(data) // max(1, len(outcomes))))
            for start in range(0, len(outcomes), step):
                part = slice(start, start + step)
                ends = starts[start : start + step + 1]
                with self._columns(width):
                    self.play_sparse(
                        ends, indices, data, outcomes[part], some(scores, part), some(weights, part)
                    )
            return
        table = inputs.as_array(X)
        if len(table) != len(outcomes):
            raise BadExample(f"{len(table)} rows, but {len(outcomes)} outcomes")
        for part, block in inputs.dense_blocks(table):
            with self._columns(table.shape[1]):
                self.play_dense(block, outcomes[part], some(scores, part), some(weights, part))

    @contextmanager
    def _columns(self, width: int) -> Iterator[None]:
        """Have the learner for a block of that many columns."""
        with self._unless_refused():
            self.meet_columns(width, True)
            yield

    @contextmanager
    def _unless_refused(self) -> Iterator[None]:
        """Have the learner; what joined is forgotten again if not one row was learned."""
        self.claim()
        try:
            size, kind, played = self.engine.size, self.feature_kind, self.engine.played
            try:
                yield
            except BaseException:
                if self.engine.played == played:
                    self.undo(size, kind)
                raise
        finally:
            self.release()

    def play_columns(
        self, X: Floats, y: Floats, names: list[str] | None, out: Floats | None
    ) -> None:
        """Play dense rows of a stream whose columns have these names, in this order; or none."""
        if names is None:
            with self._columns(X.shape[1]):
                self.play_dense(X, y, out)
            return
        with self._unless_refused():
            if self.known.names != names:
                self.admit_names(names)
            if self.known.names != names:
                raise BadExample(
                    "this learner knows other features, or the same in another order: give it a"
                    " stream like the one that it has learned from"
                )
            self.play_dense(X, y, out)

    def _play_named(
        self, X: Any, outcomes: Floats, scores: Floats | None, weights: Floats | None
    ) -> None:
        if isinstance(X, list | tuple):
            pairs = zip(X, outcomes.tolist(), strict=True)
            if weights is None:
                self.play_pairs(pairs, len(X), scores)
                return
            for (x, y), weight in zip(pairs, weights.tolist(), strict=True):
                self.learn_weighted(x, y, weight)
            return
        for part, block in frames.named_blocks(X):
            new = block.arrivals(self)
            cuts = sorted({0, *new, block.rows})
            for start, stop in pairwise(cuts):
                place = slice(part.start + start, part.start + stop)
                told = (outcomes[place], some(scores, place), some(weights, place))
                self._play_segment(block, start, stop, new.get(start, set()), *told)
            if block.fault is not None:
                raise block.fault.refusal(self.engine.played + 1)

    def _play_segment(
        self,
        block: frames.NamedBlock,
        start: int,
        stop: int,
        new: set[str],
        outcomes: Floats,
        out: Floats | None,
        weights: Floats | None,
    ) -> None:
        """Play rows in which no feature is new, but for those that arrive with the first."""
        with self._unless_refused():
            self.admit_names(new)
            at = self.positions(block.names)
            if not block.indicators and sorted(at) == list(range(self.engine.size)):
                rows = np.take(block.numbers[start:stop], np.argsort(at), axis=1)
                self.play_dense(rows, outcomes, out, weights)
            else:
                part = block.sparse(self, start, stop)
                self.play_sparse(part.starts, part.indices, part.data, outcomes, out, weights)

    def _decide_named(self, X: Any) -> Floats:
        if isinstance(X, list | tuple):
            return np.array([self.decision_one(x) for x in X])
        parts = [np.empty(0)]
        self.meet_names()
        for _, block in frames.named_blocks(X):
            scores = np.empty(block.rows)
            self.score_sparse(*block.sparse(self, 0, block.rows), scores)
            if block.fault is not None:
                raise block.fault.refusal(self.engine.played + 1)
            parts.append(scores)
        return np.concatenate(parts)

    def answers(self, scores: Floats) -> NDArray[Any]:
        """Scores as the user's kind of outcomes: numbers, or labels like those seen."""
        if not self.engine.loss.labels:
            return scores
        if self.predicts_booleans:
            return scores > 0
        return np.where(scores > 0, 1, self.negative_label)

    def _check_probable(self) -> None:
        if self.engine.loss.name != "logistic":
            raise NoRegretError(
                f"the {self.engine.loss.name} loss gives scores, not probabilities:"
                " use the logistic loss, or decision_one"
            )


def some(values: Floats | None, part: slice) -> Floats | None:
    """Return part of an array, where there is one."""
    return None if values is None else values[part]


def repeated(X: Any, y: Any, copies: NDArray[np.int64]) -> tuple[Any, Any]:
    """Return rows and outcomes, each so many times."""
    rows = np.repeat(np.arange(len(copies)), copies)
    if isinstance(X, list | tuple) and (not X or inputs.is_named(X)):
        taken: Any = [X[row] for row in rows]
    elif inputs.is_named(X):
        taken = frames.rows_of(X, rows)
    else:
        taken = (checked_csr(X) if hasattr(X, "tocsr") else inputs.as_array(X))[rows]
    return taken, [y[row] for row in rows] if isinstance(y, list | tuple) else np.asarray(y)[rows]


def _sigmoid(score: Any) -> Any:
    return np.exp(-np.logaddexp(0.0, -score))
