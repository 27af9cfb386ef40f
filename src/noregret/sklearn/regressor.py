"""A learner as a regressor."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from noregret.linear.inputs import as_floats
from noregret.sklearn.certifying import Certified

Floats = NDArray[np.float64]
R = TypeVar("R", bound="OnlineRegressor")


class OnlineRegressor(RegressorMixin, Certified):  # type: ignore[misc]
    """The base class of the regressors in ``noregret.sklearn``."""

    labels = False

    def fit(self: R, X: Any, y: Any, sample_weight: Any = None) -> R:
        """Learn from all examples, anew unless ``warm_start`` says otherwise.

        Parameters
        ----------
        X
            Rows: an array, a data frame or a sparse matrix.
        y
            One number a row.
        sample_weight
            How much each row counts.
        """
        warm = self._is_warm
        X, y = self._read(X, y, reset=not warm)
        told = as_floats(y)
        return self._fit(X, lambda part, k: told[part], self._shares(X, sample_weight), 1, warm)

    def partial_fit(self: R, X: Any, y: Any, sample_weight: Any = None) -> R:
        """Learn from these examples too, once and in the order in which they come.

        Parameters
        ----------
        X
            Rows, of the columns that the first call had.
        y
            One number a row.
        sample_weight
            How much each row counts.
        """
        X, y = self._read(X, y, reset=not hasattr(self, "learners_"))
        told = as_floats(y)
        return self._partial_fit(X, lambda part, k: told[part], self._shares(X, sample_weight), 1)

    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row."""
        return self._scores(X)[:, 0]

    @property
    def coef_(self) -> Floats:
        """The weight of every column; only where predictions are linear."""
        coef: Floats = self._weights()[0][0]
        return coef

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.traits.is_limited
        return tags

    def _outcomes(self, y: Any, label: Any) -> Floats:
        if label is not None:
            raise ValueError("label is for classifiers of more than two classes: leave it out")
        return as_floats(np.asarray(y))
