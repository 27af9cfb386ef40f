"""A sequence of losses on which following the leader fails in every round."""

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
        "Linear regret: its loss is 1 in every round but the first.",
    ),
    Attack(
        "ftrl",
        {"loss": "linear", "rate": 1.0, "schedule": "horizon", "horizon": 1000, "radius": 1.0},
        {"rounds": 1000},
        "The remedy, on the same sequence: a regret of order √T instead of T.",
    ),
)
def alternation(learner: Learner, rounds: int = 1000) -> Rounds:
    """Alternate the sign of linear losses, so that the leader is wrong every time.

    The losses are θ/2, −θ, θ, −θ, …. Their sum alternates between θ/2 and −θ/2, so the leader
    always chooses the end of the ball with the largest loss in the next round. The fixed choice
    θ = 0 has no loss at all.

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
