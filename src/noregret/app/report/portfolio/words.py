"""The result of a strategy in sentences and figures, shared by the HTML page and the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.verdict import Trivial, Verdict, bound_words, verdict_of
from noregret.app.report.helped import Plain, beneath, helped, unknown
from noregret.app.report.run.words import sources
from noregret.base.numbers import brief, clean, count, duration, name_of, percent

if TYPE_CHECKING:
    from noregret.app.results.portfolio import Outcome

# Shares of the best constant rebalanced portfolio listed in a sentence.
NAMED = 4
# Wealth outside of this range is written by its logarithm.
MIN_PLAIN, MAX_PLAIN = 1e-4, 1e9
# Log-wealth below which a fall in wealth is called a loss.
LOST = 5e-4


def money(log_wealth: float) -> str:
    """Write the wealth that an investment of 1 has become.

    >>> money(math.log(250.597)), money(1000.0), money(-math.inf)
    ('250.6', 'e^1,000', '0')
    """
    if log_wealth == -math.inf:
        return "0"
    if math.log(MIN_PLAIN) < log_wealth < math.log(MAX_PLAIN):
        return brief(math.exp(log_wealth))
    return f"e^{brief(log_wealth)}"


# Down to this part of another wealth, the difference is stated, not the part.
NEARLY = 0.9


def title(outcome: Outcome) -> str:
    """Return the title: strategy and data."""
    return f"{name_of(outcome.name)} on {sources(outcome.sources)}"


def shares_of(outcome: Outcome) -> str:
    """Return the largest shares of the best constant rebalanced portfolio."""
    heaviest = outcome.heaviest
    told = ", ".join(f"{name_of(name, 24)} {percent(share)}" for name, share in heaviest[:NAMED])
    more = f" and {count(len(heaviest) - NAMED, 'other')}" if len(heaviest) > NAMED else ""
    return told + more


def pays(outcome: Outcome) -> str:
    """Return a remark on trading costs, if there are any."""
    cost = outcome.params.get("cost")
    return (
        f" (after trading costs of {percent(cost)}, as are equal and best shares)" if cost else ""
    )


def compared(mine: float, other: float) -> str:
    """Compare two wealths in words, by their logarithms.

    >>> compared(0.0, math.log(2)), compared(math.log(3), 0.0), compared(0.0, 0.0)
    ('50.0% of that', '3 times that', 'the same')
    >>> compared(math.log(1.25), 0.0), compared(math.log(0.95), 0.0)
    ('25.0% more', '5% less')
    """
    if not math.isfinite(mine - other):
        return ""
    ratio = mine - other
    if abs(ratio) < 5e-5:
        return "the same"
    if ratio > math.log(2):
        return f"{brief(math.exp(ratio)) if ratio < 20 else f'e^{brief(ratio)}'} times that"
    if ratio > math.log(NEARLY):
        return f"{percent(abs(math.expm1(ratio)))} {'more' if ratio > 0 else 'less'}"
    return f"{percent(math.exp(ratio))} of that" if ratio > -20 else "almost nothing"


def facts(outcome: Outcome) -> Iterator[Fact]:
    """Yield the figures, each with an explanation."""
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
        "equal shares", money(outcome.uniform), f"rebalanced every round; the strategy has {how}"
    )
    how = compared(mine, outcome.best_shares)
    words = f"the best constant shares in hindsight, {shares_of(outcome)}; the strategy has {how}"
    yield Fact("best shares", money(outcome.best_shares), words)
    yield from promised(outcome)


def promised(outcome: Outcome) -> Iterator[Fact]:
    """Yield the regret and its bound."""
    certificate = outcome.certificate
    against = clean(certificate.hindsight.comparator)
    if against == "constant rebalanced portfolios":
        against = "the best constant shares"
    if outcome.params.get("cost"):
        against += ", without costs,"
    yield Fact(
        "regret", brief(certificate.regret.upper), f"log-wealth of {against} minus the strategy's"
    )
    promise = certificate.theorem
    if promise is not None and promise.bound is not None:
        words = bound_words(promise)
        yield Fact("bound", brief(promise.bound), f"proven limit on {words}")


def trivial_of(outcome: Outcome) -> Trivial:
    """Return the regret of keeping the money, which a bound must not exceed to say something."""
    return Trivial(-outcome.rebalanced.loss, "the log-wealth of the best shares")


def judged(outcome: Outcome) -> Verdict:
    """Return the verdict of the certificate."""
    return beneath(helped_by(outcome), verdict_of(outcome.certificate, trivial_of(outcome)))


def helped_by(outcome: Outcome) -> Verdict | None:
    """Return whether the strategy ends with more than equal shares, rebalanced every round."""
    if outcome.note:  # prices taken for relatives, or the reverse: the wealth means nothing
        return unknown(f"{outcome.note[:1].upper()}{outcome.note[1:]}.")
    mine, other = outcome.log_wealth, outcome.uniform
    how = compared(mine, other)
    if not how:
        return None
    lost = f", a loss of {percent(1 - math.exp(mine))}," if mine < -LOST else ","
    words = f"{money(mine)} from 1{lost} against {money(other)} with equal shares: {how}"
    return helped([Plain(math.exp(min(700.0, other - mine)), words)], outcome.rounds)


def sentence(outcome: Outcome) -> str:
    """Summarize the result in one or two sentences."""
    mine = money(outcome.log_wealth)
    best = (
        "" if outcome.asset is None else f"{money(outcome.asset_log_wealth)} with the best asset, "
    )
    return (
        f"Over {count(outcome.rounds, 'round')}, {name_of(outcome.name)} turned 1 into"
        f" {mine}{pays(outcome)}."
        f" It would have become {best}{money(outcome.uniform)} with equal shares, and"
        f" {money(outcome.best_shares)} with the best constant shares in hindsight."
    )
