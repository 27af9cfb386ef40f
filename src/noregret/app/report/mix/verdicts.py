"""What to make of the certificates of many series that are mixed, each on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.certificate.verdict import Verdict, verdict_of

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult


def group_words(result: MixResult) -> str:
    """Say in how many series promises were kept, and why none is made in others."""
    return " ".join(f"{told.headline.capitalize()}. {told.words}" for told in verdicts(result))


def verdicts(result: MixResult) -> list[Verdict]:
    """Return what to make of the certificates of the series, those alike together.

    The reason is the first one's, with in how many series it is the same.
    """
    found: dict[str, list[tuple[str, Verdict]]] = {}
    for certificate in result.group_certificates:
        said, promise = verdict_of(certificate), certificate.theorem
        failed = None if promise is None else promise.failed
        found.setdefault(said.headline, []).append((failed.name if failed else "", said))
    made = []
    for headline, each in found.items():
        reason, first = each[0]
        counted = f"{headline} in {len(each):,} of {len(result.groups):,} series"
        alike = sum(other == reason for other, _ in each)
        why = "" if first.mood == "good" else first.words
        if why and reason and alike < len(each):
            why += f" So it is in {alike:,} of them."
        made.append(first._replace(headline=counted, words=why))
    return made
