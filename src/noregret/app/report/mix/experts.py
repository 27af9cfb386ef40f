"""Remarks on the experts of a mix: sleepers, the best one, columns that are hardly forecasts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noregret.base.numbers import brief, clean, name_of, percent

if TYPE_CHECKING:
    from noregret.app.results.mix import Expert, MixResult

# A column with errors this many times those of the typical one is probably not a forecast.
STRANGE = 10
# Losses that grow with the size of the error.
ON_A_SCALE = ("square", "absolute", "quantile", "percentage")
# Names listed; the others are counted.
LISTED = 3


def sleepers(result: MixResult) -> list[tuple[str, float]]:
    """Return the experts that slept, with the share of rounds asleep."""
    found = [(e.name, 1 - e.awake / result.rows) for e in result.experts if not e.added]
    return sorted([one for one in found if one[1] > 0], key=lambda one: -one[1])


def asleep_words(result: MixResult) -> str:
    """Return which experts slept; empty if none did."""
    found = sleepers(result)
    if not found:
        return ""
    own = sum(not expert.added for expert in result.experts)
    told = [f"{name_of(name)} {percent(share)}" for name, share in found[:LISTED]]
    if len(found) <= LISTED:
        return f"{', '.join(told)} of the rounds"
    return f"{len(found)} of {own} experts in some rounds; most: {', '.join(told)}"


def best_asleep(result: MixResult) -> str:
    """Return a remark if the best expert slept in more than half of the rounds, else empty."""
    best = result.best
    if best is None or result.mostly_awake(best):
        return ""
    share = percent(best.awake / result.rows)
    return (
        f"with a forecast in {share} of the rounds; where it has no forecast, the mixture's loss is"
        " counted"
    )


def best_own(result: MixResult) -> str:
    """Compare the best expert with the mixture while it was awake; empty if it always was."""
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
    what = "RMSE" if square else f"mean {loss_words(result)} loss"
    share = percent(best.awake / result.rows)
    return (
        f"{what} {brief(own)} in the {share} of rounds where it has a forecast; the mixture has"
        f" {brief(mixture)} in those rounds"
    )


def against_average(result: MixResult) -> str:
    """Return the heading of ratios to the uniform average."""
    return "RMSE vs average" if result.loss == "square" else "loss vs average"


def loss_words(result: MixResult) -> str:
    """Return the name of the loss, with its quantile if it has one."""
    parameter = result.loss_parameter
    which = f" {parameter:g}" if result.loss == "quantile" and parameter is not None else ""
    return clean(result.loss) + which


def strange(result: MixResult) -> list[str]:
    """Return the columns whose errors are so large that they are hardly forecasts."""
    own = [expert for expert in result.experts if not expert.added and expert.awake]
    if len(own) < 2 or result.loss not in ON_A_SCALE:
        return []
    means = [own_mean(result, one) for one in own]
    typical = sorted(means)[(len(own) - 1) // 2]
    limit = typical * (STRANGE**2 if result.loss == "square" else STRANGE)
    return [one.name for one, mean in zip(own, means, strict=True) if typical > 0 and mean > limit]


def own_mean(result: MixResult, expert: Expert) -> float:
    """Return an expert's mean loss while awake; over all rounds if that is not known."""
    if expert.own is None or not expert.awake:
        return expert.total / result.rows
    return expert.own / expert.awake
