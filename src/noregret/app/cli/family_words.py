"""The families in words: headings, what one of them is called, and how it is put to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from noregret.base.algorithm import Named


class Words(NamedTuple):
    """A family in words.

    Parameters
    ----------
    title
        Its heading.
    about
        What they do, in a line.
    one
        What one of them is called.
    command
        What is typed before the name of one; None where there is no command.
    play
        How one of them plays, in Python.
    """

    title: str
    about: str
    one: str
    command: str | None
    play: str


WORDS = {
    "learners": Words(
        "Linear learners",
        "They predict outcomes from features, one example at a time.",
        "learner",
        "noregret run data.csv --target y",
        "game = noregret.play(learner, stream)",
    ),
    "experts": Words(
        "Experts",
        "Masters that weigh what others forecast, and mix it.",
        "master",
        "noregret mix FORECASTS.csv --target y",
        "game = noregret.play(master, forecasts, outcomes)",
    ),
    "bandits": Words(
        "Bandits",
        "Policies that choose one of several arms, and see what that one pays alone.",
        "policy",
        None,
        "game = noregret.play(policy, rewards)",
    ),
    "portfolios": Words(
        "Portfolios",
        "Strategies that divide wealth among assets, day by day.",
        "strategy",
        "noregret portfolio RELATIVES.csv",
        "game = noregret.play(strategy, relatives)",
    ),
    "batch": Words(
        "Batch",
        "Methods that are fitted to all examples at once, and prove how good the fit is.",
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
    """Return what a class is called in a program: the front page's name where that is this one."""
    from noregret.base.registry import find

    first = kind.family == "learners" or find(kind.name) is kind
    return f"noregret.{kind.__name__}" if first else f"noregret.{kind.family}.{kind.__name__}"
