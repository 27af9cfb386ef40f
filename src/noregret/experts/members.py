"""A member of an ensemble: a learner or a function, with its forecasts for the master."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.sparse_rows import checked_csr
from noregret.errors import NoRegretError
from noregret.linear import inputs, learn_many
from noregret.linear.learner import Learner, is_of_classes

if TYPE_CHECKING:
    from noregret.experts.master import Master

Floats = NDArray[np.float64]


class Member:
    """A function of an example, which does not learn.

    Parameters
    ----------
    who
        The function.
    says
        The kind of forecast that the master needs: ``prediction``, ``probability`` or ``vote``.
    """

    def __init__(self, who: Any, says: str) -> None:
        self.who, self.says = who, says
        self.retired: str | None = None  # the error that put it to sleep

    def says_one(self, x: Any) -> float:
        """Return the forecast for an example; NaN if it sleeps."""
        said = self.who(x)
        return float("nan") if said is None else float(said)

    def learn_one(self, x: Any, y: Any) -> None:
        """Do nothing."""

    def play_many(self, X: Any, y: NDArray[Any]) -> Floats:
        """Return the forecasts for rows, each made before learning from the row."""
        return np.array([self.says_one(x) for x in each_row(X)], dtype=np.float64)

    def copy(self) -> Member:
        """Return an independent copy."""
        other = copy.copy(self)
        other.who = copy.copy(self.who)
        return other


class LearningMember(Member):
    """A learner as a member."""

    who: Learner

    def says_one(self, x: Any) -> float:
        """Return the forecast for an example; NaN if it sleeps."""
        if self.retired is not None:
            return float("nan")
        return float(self.translated(np.float64(self.who.decision_one(x))))

    def translated(self, scores: Any) -> Any:
        """Convert scores to the kind of forecast that the master needs."""
        labels = self.who.engine.loss.labels
        if self.says == "prediction":
            return scores
        if self.says == "vote":
            return np.where(scores > (0.0 if labels else 0.5), 1.0, 0.0)
        return np.exp(-np.logaddexp(0.0, -scores)) if labels else np.clip(scores, 0.0, 1.0)

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from an example; after an error, it sleeps."""
        if self.retired is not None:
            return
        try:
            self.who.learn_one(x, y)
        except NoRegretError as error:
            self.retired = str(error)

    def play_many(self, X: Any, y: NDArray[Any]) -> Floats:
        """Return the forecasts for rows, each made before learning from the row."""
        scores = np.full(len(y), np.nan)
        if self.retired is not None:
            return scores
        learn_many.play(self.who._entry, X, y, scores)
        return np.asarray(self.translated(scores), dtype=np.float64)


def each_row(X: Any) -> Iterable[Any]:
    """Return the rows of a table, one example each."""
    if isinstance(X, list | tuple):
        return X
    if inputs.is_named(X):
        import narwhals.stable.v1 as nw

        dicts: Iterable[Any] = nw.from_native(X, eager_only=True).iter_rows(named=True)
        return dicts
    rows: Floats = (
        checked_csr(X).toarray() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    )
    return rows


def member_of(who: Any, master: Master) -> Member:
    """Return a member, or raise an error if it cannot be one."""
    cost = master._round.cost.name
    says = {"log": "probability", "zero-one": "vote"}.get(cost, "prediction")
    if isinstance(who, Learner):
        labels = who.engine.loss.labels
        if is_of_classes(who):
            raise NoRegretError(
                f"{who.name} predicts one of several classes, which masters cannot mix",
                "mix learners of two labels",
            )
        if says == "prediction" and labels:
            raise NoRegretError(
                f"{who.name} predicts labels, and the {cost} loss needs numbers",
                "mix with loss='log' (logistic learners), or with loss='zero-one'",
            )
        if says == "probability" and labels and who.engine.loss.name != "logistic":
            raise NoRegretError(
                f"{who.name} gives no probabilities, which the log loss needs",
                "use a logistic learner, or mix with loss='zero-one'",
            )
        return LearningMember(who, says)
    if callable(who):
        return Member(who, says)
    raise TypeError(f"an expert must be a learner or a function of an example: got {who!r}")
