"""What a learner is like, found out by asking it: how it takes raw columns, and what it can do."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

import numpy as np

from noregret.base.compiled.losses import LOSSES
from noregret.errors import BadExample
from noregret.linear.learner import Learner
from noregret.linear.regressor_or_classifier import Kind
from noregret.proof.theorems.averaging import averaged


class Traits:
    """What a regressor or a classifier has to know of its learner.

    Parameters
    ----------
    kind
        The learner as one of the two.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind, self.labels = kind, kind.labels
        self.parameters = dict(inspect.signature(kind.learner).parameters)

    # Losses and defaults.

    @cached_property
    def losses(self) -> tuple[str, ...]:
        """The losses that it can be told, or its own."""
        if "loss" not in self.parameters:
            return (self.kind.make().engine.loss.name,)
        return tuple(name for name in LOSSES if self._takes(loss=name))

    def _takes(self, **params: Any) -> bool:
        try:
            self.kind.make(**params)
        except ValueError:
            return False
        return True

    def learner(self) -> Learner:
        """Return one with the defaults of the estimator."""
        return self.kind.make()

    # What it can do.

    @cached_property
    def only_booleans(self) -> bool:
        """Whether features are 0 and 1 alone."""
        try:
            self.learner().learn_one([0.5], 1.0)
        except BadExample:
            return True
        return False

    @cached_property
    def is_limited(self) -> bool:
        """Whether many a linear function is out of reach: of booleans, or of weights below 0."""
        if self.only_booleans:
            return True
        learner, signs = self.learner(), alternating(200)
        learner.learn_many(signs[:, None], -signs)
        return bool(learner.decision_one([1.0]) >= 0)

    @cached_property
    def has_intercept(self) -> bool:
        """Whether it has a constant of its own, so that it learns from zeros."""
        if self.only_booleans:
            return False
        learner, zeros = self.learner(), np.zeros((20, 2))
        learner.learn_one(zeros[0], -1.0)
        before = learner.decision_one(zeros[0])
        learner.learn_many(zeros, np.ones(20))
        return bool(learner.decision_one(zeros[0]) != before)

    @cached_property
    def can_average(self) -> bool:
        """Whether its weights have a mean to predict with, and no parameter for that yet."""
        if "averaged" in self.parameters:
            return False
        try:
            averaged(self.learner())
        except ValueError:
            return False
        return True

    @cached_property
    def weighs(self) -> bool:
        """Whether an example may count for any positive number of examples."""
        return bool(self.learner().engine.takes_importance)


def alternating(rows: int) -> Any:
    """Return −1 and +1 in turn."""
    return np.where(np.arange(rows) % 2, 1.0, -1.0)
