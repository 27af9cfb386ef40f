"""The sequence on which the leader is always wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "ftl-fails",
        {"domain": "ball", "radius": 1.0},
        {"rounds": 1000},
        "Linear regret: it pays 1 in every round but the first.",
    ),
    Attack(
        "ftrl",
        {"loss": "linear", "rate": 1.0, "schedule": "horizon", "horizon": 1000, "radius": 1.0},
        {"rounds": 1000},
        "The cure, on the same sequence: a regret of √T, not of T.",
    ),
)
def alternation(learner: Learner, rounds: int = 1000) -> Rounds:
    """Make each slope undo the one before, so that the leader is wrong every time.

    The linear losses are θ/2, −θ, θ, −θ, …. Their sum is θ/2 or −θ/2, by turns, and the leader goes
    all the way to the side that is about to lose. Standing still at 0 costs nothing.

    Parameters
    ----------
    learner
        ``follow-the-leader``, or another with the linear loss; its state is not used.
    rounds
        The number of rounds.

    Examples
    --------
    >>> from noregret import FollowTheLeader, play
    >>> learner = FollowTheLeader()
    >>> play(learner, alternation(learner, rounds=1000)).loss
    999.0
    """
    for t in range(rounds):
        yield [1.0], 0.5 if t == 0 else (-1.0) ** t
