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
        """Fit to all examples, from scratch unless ``warm_start`` is true.

        Parameters
        ----------
        X
            Rows: an array, a data frame or a sparse matrix.
        y
            One number per row.
        sample_weight
            The weight of each row.
        """
        warm = self._is_warm
        X, y = self._read(X, y, reset=not warm)
        outcomes = as_floats(y)
        return self._fit(
            X, lambda part, k: outcomes[part], self._fresh, self._shares(X, sample_weight), warm
        )

    def partial_fit(self: R, X: Any, y: Any, sample_weight: Any = None) -> R:
        """Learn from more examples, once and in the given order.

        Parameters
        ----------
        X
            Rows, with the columns of the first call.
        y
            One number per row.
        sample_weight
            The weight of each row.
        """
        X, y = self._read(X, y, reset=not hasattr(self, "learners_"))
        outcomes = as_floats(y)
        return self._partial_fit(
            X, lambda part, k: outcomes[part], self._fresh, self._shares(X, sample_weight)
        )

    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row."""
        return self._scores(X)[:, 0]

    @property
    def coef_(self) -> Floats:
        """The weight of each column; only if predictions are linear."""
        coef: Floats = self._weights()[0][0]
        return coef

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.traits.is_limited
        return tags

    def _outcomes(self, y: Any, label: Any) -> Floats:
        if label is not None:
            raise ValueError("label is only for classifiers with more than two classes")
        return as_floats(np.asarray(y))
