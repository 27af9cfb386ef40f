"""A cancelled echo in a terminal: what it came to, in a screenful; and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from noregret.app.report.certificate.text import COLOURS
from noregret.app.report.echo.words import facts, judged, sound, title
from noregret.app.report.run.text import fitting, written
from noregret.base.numbers import clean
from noregret.proof.certificates.certificate import number

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult, Reduction
    from noregret.proof.certificates.certificate import Certificate


def summary(result: EchoResult) -> RenderableType:
    """Return it as Rich shows it."""
    table = fitting()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="bold", justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for fact in facts(result):
        table.add_row(Text(fact.label), Text(fact.figure), Text(fact.words))
    said = judged(result)
    why = f" (theorem {said.theorem})" if said.mood == "good" else f"  {clean(said.words)}"
    verdict = Text.assemble((said.headline, f"bold {COLOURS[said.mood]}"), why, overflow="fold")
    parts: list[RenderableType] = [Text(title(result), "bold", overflow="fold"), Text()]
    parts += [Text(sound(result), overflow="fold"), Text(), table]
    if result.notes:
        parts += [Text(), *(Text(note, overflow="fold") for note in result.notes)]
    parts += [Text(), verdict, Text(), written(result.outputs)]
    return Group(*parts)


def decibels(found: Reduction | None) -> dict[str, float | None] | None:
    """Return a figure of echo reduction for machines."""
    return None if found is None else found._asdict()


def without_filter(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate without the thousands of taps of the best filter: its file has them."""
    made = certificate.to_dict()
    del made["hindsight"]["witness"], made["seal"]
    return made


def as_dict(result: EchoResult) -> dict[str, Any]:
    """Return the figures for machines."""
    known, certificate = result.known, result.certificate
    found: dict[str, Any] = {
        "far": result.far.path,
        "mic": result.mic.path,
        "rate": result.rate,
        "seconds": result.seconds,
        "tail": result.tail,
        "block": result.block,
        "suppress": result.suppress,
        "delay": result.delay,
        "erle": {"linear": decibels(result.erle(linear=True)), "output": decibels(result.erle())},
        "speed": result.speed,
        "notes": list(result.notes),
        "certificate": None if certificate is None else without_filter(certificate),
        "outputs": result.outputs,
    }
    if known is not None:
        found["near"] = {
            "sdr_before": number(known.before),
            "sdr_after": number(known.after),
            "change": number(known.near_change),
        }
    return found
