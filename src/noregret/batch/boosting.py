"""Boosting: the rounds of AdaBoost, in logarithms, so that weights never underflow."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.mistakes import are_mistakes
from noregret.batch.weak import Weak
from noregret.errors import NoRegretError

Floats = NDArray[np.float64]
# A classifier whose log-odds ln((1 − ε)/ε) are smaller than this is no better than chance.
MIN_EDGE = 1e-12
# The results of each round, besides its classifier.
FIGURES = ("votes", "errors", "factors", "mistakes")
PERFECT = "a classifier without mistakes was found, which decides alone"
USELESS = "no classifier better than chance was found"


@dataclass
class Boosted:
    """The result of the rounds.

    Parameters
    ----------
    found
        The classifiers, in order.
    votes
        The weight of each vote; negative for a classifier that is more often wrong than right.
    errors
        ε_t, the weighted error of each.
    factors
        ln Z_t, the logarithm of the factor by which each changed the mean of  exp(−y F(x)).
    mistakes
        The number of mistakes of the vote up to each; a zero score is a mistake.
    scores
        F(x) of each example.
    """

    scores: Floats
    found: list[Any] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)
    mistakes: list[int] = field(default_factory=list)

    def add(
        self, classifier: Any, vote: float, *, error: float, factor: float, mistakes: int
    ) -> None:
        """Add a round."""
        self.found.append(classifier)
        self.votes.append(vote)
        self.errors.append(error)
        self.factors.append(factor)
        self.mistakes.append(mistakes)

    def figures(self) -> dict[str, NDArray[Any]]:
        """Return the figures of all rounds as arrays."""
        kinds = {"mistakes": np.int64}
        return {
            name: np.array(getattr(self, name), dtype=kinds.get(name, np.float64))
            for name in FIGURES
        }


def boosted(weak: Weak, labels: Floats, members: int, rate: float | None) -> Boosted:
    """Boost a weak learner: Hedge over the examples, where a correct classification is a loss.

    The logarithm of an example's weight is  −y F(x), up to a common constant.

    Parameters
    ----------
    weak
        Finds classifiers for weighted examples.
    labels
        +1 or −1 each.
    members
        The largest number of classifiers.
    rate
        The weight of every vote; None for ½ ln((1 − ε_t)/ε_t), which minimises the training error.
    """
    run = Boosted(np.zeros(len(labels)))
    for t in range(1, members + 1):
        logs = -labels * run.scores
        weights = np.exp(logs - log_sum(logs))
        try:
            classifier = weak.find(weights / weights.sum())
            said = weak.predictions(classifier)
        except NoRegretError as error:
            error.round, error.unit = t, "boosting round"
            raise
        hits, misses = log_sum(logs[said == labels]), log_sum(logs[said != labels])
        if min(hits, misses) == -math.inf:
            return alone(classifier, said, misses == -math.inf)
        edge = hits - misses  # ln((1 − ε)/ε)
        if abs(edge) < MIN_EDGE:
            break
        vote = edge / 2 if rate is None else math.copysign(rate, edge)
        run.scores += vote * said
        whole = np.logaddexp(hits, misses)
        run.add(
            classifier,
            vote,
            error=float(np.exp(misses - whole)),
            factor=float(np.logaddexp(hits - vote, misses + vote) - whole),
            mistakes=int(np.count_nonzero(are_mistakes(labels, run.scores))),
        )
    return run


def alone(classifier: Any, said: Floats, right: bool) -> Boosted:
    """Return the vote of a single classifier that is always right, or always wrong."""
    vote = 1.0 if right else -1.0
    run = Boosted(vote * said)
    run.add(classifier, vote, error=0.0 if right else 1.0, factor=-math.inf, mistakes=0)
    return run


def log_sum(logs: Floats) -> float:
    """Return  ln Σ exp(logs), −∞ if there are none."""
    if not len(logs):
        return -math.inf
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))
