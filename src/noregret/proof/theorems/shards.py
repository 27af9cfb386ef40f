"""Theorems about shards: learners that each play a part of the rows, against one u for all rows.

Every learner's own theorem holds on its part for every u, so the sum of the bounds holds for the
sum of the losses or mistakes, at the same u. Where a bound is a figure of the game, bounds simply
add up; where it is a minimum over u, the theorem says how the sum is minimised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from noregret.proof.theorems.theorem import Theorem

ENDING = "-shards"
OF_EACH = (
    "summed over the shards: the right side is the sum over all $k$ of that of the learner on shard"
    " $k$, and the left side is about the rows of all shards, with one $u$"
)


class OverShards(NamedTuple):
    """What a theorem says about shards.

    Parameters
    ----------
    bound
        The bound, from the evidence of all shards (``noregret.proof.game.shards``); by default the
        sum of those of the shards.
    formula, plain, where
        The promise, as in ``Theorem``; by default that of one learner, with a remark.
    """

    bound: Callable[[Any], float] | None = None
    formula: str = ""
    plain: str = ""
    where: str = ""


ADDED_UP = OverShards()


def of_shards(theorem: Theorem) -> Theorem | None:
    """Return a theorem about shards of the rows; None if none is known."""
    told = theorem.over_shards
    if told is None:
        return None
    where = told.where or "; ".join(filter(None, [theorem.where, OF_EACH]))
    return replace(
        theorem,
        name=theorem.name + ENDING,
        formula=told.formula or theorem.formula,
        plain=told.plain or f"summed over the shards: {theorem.plain}",
        where=where,
        bound=told.bound or added_up(theorem),
        so_far=None,
        tune=None,
        tuning="",
        source=f"the sum over the shards, each by {theorem.source}",
        over_shards=None,
    )


def added_up(theorem: Theorem) -> Callable[[Any], float]:
    """Return the sum of the bounds of all shards."""
    own = theorem.bound
    assert own is not None

    def bound(evidence: Any) -> float:
        return math.fsum(own(shard) for shard in evidence.each())

    return bound


def shard_theorems(kind: Any) -> tuple[Theorem, ...]:
    """Return the theorems about shards of an algorithm, if it has any."""
    return tuple(filter(None, map(of_shards, kind.theorems)))
