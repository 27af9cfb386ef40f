"""Classifiers with one learner for all classes, and perhaps another for two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from noregret.linear.class_learner import ClassLearner, softmax
from noregret.linear.engine.class_weights import ClassWeights
from noregret.linear.learner import Learner
from noregret.sklearn.classifier import OnlineClassifier, probable
from noregret.sklearn.estimator import Fresh, Outcomes
from noregret.sklearn.faults import refuse_unusable
from noregret.sklearn.tables import with_constant

Floats = NDArray[np.float64]


class SeveralClasses(OnlineClassifier):
    """The base class of the classifiers whose learner has several classes.

    The learner knows a class by its place in ``classes_``. A class that no row had yet has the
    score −∞ and the probability 0. If the kind has a learner for two classes besides, their scores
    are 0 and its own.
    """

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.learners_[0].engine, ClassWeights)

    def _tasks(self, y: NDArray[Any], classes: NDArray[Any]) -> tuple[Outcomes, Fresh]:
        if len(classes) == 2 and self.traits.kind.several is not None:
            return super()._tasks(y, classes)
        places: Floats = np.searchsorted(classes, y).astype(np.float64)
        return lambda part, _: places[part], self._fresh_several

    def _fresh_several(self) -> list[Learner]:
        kind = self.traits.kind
        if kind.several is None:
            return self._fresh()
        return [
            kind.make_several(**{name: getattr(self, name) for name in kind.signature.parameters})
        ]

    def _outcomes(self, y: Any, label: Any) -> Floats:
        if not isinstance(self.learners_[0], ClassLearner):
            return super()._outcomes(y, label)
        if label is not None:
            raise ValueError("one learner has all classes: leave label out")
        return np.searchsorted(self.classes_, np.asarray(y)).astype(np.float64)

    @property
    def _met(self) -> list[int]:
        """The places of the classes that the learner has met, in its order."""
        learner = self.learners_[0]
        return learner.classes if isinstance(learner, ClassLearner) else [0, 1]

    def _weights(self) -> tuple[Floats, Floats]:
        """Return a row of coefficients per class, and an intercept; 0 for classes never met."""
        check_is_fitted(self)
        if not self._is_linear:
            raise AttributeError(f"the predictions of {self.traits.kind.name} are not linear in x")
        weights, width = self.learners_[0].weights, self.n_features_in_
        columns = np.zeros((width + 1, len(self.classes_)))
        columns[: len(weights), self._met] = weights
        return columns[:width].T, columns[width] * self._constant

    @property
    def coef_(self) -> Floats:
        """The weights of every column, one row per class; for two classes, their difference."""
        coef = self._weights()[0]
        return coef[1:] - coef[:1] if len(coef) == 2 else coef

    @property
    def intercept_(self) -> Floats:
        """The constant term of each class; for two classes, the difference."""
        intercept = self._weights()[1]
        return intercept[1:] - intercept[:1] if len(intercept) == 2 else intercept

    def _asked(self, X: Any) -> Floats:
        """Return the scores of a learner that is not linear; 0 for classes never met."""
        table, learner = self._table(X), self.learners_[0]
        scores = np.zeros((table.rows, len(self.classes_)))
        refuse_unusable(X, self._names)
        for part, block in table.blocks(None):
            found = learner.decision_many(with_constant(block, self._constant))
            if isinstance(learner, ClassLearner):
                scores[part][:, self._met] = found
            else:
                scores[part, 1] = found
        return scores

    def _scores(self, X: Any) -> Floats:
        """Return the scores of all rows, one column per class."""
        scores = super()._scores(X)
        never = np.ones(len(self.classes_), dtype=bool)
        never[self._met] = False
        scores[:, never] = -np.inf
        return scores

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of each row, one column per class; for two, the lead of the second."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @available_if(probable)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of ``classes_``; softmax only."""
        return softmax(self._scores(X))
