"""An adversary of Mondrian forests for numbers: it first makes their bolder rate lose."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

CHOICES = [([x], y) for x in (0.0, 1.0) for y in (0.0, 1.0)]


@adversary(
    Attack(
        "mondrian-forest-square",
        {"trees": 1},
        {},
        "Once the bolder rate has lost more than the price, each island is paid for at the proven"
        " one. The rest is the price of the mixture over trees and averages, some of which are as"
        " good as the tree.",
    ),
)
def whipsaw(
    learner: Learner,
    turns: int = 130,
    places: int = 3,
    rounds: int = 32,
    visits: int = 7,
    aside: float = 3e-7,
) -> Rounds:
    """Turn against the bolder rate in every round, then show islands that only deep leaves know.

    At two points, the outcome is the one that costs the bolder rate most beside the proven one:
    its weights follow whichever node has led, and the lead changes again and again. That takes
    away the prior advantage of its fast learning. Then some places are 0 many times, and right
    beside each of them is an island where outcomes are 1: the leaf there has a small prior
    probability, for which the proven rate has to pay. All is over before fresh trees start.

    Parameters
    ----------
    learner
        ``mondrian-forest`` for numbers, with one tree; copies of it are asked what an outcome
        would cost.
    turns
        The number of rounds at the two points.
    places
        The number of places.
    rounds
        The number of rounds in each of them.
    visits
        The number of rounds on each island.
    aside
        The distance of an island from its place.

    Examples
    --------
    >>> from noregret import MondrianForest, play
    >>> learner = MondrianForest(trees=1)
    >>> play(learner, whipsaw(learner)).certificate().theorem.tightness > 0.9
    True
    """
    yield [0.0], 0.0
    yield [1.0], 1.0
    for _ in range(turns):
        yield max(CHOICES, key=lambda row: lost_by_boldness(learner, *row))
    where = [(k + 1) / (places + 1) for k in range(places)]
    for x in where:
        for _ in range(rounds):
            yield [x], 0.0
    for x in where:
        for _ in range(visits):
            yield [x + aside], 1.0


def lost_by_boldness(learner: Learner, x: list[float], y: float) -> float:
    """Return how much more the members at the bolder rate will have lost after a round."""
    after = copy.deepcopy(learner)
    after.learn_one(x, y)
    paid = after.get_state()[0]["paid"]
    return float(paid[1::2].sum() - paid[::2].sum())
