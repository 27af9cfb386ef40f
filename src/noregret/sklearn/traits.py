"""Traits of a learner, determined from an instance."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

import numpy as np

from noregret.base.compiled.losses import LOSSES
from noregret.errors import BadExample
from noregret.linear.class_learner import ClassLearner
from noregret.linear.learner import Learner
from noregret.linear.regressor_or_classifier import Kind
from noregret.proof.theorems.averaging import averaged


class Traits:
    """The traits of a learner that its regressor or classifier depends on.

    Parameters
    ----------
    kind
        The learner as a regressor or classifier.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind, self.labels = kind, kind.labels
        self.several = issubclass(kind.learner, ClassLearner) or kind.several is not None
        self.parameters = dict(inspect.signature(kind.learner).parameters)

    # Losses and defaults.

    @cached_property
    def losses(self) -> tuple[str, ...]:
        """The losses that it accepts, or its only one."""
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
        """Return a learner with the defaults of the estimator."""
        return self.kind.make()

    # Capabilities.

    @cached_property
    def only_booleans(self) -> bool:
        """True if features must be 0 or 1."""
        try:
            self.learner().learn_one([0.5], 1.0)
        except BadExample:
            return True
        return False

    @cached_property
    def is_limited(self) -> bool:
        """True if it cannot represent all linear functions: booleans, or nonnegative weights."""
        if self.only_booleans or self.several:
            return self.only_booleans
        learner, signs = self.learner(), alternating(200)
        learner.learn_many(signs[:, None], -signs)
        return bool(learner.decision_one([1.0]) >= 0)

    @cached_property
    def has_intercept(self) -> bool:
        """True if it has its own intercept, so that it learns from zeros."""
        if self.only_booleans:
            return False
        learner, zeros = self.learner(), np.zeros((20, 2))
        learner.learn_one(zeros[0], -1.0)
        learner.learn_one(zeros[0], 1.0)
        before = learner.decision_one(zeros[0])
        learner.learn_many(zeros, np.ones(20))
        return bool(learner.decision_one(zeros[0]) != before)

    @cached_property
    def can_average(self) -> bool:
        """True if it can predict with mean weights and has no parameter for that."""
        if "averaged" in self.parameters:
            return False
        try:
            averaged(self.learner())
        except ValueError:
            return False
        return True

    @cached_property
    def weighs(self) -> bool:
        """True if examples may have any positive importance."""
        return bool(self.learner().engine.takes_importance)


def alternating(rows: int) -> Any:
    """Return −1 and +1 in turn."""
    return np.where(np.arange(rows) % 2, 1.0, -1.0)
