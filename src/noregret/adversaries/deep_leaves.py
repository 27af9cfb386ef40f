"""An adversary of Mondrian forests: islands that only deep leaves can tell from what is around."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack(
        "mondrian-forest-chances",
        {"loss": "logistic", "trees": 1},
        {},
        "Every island is paid for by the tree at both rates: the rest is the price of the mixture.",
    ),
    Attack(
        "mondrian-forest-classes",
        {"trees": 1},
        {},
        "The same, with two classes.",
    ),
    Attack(
        "mondrian-forest",
        {"trees": 1, "edition": 1},
        {"places": 60, "rounds": 10, "width": 0.1, "visits": 3},
        "The bolder rate knows an island after one round. If the weight of what is wrong is w, that"
        " round costs w²S² of the bound's 2S² ln(1/(1 − w)): a fifth at most, whatever w is.",
    ),
)
def islands(
    learner: Learner, places: int = 5, rounds: int = 42, width: float = 1e-4, visits: int = 6
) -> Rounds:
    """Show the same label in many places, and the other one a little beside each of them.

    With the square loss, labels are the numbers 0 and 1.

    Next to a place, the new leaf first predicts what the place does. One outcome later it
    predicts the other label, and no other node does: the mixture has to pay for the prior
    probability of the leaf in a few rounds, which is small because the split comes late. All is
    over before fresh trees start, which have not seen the places.

    Parameters
    ----------
    learner
        ``mondrian-forest`` or ``mondrian-forest-classes``, with one tree; its state is not used.
    places
        The number of places.
    rounds
        The number of rounds in each of them.
    width
        The distance of an island from its place, times ``places`` · ``rounds``.
    visits
        The number of rounds on each island.

    Examples
    --------
    >>> from noregret import MondrianForest, play
    >>> learner = MondrianForest(loss="logistic", trees=1)
    >>> play(learner, islands(learner)).certificate().theorem.tightness > 0.9
    True
    """
    aside = width / (places * rounds)
    kind = float if getattr(learner, "loss", "") == "square" else bool
    for k in range(places + 1):  # leaves of one label are not split
        yield [k / places], kind(k % 2 == 1)
    for k in range(places):
        for _ in range(rounds):
            yield [k / places], kind(False)
    for k in range(places):
        for _ in range(visits):
            yield [k / places + aside], kind(True)
