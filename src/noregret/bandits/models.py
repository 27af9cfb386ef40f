"""Models of the rewards of arms, which learn each round after they predicted it."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from noregret.linear.learner import Learner


class Model(Protocol):
    """A model that predicts the reward of an arm in a context."""

    def guess(self, arm: str, context: Any) -> float:
        """Return the expected reward of an arm."""
        ...

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Learn the reward of an arm."""
        ...


class Means:
    """The mean reward of each arm so far; that of all for a new arm; 0 before any reward."""

    def __init__(self) -> None:
        self.sums: dict[str, tuple[float, int]] = {}
        self.all = (0.0, 0)

    def guess(self, arm: str, context: Any) -> float:
        """Return the mean of an arm."""
        total, count = self.sums.get(arm, self.all)
        return total / count if count else 0.0

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Add a reward."""
        total, count = self.sums.get(arm, (0.0, 0))
        self.sums[arm] = (total + reward, count + 1)
        self.all = (self.all[0] + reward, self.all[1] + 1)


class Learners:
    """A copy of a learner per arm, which learns the rewards from the contexts.

    For a classifier, the expected reward is the mean under its probabilities, not the likelier
    label: a label is off by up to 1/2 even if the probabilities are exact, and the error of the
    estimate is then larger than without a model.
    """

    def __init__(self, learner: Learner) -> None:
        loss = learner.engine.loss
        self.first, self.by_arm = learner, dict[str, Learner]()
        self.labels = bool(loss.labels)
        if self.labels and loss.name != "logistic":
            raise ValueError(
                f"a model of rewards must predict their mean, and {learner.name} with the"
                f" {loss.name} loss predicts labels alone: use a learner of the logistic loss,"
                " such as noregret.Logistic(), or of the square loss"
            )

    def of(self, arm: str) -> Learner:
        """Return the learner of an arm."""
        if arm not in self.by_arm:
            self.by_arm[arm] = self.first.copy()
        return self.by_arm[arm]

    def guess(self, arm: str, context: Any) -> float:
        """Return the prediction of the arm's learner."""
        learner = self.of(arm)
        if not self.labels:
            return float(learner.predict_one(context))
        chances = learner.predict_proba_one(context)
        return math.fsum(float(label) * chance for label, chance in chances.items())

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Update the arm's learner."""
        self.of(arm).learn_one(context, reward)


class Estimators:
    """A copy of a scikit-learn estimator with ``partial_fit`` per arm.

    Contexts are rows of numbers, or dicts with the same names in every round. Before an arm has a
    reward, the mean is predicted. Classifiers need ``predict_proba``; their rewards
    are 0 and 1.
    """

    def __init__(self, estimator: Any) -> None:
        self.first, self.by_arm, self.means = estimator, dict[str, Any](), Means()
        self.names: list[str] | None = None
        self.classifies = hasattr(estimator, "predict_proba")
        tags = getattr(estimator, "__sklearn_tags__", None)
        if tags is not None and tags().estimator_type == "classifier" and not self.classifies:
            raise ValueError(
                f"a model of rewards must predict their mean, and {estimator!r} predicts labels"
                " alone: use a classifier with predict_proba, or a regressor"
            )

    def row(self, context: Any) -> list[list[float]]:
        """Return a context as a table of one row."""
        if not isinstance(context, Mapping):
            return [list(context)]
        if self.names is None:
            self.names = sorted(context)
        if sorted(context) != self.names:
            raise ValueError(f"contexts have the names {self.names}: got {sorted(context)}")
        return [[float(context[name]) for name in self.names]]

    def guess(self, arm: str, context: Any) -> float:
        """Return the prediction of the arm's estimator."""
        if arm not in self.by_arm:
            return self.means.guess(arm, context)
        estimator, row = self.by_arm[arm], self.row(context)
        if not self.classifies:
            return float(estimator.predict(row)[0])
        chances = estimator.predict_proba(row)[0]
        return math.fsum(map(operator.mul, map(float, estimator.classes_), chances.tolist()))

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Update the arm's estimator."""
        self.means.learn(arm, reward, context)
        if arm not in self.by_arm:
            self.by_arm[arm] = copy.deepcopy(self.first)
        known = {"classes": [0.0, 1.0]} if self.classifies else {}
        self.by_arm[arm].partial_fit(self.row(context), [reward], **known)


class FixedRule:
    """A function of the context and the arm, which does not learn."""

    def __init__(self, rule: Callable[[Any, str], float]) -> None:
        self.rule = rule

    def guess(self, arm: str, context: Any) -> float:
        """Return the value of the function."""
        return float(self.rule(context, arm))

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Do nothing."""


def model_of(model: Any) -> Model:
    """Return the model for the parameter ``model`` of ``off_policy``."""
    if isinstance(model, str) and model == "means":
        return Means()
    if isinstance(model, Learner):
        return Learners(model)
    if hasattr(model, "partial_fit") and not isinstance(model, type):
        return Estimators(model)
    if callable(model) and not isinstance(model, type):
        return FixedRule(model)
    raise ValueError(
        "the model must be 'means', a learner, a scikit-learn estimator with partial_fit, or a"
        f" function: got {model!r}"
    )
