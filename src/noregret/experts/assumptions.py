"""Assumptions of the theorems about experts, measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.proof.theorems.assumptions import ROUNDING, Assumption, Finding, Shown, Structural

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence


@dataclass(frozen=True)
class Range(Assumption):
    """Forecasts and outcomes lie in [low, high]."""

    statement: str = "every forecast and every outcome lies between `low` and `high`"
    remedy = "Set the range with -p low=… -p high=…, in Python with low=…, high=…."

    def check(self, evidence: ExpertEvidence) -> Finding:
        """Compare the smallest and the largest with the range."""
        player = evidence.player
        low, high = player._round.floor, player._round.ceiling
        name = f"forecasts and outcomes within [{low:g}, {high:g}]"
        if player._round.from_losses:
            return Finding("advice and outcomes were given, not losses", None, None, False, 1)
        beyond = max(low - player._round.lowest, player._round.highest - high, 0.0)
        holds = beyond <= (ROUNDING - 1) * max(abs(low), abs(high))
        return Finding(
            name, 0.0, beyond, holds, None if holds else player._round.first_outside or None
        )


@dataclass(frozen=True)
class Spread(Assumption):
    """The losses of a round differ by at most high − low."""

    statement: str = (
        r"the losses of a round differ by at most $B$ = `high` − `low`"
        r" (losses in $[0,B]$ do); with `gradient`, the linearised ones"
    )
    limit: Callable[[Mapping[str, Any]], float] = lambda p: float(p["high"] - p["low"])
    remedy = Range.remedy

    def check(self, evidence: ExpertEvidence) -> Finding:
        """Compare the largest difference in a round with the limit."""
        player, limit = evidence.player, self.limit(evidence.params)
        holds = player._round.widest <= limit * ROUNDING
        first = None if holds else player._round.first_wide or None
        return Finding(
            f"spread of losses <= {limit:.6g}", limit, player._round.widest, holds, first
        )


@dataclass(frozen=True)
class AlwaysAwake(Assumption):
    """No expert slept."""

    statement: str = "every expert is awake in every round"

    def check(self, evidence: ExpertEvidence) -> Finding:
        """Count the rounds in which experts slept."""
        naps = evidence.player._round.naps
        return Finding(
            "naps of experts = 0", 0, naps, naps == 0, evidence.player._round.first_nap or None
        )


def some_expert_is_right(evidence: ExpertEvidence) -> Finding:
    """Check that some expert is never wrong; else find the round in which the last one failed."""
    fewest = float(evidence.totals().values.min())
    first = None
    if fewest > 0:
        alive, before = np.ones(evidence.width, bool), 0
        for block in evidence.losses():
            right = np.logical_and.accumulate(block == 0, axis=0) & alive
            gone = ~right.any(axis=1)
            if gone.any():
                first = before + int(np.argmax(gone)) + 1
                break
            alive, before = right[-1], before + len(block)
    return Finding("mistakes of the best expert = 0", 0.0, fewest, fewest == 0, first)


def rate_allows(evidence: ExpertEvidence) -> Finding:
    """Check that the loss is exp-concave at this rate; taken on trust for a custom loss."""
    from noregret.base.compiled.losses import PythonLoss
    from noregret.base.expert_losses import exp_concavity

    player = evidence.player
    limit = exp_concavity(player.params["loss"], player._round.floor, player._round.ceiling)
    rate = float(player._rate_in_use)
    if limit is None:
        own = isinstance(player._round.cost, PythonLoss)
        first = None if own else 1
        return Finding(
            "the loss is exp-concave at this rate", None, None, None if own else False, first
        )
    return Finding(f"rate <= {limit:.6g}", limit, rate, rate <= limit * ROUNDING, None)


EXP_CONCAVE = Shown(
    r"$e^{-\eta\,\mathrm{loss}}$ is concave in the forecast: $\eta \le 1/(2(b-a)^2)$ for the square"
    r" loss on $[a,b]$, $\eta \le 1$ for the log loss; for a custom loss it is taken on trust",
    rate_allows,
)
CONSISTENT = Shown("some expert is never wrong", some_expert_is_right)
MIXED = Structural(
    "a convex loss of the mixture, or the mean of the losses under the weights; if experts are"
    " drawn, the expected loss; an expert asleep counts as repeating the mixture"
)


@dataclass(frozen=True)
class LossesIn(Assumption):
    """Every loss lies between 0 and 1."""

    statement: str = "every loss lies between 0 and 1"

    def check(self, evidence: ExpertEvidence) -> Finding:
        """Compare the smallest and the largest loss with the range."""
        beyond, first, before = 0.0, None, 0
        for block in evidence.losses():
            outside = np.maximum(-block, block - 1).max(axis=1)
            if first is None and outside.max() > ROUNDING - 1:
                first = before + int(np.argmax(outside > ROUNDING - 1)) + 1
            beyond, before = max(beyond, float(outside.max())), before + len(block)
        return Finding("losses within [0, 1]", 0.0, max(0.0, beyond), first is None, first)
