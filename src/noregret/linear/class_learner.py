"""The base of learners over several classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import NoRegretError
from noregret.linear import learn_many
from noregret.linear.data_frames import frame_like, series_like
from noregret.linear.engine.class_engine import ClassEngine
from noregret.linear.engine.class_entry import ClassEntry
from noregret.linear.inputs import row_count
from noregret.linear.learner import Floats, Learner

if TYPE_CHECKING:
    from noregret.proof.theorems.class_evidence import ClassEvidence


class ClassLearner(Learner):
    """A linear predictor with one weight vector per class.

    Classes are strings, integers or booleans, any number of them, and need not be known beforehand:
    a class joins in the round in which it first appears, with weights 0.
    """

    engine: ClassEngine
    _entry: ClassEntry
    _entry_kind = ClassEntry
    _of_classes = True

    @property
    def classes(self) -> list[Any]:
        """The classes so far, in order of appearance."""
        return list(self._entry.labels_known)

    def decision_one(self, x: Any) -> dict[Any, float]:  # type: ignore[override]
        """Return the score of each class."""
        return dict(zip(self.classes, self._entry.decision(x).tolist(), strict=False))

    def decision_many(self, X: Any) -> Any:
        """Return an array with a column of scores per class, in the order of ``classes``.

        For a data frame, a frame of its own library.
        """
        scores = self._scores(X)
        return frame_like(X, self.classes[: scores.shape[1]], scores)

    def predict_many(self, X: Any) -> Any:
        """Predict the class of every row; nothing changes."""
        scores = self._scores(X)
        best = scores.argmax(axis=1) if scores.shape[1] else np.full(len(scores), -1)
        return series_like(X, self._entry.answers(best), "prediction")

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each class; only where the loss is that of the softmax."""
        self._check_probable()
        return dict(zip(self.classes, softmax(self._entry.decision(x)).tolist(), strict=False))

    def predict_proba_many(self, X: Any) -> Any:
        """Return an array with a column of probabilities per class, in the order of ``classes``.

        For a data frame, a frame of its own library.
        """
        self._check_probable()
        scores = self._scores(X)
        return frame_like(X, self.classes[: scores.shape[1]], softmax(scores))

    def _scores(self, X: Any) -> Floats:
        scores, rows = learn_many.scores_of(self._entry, X), row_count(X)
        return scores.reshape(rows, len(scores) // rows if rows else len(self.classes))

    def _check_probable(self) -> None:
        if self.engine.loss.name != "softmax":
            raise NoRegretError(
                f"the {self.engine.loss.name} loss gives scores, not probabilities",
                "use Softmax, or decision_one",
            )

    def _notes(self) -> tuple[str, ...]:
        """Return the classes besides: the record of a game has their numbers."""
        return (
            *super()._notes(),
            f"classes={json.dumps(self.classes, ensure_ascii=False)}",
        )

    def _evidence_kind(self) -> type[ClassEvidence]:
        """Return the evidence for its theorems."""
        from noregret.proof.theorems.class_evidence import ClassEvidence

        return ClassEvidence


def softmax(scores: Floats) -> Floats:
    """Return the chances of classes from their scores, the last axis."""
    if not scores.shape[-1]:
        return scores
    chances = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=-1, keepdims=True))
