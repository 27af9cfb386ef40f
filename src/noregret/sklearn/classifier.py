"""A learner as a classifier: one learner for two classes, else one against the rest per class."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from noregret.sklearn.certifying import Certified
from noregret.sklearn.estimator import Fresh, Outcomes

Floats = NDArray[np.float64]
C = TypeVar("C", bound="OnlineClassifier")


def probable(classifier: OnlineClassifier) -> bool:
    """Return True if scores give probabilities, else raise AttributeError with the reason."""
    loss = classifier._learner().engine.loss.name
    if loss not in ("logistic", "softmax"):
        raise AttributeError(f"the {loss} loss gives scores, not probabilities: use the logistic")
    return True


class OnlineClassifier(ClassifierMixin, Certified):  # type: ignore[misc]
    """The base class of the classifiers in ``noregret.sklearn``."""

    labels = True
    classes_: NDArray[Any]

    def fit(self: C, X: Any, y: Any, sample_weight: Any = None) -> C:
        """Fit to all examples, from scratch unless ``warm_start`` is true.

        Parameters
        ----------
        X
            Rows: an array, a data frame or a sparse matrix.
        y
            The class of each row: numbers, strings or booleans.
        sample_weight
            The weight of each row.
        """
        warm = self._is_warm
        X, y = self._read(X, y, reset=not warm)
        classes = classes_of(y)
        if warm and not np.array_equal(self.classes_, classes):
            raise ValueError(f"a warm start needs the same classes as before, {self.classes_}")
        weights = self._shares(X, sample_weight)
        if weights is not None and len(np.unique(y[weights > 0])) < 2:
            raise ValueError(
                "the rows with a weight above 0 are all of one class: two or more are needed"
            )
        weights = self._class_shares(classes, y, weights, whole=True)
        self._fit(X, *self._tasks(y, classes), weights, warm)
        self.classes_ = classes
        return self

    def partial_fit(self: C, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> C:
        """Learn from more examples, once and in the given order.

        Parameters
        ----------
        X
            Rows, with the columns of the first call.
        y
            The class of each row.
        classes
            All classes; needed only in the first call.
        sample_weight
            The weight of each row.
        """
        begun = hasattr(self, "learners_")
        if not begun and classes is None:
            raise ValueError("all classes must be given in the first call")
        X, y = self._read(X, y, reset=not begun)
        check_classification_targets(y)
        known = self.classes_ if begun else classes_of(column_or_1d(classes))
        if begun and classes is not None and not np.array_equal(np.unique(classes), known):
            raise ValueError(f"classes were {known} in the first call: got {classes!r}")
        if unknown := [label for label in np.unique(y).tolist() if label not in known.tolist()]:
            raise ValueError(f"y has the classes {unknown}, which are not among {known}")
        weights = self._class_shares(known, y, self._shares(X, sample_weight), whole=False)
        self._partial_fit(X, *self._tasks(y, known), weights)
        self.classes_ = known
        return self

    def _tasks(self, y: NDArray[Any], classes: NDArray[Any]) -> tuple[Outcomes, Fresh]:
        """Return the outcomes of rows for each learner, and a function that builds these."""
        return outcomes_of(y, classes), partial(self._fresh, learners_for(classes))

    def _class_shares(
        self, classes: NDArray[Any], y: NDArray[Any], weights: Floats | None, whole: bool
    ) -> Floats | None:
        """Return the weight of each row, including that of its class.

        ``whole`` is true if these are all rows, as ``balanced`` needs.
        """
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        if class_weight == "balanced" and not whole:
            raise ValueError(
                "class_weight='balanced' needs all examples at once: for partial_fit, set a dict,"
                " or pass sample_weight"
            )
        each = compute_class_weight(class_weight, classes=classes, y=y if whole else classes)
        shares: Floats = each[np.searchsorted(classes, y)]
        return shares if weights is None else shares * weights

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; with more than two classes, one column per class."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.learners_) == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    @available_if(probable)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of ``classes_``; logistic loss only.

        With more than two classes, these are the learners' probabilities divided by their sum.
        """
        scores = self._scores(X)
        chances: Floats = np.exp(-np.logaddexp(0.0, -scores))
        if scores.shape[1] == 1:
            return np.column_stack([1.0 - chances, chances])
        total = chances.sum(axis=1, keepdims=True)
        even = np.full_like(chances, 1 / chances.shape[1])
        shares: Floats = np.divide(chances, total, out=even, where=total > 0)
        return shares

    @available_if(probable)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class; logistic loss only."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X))
        return logs

    @property
    def coef_(self) -> Floats:
        """The weights, one row per learner, one column per feature; only for linear scores."""
        return self._weights()[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.traits.is_limited
        return tags

    def _outcomes(self, y: Any, label: Any) -> Floats:
        if len(self.learners_) == 1 and label is None:
            label = self.classes_[1]
        if label not in self.classes_.tolist():
            which = "label=…, the class of the learner, " if label is None else ""
            raise ValueError(f"give {which}one of {self.classes_.tolist()}: got {label!r}")
        return np.where(np.asarray(y) == label, 1.0, -1.0)


def classes_of(y: Any) -> NDArray[Any]:
    """Return the classes, or raise ValueError if there are fewer than two."""
    classes = two_of(y)
    if classes is None:
        check_classification_targets(y)
        classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"the number of classes must be two or more; got {len(classes)} class")
    return classes


def two_of(y: Any) -> NDArray[Any] | None:
    """Return the classes of integers or booleans without sorting; None unless there are two."""
    if y.dtype.kind not in "iub":
        return None
    low, high = y.min(), y.max()
    both = low < high and bool(((y == low) | (y == high)).all())
    return np.array([low, high], dtype=y.dtype) if both else None


def learners_for(classes: NDArray[Any]) -> int:
    """Return the number of learners for these classes."""
    return 1 if len(classes) == 2 else len(classes)


def outcomes_of(y: NDArray[Any], classes: NDArray[Any]) -> Outcomes:
    """Return the labels of rows for each learner: +1 for its class, −1 for the rest."""
    positive = classes[1:] if len(classes) == 2 else classes
    return lambda part, k: np.where(y[part] == positive[k], 1.0, -1.0)
