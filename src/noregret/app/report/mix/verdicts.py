"""The verdicts on the certificates of many series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.certificate.verdict import VACUOUS, Trivial, Verdict, verdict_of

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult


# The loss that a bound must not exceed to say something.
AVERAGE_LOSS = "the total loss of the average"


def group_words(result: MixResult) -> str:
    """Say in how many series the bound held, and why none is claimed in others."""
    return " ".join(f"{told.headline.capitalize()}. {told.words}" for told in verdicts(result))


def verdicts(result: MixResult) -> list[Verdict]:
    """Return the verdicts on the certificates of the series, grouped by headline.

    The reason given is that of the first, with the number of series that share it.
    """
    found: dict[str, list[tuple[str, Verdict]]] = {}
    averages: list[Trivial | None] = [Trivial(one.average, AVERAGE_LOSS) for one in result.groups]
    if len(averages) != len(result.group_certificates):  # some series have none
        averages = [None] * len(result.group_certificates)
    for certificate, trivial in zip(result.group_certificates, averages, strict=True):
        said, promise = verdict_of(certificate, trivial), certificate.theorem
        failed = None if promise is None else promise.failed
        found.setdefault(said.headline, []).append((failed.name if failed else "", said))
    made = []
    for headline, each in found.items():
        reason, first = each[0]
        counted = f"{headline} in {len(each):,} of {len(result.groups):,} series"
        alike = sum(other == reason for other, _ in each)
        why = "" if first.mood == "good" else first.words
        if headline == VACUOUS:
            why = (
                f"The bound is larger than the total loss itself or {AVERAGE_LOSS}, so it says"
                " nothing about these series."
            )
        if why and reason and alike < len(each):
            why += f" The same holds for {alike:,} of them."
        made.append(first._replace(headline=counted, words=why))
    return made
