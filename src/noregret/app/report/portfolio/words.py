"""What a strategy came to, in words: the same for the page and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.verdict import subject
from noregret.app.report.run.words import sources
from noregret.base.numbers import brief, clean, count, duration, name_of, part_of_bound, percent

if TYPE_CHECKING:
    from noregret.app.results.portfolio import Outcome

# Shares of the best constant rebalanced portfolio that are named.
NAMED = 4
# Wealth below and above which its logarithm says more.
FAINT, HUGE = 1e-4, 1e9


def money(log_wealth: float) -> str:
    """Write the wealth that 1 has become.

    >>> money(math.log(250.597)), money(1000.0), money(-math.inf)
    ('250.6', 'e^1,000', '0')
    """
    if log_wealth == -math.inf:
        return "0"
    if math.log(FAINT) < log_wealth < math.log(HUGE):
        return brief(math.exp(log_wealth))
    return f"e^{brief(log_wealth)}"


def title(outcome: Outcome) -> str:
    """Say what was divided by whom."""
    return f"{name_of(outcome.name)} on {sources(outcome.sources)}"


def shares_of(outcome: Outcome) -> str:
    """Name the largest shares of the best constant rebalanced portfolio."""
    heaviest = outcome.heaviest
    told = ", ".join(f"{name_of(name, 24)} {percent(share)}" for name, share in heaviest[:NAMED])
    more = f" and {count(len(heaviest) - NAMED, 'other')}" if len(heaviest) > NAMED else ""
    return told + more


def pays(outcome: Outcome) -> str:
    """Say what trading cost, and whom it did not."""
    cost = outcome.params.get("cost")
    return f" (trading costs {percent(cost)}; the others trade for free)" if cost else ""


def compared(mine: float, other: float) -> str:
    """Say how one wealth compares with another, by their logarithms.

    >>> compared(0.0, math.log(2)), compared(math.log(3), 0.0), compared(0.0, 0.0)
    ('50.0% of it', '3 times it', 'the same')
    """
    if not math.isfinite(mine - other):
        return ""
    ratio = mine - other
    if abs(ratio) < 5e-5:
        return "the same"
    if ratio > math.log(2):
        return f"{brief(math.exp(ratio)) if ratio < 20 else f'e^{brief(ratio)}'} times it"
    return f"{percent(math.exp(ratio))} of it" if ratio > -20 else "almost nothing of it"


def facts(outcome: Outcome) -> Iterator[Fact]:
    """Yield the figures with what they mean."""
    mine = outcome.log_wealth
    size = f"{count(outcome.rounds, 'round')}, {count(len(outcome.assets), 'asset')}"
    fast = f", {brief(outcome.rounds / outcome.seconds)} rows/s" if outcome.seconds > 0 else ""
    took = f"{duration(outcome.seconds)}{fast}"
    yield Fact("wealth", money(mine), f"from 1{pays(outcome)}; {size}; {took}")
    if outcome.asset is not None:
        how = compared(mine, outcome.asset_log_wealth)
        words = f"{name_of(outcome.asset)}; the strategy has {how}"
        yield Fact("best asset", money(outcome.asset_log_wealth), words)
    else:
        yield Fact("best asset", "0", "every asset fell to 0 at some time")
    how = compared(mine, outcome.uniform)
    yield Fact(
        "equal shares", money(outcome.uniform), f"restored in every round; the strategy has {how}"
    )
    how = compared(mine, -outcome.rebalanced.loss)
    words = f"the best constant shares in hindsight, {shares_of(outcome)}; the strategy has {how}"
    yield Fact("best shares", money(-outcome.rebalanced.loss), words)
    yield from promised(outcome)


def promised(outcome: Outcome) -> Iterator[Fact]:
    """Yield the regret, and what the theorem allows."""
    certificate = outcome.certificate
    against = clean(certificate.hindsight.comparator)
    if against == "constant rebalanced portfolios":
        against = "the best constant shares"
    yield Fact(
        "regret", brief(certificate.regret.upper), f"log-wealth of {against} minus the strategy's"
    )
    promise = certificate.theorem
    if promise is not None and promise.bound is not None:
        part = part_of_bound(promise.tightness)
        used = f"; {part} of it is used" if part else ""
        yield Fact(
            "bound",
            brief(promise.bound),
            f"limit on {subject(promise)}{used}",
        )


def sentence(outcome: Outcome) -> str:
    """Say how it went in one plain sentence or two."""
    mine = money(outcome.log_wealth)
    best = "" if outcome.asset is None else f"{money(outcome.asset_log_wealth)} by the best asset, "
    return (
        f"Over {count(outcome.rounds, 'round')}, {name_of(outcome.name)} turned 1 into"
        f" {mine}{pays(outcome)}."
        f" It would have become {best}{money(outcome.uniform)} by equal shares, and"
        f" {money(-outcome.rebalanced.loss)} by the best constant shares in hindsight."
    )
