"""The verdict of a certificate: whether the bound held, or why none is claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from noregret.base.numbers import brief, clean, count, figure, part_of_bound

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate, Promise
    from noregret.proof.theorems.assumptions import Finding

# The headline for a bound that holds, but exceeds the loss of a trivial predictor.
VACUOUS = "BOUND HOLDS, BUT SAYS NOTHING HERE"
KEPT, EXCEEDED = "PROMISE KEPT", "BOUND EXCEEDED: THIS IS A BUG"
Mood = Literal["good", "bad", "open", "poor", "neutral"]
# Losses that are never negative, so that no regret exceeds the loss itself.
NONNEGATIVE = {
    *("square", "absolute", "quantile", "huber", "epsilon-insensitive"),
    *("squared-epsilon-insensitive", "hinge", "squared-hinge", "mistake", "logistic", "log"),
    *("softmax", "multiclass-hinge", "multiclass-mistake", "zero-one", "missed reward"),
}


class Verdict(NamedTuple):
    """A verdict.

    Parameters
    ----------
    mood
        ``good`` if the bound held and is informative, ``neutral`` if it held and is not, ``bad`` if
        it did not hold, else ``open``. ``poor`` is a result no better than a plain alternative.
    headline
        The verdict in a few words.
    words
        The reason.
    theorem, promise
        The theorem's name and its promise in one line; empty if there is none.
    share
        The measured value divided by the bound.
    """

    mood: Mood
    headline: str
    words: str
    theorem: str = ""
    promise: str = ""
    share: float | None = None


class Trivial(NamedTuple):
    """The loss of predictions that take no learning, and its name."""

    loss: float
    words: str


def verdict_of(certificate: Certificate, trivial: Trivial | None = None) -> Verdict:
    """Return the verdict of a certificate; a bound above a trivial loss is no achievement."""
    if certificate.groups is not None:
        from noregret.app.report.certificate.groups import verdict_of_groups

        return verdict_of_groups(certificate, certificate.groups, trivial)
    promise = certificate.theorem
    if promise is None:
        return no_theorem(certificate)
    found = verdict_on(promise, least_trivial(certificate, promise, trivial))
    return found._replace(words=f"{found.words} {two_regrets(certificate)}".rstrip())


def least_trivial(
    certificate: Certificate, promise: Promise, trivial: Trivial | None = None
) -> Trivial | None:
    """Return the smallest limit that needs no theorem: a given one, or one of the certificate.

    Losses are not negative, so that a regret cannot exceed the loss itself; and mistakes cannot
    exceed the rounds.
    """
    found = [] if trivial is None else [trivial]
    loss = certificate.loss.name.removeprefix("expected ")
    if promise.quantity in ("mistakes", "corrections"):
        found.append(Trivial(certificate.data.rounds, "the number of rounds"))
    elif "regret" in promise.quantity and loss in NONNEGATIVE:
        found.append(Trivial(certificate.loss.total, "the total loss itself"))
    return min(found, key=lambda one: one.loss, default=None)


def two_regrets(certificate: Certificate) -> str:
    """Explain a regret above the bound of a promise that was kept; empty where there is none."""
    promise = certificate.theorem
    if promise is None or promise.bound is None or not promise.holds:
        return ""
    if "regret" not in promise.quantity or certificate.regret.upper <= promise.bound:
        return ""
    members = quantity_of(promise) == "regret to the best member"
    other = "the best of the learners that it combines" if members else "fewer predictors"
    return (
        f"The regret of {brief(certificate.regret.upper)} is larger and breaks no promise: it"
        f" compares with the best fixed model fitted to all rows at once, the promise with {other}."
    )


def no_theorem(certificate: Certificate) -> Verdict:
    """Return the verdict where no theorem covers the learner."""
    if certificate.shards:
        return Verdict(
            "open",
            "NO THEOREM",
            f"No theorem about shards is known for {clean(certificate.learner)} with these"
            " parameters, so no bound is claimed; loss and regret are as computed.",
        )
    return Verdict(
        "open",
        "NO THEOREM",
        f"No theorem covers {clean(certificate.learner)} with these parameters, so no bound is"
        f" claimed. {which_would(certificate.learner, certificate.family)}",
    )


def verdict_on(promise: Promise, trivial: Trivial | None = None) -> Verdict:
    """Return the verdict on one promise."""
    plain = promise.wording.plain if promise.wording else ""
    mood, headline, words = judged(promise)
    said = vacuous(promise.bound, trivial)
    if mood == "good" and said:
        mood, headline = "neutral", VACUOUS
        words = f"{words} The bound is {said}."
    return Verdict(mood, headline, words, clean(promise.name), plain, promise.tightness)


def which_would(learner: str, family: str) -> str:
    """Say which parameters a theorem covers."""
    from noregret.base.registry import find
    from noregret.proof.theorems.tuning import takes_of

    unknown = "‘noregret theorems’ lists all theorems."
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
        f"‘noregret theorems {first.name}’ says which are covered; in Python,"
        f" {kind.__name__}.tuned({takes_of(first)}) chooses them."
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
        return "good", KEPT, f"{shown}{used}."
    if promise.wording is not None and promise.wording.likely:
        return (
            "open",
            "BOUND EXCEEDED, AS MAY HAPPEN",
            f"{shown}. The theorem holds with high probability, so this happens now and then.",
        )
    return (
        "bad",
        EXCEEDED,
        f"{shown}, and every assumption held. A theorem cannot fail, so noregret has a bug: please"
        " report it, with this certificate and the data.",
    )


def bound_words(promise: Promise) -> str:
    """Return what is bounded, and how much of the bound is used."""
    what = subject(promise).rstrip(",")
    if quantity_of(promise) == "regret to the best member" and promise.measured is not None:
        # The regret against hindsight, shown next to it, is another one.
        if what.endswith("of its members"):
            what = "the regret against the best of the learners that it combines (its members)"
        what = f"{what}; that regret is {brief(promise.measured)} here"
        part = ""
    else:
        part = part_of_bound(promise.tightness)
    return f"{what}; {part} of it is used" if part else what


def vacuous(bound: float | None, trivial: Trivial | None) -> str:
    """Say that a bound is too large to say anything; empty if it is not."""
    if bound is None or trivial is None or bound <= trivial.loss:
        return ""
    return (
        f"larger than {trivial.words} ({brief(trivial.loss)}), so it says nothing about these data"
    )


def why_undecided(promise: Promise) -> str:
    """Return the reason why a value cannot be compared with its bound."""
    from noregret.proof.theorems.theorem import REGRETS

    if promise.quantity in REGRETS:
        return (
            "The best loss in hindsight is not known precisely enough to tell whether the bound"
            " holds: --look-back 60s, or certificate(limits=Limits(seconds=…)), narrows it down."
        )
    return (
        "They differ by less than the rounding error of the scores: subtract large offsets from"
        " the columns, or scale them."
    )


def unmeasured(promise: Promise, what: str, most: str) -> tuple[Mood, str, str]:
    """Return mood, headline and reason where nothing can be compared with the bound."""
    if promise.quantity == "risk":
        return (
            "open",
            f"RISK AT MOST {most}",
            f"The theorem bounds {what} by {most}, provided the assumptions taken on trust are"
            " true. Training data cannot show the risk itself, so there is nothing to compare.",
        )
    if promise.quantity == "expected risk":
        return (
            "open",
            f"MEAN RISK AT MOST THE MEAN OF {most}",
            f"The theorem bounds {what}, by the mean of a quantity that is {most} here. One sample"
            " proves nothing about either mean.",
        )
    return (
        "open",
        "UNDECIDED",
        f"The theorem bounds {what} by {most}. That is an expectation, and this game does not"
        " determine it precisely enough to compare.",
    )


def subject(promise: Promise) -> str:
    """Return the name of the bounded quantity."""
    from noregret.proof.theorems.theorem import QUANTITIES

    if promise.wording is not None:
        return promise.wording.about
    name = quantity_of(promise)
    return QUANTITIES.get(name, f"the {clean(name)}")


def quantity_of(promise: Promise) -> str:
    """Return the present name of the bounded quantity."""
    from noregret.proof.theorems.theorem import OLD_QUANTITIES

    return OLD_QUANTITIES.get(promise.quantity, promise.quantity)


def why_not(promise: Promise) -> str:
    """Say why no bound is claimed."""
    failed = promise.failed
    others = sum(found.holds is False for found in promise.assumptions) - 1
    if failed is not None:
        first, measured = failed.first_violation, failed.measured
        found = [] if measured is None else [f"measured {figure(measured)}"]
        found += [] if first is None else [f"first in round {first:,}"]
        where = f" ({', '.join(found)})" if found else ""
        more = f" {count(others, 'more assumption')} did not hold either." if others else ""
        said = f"The theorem assumes ‘{clean(failed.name)}’, which did not hold{where}.{more}"
        return f"{said} {remedy_of(promise, failed)}".rstrip()
    unclear = next((a for a in promise.assumptions if is_unclear(a)), None)
    if unclear is not None:
        name = clean(unclear.name)
        return f"The theorem assumes ‘{name}’, which could be neither shown nor refuted."
    if promise.quantity == "risk":
        return (
            f"The theorem bounds {subject(promise)} by the risks of predictors, which training data"
            " cannot show."
        )
    return "This theorem is a warning: it shows how badly things can go, and promises nothing."


def remedy_of(promise: Promise, failed: Finding) -> str:
    """Return the remedy for an assumption that failed; empty if there is none."""
    from noregret.proof.theorems.assumptions import UNTRAINED

    remedies = promise.wording.remedies if promise.wording else ()
    own = [found for found in promise.assumptions if found.name != UNTRAINED]
    pairs = zip(remedies, own, strict=False)
    return next((remedy for remedy, found in pairs if found is failed), "")


def is_unclear(found: Finding) -> bool:
    """Return whether an assumption was measured but neither shown nor refuted."""
    return found.holds is None and found.measured is not None
