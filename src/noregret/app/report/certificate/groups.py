"""Certificates of games with one learner per group, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from noregret.app.report.certificate.verdict import (
    Trivial,
    Verdict,
    least_trivial,
    no_theorem,
    verdict_on,
)
from noregret.base.numbers import clean, count, figure
from noregret.proof.certificates.certificate import Promise
from noregret.proof.theorems.registry import theorems_of

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.certificates.groups import BestPerKey, Grouped


def verdict_of_groups(
    certificate: Certificate, grouped: Grouped, trivial: Trivial | None
) -> Verdict:
    """Return the verdict on the promise of a theorem, summed over the groups."""
    promise = promise_of(certificate, grouped)
    if promise is None:
        return no_theorem(certificate)
    groups = count(grouped.keys, "group")
    if promise.bound is not None:
        said = verdict_on(promise, least_trivial(certificate, promise, trivial))
        return said._replace(words=f"{said.words} These are sums over {groups}.")
    kept = 0 if grouped.theorem is None else grouped.theorem.keys
    words = (
        f"The theorem's assumptions held for {kept:,} of {groups}, and a bound needs all of them."
    )
    if grouped.hindsight.reached < grouped.keys:
        words = (
            f"Time ran out after {grouped.hindsight.reached:,} of {groups}: --look-back 60s, or"
            " certificate(limits=Limits(seconds=…)), takes longer."
        )
    elif grouped.hindsight.seconds is not None:
        words = (
            f"There was no time to check the theorem's assumptions for all of {groups}: --look-back"
            " 60s, or certificate(limits=Limits(seconds=…)), takes longer."
        )
    plain = promise.wording.plain if promise.wording else ""
    return Verdict("open", "NO BOUND IS CLAIMED", words, clean(promise.name), plain)


def promise_of(certificate: Certificate, grouped: Grouped) -> Promise | None:
    """Return the promise, summed over the groups, as one of a plain certificate."""
    said = grouped.theorem
    if said is None:
        return None
    known = theorems_of(certificate.learner, certificate.family).get(said.name)
    wording = None if known is None else known.wording
    return Promise(said.name, said.quantity, said.measured, said.bound, said.holds, (), wording)


def facts_of_groups(grouped: Grouped) -> Iterator[tuple[str, str, str]]:
    """Yield the figures about the best predictor of each group."""
    best = grouped.hindsight
    columns = ", ".join(map(clean, grouped.columns))
    of = f" by {columns}" if columns else ""
    digest = grouped.digest.partition(":")[2][:12]
    yield "groups", figure(grouped.keys), f"each with a learner of its own{of}; digest {digest}…"
    words = f"the best of each group in hindsight ({clean(best.comparator)}), summed; {known(best)}"
    yield "per group", figure(best.loss), words
    lower, upper = grouped.regret.lower, grouped.regret.upper
    shown = figure(upper)
    if not math.isfinite(upper):
        shown = f"at least {figure(lower)}"
    elif figure(lower) != shown:
        shown = f"{figure(lower)} to {shown}"
    yield "regret", shown, "loss minus that of the best of each group"


def known(best: BestPerKey) -> str:
    """Say how precisely the best loss per group is known."""
    if best.exact or best.gap <= 1e-5 * abs(best.loss):
        return "proven"
    least = figure(best.loss - best.gap) if math.isfinite(best.gap) else "any loss"
    after = "" if best.seconds is None else f"; {best.reached:,} groups were searched in time"
    return f"proven: no choice has less than {least}{after}"
