"""Refuse a certificate that is not about the tournament that is to confirm it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noregret.base.numbers import clean, name_of
from noregret.base.params import plain_params
from noregret.errors import CertificateError
from noregret.hindsight.experts import BEST, MIXTURES
from noregret.proof.verifying.replay import rebuilt
from noregret.streams.options import ASLEEP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from noregret.experts.ensemble import Experts
    from noregret.proof.certificates.certificate import Certificate

FAMILY = "experts"
# How the table of forecasts is read.
TRANSFORMS = (f"missing={ASLEEP}",)
# Names in a message.
MAX_LISTED = 6


def check_is_of(stated: Certificate, experts: Experts, target: str, file: str | None) -> None:
    """Refuse a certificate of another game than that of a tournament's forecasts.

    The certificate names the target, the master and the columns that are left out: verifying it
    would play that game instead. With those of the tournament, all columns but the target are its
    learners.
    """
    if found := list(differences(stated, experts, target)):
        raise CertificateError(
            f"NOT CONFIRMED: it is not a certificate of this tournament: {'; '.join(found)}",
            "give the certificate that the same tournament wrote",
            file=file,
        )


def differences(stated: Certificate, experts: Experts, target: str) -> Iterator[str]:
    """Yield what differs."""
    if stated.family != FAMILY:
        yield f"it is about {clean(stated.learner)}, which does not mix forecasts"
        return
    if stated.data.target != target:
        yield f"its target is {named(stated.data.target)}, here {named(target)}"
    if stated.groups is not None or stated.shards or stated.averaged or stated.start is not None:
        yield "it is not about one new master that mixes all rows"
        return
    names, best = list(experts.members), stated.hindsight
    # Witnesses of other classes are not named after the experts.
    theirs = list(best.witness) if best.comparator in (BEST, MIXTURES) else []
    if stated.data.features != len(names):
        said = f" ({listed(theirs)})" if theirs else ""
        yield (
            f"it is about {stated.data.features:,} experts{said}, here {len(names):,}"
            f" ({listed(names)})"
        )
    elif theirs and {*theirs} != {*names}:
        yield f"its experts are {listed(theirs)}, here {listed(names)}"
    yield from of_master(stated, experts)
    if stated.data.transforms != TRANSFORMS:
        said = ", ".join(map(clean, stated.data.transforms)) or "no options"
        yield f"its forecasts were read with {said}, here with {', '.join(TRANSFORMS)}"


def of_master(stated: Certificate, experts: Experts) -> Iterator[str]:
    """Yield how the masters differ."""
    if stated.learner != experts.master.name:
        yield f"its master is {clean(stated.learner)}, here {experts.master.name}"
        return
    theirs, own = plain_params(rebuilt(stated, None)), plain_params(experts.master)
    for name, value in own.items():
        if theirs.get(name) != value:
            yield f"{name} of its master is {shown(theirs.get(name))}, here {shown(value)}"


def named(target: str | None) -> str:
    """Return a name, or that there is none."""
    return "not named" if target is None else name_of(target)


def listed(names: Iterable[str]) -> str:
    """List the first of many names."""
    found = [name_of(name) for name in names]
    more = f" and {len(found) - MAX_LISTED:,} more" if len(found) > MAX_LISTED else ""
    return ", ".join(found[:MAX_LISTED]) + more


def shown(value: Any) -> str:
    """Return a parameter as text."""
    return "none" if value is None else clean(str(value))
