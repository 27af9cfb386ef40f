"""The contents of a certificate in words, shared by the terminal and the notebook."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from noregret.app.report.certificate.verdict import (
    Verdict,
    least_trivial,
    verdict_of,
    verdict_on,
)
from noregret.base.numbers import brief, clean, count, figure, name_of, percent
from noregret.limits import INTERCEPT
from noregret.proof.certificates.certificate import LINEAR

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Best, Certificate
    from noregret.proof.theorems.assumptions import Finding

# Digits of the digest that are shown.
DIGITS = 12
# Weights of the best fixed predictor that are shown.
HEAVIEST = 5
# Weights smaller than this share of the largest are rounding errors.
DUST = 1e-9
# The class of linear predictors up to some norm, in a file.
BALL = "ball of radius"
# Intervals narrower than this share of their ends are shown as one number.
NARROW = 1e-5
# A regret of more than this many times the best loss is given as a number only.
MAX_SHARE = 1e5


class Fact(NamedTuple):
    """A figure: its label, the number, and an explanation."""

    label: str
    figure: str
    words: str


class Assumed(NamedTuple):
    """An assumption: its name, the measured value, the limit, and whether it held."""

    name: str
    measured: str
    limit: str
    held: str
    good: bool | None


class Said(NamedTuple):
    """The verdict on a promise, and its assumptions."""

    verdict: Verdict
    assumptions: list[Assumed]


class Sheet(NamedTuple):
    """Everything shown of a certificate."""

    learner: str
    params: str
    facts: list[Fact]
    verdict: Verdict
    assumptions: list[Assumed]
    weights: list[tuple[str, float]]
    weights_title: str
    further: list[Said]


def sheet_of(certificate: Certificate) -> Sheet:
    """Put a certificate into words."""
    params = certificate.params.items()
    theorem, witness = certificate.theorem, certificate.hindsight.witness
    largest = max((abs(weight) for weight in witness.values()), default=0.0)
    weights = [item for item in witness.items() if abs(item[1]) > DUST * largest]
    heaviest = sorted(weights, key=by_weight)[:HEAVIEST]
    name = f"averaged({certificate.learner})" if certificate.averaged else certificate.learner
    if certificate.shards:
        name = f"{certificate.shards:,} shards of {name}"
    return Sheet(
        clean(name),
        ", ".join(f"{clean(key)} = {told(value)}" for key, value in params if value is not None),
        list(facts(certificate)),
        verdict_of(certificate),
        [assumed(found) for found in theorem.assumptions] if theorem else [],
        [(name_of(name), weight) for name, weight in heaviest],
        title_of(len(heaviest), len(weights), len(witness)),
        [
            Said(
                verdict_on(promise, least_trivial(certificate, promise)),
                [assumed(found) for found in promise.assumptions],
            )
            for promise in certificate.further
        ],
    )


def by_weight(item: tuple[str, float]) -> tuple[float, str]:
    """Return the key that sorts by size, and by name where the shown digits are equal."""
    return -float(f"{abs(item[1]):.6g}"), item[0]


def title_of(shown: int, weights: int, features: int) -> str:
    """Return the title of the weights, saying what the others are."""
    if shown < weights:
        more = f", and {weights - shown:,} more in the file"
    else:
        more = "; all others are 0" if weights < features else ""
    return f"Largest weights of the best in hindsight{more}"


# The name of a column of the data, by family.
COLUMNS = {
    "experts": "expert",
    "bandits": "arm",
    "portfolios": "asset",
    "echo": "tap",
    "filters": "signal",
}


def told(value: object) -> str:
    """Write a parameter's value."""
    if isinstance(value, dict) and "params" in value:
        inner = (f"{clean(k)}={told(v)}" for k, v in value["params"].items() if v is not None)
        return f"{clean(str(value.get('name')))}({', '.join(inner)})"
    if isinstance(value, dict):
        return clean(str(value.get("python") or f"{value.get('loss')}({value.get('parameter')})"))
    return clean(value) if isinstance(value, str) else repr(value)


