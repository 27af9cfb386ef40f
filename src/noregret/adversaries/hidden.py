"""One hidden expert is right in every round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.experts.master import Master


@adversary(
    Attack(
        "weighted-average",
        {"loss": "log"},
        {"experts": 100, "rounds": 10},
        "All of ln n is lost in the first round: exact.",
    ),
    Attack(
        "aggregating",
        {"loss": "log"},
        {"experts": 100, "rounds": 10},
        "For log loss it is the same algorithm: exact.",
    ),
    Attack(
        "aggregating",
        {},
        {"experts": 10_000, "rounds": 30},
        "Every bit that tells the experts apart costs as much as allowed, except the last.",
    ),
    Attack(
        "fixed-share",
        {"loss": "log", "share": 0.01},
        {"experts": 16, "rounds": 200, "change": 20},
        "The first round, every switch and every round without one cost exactly what is allowed.",
    ),
    Attack(
        "variable-share",
        {"variable": True, "share": 0.01},
        {"experts": 1000, "rounds": 200, "change": 100},
        "Finding an expert among many costs most of what is allowed.",
    ),
    Attack(
        "randomised-weighted-majority",
        {"beta": 0.99},
        {"experts": 16, "rounds": 2000},
        "The nearer β is to 1, the tighter.",
    ),
    Attack(
        "hedge-rate",
        {"schedule": "constant", "rate": 0.01, "loss": "absolute"},
        {"experts": 100, "rounds": 1000},
        "With a small rate there is time to lose ln n/η, and mixing costs almost nothing.",
    ),
)
def hidden_expert(
    master: Master, experts: int = 16, rounds: int = 100, change: int | None = None
) -> Rounds:
    """Let one expert foretell every outcome, and all others the opposite.

    The master has to find that expert, and pays until its weight is large.

    Parameters
    ----------
    master
        The master of forecasts between 0 and 1; its state is not used.
    experts
        n.
    rounds
        The number of rounds.
    change
        The number of rounds after which the next expert is the one that knows; never by default.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import WeightedAverage
    >>> master = WeightedAverage(loss="log")
    >>> loss = play(master, hidden_expert(master, experts=8, rounds=10)).loss
    >>> print(f"{loss:.9f} = ln 8")
    2.079441542 = ln 8
    """
    for t in range(rounds):
        knows = 0 if change is None else t // change % experts
        yield (np.arange(experts) == knows) * 1.0, 1.0


@adversary(
    Attack(
        "weighted-average",
        {},
        {"experts": 100, "rounds": 6000},
        "Where forecasts are as far off as they can be, averaging them gains nothing.",
    ),
)
def slightly_better(
    master: Master, experts: int = 16, rounds: int = 1000, better: float = 0.002
) -> Rounds:
    """Let all experts be as wrong as can be, and one of them a little less.

    Against outcomes of 0 all say 1. There the square loss is no more curved than the theorem takes
    it to be, and a mixture pays all that it may while it finds the one.

    Parameters
    ----------
    master
        The master of forecasts between 0 and 1; its state is not used.
    experts
        n.
    rounds
        The number of rounds.
    better
        The distance by which one of them is nearer to the outcomes.

    Examples
    --------
    >>> from noregret import play
    >>> from noregret.experts import WeightedAverage
    >>> master = WeightedAverage()
    >>> game = play(master, slightly_better(master, rounds=5000))
    >>> round(game.certificate().theorem.tightness, 2)
    1.0
    """
    says = np.ones(experts)
    says[0] -= better
    for _ in range(rounds):
        yield says, 0.0
