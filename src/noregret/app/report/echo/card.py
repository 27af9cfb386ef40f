"""The result of echo cancellation as a card in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.certificate.html import CARD, badge, figures, titles, verdict
from noregret.app.report.echo.words import facts, helped_by, judged, sound, title
from noregret.app.report.page.markup import element

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult


def echo_card(result: EchoResult) -> str:
    """Return a result as HTML."""
    said, lead = judged(result), helped_by(result)
    shown = said if lead is None or said.mood == "bad" else lead
    return element(
        "div",
        badge(shown.mood, shown.headline),
        titles("noregret echo", title(result), sound(result)),
        figures(facts(result)),
        *(element("div", note, style="margin-top:8px") for note in result.notes),
        verdict(said),
        style=CARD,
    )
