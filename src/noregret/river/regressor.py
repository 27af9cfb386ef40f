"""Learners that predict numbers, as River's regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from river import base

from noregret.linear.data_frames import series_like
from noregret.river.estimator import Estimator, shares, teach
from noregret.river.one_example import NumberPort


class Regressor(NumberPort, Estimator, base.MiniBatchRegressor):
    """A learner of numbers with River's methods; those for one example are compiled."""

    def _learn(self, x: dict[str, Any], y: Any, w: float | None) -> None:
        teach(self._player, x, y, w)

    def _decide(self, x: dict[str, Any]) -> float:
        return self._player.decision_one(x)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a data frame, in order: the same as ``learn_one`` for each."""
        self._player.learn_many(self._rows(X), y, shares(w, len(X)))

    def predict_many(self, X: Any) -> Any:
        """Predict the outcome of each row, as a series like the data frame."""
        return series_like(X, np.asarray(self._player.decision_many(self._rows(X))), "prediction")
