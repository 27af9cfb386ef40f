"""What to make of a certificate: whether a promise was kept, or why none is claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from noregret.base.numbers import clean, figure, part_of_bound

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate, Promise
    from noregret.proof.theorems.assumptions import Finding

Mood = Literal["good", "bad", "open"]


class Verdict(NamedTuple):
    """The one thing to remember.

    Parameters
    ----------
    mood
        ``good`` where a promise was kept, ``bad`` where it was broken, else ``open``.
    headline
        In a few words.
    words
        Why.
    theorem, promise
        The theorem's name and its promise in one line; empty where there is none.
    share
        Measured over bound.
    """

    mood: Mood
    headline: str
    words: str
    theorem: str = ""
    promise: str = ""
    share: float | None = None


def verdict_of(certificate: Certificate) -> Verdict:
    """Say what to make of a certificate."""
    promise = certificate.theorem
    if promise is None:
        return Verdict(
            "open",
            "NO THEOREM",
            f"No theorem covers {clean(certificate.learner)} with these parameters, so nothing was"
            f" promised. {which_would(certificate.learner, certificate.family)}",
        )
    return verdict_on(promise)


def verdict_on(promise: Promise) -> Verdict:
    """Say what to make of one of its promises."""
    plain = promise.wording.plain if promise.wording else ""
    return Verdict(*judged(promise), clean(promise.name), plain, promise.tightness)


def which_would(learner: str, family: str) -> str:
    """Say which parameters a theorem would cover."""
    from noregret.base.registry import find
    from noregret.proof.theorems.tuning import takes_of

    unknown = "‘noregret theorems’ lists what is proven."
    try:
        kind = find(learner, family)
    except ValueError:
        return unknown
    if kind.unproven:
        return str(kind.unproven)
    first = next((theorem for theorem in kind.theorems if theorem.tune is not None), None)
    if first is None:
        return unknown
    return (
        f"{kind.__name__}.tuned({takes_of(first)}) chooses some that one covers;"
        f" ‘noregret theorems {first.name}’ explains it."
    )


def judged(promise: Promise) -> tuple[Mood, str, str]:
    """Return mood, headline and reason."""
    what = subject(promise)
    if promise.bound is None:
        return "open", "NO BOUND IS CLAIMED", why_not(promise)
    most = figure(promise.bound)
    if promise.measured is None:
        return unmeasured(promise, what, most)
    shown = f"{what.capitalize()} is {figure(promise.measured)}; the theorem allows {most}"
    if promise.holds is None:
        return "open", "UNDECIDED", f"{shown}. {why_undecided(promise)}"
    if promise.holds:
        part = part_of_bound(promise.tightness)
        used = f": {part} of the bound" if part else ""
        return "good", "PROMISE KEPT", f"{shown}{used}."
    if promise.wording is not None and promise.wording.likely:
        return (
            "open",
            "BOUND EXCEEDED, AS MAY HAPPEN",
            f"{shown}. The theorem leaves a small chance for that, which luck has used here.",
        )
    return (
        "bad",
        "BOUND EXCEEDED: THIS IS A BUG",
        f"{shown}, and every assumption held. A theorem cannot fail, so noregret has a bug: please"
        " report it, with this certificate and the data.",
    )


def why_undecided(promise: Promise) -> str:
    """Return why a figure may be within its bound or not."""
    from noregret.proof.theorems.theorem import REGRETS

    if promise.quantity in REGRETS:
        return (
            "The interval of hindsight is too wide to tell whether the promise was kept:"
            " certificate(limits=Limits(tolerance=…)) narrows it."
        )
    return (
        "They differ by less than the rounding of scores: subtract large offsets from the"
        " columns, or scale them."
    )


def unmeasured(promise: Promise, what: str, most: str) -> tuple[Mood, str, str]:
    """Return the same where there is nothing to hold against the bound."""
    if promise.quantity == "risk":
        return (
            "open",
            f"RISK AT MOST {most}",
            f"The theorem bounds {what} by {most}, if what it takes on trust is true. Data that"
            " were learned from cannot show the risk itself, so there is nothing to compare with.",
        )
    if promise.quantity == "expected risk":
        return (
            "open",
            f"MEAN RISK AT MOST THE MEAN OF {most}",
            f"The theorem bounds {what}, by the mean of a figure that is {most} here. One sample"
            " says nothing certain of either mean.",
        )
    return (
        "open",
        "UNDECIDED",
        f"The theorem bounds {what} by {most}. That is an expectation, and what was played does"
        " not tell it closely enough to compare.",
    )


def subject(promise: Promise) -> str:
    """Name what the theorem bounds."""
    from noregret.proof.theorems.theorem import QUANTITIES

    if promise.wording is not None:
        return promise.wording.about
    return QUANTITIES.get(promise.quantity, f"the {clean(promise.quantity)}")


def why_not(promise: Promise) -> str:
    """Say why no bound is claimed."""
    failed = promise.failed
    others = sum(found.holds is False for found in promise.assumptions) - 1
    if failed is not None:
        first, measured = failed.first_violation, failed.measured
        found = [] if measured is None else [f"measured {figure(measured)}"]
        found += [] if first is None else [f"first in round {first:,}"]
        where = f" ({', '.join(found)})" if found else ""
        more = f" Nor did {others} more of what it assumes." if others else ""
        said = f"The theorem assumes ‘{clean(failed.name)}’, which did not hold{where}.{more}"
        return f"{said} {remedy_of(promise, failed)}".rstrip()
    unclear = next((a for a in promise.assumptions if is_unclear(a)), None)
    if unclear is not None:
        return f"Whether ‘{clean(unclear.name)}’ held, as the theorem assumes, could not be proven."
    if promise.quantity == "risk":
        return (
            f"The theorem bounds {subject(promise)} by what predictors risk there, which data that"
            " were learned from cannot show."
        )
    return "This theorem is a warning: it says how badly things can go, and promises nothing."


def remedy_of(promise: Promise, failed: Finding) -> str:
    """Say what to do about an assumption that failed; empty where there is nothing to say."""
    from noregret.proof.theorems.assumptions import UNTRAINED

    remedies = promise.wording.remedies if promise.wording else ()
    own = [found for found in promise.assumptions if found.name != UNTRAINED]
    pairs = zip(remedies, own, strict=False)
    return next((remedy for remedy, found in pairs if found is failed), "")


def is_unclear(found: Finding) -> bool:
    """Whether an assumption was measured, and still it is not known whether it held."""
    return found.holds is None and found.measured is not None
