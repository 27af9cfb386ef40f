"""Familiar measures of predictions: RMSE, MAE, accuracy, AUC, recall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ClassCount(NamedTuple):
    """The rows of a class, and how many of them were predicted."""

    name: str
    rows: int
    right: int

    @property
    def recall(self) -> float | None:
        """The share of its rows that were predicted."""
        return self.right / self.rows if self.rows else None


class Previous(NamedTuple):
    """The measures of predicting the previous outcome, from the second row on."""

    rmse: float | None = None
    mae: float | None = None
    accuracy: float | None = None


class Measures(NamedTuple):
    """The measures of a run; None where they do not apply or are not known.

    ``explained`` is the share of the outcomes' variance that predictions explain: 1 − their squared
    error / that of the best constant. ``frequent`` is the accuracy of the most frequent class. The
    AUC is computed from binned scores, and known to ± ``auc_doubt``. ``confusion`` counts rows by
    true class (rows) and predicted class (columns), in the order of ``classes``; if it has one row
    and column more than there are classes shown, that is for all others.
    """

    rmse: float | None = None
    mae: float | None = None
    explained: float | None = None
    accuracy: float | None = None
    frequent: float | None = None
    auc: float | None = None
    auc_doubt: float | None = None
    previous: Previous = Previous()
    classes: tuple[ClassCount, ...] = ()
    confusion: NDArray[np.int64] | None = None
