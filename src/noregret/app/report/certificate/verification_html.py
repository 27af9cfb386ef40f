"""The verification of a certificate as a card in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.certificate.html import CARD, FAINT, LEFT, alarm, badge, row, table, titles
from noregret.app.report.certificate.verification_text import said, tolerances, verdict
from noregret.app.report.page.markup import Html, element

if TYPE_CHECKING:
    from noregret.proof.verifying.verification import Line, Verification


def verification_card(verification: Verification) -> str:
    """Return a verification as HTML."""
    mood = "good" if verification.confirmed else "bad"
    headline, _, why = verdict(verification).plain.partition(": ")
    return element(
        "div",
        badge(mood, headline),
        titles("noregret verification", f"{verification.counted('figure')} confirmed", why),
        table(map(checked, verification.lines)),
        element("div", tolerances(verification), style=FAINT + ";margin-top:12px;font-size:12px"),
        style=CARD,
    )


def checked(line: Line) -> Html:
    """Return a row: confirmed or not, name, stated and found value."""
    mark = element("span", line.mark) if line.confirmed else alarm(line.mark)
    return row(
        (
            element("td", mark, style=LEFT + ";white-space:nowrap"),
            element("td", line.name, style=LEFT),
            element("td", said(line), style=LEFT + ";width:99%;overflow-wrap:anywhere"),
        )
    )
