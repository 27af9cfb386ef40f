"""Learners that predict numbers, as River's regressors."""

from __future__ import annotations

from typing import Any

from river import base

from noregret.errors import BadExample
from noregret.frames import series_like
from noregret.river.estimator import Estimator, renamed


class Regressor(Estimator, base.MiniBatchRegressor):
    """A learner of numbers behind River's methods."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example."""
        row = self._row(x) if self._constant else x
        try:
            self._player.learn_one(row, y)
        except BadExample as refusal:
            self._player.learn_one(renamed(row, refusal), y)

    def predict_one(self, x: Any) -> float:
        """Predict the outcome of one example; nothing changes."""
        row = self._row(x) if self._constant else x
        try:
            return self._player.decision_one(row)
        except BadExample as refusal:
            return self._player.decision_one(renamed(row, refusal))

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn from the rows of a data frame, in order: the same as ``learn_one`` for each."""
        self._player.learn_many(self._rows(X), y)

    def predict_many(self, X: Any) -> Any:
        """Predict the outcome of every row, as a series like the data frame."""
        return series_like(X, self._player.scores_of(self._rows(X)), "prediction")
