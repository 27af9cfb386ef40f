"""The result of a mix in sentences and figures, shared by the HTML page and the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from noregret.app.report.certificate.verdict import Trivial, Verdict, vacuous, verdict_of
from noregret.app.report.helped import Plain, beneath, helped, ratio, unknown
from noregret.app.report.mix.experts import (
    LISTED,
    STRANGE,
    asleep_words,
    best_asleep,
    best_own,
    loss_words,
    strange,
)
from noregret.app.report.mix.verdicts import AVERAGE_LOSS, group_words
from noregret.app.report.run.words import (
    against,
    error_against,
    promise_words,
    share_words,
    sources,
)
from noregret.app.report.run.words import judged as run_judged
from noregret.base.numbers import brief, clean, count, known, name_of, part_of_bound
from noregret.hindsight.experts import BEST, MIXTURES
from noregret.streams.options import CORRECTED

if TYPE_CHECKING:
    from noregret.app.results.mix import Expert, MixResult


# The best of the experts that have a forecast in at least half of the rounds.
FEW_GAPS = "best with few gaps"


class Line(NamedTuple):
    """A row of the comparison.

    Parameters
    ----------
    kind
        A class of the page's style sheet.
    label, name
        The label, and the expert's name if it is one.
    mean
        The mean loss.
    rmse
        Its square root, for the square loss.
    ratio
        Its ratio to the uniform average; of the RMSEs for the square loss.
    """

    kind: str
    label: str
    name: str
    mean: float
    rmse: float | None
    ratio: float | None


def lines(result: MixResult) -> Iterator[Line]:
    """Yield the rows of the comparison, the mixture first."""
    best, corrected = result.best, expert_called(result, CORRECTED)
    awake = result.best_awake if best and not result.mostly_awake(best) else None
    found: list[tuple[str, str, str, float | None]] = [
        ("mixture", "mixture", "", result.total),
        ("best", "best expert", best.name if best else "", best.total if best else None),
        (
            "awake",
            FEW_GAPS,
            awake.name if awake else "",
            awake.total if awake else None,
        ),
        ("average", "uniform average", "", result.average),
        ("median", "median", "", result.median),
        (CORRECTED, CORRECTED, "", corrected.total if corrected else None),
        ("convex", "best weights", "", result.convex.total if result.convex else None),
    ]
    for kind, label, name, total in found:
        if total is not None and known(total) is not None:
            yield line_of(result, kind, label, name, total)


def line_of(result: MixResult, kind: str, label: str, name: str, total: float) -> Line:
    """Return the row for a cumulative loss."""
    mean = total / result.rows
    rmse = math.sqrt(max(0.0, mean)) if result.loss == "square" else None
    return Line(kind, label, name, mean, rmse, ratio_of(result, total))


def ratio_of(result: MixResult, total: float) -> float | None:
    """Return the ratio of a loss to that of the uniform average; of the RMSEs for squares."""
    if not result.average or not result.average > 0:
        return None
    ratio = total / result.average
    return math.sqrt(max(0.0, ratio)) if result.loss == "square" else ratio


def expert_called(result: MixResult, name: str) -> Expert | None:
    """Return the added expert of a given name; None if there is none."""
    return next((one for one in result.experts if one.added and one.name == name), None)


def title(result: MixResult) -> str:
    """Return the title: algorithm, data and target."""
    target = f" → {name_of(result.target)}" if result.target else ""
    return f"{name_of(result.name)} on {sources(result.sources)}{target}"


def company(result: MixResult) -> str:
    """Return the number of experts and those added to them."""
    own = sum(not expert.added for expert in result.experts)
    plain = [one.name for one in result.experts if one.added and one.name != CORRECTED]
    told = [count(own, "expert")]
    if plain:
        told.append(f"{'its' if own == 1 else 'their'} {listed(plain)}")
    if expert_called(result, CORRECTED) is not None:
        told.append("a corrected forecast")
    series = f"; {len(result.groups):,} series" if result.groups else ""
    return joined(told) + series + batches(result)


def batches(result: MixResult) -> str:
    """Return the number of batches, and what waiting for their outcomes added to the loss."""
    if result.batches is None:
        return ""
    several = f"{result.batches:,} batch{'' if result.batches == 1 else 'es'}"
    return f"; {several}, which change the mean loss by {result.waited / max(1, result.rows):+.4g}"


def joined(parts: list[str]) -> str:
    """Join parts of a sentence, some of which may contain an "and".

    >>> joined(["2 experts", "their average and median", "a corrected forecast"])
    '2 experts, their average and median, and a corrected forecast'
    >>> joined(["2 experts", "their average"])
    '2 experts and their average'
    """
    return " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])}, and {parts[-1]}"


def listed(names: list[str]) -> str:
    """List names in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    shown = [name_of(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def some(names: list[str]) -> str:
    """List the first of many names in a sentence."""
    if len(names) <= LISTED + 1:
        return listed(names)
    return f"{', '.join(map(name_of, names[:LISTED]))} and {len(names) - LISTED:,} more"


def regret_words(result: MixResult) -> tuple[str, str] | None:
    """Return the regret and its definition."""
    if result.certificate is not None:
        certificate = result.certificate
        lower, upper = certificate.regret.lower, certificate.regret.upper
        what = f"total loss minus that of {comparator_of(result)}{whose(result)}"
        if not math.isfinite(upper):
            return f"≥ {brief(lower)}", what
        share = share_words(upper, certificate.hindsight.loss)
        return brief(upper), f"{what}{share}; {brief(upper / result.rows)} per round"
    if result.regret is None:
        return None
    whom = "total loss minus that of the best expert" + (
        " of each series" if result.groups else whose(result)
    )
    return brief(result.regret), f"{whom}; {brief(result.regret / result.rows)} per round"


def comparator_of(result: MixResult) -> str:
    """Return the comparator of the certificate."""
    if result.certificate is None:
        return BEST
    stated = clean(result.certificate.hindsight.comparator)
    short = {MIXTURES: "the best fixed weights"}
    if stated.startswith("sequences"):
        return f"the best of all {stated}"
    return short.get(stated, stated)


def whose(result: MixResult) -> str:
    """Return the name of the best expert if it is an added one."""
    least = result.least
    if result.groups or least is None or not least.added or comparator_of(result) != BEST:
        return ""
    return f", added ones included ({least.name})"


def bound_words(result: MixResult) -> tuple[str, str] | None:
    """Return the bound, and the share of it that is used."""
    promise = None if result.certificate is None else result.certificate.theorem
    if promise is not None and promise.bound is not None:
        return brief(promise.bound), used(promise.tightness, promise.bound, result)
    if result.certificate is None and result.bound is not None and result.regret is not None:
        share = result.regret / result.bound if result.bound > 0 else None
        return brief(result.bound), used(share, result.bound, result)
    return None


def used(share: float | None, bound: float, result: MixResult) -> str:
    """Return the share of a bound that is used, in words, or that the bound says nothing."""
    part = part_of_bound(share)
    used = f"; {part} of it is used" if part else ""
    # With a certificate, the verdict says so.
    if result.certificate is None and (said := vacuous(bound, trivial_of(result))):
        used = f"; it is {said}"
    return f"proven limit on the regret{used}"


def trivial_of(result: MixResult) -> Trivial | None:
    """Return the loss of the average, which a bound must not exceed to say something."""
    return None if result.average is None else Trivial(result.average, AVERAGE_LOSS)


def judged(result: MixResult) -> Verdict:
    """Return the verdict of the certificate, or the reason why there is none."""
    if result.certificate is None:
        return run_judged(result)
    return beneath(helped_by(result), verdict_of(result.certificate, trivial_of(result)))


def helped_by(result: MixResult) -> Verdict | None:
    """Return whether the mixture is better than the plain average, or median; None if unknown."""
    found = {line.kind: line for line in lines(result)} if result.rows else {}
    average, middle = found.get("average"), found.get("median")
    if average is None:
        return None
    mine = error_of(found["mixture"])
    compared = [against_plain(mine, error_of(average), "the plain average of the forecasts")]
    # One absurd expert spoils the average, and not the median.
    if middle is not None and error_of(middle) < error_of(average):
        compared.append(against_plain(mine, error_of(middle), "their median"))
    # Diverging learners of a tournament may spoil both before they stop.
    if result.steady is not None:
        steady = error_of(line_of(result, "steady", "", "", result.steady.total))
        compared.append(against_plain(mine, steady, result.steady.name))
    if mine == error_of(average) == 0:
        return unknown("The plain average makes no error, so nothing can be gained.")
    return helped(compared, result.rows)


def error_of(line: Line) -> float:
    """Return the RMSE of a line, or the mean of a loss that has none."""
    return line.mean if line.rmse is None else line.rmse


def against_plain(mine: float, other: float, what: str) -> Plain:
    """Return the comparison of two errors."""
    words = error_against(mine, other, what)
    return Plain(
        ratio(mine, other),
        words or f"an error of {brief(mine)}, against {brief(other)} of {what}",
    )


def notes(result: MixResult) -> Iterator[tuple[str, str]]:
    """Yield further remarks, each with its label."""
    if words := asleep_words(result):
        aside = count(result.set_aside, "forecast") if result.set_aside else ""
        yield "missing", words + (f"; {aside} set aside as absurd included" if aside else "")
    if result.best is not None:
        told = list(filter(None, (best_asleep(result), best_own(result))))
        if told:
            yield "best expert", f"{name_of(result.best.name)}: {'; '.join(told)}"
    if result.left_out:
        yield "ignored", f"{some(list(result.left_out))}: not numeric"
    if result.no_forecasts:
        why = "; ".join(f"{name_of(name)}: {each}" for name, each in result.no_forecasts.items())
        yield "left out", f"{why}. To mix them too: --all-columns"
    if result.open_rows:
        rows = count(result.open_rows, "row")
        yield "pending", f"{rows} without an outcome: forecast, not learned from"
    if result.outcomes_aside:
        outcomes = count(result.outcomes_aside, "outcome")
        yield "outcomes", f"{outcomes} far outside the others, and not foreseen: not learned from"
    if names := strange(result):
        dropped = ",".join(names)
        yield (
            "suspicious",
            f"{some(names)}: errors over {STRANGE} times those of a typical expert. If not a"
            f" forecast: --drop {dropped}",
        )


def sentence(result: MixResult) -> str:
    """Summarize the mix in one or two sentences."""
    if not result.rows:
        return "No row was learned from, so there is nothing to report."
    found = {line.kind: line for line in lines(result)}
    mine, square = found["mixture"], result.loss == "square"

    def size(line: Line | None) -> float | None:
        return None if line is None else line.rmse if square else line.mean

    what = "RMSE" if square else f"mean {loss_words(result)} loss"
    told = f"Over {count(result.rows, 'round')}, the mixture's {what} is {brief(size(mine) or 0.0)}"
    both = [against(size(mine), size(found.get("average")), "the plain average's")]
    if result.best is not None:
        slept = f" ({words})" if (words := best_asleep(result)) else ""
        rival = f"that of the best expert, {name_of(result.best.name)}{slept}"
        both.append(against(size(mine), size(found.get("best")), rival))
    compares = ", and ".join(filter(None, both))
    told += f": {compares}. " if compares else ". "
    if result.best is not None and (words := best_own(result)):
        told += f"{name_of(result.best.name)} itself: {words}. "
    return told + (
        group_words(result) if result.groups else promise_words(result, trivial_of(result))
    )
