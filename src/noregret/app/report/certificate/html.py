"""A certificate as a card in a notebook: one self-contained piece of HTML.

It has no script and no style sheet, so that it shows in every notebook viewer. It sets colours only
behind its own text; everything else is inherited from the notebook, dark or light.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import Assumed, Fact, Sheet, sheet_of
from noregret.app.report.page.markup import Html, element, joined
from noregret.base.numbers import signed

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.proof.certificates.certificate import Certificate

COLOURS = {
    "good": "#1a7f37",
    "bad": "#b42318",
    "open": "#6e4fa3",
    "poor": "#9a5b00",
    "neutral": "#5a6470",
}
LINE = "1px solid rgba(127,127,127,.35)"
CARD = (
    f"border:{LINE};border-radius:8px;padding:16px 20px;max-width:46em;line-height:1.45;"
    "font-family:system-ui,sans-serif;font-size:14px;color:inherit;background:transparent"
)
# Notebooks style every table: narrow columns of one width (table-layout: fixed), black text, 12px.
TABLE = (
    "border-collapse:collapse;border:0;margin:12px 0 0;width:100%;background:transparent;"
    "table-layout:auto;color:inherit;font-size:inherit"
)
CELL = (
    "padding:3px 14px 3px 0;border:0;vertical-align:top;background:transparent;max-width:none;"
    "line-height:inherit;white-space:normal;"
)
LEFT, RIGHT = CELL + "text-align:left", CELL + "text-align:right;white-space:nowrap"
NUMBER = RIGHT + ";font-weight:600;font-variant-numeric:tabular-nums"
FAINT = "opacity:.72;font-weight:400"


def card(certificate: Certificate) -> str:
    """Return the certificate as HTML."""
    sheet = sheet_of(certificate)
    parts = [
        head(sheet),
        figures(sheet.facts),
        verdict(sheet.verdict),
        assumptions(sheet.assumptions),
    ]
    for said in sheet.further:
        parts += [verdict(said.verdict, heading=True), assumptions(said.assumptions)]
    parts.append(weights(sheet))
    return element("div", *parts, style=CARD)


def row(cells: Iterable[str]) -> Html:
    """Return a row of a table."""
    return element("tr", *cells, style="background:transparent")


def table(rows: Iterable[str], style: str = TABLE) -> Html:
    """Return a table."""
    return element("table", element("tbody", *rows), style=style)


def badge(mood: str, words: str) -> Html:
    """Return the headline of the verdict, in its colour, at the right edge."""
    style = (
        f"background:{COLOURS[mood]};color:#fff;border-radius:999px;float:right;"
        "padding:2px 12px;font-weight:600;font-size:12px;margin:0 0 6px 12px"
    )
    return element("span", words, style=style)


def alarm(words: str) -> Html:
    """Return highlighted words."""
    style = f"background:{COLOURS['bad']};color:#fff;border-radius:4px;padding:1px 6px"
    return element("span", words, style=f"{style};font-weight:600;display:inline-block")


def titles(over: str, title: str, under: str) -> Html:
    """Return the three lines at the top of a card."""
    return joined(
        (
            element("div", over, style=FAINT + ";font-size:12px"),
            element("div", title, style="font-size:18px;font-weight:600"),
            element("div", under, style=FAINT),
        )
    )


def head(sheet: Sheet) -> Html:
    """Return the learner and the verdict."""
    mark = badge(sheet.verdict.mood, sheet.verdict.headline)
    return joined((mark, titles("noregret certificate", sheet.learner, sheet.params)))


def figures(facts: Iterable[Fact]) -> Html:
    """Return figures as a table."""
    return table(
        row(
            (
                element("th", fact.label, style=LEFT + ";" + FAINT, scope="row"),
                element("td", fact.figure, style=NUMBER),
                element("td", fact.words, style=LEFT + ";width:99%"),
            )
        )
        for fact in facts
    )


def verdict(said: Verdict, *, heading: bool = False) -> Html:
    """Return the verdict and its reason."""
    colour = COLOURS[said.mood]
    parts = []
    if heading:
        parts.append(element("div", said.headline, style="font-weight:600"))
    if said.share is not None:
        full = 100 * min(1.0, max(0.0, said.share))
        bar = "height:6px;border-radius:3px;"
        done = element("div", style=f"{bar}width:{full:.2f}%;background:{colour}")
        rest = f"{bar}background:rgba(127,127,127,.25);margin:0 0 8px"
        parts.append(element("div", done, style=rest))
    parts.append(element("div", said.words))
    if said.theorem:
        promise = f": {said.promise}" if said.promise else ""
        style = FAINT + ";margin-top:4px"
        parts.append(element("div", f"Theorem {said.theorem}{promise}", style=style))
    style = f"border-left:4px solid {colour};padding:2px 0 2px 14px;margin:14px 0 0"
    return element("div", *parts, style=style)


def assumptions(assumed: list[Assumed]) -> Html:
    """Return the assumptions with their measured values."""
    if not assumed:
        return Html()
    names = (("Assumption", LEFT), ("measured", RIGHT), ("limit", RIGHT), ("", LEFT))
    head = row(element("th", name, style=f"{style};{FAINT}", scope="col") for name, style in names)
    return table([head, *map(assumption, assumed)])


def assumption(found: Assumed) -> Html:
    """Return a row of the assumptions."""
    return row(
        (
            element("td", found.name, style=LEFT + ";width:99%"),
            element("td", found.measured, style=NUMBER),
            element("td", found.limit, style=NUMBER),
            element("td", alarm(found.held) if found.good is False else found.held, style=LEFT),
        )
    )


def weights(sheet: Sheet) -> Html:
    """Return the largest weights of the best fixed predictor."""
    if not sheet.weights:
        return Html()
    rows = (
        row(
            (
                element("td", signed(weight), style=NUMBER),
                element("td", name, style=LEFT + ";width:99%"),
            )
        )
        for name, weight in sheet.weights
    )
    heading = element("div", sheet.weights_title, style=FAINT + ";margin-top:14px")
    return joined((heading, table(rows, TABLE.replace("margin:12px 0 0", "margin:2px 0 0"))))
