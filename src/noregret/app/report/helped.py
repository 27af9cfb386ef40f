"""The first line of every summary: a comparison with the plain alternative."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from noregret.app.report.certificate.verdict import KEPT, Mood, Verdict
from noregret.base.numbers import count

HELPED, SAME, WORSE = "HELPED", "NO DIFFERENCE", "DID NOT HELP"
UNKNOWN, HOLDS = "NOTHING TO COMPARE", "BOUND HOLDS"
# Ratios nearer to 1 are called no difference.
CLOSE = 1e-3
# With fewer rounds, a difference is chance.
MIN_ROUNDS = 10


class Plain(NamedTuple):
    """A comparison with an alternative that takes no learning.

    Parameters
    ----------
    ratio
        The error divided by that of the alternative; below 1, the result is better.
    words
        The comparison in words.
    """

    ratio: float
    words: str


def helped(found: Iterable[Plain], rounds: int | None = None) -> Verdict | None:
    """Return whether a result is better than every alternative; None if there is none.

    One that is no better than some alternative did not help, whatever the others. ``rounds`` are
    those that were compared, if they are counted: few of them show nothing.

    >>> helped([Plain(0.5, "50% less error than the mean"), Plain(2.0, "twice the last value's")])
    Verdict(mood='poor', headline='DID NOT HELP', words="Twice the last value's, but 50% less error\
 than the mean.", theorem='', promise='', share=None)
    >>> helped([Plain(0.5, "50% less error than the mean")], rounds=2).headline
    'NOTHING TO COMPARE'
    """
    compared = list(found)
    if not compared:
        return None
    if rounds is not None and rounds < MIN_ROUNDS:
        return unknown(f"{count(rounds, 'round')}: too few to tell whether it helps.")
    better = [one for one in compared if one.ratio < 1 - CLOSE]
    worse = [one for one in compared if one.ratio > 1 + CLOSE]
    same = [one for one in compared if one not in better and one not in worse]
    mood: Mood
    headline, mood, told, but = HELPED, "good", better, list[Plain]()
    if worse:
        headline, mood, told, but = WORSE, "poor", worse, [*same, *better]
    elif same:
        headline, mood, told, but = SAME, "neutral", same, better
    words = ", and ".join(one.words for one in told)
    if but:
        words += f", but {', and '.join(one.words for one in but)}"
    if not words.startswith("e^"):  # wealth too large to be written out
        words = f"{words[:1].upper()}{words[1:]}"
    return Verdict(mood, headline, f"{words}.")


def unknown(why: str) -> Verdict:
    """Return that a result cannot be compared with an alternative, with the reason."""
    return Verdict("neutral", UNKNOWN, why)


def beneath(lead: Verdict | None, said: Verdict) -> Verdict:
    """Return the verdict on a theorem as it stands under the lead: praise only where it helped.

    >>> kept = Verdict("good", "PROMISE KEPT", "The regret is 1; the theorem allows 2.")
    >>> beneath(helped([Plain(0.5, "half the error")]), kept).headline
    'PROMISE KEPT'
    >>> beneath(helped([Plain(2.0, "twice the error")]), kept)[:2]
    ('neutral', 'BOUND HOLDS')
    """
    if said.mood != "good" or (lead is not None and lead.mood == "good"):
        return said
    headline = said.headline.replace(KEPT, HOLDS)
    return said._replace(mood="neutral", headline=headline)


def ratio(mine: float, other: float) -> float:
    """Divide two errors, of which the other one may be 0.

    >>> ratio(1.0, 4.0), ratio(0.0, 0.0), ratio(1.0, 0.0)
    (0.25, 1.0, inf)
    """
    if other > 0:
        return mine / other
    return 1.0 if mine == other else math.inf if mine > other else 0.0
