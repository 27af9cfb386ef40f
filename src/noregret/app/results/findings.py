"""Findings of a learner: sentences, numbers, members and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Member(NamedTuple):
    """A member of a learner: its current weight, and its own loss."""

    name: str
    group: str
    weight: float
    loss: float


@dataclass(frozen=True)
class Found:
    """The findings of a learner.

    Parameters
    ----------
    words
        A few sentences.
    numbers
        What they are made of, as the learner names it.
    features
        Those that matter most, with their share in how predictions differ.
    members
        Those it is made of, the heaviest first.
    groups
        The groups of members, in the learner's order.
    rounds, shares
        After which rounds the weights were noted, and what each group had: a row a moment.
    """

    words: str
    numbers: dict[str, Any] = field(default_factory=dict)
    features: tuple[tuple[str, float], ...] = ()
    members: tuple[Member, ...] = ()
    groups: tuple[str, ...] = ()
    rounds: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    shares: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def found_of(
    learner: Learner, names: Sequence[str] | None = None, weight: float | None = None
) -> Found | None:
    """Return what a learner has found; None for one that does not tell.

    A learner that tells has ``describe(names)``, in words, and ``findings(names)``, in numbers;
    there, ``features`` are those that matter, each with a ``name`` and its ``share``. One that is
    made of ``members`` has a ``history`` too.

    Parameters
    ----------
    learner
        Whom to ask.
    names
        Of the features, as people know them; the learner's own if not given.
    weight
        The sum of the importances of all rounds; their number if not given.
    """
    told: Any = learner
    if not hasattr(told, "describe"):
        return None
    words, numbers = str(told.describe(names)).strip(), dict(told.findings(names))
    features = tuple((each["name"], each["share"]) for each in numbers.get("features", ()))
    if not getattr(told, "members", None):
        return Found(words, numbers, features)
    of = [member.group for member in told.members]
    groups = tuple(dict.fromkeys(of))
    rounds, weights = told.history
    return Found(
        words,
        numbers,
        features,
        members_of(told, weight or max(1, learner.rounds)),
        groups,
        rounds,
        shares_of(of, groups, weights),
    )


def members_of(told: Any, rounds: float) -> tuple[Member, ...]:
    """Return the members, the heaviest first, each with its mean loss over that many rounds."""
    made = (each._replace(loss=each.loss / rounds) for each in told.members)
    return tuple(sorted(made, key=lambda member: -member.weight))


def shares_of(of: Sequence[str], groups: Sequence[str], weights: Floats) -> Floats:
    """Return the weights of groups, of those of members that are each ``of`` one."""
    return np.column_stack([weights[:, [own == each for own in of]].sum(axis=1) for each in groups])
