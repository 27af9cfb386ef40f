"""What every learner can do, whatever its update."""

from __future__ import annotations

import copy
import inspect
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret import frames, inputs
from noregret.core.door import Door, SparseRow
from noregret.errors import BadExample, NoRegretError

if TYPE_CHECKING:
    from noregret.theorem import Theorem

Floats = NDArray[np.float64]
L = TypeVar("L", bound="Learner")


class Measurement(NamedTuple):
    """The largest value of something a theorem may assume to be small.

    ``first_over`` is the first round in which it exceeded ``limit``, None if it never did.
    """

    largest: float
    limit: float
    first_over: int | None


class Learner(Door):
    """A linear predictor that learns one example at a time.

    Named learners derive from this and pick an engine: loss × distance × domain × rate. Each
    stores its parameters under their own names.
    """

    name: ClassVar[str]
    theorems: ClassVar[tuple[Theorem, ...]] = ()

    # One example comes through the compiled door: learn_one, predict_one, decision_one, play_one.

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label; only where the loss is logistic."""
        positive = float(_sigmoid(np.float64(self._probable().decision_one(x))))
        low, high = (False, True) if self.predicts_booleans else (self.negative_label, 1)
        return {low: 1.0 - positive, high: positive}

    # Many examples.

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn from many examples, in order: the same as ``learn_one`` for each.

        Parameters
        ----------
        X
            A 2-d array, a SciPy sparse matrix, a data frame (pandas, polars, Arrow, …) or a list
            of dicts.
        y
            One outcome a row.

        Notes
        -----
        When a row is refused, the rows before it have been learned, that row and those after it
        have not; the exception's ``round`` says which it was.
        """
        self._play(X, y, None)

    def play_many(self, X: Any, y: Any) -> NDArray[Any]:
        """Predict, then learn, row by row; return the predictions, each made before its outcome."""
        scores = np.empty(inputs.row_count(X))
        self._play(X, y, scores)
        return self._answers(scores)

    def decision_many(self, X: Any) -> Floats:
        """Return the score w·x of every row."""
        if inputs.row_count(X) == 0 and isinstance(X, list | tuple):
            return np.empty(0)
        if inputs.is_named(X):
            return self._decide_named(X)
        if hasattr(X, "tocsr"):
            starts, indices, data, width = inputs.sparse_parts(X)
            self.meet_columns(width, False)
            if self.engine.size != width:
                rows = (slice(start, stop) for start, stop in pairwise(starts.tolist()))
                return np.array(
                    [self.decision_one(SparseRow(indices[r], data[r], width)) for r in rows]
                )
            scores = np.empty(len(starts) - 1)
            none = np.zeros(len(scores), dtype=np.int64)
            self.score_sparse(starts, indices, data, none, np.zeros(len(scores)), scores)
            return scores
        table = inputs.as_array(X)
        self.meet_columns(table.shape[1], False)
        if self.engine.size != table.shape[1]:
            return np.array([self.decision_one(row) for row in table])
        scores = np.empty(len(table))
        for part, block in inputs.dense_blocks(table):
            self.score_dense(block, scores[part])
        return scores

    def predict_many(self, X: Any) -> NDArray[Any]:
        """Predict the outcome of every row; nothing changes."""
        return self._answers(self.decision_many(X))

    def predict_proba_many(self, X: Any) -> Floats:
        """Return an array of two columns, the probabilities of the negative and positive label."""
        positive = _sigmoid(self._probable().decision_many(X))
        return np.column_stack([1.0 - positive, positive])

    def _play(self, X: Any, y: Any, scores: Floats | None) -> None:
        outcomes = inputs.as_outcomes(y)
        rows = inputs.row_count(X)
        if outcomes.bad is None and len(outcomes.values) != rows:
            raise BadExample(f"{rows} rows, but {len(outcomes.values)} outcomes")
        if outcomes.bad is not None:  # the rows before it are learned, as they would be one by one
            X = X[: len(outcomes.values)]
            scores = None if scores is None else scores[: len(outcomes.values)]
        before = self.engine.played
        try:
            if len(outcomes.values) == 0:
                pass
            elif inputs.is_named(X):
                self._play_named(X, outcomes.values, scores)
            else:
                self._play_columns(X, outcomes.values, scores)
        finally:
            if outcomes.booleans and self.engine.played > before:
                self.note_booleans()
        if outcomes.bad is not None:
            raise self.bad_outcome(outcomes.bad)

    def _play_columns(self, X: Any, outcomes: Floats, scores: Floats | None) -> None:
        was = (self.engine.size, self.feature_kind, self.engine.played)
        try:
            if hasattr(X, "tocsr"):
                starts, indices, data, width = inputs.sparse_parts(X)
                self.meet_columns(width, True)
                step = inputs.DENSE_ROWS
                for start in range(0, len(outcomes), step):
                    part = slice(start, start + step)
                    out = None if scores is None else scores[part]
                    ends = starts[start : start + step + 1]
                    self.play_sparse(ends, indices, data, outcomes[part], out)
            else:
                table = inputs.as_array(X)
                self.meet_columns(table.shape[1], True)
                for part, block in inputs.dense_blocks(table):
                    out = None if scores is None else scores[part]
                    self.play_dense(block, outcomes[part], out)
        except BaseException:
            if self.engine.played == was[2]:
                self.undo(was[0], was[1])
            raise

    def _play_named(self, X: Any, outcomes: Floats, scores: Floats | None) -> None:
        if isinstance(X, list | tuple):
            for row, (x, y) in enumerate(zip(X, outcomes.tolist(), strict=True)):
                if scores is None:
                    self.learn_one(x, y)
                else:
                    scores[row] = self.decision_one(x)
                    self.learn_one(x, y)
            return
        for part, block in frames.named_blocks(X):
            new = block.arrivals(self)
            cuts = sorted({0, *new, block.rows})
            for start, stop in pairwise(cuts):
                place = slice(part.start + start, part.start + stop)
                out = None if scores is None else scores[place]
                self._play_segment(block, start, stop, new.get(start, set()), outcomes[place], out)
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
    ) -> None:
        """Play rows in which no feature is new, but for those that arrive with the first."""
        size, kind, played = self.engine.size, self.feature_kind, self.engine.played
        try:
            self.admit_names(new)
            at = self.positions(block.names)
            if not block.indicators and sorted(at) == list(range(self.engine.size)):
                rows = np.take(block.numbers[start:stop], np.argsort(at), axis=1)
                self.play_dense(rows, outcomes, out)
            else:
                part = block.sparse(self, start, stop)
                self.play_sparse(part.starts, part.indices, part.data, outcomes, out)
        except BaseException:
            if self.engine.played == played:
                self.undo(size, kind)
            raise

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

    def _answers(self, scores: Floats) -> NDArray[Any]:
        """Scores as the user's kind of outcomes: numbers, or labels like those seen."""
        if not self.engine.loss.labels:
            return scores
        if self.predicts_booleans:
            return scores > 0
        return np.where(scores > 0, 1, self.negative_label)

    def _probable(self: L) -> L:
        if self.engine.loss.name != "logistic":
            raise NoRegretError(
                f"{self.name} with the {self.engine.loss.name} loss gives scores, not"
                " probabilities: use logistic, or decision_one"
            )
        return self

    # What it has learned.

    @property
    def weights(self) -> Floats:
        """The weights in the order of ``features``; their running mean for an averaged learner."""
        return self.engine.mean_weights() if self.averaged_weights else self.engine.weights()

    @property
    def features(self) -> list[str]:
        """The names of the features; columns of arrays are called "0", "1", …."""
        return self.known.names or [str(i) for i in range(self.engine.size)]

    @property
    def rounds(self) -> int:
        """How many examples it has learned from."""
        return self.engine.played

    @property
    def total_loss(self) -> float:
        """The sum of the losses of all rounds, each of the prediction made before learning.

        For an averaged learner these are the losses of the weights being averaged.
        """
        return self.engine.total_loss

    @property
    def mistakes(self) -> int:
        """How many labels it got wrong before learning them; a zero score is wrong."""
        return self.engine.mistake_count

    @property
    def measured(self) -> dict[str, Measurement]:
        """What theorems assume, as measured: norms of x, the outcome and the gradient."""
        return {name: Measurement(*m) for name, m in self.engine.measured().items()}

    def watch(self, measure: str, limit: float) -> None:
        """Record the first round in which a measurement exceeds a limit (see ``measured``)."""
        if measure not in self.engine.measured():
            known = ", ".join(self.engine.measured())
            raise ValueError(f"unknown measurement {measure!r}: choose one of {known}")
        self.engine.watch(measure, limit)

    # Its parameters, copies and files.

    @property
    def params(self) -> dict[str, Any]:
        """The parameters it was built with."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def clone(self: L) -> L:
        """Return a fresh learner with the same parameters, which has learned nothing."""
        fresh = type(self)(**self.params)
        return averaged(fresh) if self.averaged_weights and not fresh.averaged_weights else fresh

    def copy(self: L) -> L:
        """Return a copy that goes on from here on its own."""
        return copy.deepcopy(self)

    def __deepcopy__(self: L, memo: dict[int, Any]) -> L:
        other = self.clone()
        other.set_state(*self.get_state())
        return other

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.params, self.get_state())

    def save(self, path: str | Path) -> None:
        """Write the model to one file: named arrays and a JSON header, no pickle.

        The file appears whole or not at all. ``noregret.load`` reads it back.
        """
        from noregret.model_file import save

        save(self, path)

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        shown = ", ".join(
            f"{name}={value!r}"
            for name, value in self.params.items()
            if not (
                isinstance(value, type(defaults[name].default)) and value == defaults[name].default
            )
        )
        text = f"{type(self).__name__}({shown})"
        return f"averaged({text})" if self.averaged_weights and "averaged" not in shown else text


def averaged(learner: L) -> L:
    """Make a learner predict with the mean of its weights so far, w_1 to w_m.

    The mean has the weights used in every round, the first ones included and the ones that
    learned the last example not. It costs no more than the entries of each example. The learner
    itself goes on as before underneath; its ``total_loss`` and ``mistakes`` are its own.

    Parameters
    ----------
    learner
        A learner that has learned nothing yet; it is left alone, a copy is returned.

    Examples
    --------
    >>> import noregret
    >>> learner = noregret.averaged(noregret.WidrowHoff(rate=0.5))
    >>> for x, y in [([1.0], 1.0), ([1.0], 1.0), ([1.0], 1.0)]:
    ...     learner.learn_one(x, y)
    >>> learner.weights  # the mean of 0, 1/2 and 3/4
    array([0.41666667])
    """
    if learner.rounds:
        raise ValueError(
            f"the mean runs over all rounds, and {learner.rounds} were already played without it:"
            " average a fresh learner"
        )
    other = learner.copy()
    if not other.averaged_weights:
        other.engine.keep_mean()
    return other


def _revive(kind: type[L], params: dict[str, Any], state: tuple[Any, Any, Any]) -> L:
    learner = kind(**params)
    learner.set_state(*state)
    return learner


def _sigmoid(score: Any) -> Any:
    return np.exp(-np.logaddexp(0.0, -score))
