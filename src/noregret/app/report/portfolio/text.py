"""What a strategy came to, in words: for the terminal, for the page, and as JSON for machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.text import COLOURS
from noregret.app.report.certificate.verdict import subject, verdict_of
from noregret.app.report.run.text import fitting, written
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
    return f", trading at {percent(cost)}, which the others are spared" if cost else ""


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
    return f"{percent(math.exp(ratio))} of it" if ratio > -20 else "next to nothing of it"


def facts(outcome: Outcome) -> Iterator[Fact]:
    """Yield the figures with what they mean."""
    mine = outcome.log_wealth
    size = f"{count(outcome.rounds, 'round')}, {count(len(outcome.assets), 'asset')}"
    fast = f", {brief(outcome.rounds / outcome.seconds)} rows/s" if outcome.seconds > 0 else ""
    took = f"{duration(outcome.seconds)}{fast}"
    yield Fact("wealth", money(mine), f"of 1{pays(outcome)}: {size}; {took}")
    if outcome.asset is not None:
        how = compared(mine, outcome.asset_log_wealth)
        words = f"{name_of(outcome.asset)}; the strategy made {how}"
        yield Fact("best asset", money(outcome.asset_log_wealth), words)
    else:
        yield Fact("best asset", "0", "every asset fell to 0 at some time")
    how = compared(mine, outcome.uniform)
    yield Fact("uniform", money(outcome.uniform), f"equal shares; the strategy made {how}")
    how = compared(mine, -outcome.rebalanced.loss)
    words = f"the best shares in hindsight: {shares_of(outcome)}; the strategy made {how}"
    yield Fact("best constant", money(-outcome.rebalanced.loss), words)
    yield from promised(outcome)


def promised(outcome: Outcome) -> Iterator[Fact]:
    """Yield the regret, and what the theorem allows."""
    certificate = outcome.certificate
    against = clean(certificate.hindsight.comparator)
    yield Fact("regret", brief(certificate.regret.upper), f"in log-wealth, against {against}")
    promise = certificate.theorem
    if promise is not None and promise.bound is not None:
        part = part_of_bound(promise.tightness)
        used = f", of which {part} is used" if part else ""
        yield Fact("bound", brief(promise.bound), f"on {subject(promise)}{used}")


def summary(outcome: Outcome) -> RenderableType:
    """Return the outcome as Rich shows it."""
    parts: list[RenderableType] = [
        Text(title(outcome), "bold", overflow="fold"),
        Text(),
        figures(outcome),
        Text(),
        verdict(outcome),
    ]
    if outcome.note:
        parts += [Text(), Text.assemble(("note", "bold yellow"), f"  {outcome.note}")]
    if outcome.outputs:
        parts += [Text(), written(outcome.outputs)]
    return Group(*parts)


def figures(outcome: Outcome) -> Table:
    """Return the figures."""
    table = fitting()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="bold", justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for fact in facts(outcome):
        table.add_row(Text(fact.label), Text(fact.figure), Text(fact.words))
    return table


def verdict(outcome: Outcome) -> Text:
    """Return what to make of it."""
    said = verdict_of(outcome.certificate)
    colour = f"bold {COLOURS[said.mood]}"
    if said.mood == "good":
        return Text.assemble((said.headline, colour), f" (theorem {said.theorem})")
    return Text.assemble((said.headline, colour), f"  {said.words}", overflow="fold")


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """Return the figures as JSON has them; a wealth beyond all numbers is null."""
    promise = outcome.certificate.theorem
    found: dict[str, Any] = {
        "learner": {"name": outcome.name, "params": outcome.params},
        "data": {
            "sources": list(outcome.sources),
            "transforms": list(outcome.transforms),
            "rounds": outcome.rounds,
            "assets": outcome.assets,
            "digest": outcome.certificate.data.digest,
        },
        "log_wealth": outcome.log_wealth,
        "wealth": wealth(outcome.log_wealth),
        "best_asset": None
        if outcome.asset is None
        else {
            "name": outcome.asset,
            "log_wealth": outcome.asset_log_wealth,
            "wealth": wealth(outcome.asset_log_wealth),
        },
        "uniform_rebalanced": {"log_wealth": outcome.uniform, "wealth": wealth(outcome.uniform)},
        "best_rebalanced": {
            "log_wealth": -outcome.rebalanced.loss,
            "gap": outcome.rebalanced.gap,
            "wealth": wealth(-outcome.rebalanced.loss),
            "shares": dict(outcome.heaviest),
        },
        "regret": {
            "against": outcome.certificate.hindsight.comparator,
            "lower": outcome.certificate.regret.lower,
            "upper": outcome.certificate.regret.upper,
        },
        "theorem": None
        if promise is None
        else {
            "name": promise.name,
            "bound": promise.bound,
            "measured": promise.measured,
            "holds": promise.holds,
        },
        "note": outcome.note or None,
        "seconds": outcome.seconds,
        "outputs": dict(outcome.outputs),
        "version": outcome.version,
    }
    return cast("dict[str, Any]", without_limits(found))


def wealth(log_wealth: float) -> float | None:
    """Return the wealth, where it is a number."""
    return math.exp(log_wealth) if log_wealth < 709 else None


def without_limits(value: Any) -> Any:
    """Return what JSON can hold: None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: without_limits(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_limits(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
