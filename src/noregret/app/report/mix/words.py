"""What a mix comes to, in words and a few numbers: the same for the page and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from noregret.app.report.mix.experts import (
    LISTED,
    STRANGE,
    asleep_words,
    best_asleep,
    best_own,
    loss_words,
    strange,
)
from noregret.app.report.mix.verdicts import group_words
from noregret.app.report.run.words import against, known, promise_words, sources
from noregret.base.numbers import brief, clean, count, name_of, part_of_bound
from noregret.hindsight.experts import BEST, MIXTURES
from noregret.streams.options import CORRECTED

if TYPE_CHECKING:
    from noregret.app.results.mix import Expert, MixResult


class Line(NamedTuple):
    """A line of the comparison.

    Parameters
    ----------
    kind
        What it is: a class of the page's style sheet.
    label, name
        In words; and whose it is, where that is an expert.
    mean
        The mean loss.
    rmse
        Its root, for the square loss.
    ratio
        How it compares with the uniform average: by the root for the square loss.
    """

    kind: str
    label: str
    name: str
    mean: float
    rmse: float | None
    ratio: float | None


def lines(result: MixResult) -> Iterator[Line]:
    """Yield the mixture, and what to compare it with."""
    best, corrected = result.best, expert_called(result, CORRECTED)
    awake = result.best_awake if best and not result.mostly_awake(best) else None
    found: list[tuple[str, str, str, float | None]] = [
        ("mixture", "mixture", "", result.total),
        ("best", "best expert", best.name if best else "", best.total if best else None),
        ("awake", "best mostly awake", awake.name if awake else "", awake.total if awake else None),
        ("average", "uniform average", "", result.average),
        ("median", "median", "", result.median),
        (CORRECTED, CORRECTED, "", corrected.total if corrected else None),
        ("convex", "best weights", "", result.convex.total if result.convex else None),
    ]
    for kind, label, name, total in found:
        if total is not None and known(total) is not None:
            yield line_of(result, kind, label, name, total)


def line_of(result: MixResult, kind: str, label: str, name: str, total: float) -> Line:
    """Return a line for a cumulative loss."""
    mean = total / result.rows
    rmse = math.sqrt(max(0.0, mean)) if result.loss == "square" else None
    return Line(kind, label, name, mean, rmse, ratio_of(result, total))


def ratio_of(result: MixResult, total: float) -> float | None:
    """Return a cumulative loss over that of the uniform average, of their roots if squares."""
    if not result.average or not result.average > 0:
        return None
    ratio = total / result.average
    return math.sqrt(max(0.0, ratio)) if result.loss == "square" else ratio


def expert_called(result: MixResult, name: str) -> Expert | None:
    """Return an expert that was made of the others."""
    return next((one for one in result.experts if one.added and one.name == name), None)


def title(result: MixResult) -> str:
    """Say what was mixed."""
    target = f" → {name_of(result.target)}" if result.target else ""
    return f"{name_of(result.name)} on {sources(result.sources)}{target}"


def company(result: MixResult) -> str:
    """Say who was mixed."""
    own = sum(not expert.added for expert in result.experts)
    plain = [one.name for one in result.experts if one.added and one.name != CORRECTED]
    told = [count(own, "expert")]
    if plain:
        told.append(f"{'its' if own == 1 else 'their'} {listed(plain)}")
    if expert_called(result, CORRECTED) is not None:
        told.append("a corrected forecast")
    series = f"; {len(result.groups):,} series" if result.groups else ""
    return joined(told) + series


def joined(parts: list[str]) -> str:
    """Join parts of a sentence, of which some may have an "and" of their own.

    >>> joined(["2 experts", "their average and median", "a corrected forecast"])
    '2 experts, their average and median, and a corrected forecast'
    >>> joined(["2 experts", "their average"])
    '2 experts and their average'
    """
    return " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])}, and {parts[-1]}"


def listed(names: list[str]) -> str:
    """Name several things.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    shown = [name_of(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def some(names: list[str]) -> str:
    """Name a few of many."""
    if len(names) <= LISTED + 1:
        return listed(names)
    return f"{', '.join(map(name_of, names[:LISTED]))} and {len(names) - LISTED:,} more"


def regret_words(result: MixResult) -> tuple[str, str] | None:
    """Return the regret, and to whom it is."""
    if result.certificate is not None:
        certificate = result.certificate
        lower, upper = certificate.regret.lower, certificate.regret.upper
        what = f"total loss minus that of {comparator_of(result)}{whose(result)}"
        if not math.isfinite(upper):
            return f"≥ {brief(lower)}", what
        return brief(upper), f"{what}; {brief(upper / result.rows)} per round"
    if result.regret is None:
        return None
    whom = "total loss minus that of the best expert" + (
        " of each series" if result.groups else whose(result)
    )
    return brief(result.regret), f"{whom}; {brief(result.regret / result.rows)} per round"


def comparator_of(result: MixResult) -> str:
    """Say with what the certificate compares."""
    if result.certificate is None:
        return BEST
    stated = clean(result.certificate.hindsight.comparator)
    short = {MIXTURES: "the best fixed weights"}
    if stated.startswith("sequences"):
        return f"the best of all {stated}"
    return short.get(stated, stated)


def whose(result: MixResult) -> str:
    """Name the best expert where it is none of those that the table had."""
    least = result.least
    if result.groups or least is None or not least.added or comparator_of(result) != BEST:
        return ""
    return f" of all ({least.name})"


def bound_words(result: MixResult) -> tuple[str, str] | None:
    """Return the bound, and how much of it is used."""
    promise = None if result.certificate is None else result.certificate.theorem
    if promise is not None and promise.bound is not None:
        return brief(promise.bound), used(promise.tightness)
    if result.certificate is None and result.bound is not None and result.regret is not None:
        share = result.regret / result.bound if result.bound > 0 else None
        return brief(result.bound), used(share)
    return None


def used(share: float | None) -> str:
    """Say how much of a bound is used."""
    part = part_of_bound(share)
    return f"limit on the regret; {part} of it is used" if part else "limit on the regret"


def notes(result: MixResult) -> Iterator[tuple[str, str]]:
    """Yield what else there is to say, each with what it is about."""
    if words := asleep_words(result):
        yield "asleep", words
    if result.best is not None:
        told = list(filter(None, (best_asleep(result), best_own(result))))
        if told:
            yield "best expert", f"{name_of(result.best.name)}: {'; '.join(told)}"
    if result.left_out:
        yield "left out", f"{some(list(result.left_out))}: no numbers"
    if result.open_rows:
        rows = count(result.open_rows, "row")
        yield "open", f"{rows} without an outcome: forecast, not learned from"
    if names := strange(result):
        dropped = ",".join(names[:LISTED])
        yield (
            "strange",
            f"{some(names)}: errors over {STRANGE} times those of a typical expert. No forecast?"
            f" --drop {dropped}",
        )


def sentence(result: MixResult) -> str:
    """Say how it went in one plain sentence or two."""
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
    return told + (group_words(result) if result.groups else promise_words(result))
