"""Models of the rewards of arms, which learn a round after they were asked about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from noregret.learner import Learner


class Model(Protocol):
    """What is believed of the rewards."""

    def guess(self, arm: str, context: Any) -> float:
        """Return the reward to be expected of an arm."""
        ...

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Learn what an arm brought."""
        ...


class Means:
    """The mean of every arm so far; of one never seen, that of all; 0 at first."""

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
    """A copy of a learner for every arm, which learns the rewards from the contexts."""

    def __init__(self, learner: Learner) -> None:
        self.first, self.by_arm = learner, dict[str, Learner]()

    def of(self, arm: str) -> Learner:
        """Return the learner of an arm."""
        if arm not in self.by_arm:
            self.by_arm[arm] = self.first.copy()
        return self.by_arm[arm]

    def guess(self, arm: str, context: Any) -> float:
        """Return what the arm's learner predicts."""
        return float(self.of(arm).predict_one(context))

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Let the arm's learner learn."""
        self.of(arm).learn_one(context, reward)


class Told:
    """A function of the context and the arm, which learns nothing."""

    def __init__(self, rule: Callable[[Any, str], float]) -> None:
        self.rule = rule

    def guess(self, arm: str, context: Any) -> float:
        """Return what the function says."""
        return float(self.rule(context, arm))

    def learn(self, arm: str, reward: float, context: Any) -> None:
        """Learn nothing."""


def model_of(model: Any) -> Model:
    """Return the model that was asked for."""
    if isinstance(model, str) and model == "means":
        return Means()
    if isinstance(model, Learner):
        return Learners(model)
    if callable(model):
        return Told(model)
    raise ValueError(f"the model must be 'means', a learner or a function: got {model!r}")
