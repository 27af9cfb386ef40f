"""The terminal summary of an echo cancellation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from noregret.app.report.echo.words import facts, helped_by, judged, sound, title
from noregret.app.report.terminal import figures, lead, verdict, written

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult

TRY = (
    "Listen to mic.wav and clean.wav, or open report.html, which plays both.\n"
    "For your own recordings:\n"
    "noregret echo --far PLAYED.wav --mic RECORDED.wav --out CLEAN.wav"
)


def summary(result: EchoResult) -> RenderableType:
    """Return the result as Rich shows it."""
    parts: list[RenderableType] = [Text(title(result), "bold", overflow="fold")]
    parts += [*lead(helped_by(result)), Text()]
    parts += [Text(sound(result), overflow="fold"), Text(), figures(facts(result))]
    if result.notes:
        parts += [Text(), *(Text(note, overflow="fold") for note in result.notes)]
    parts += [Text(), verdict(judged(result)), Text(), written(result.outputs)]
    if result.known is not None:
        parts += [Text(), Text(TRY, overflow="fold")]
    return Group(*parts)
