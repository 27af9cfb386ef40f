"""The experts of a mix in words: who slept, what the best one is worth, who is probably none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noregret.base.numbers import brief, clean, name_of, percent

if TYPE_CHECKING:
    from noregret.app.results.mix import Expert, MixResult

# A column whose errors are this many times those of the typical one is probably no forecast.
STRANGE = 10
# Losses that tell how large errors are.
ON_A_SCALE = ("square", "absolute", "quantile", "percentage")
# Names that are listed; of more, how many there are.
LISTED = 3


def sleepers(result: MixResult) -> list[tuple[str, float]]:
    """Return the experts that slept, with the share of the rounds in which they did."""
    found = [(e.name, 1 - e.awake / result.rows) for e in result.experts if not e.added]
    return sorted([one for one in found if one[1] > 0], key=lambda one: -one[1])


def asleep_words(result: MixResult) -> str:
    """Say who slept; empty where nobody did."""
    found = sleepers(result)
    if not found:
        return ""
    own = sum(not expert.added for expert in result.experts)
    told = [f"{name_of(name)} {percent(share)}" for name, share in found[:LISTED]]
    if len(found) <= LISTED:
        return f"{', '.join(told)} of the rounds"
    return f"{len(found)} of {own} experts in some rounds; most: {', '.join(told)}"


def best_asleep(result: MixResult) -> str:
    """Say so if the best expert slept more than half of the time; empty if it did not."""
    best = result.best
    if best is None or result.mostly_awake(best):
        return ""
    share = percent(best.awake / result.rows)
    return f"awake in {share} of the rounds; counted as the mixture while asleep"


def best_own(result: MixResult) -> str:
    """Compare the best expert with the mixture where it was awake; empty if that was always."""
    best = result.best
    if best is None or best.own is None or best.beside is None:
        return ""
    if not 0 < best.awake < result.rows:
        return ""
    square = result.loss == "square"
    own, mixture = (
        math.sqrt(total / best.awake) if square else total / best.awake
        for total in (best.own, best.beside)
    )
    what = "own RMSE" if square else f"own mean {loss_words(result)} loss"
    told = f"{what} {brief(own)} while awake ({percent(best.awake / result.rows)} of the rounds)"
    return f"{told}, the mixture's there {brief(mixture)}"


def loss_words(result: MixResult) -> str:
    """Name the loss, with its quantile where it has one."""
    parameter = result.loss_parameter
    which = f" {parameter:g}" if result.loss == "quantile" and parameter is not None else ""
    return clean(result.loss) + which


def strange(result: MixResult) -> list[str]:
    """Return columns that cost so much that they are probably no forecasts."""
    own = [expert for expert in result.experts if not expert.added and expert.awake]
    if len(own) < 2 or result.loss not in ON_A_SCALE:
        return []
    means = [own_mean(result, one) for one in own]
    typical = sorted(means)[(len(own) - 1) // 2]
    limit = typical * (STRANGE**2 if result.loss == "square" else STRANGE)
    return [one.name for one, mean in zip(own, means, strict=True) if typical > 0 and mean > limit]


def own_mean(result: MixResult, expert: Expert) -> float:
    """Return an expert's mean loss while awake; where that is not known, of all rounds."""
    if expert.own is None or not expert.awake:
        return expert.total / result.rows
    return expert.own / expert.awake
