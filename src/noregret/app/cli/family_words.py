"""Headings, names and usage of the families of algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from noregret.base.algorithm import Named


class Words(NamedTuple):
    """The words for a family.

    Parameters
    ----------
    title
        Heading.
    about
        One line about the family.
    one
        Name of a member.
    command
        The command line before ``--learner``; None if there is no command.
    play
        The Python call that plays a game.
    """

    title: str
    about: str
    one: str
    command: str | None
    play: str


WORDS = {
    "learners": Words(
        "Linear learners",
        "Learners that predict outcomes from features, one example at a time.",
        "learner",
        "noregret run data.csv --target y",
        "game = noregret.play(learner, stream)",
    ),
    "experts": Words(
        "Experts",
        "Masters that combine the forecasts of experts by weights.",
        "master",
        "noregret mix FORECASTS.csv --target y",
        "game = noregret.play(master, forecasts, outcomes)",
    ),
    "bandits": Words(
        "Bandits",
        "Policies that choose one of several arms and see only the reward of that arm.",
        "policy",
        None,
        "game = noregret.play(policy, rewards)",
    ),
    "portfolios": Words(
        "Portfolios",
        "Strategies that divide wealth among assets, round by round.",
        "strategy",
        "noregret portfolio RELATIVES.csv",
        "game = noregret.play(strategy, relatives)",
    ),
    "batch": Words(
        "Batch",
        "Methods that fit all examples at once and certify the result.",
        "method",
        None,
        "game = noregret.play(method, X, y)",
    ),
    "filters": Words(
        "Filters",
        "Adaptive filters that predict one signal from a window of another, sample by sample.",
        "filter",
        None,
        "game = noregret.play(filter, x, d)",
    ),
}


def words_of(kind: type[Named]) -> Words:
    """Return the words for a class's family."""
    return WORDS[kind.family]


def path_of(kind: type[Any]) -> str:
    """Return the shortest Python name of a class."""
    from noregret.base.registry import find

    first = kind.family == "learners" or find(kind.name) is kind
    return f"noregret.{kind.__name__}" if first else f"noregret.{kind.family}.{kind.__name__}"