def facts(certificate: Certificate) -> Iterator[Fact]:
    """Yield the figures."""
    data, paid = certificate.data, certificate.loss
    prepared = f"; options {', '.join(map(clean, data.transforms))}" if data.transforms else ""
    target = f"; target {name_of(data.target)}" if data.target is not None else ""
    digest = data.digest.partition(":")[2][:DIGITS]
    columns = count(data.features, COLUMNS.get(certificate.family, "feature"))
    about = f"with {columns}{target}{prepared}; data digest {digest}…"
    yield Fact("rounds", figure(data.rounds), about)
    averaged = certificate.averaged or certificate.params.get("averaged")
    whose = " of the weights being averaged" if averaged else ""
    if "take" in certificate.params:  # one pass of a learner, of which something is taken
        whose = " of the weights during the pass"
    about = f"{figure(paid.mean)} per round ({loss_of(paid.name)}{whose})"
    yield Fact("loss", figure(paid.total), about)
    if paid.mistakes is not None:
        share = percent(paid.mistakes / data.rounds)
        words = f"{share} of the labels predicted wrongly{whose}"
        if any(text.startswith("classes=") for text in data.transforms):
            words += "; a class counts as known in the round in which it first appears"
        yield Fact("mistakes", figure(paid.mistakes), words)
    best, grouped = certificate.hindsight, certificate.groups
    if grouped is not None:
        from noregret.app.report.certificate.groups import facts_of_groups

        yield from map(Fact._make, facts_of_groups(grouped))
    found = "the best in hindsight" if best.gap <= NARROW * abs(best.loss) else "the best found"
    if grouped is not None:
        found += " for all groups"
    among = f"{found} ({class_words(best)}{constant(certificate)}); {how_sure(best)}"
    yield Fact("hindsight" if grouped is None else "for all", figure(best.loss), among)
    size, words = regret(certificate)
    yield Fact("regret", size, words if grouped is None else f"{words} for all groups")


def class_words(best: Best) -> str:
    """Name the class of predictors that the best in hindsight is the best of."""
    words = clean(best.comparator)
    if words.startswith(BALL):
        words = words.replace(BALL, "linear predictors of norm at most", 1)
    name, found, own = words.partition(", as long as the ")
    if not found:
        return name
    name, limit, norm = name.rpartition(" ")
    return f"{name}{limit}{shorter(norm)}, the norm of the learner's {own.replace('last', 'final')}"


def shorter(number: str) -> str:
    """Return a number of a file with fewer digits; other text as it is."""
    try:
        return brief(float(number))
    except ValueError:
        return number


def constant(certificate: Certificate) -> str:
    """Say that linear predictors have no intercept, unless the data have a constant feature."""
    if certificate.family != LINEAR or "linear predictor" not in certificate.hindsight.comparator:
        return ""
    given = {*certificate.data.transforms, *certificate.hindsight.witness}
    return "" if INTERCEPT in given else ", with no intercept unless a feature is constant"


def loss_of(name: str) -> str:
    """Name a loss."""
    return "1 for every mistake" if name == "mistake" else f"{clean(name)} loss"


def how_sure(best: Best) -> str:
    """Say how precisely the best loss in hindsight is known."""
    if best.gap == 0:
        return "exact: no predictor of this class has less loss"
    if best.exact and best.seconds is None:
        most = 10.0 ** math.ceil(math.log10(best.gap))  # machines differ in the other digits
        return f"exact up to a rounding error of {most:g}"
    if not math.isfinite(best.gap):
        return "not proven to be the best"
    if best.gap <= NARROW * abs(best.loss):
        return f"proven: no predictor of this class has a loss lower by more than {best.gap:.2g}"
    limit = "" if best.seconds is None else f"; the search was limited to {figure(best.seconds)} s"
    return f"proven: no predictor of this class has less than {figure(best.loss - best.gap)}{limit}"


def regret(certificate: Certificate) -> tuple[str, str]:
    """Return the regret and its meaning."""
    lower, upper = certificate.regret.lower, certificate.regret.upper
    if upper - lower <= NARROW * max(abs(lower), abs(certificate.loss.total)):
        return figure(upper), share_of(upper, certificate.hindsight.loss, "the best in hindsight")
    if not math.isfinite(upper):
        return f"at least {figure(lower)}", "more loss than the best in hindsight"
    how = "more" if lower >= 0 else "less" if upper <= 0 else "less or more"
    return f"{figure(lower)} to {figure(upper)}", f"{how} loss than the best in hindsight"


def share_of(regret: float, best: float, what: str) -> str:
    """Compare a loss with the best one, by their difference; as a share unless that says little.

    >>> share_of(-1.0, 8.0, "the best"), share_of(24.0, 8.0, "the best"), share_of(1.0, 0.0, "it")
    ('12.5% less loss than the best', '4 times the loss of the best', 'more loss than it')
    """
    how = "less" if regret < 0 else "more"
    if not NARROW * best <= abs(regret) < MAX_SHARE * best:
        return f"{how} loss than {what}"
    share = abs(regret) / best
    if regret > 0 and share >= 2:
        return f"{brief(1 + share)} times the loss of {what}"
    return f"{percent(share)} {how} loss than {what}"


def assumed(found: Finding) -> Assumed:
    """Return an assumption in words."""
    measured = "" if found.measured is None else figure(found.measured)
    limit = "" if found.limit is None else figure(found.limit)
    words = {True: "held", False: "NOT HELD", None: "unclear" if measured else "on trust"}
    held = words[found.holds]
    if found.holds is False and found.first_violation is not None:
        held += f", first in round {found.first_violation:,}"
    return Assumed(clean(found.name), measured, limit, held, found.holds)
