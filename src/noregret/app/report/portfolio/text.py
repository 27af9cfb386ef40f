"""The summary of a portfolio strategy on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from noregret.app.report.portfolio.words import facts, helped_by, judged, title
from noregret.app.report.terminal import figures, lead, verdict, written

if TYPE_CHECKING:
    from noregret.app.results.portfolio import Outcome


def summary(outcome: Outcome) -> RenderableType:
    """Return the outcome as Rich shows it."""
    parts: list[RenderableType] = [
        Text(title(outcome), "bold", overflow="fold"),
        *lead(helped_by(outcome)),
        Text(),
        figures(facts(outcome)),
        Text(),
        verdict(judged(outcome)),
    ]
    if outcome.outputs:
        parts += [Text(), written(outcome.outputs)]
    return Group(*parts)
