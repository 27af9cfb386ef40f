"""What a learner is like, found out by asking it: its losses, and how it takes raw columns."""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

import numpy as np

from noregret.averaging import averaged
from noregret.core.losses import LOSSES
from noregret.errors import BadExample, Diverged
from noregret.learner import Learner

# What to choose where a learner's own loss is not of the kind asked for.
PREFERRED = {False: "square", True: "logistic"}
# A loss of numbers whose slope is bounded.
GENTLE = "huber"
# The radius where a loss cannot do without one.
RADIUS = 10.0


class Traits:
    """A learner as one who predicts numbers, or labels.

    Parameters
    ----------
    kind
        The learner.
    labels
        Whether it is to predict labels.
    """

    def __init__(self, kind: type[Learner], labels: bool) -> None:
        self.kind, self.labels = kind, labels
        self.parameters = dict(inspect.signature(kind).parameters)

    # Losses and defaults.

    @cached_property
    def losses(self) -> tuple[str, ...]:
        """The losses of the kind asked for that it takes; none where it is not of that kind."""
        if "loss" not in self.parameters:
            own = self.kind(**{}).engine.loss
            return (own.name,) if own.labels == self.labels else ()
        # The linear loss, whose outcomes are slopes, has no outcome to predict.
        return tuple(name for name in LOSSES if name != "linear" and self._suits(name))

    def _suits(self, loss: str) -> bool:
        params = self._with_loss(loss)
        return params is not None and self.kind(**params).engine.loss.labels == self.labels

    def _with_loss(self, loss: str) -> dict[str, Any] | None:
        """Return parameters that it takes with a loss; None where there are none."""
        params: dict[str, Any] = {"loss": loss}
        if self._takes(params):
            return params
        params |= {"radius": RADIUS}
        return params if "radius" in self.parameters and self._takes(params) else None

    def _takes(self, params: dict[str, Any]) -> bool:
        try:
            self.kind(**params)
        except ValueError:
            return False
        return True

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The defaults in which the estimator differs from its learner.

        The loss, where the learner's own is of the other kind. And where explicit steps on columns
        that nobody has scaled would overshoot: implicit steps, or else a loss of bounded slope.
        """
        known, changed = self.parameters, dict[str, Any]()
        if "loss" in known and known["loss"].default not in self.losses:
            wanted = PREFERRED[self.labels]
            first = wanted if wanted in self.losses else self.losses[0]
            changed |= self._with_loss(first) or {}
        if self._overshoots(changed):
            if "step" in known and not self._overshoots(changed | {"step": "implicit"}):
                changed["step"] = "implicit"
            elif GENTLE in self.losses:
                changed["loss"] = GENTLE
        return changed

    def _overshoots(self, params: dict[str, Any]) -> bool:
        """Whether it diverges on a column that is not scaled."""
        signs = alternating(60)
        try:
            self.kind(**params).learn_many(100 * signs[:, None], signs)
        except Diverged:
            return True
        except BadExample:
            pass
        return False

    def learner(self) -> Learner:
        """Return one with the defaults of the estimator."""
        return self.kind(**self.changed)

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
