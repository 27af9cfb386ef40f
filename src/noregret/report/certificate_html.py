"""A certificate as a card in a notebook: one piece of HTML that needs nothing else.

No script and no style sheet, so that it survives wherever notebooks are shown. Colours of its own
are only where text stands on them; everything else is the notebook's, dark or light.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from noregret.report.figures import figure
from noregret.report.sheet import Assumed, Sheet, sheet_of

if TYPE_CHECKING:
    from noregret.certificate import Certificate

COLOURS = {"good": "#1a7f37", "bad": "#b42318", "open": "#6e4fa3"}
LINE = "1px solid rgba(127,127,127,.35)"
CARD = (
    f"border:{LINE};border-radius:8px;padding:16px 20px;max-width:46em;line-height:1.45;"
    "font-family:system-ui,sans-serif;font-size:14px;color:inherit;background:transparent"
)
TABLE = "border-collapse:collapse;border:0;margin:12px 0 0;width:100%;background:transparent"
CELL = "padding:3px 14px 3px 0;border:0;vertical-align:top;background:transparent;"
LEFT, RIGHT = CELL + "text-align:left", CELL + "text-align:right;white-space:nowrap"
NUMBER = RIGHT + ";font-weight:600;font-variant-numeric:tabular-nums"
FAINT = "opacity:.72;font-weight:400"


def card(certificate: Certificate) -> str:
    """Return the certificate as HTML."""
    sheet = sheet_of(certificate)
    parts = [head(sheet), figures(sheet), verdict(sheet), assumptions(sheet), weights(sheet)]
    return f'<div style="{CARD}">{"".join(parts)}</div>'


def tag(name: str, style: str, text: str, more: str = "") -> str:
    """Return an element around text, which is escaped."""
    return f'<{name} style="{style}"{more}>{escape(text)}</{name}>'


def row(cells: Iterable[str]) -> str:
    """Return a row of a table."""
    return f'<tr style="background:transparent">{"".join(cells)}</tr>'


def table(rows: Iterable[str]) -> str:
    """Return a table."""
    return f'<table style="{TABLE}"><tbody>{"".join(rows)}</tbody></table>'


def head(sheet: Sheet) -> str:
    """Return who played, and what to make of it."""
    badge = (
        f"background:{COLOURS[sheet.verdict.mood]};color:#fff;border-radius:999px;float:right;"
        "padding:2px 12px;font-weight:600;font-size:12px;margin:0 0 6px 12px"
    )
    return (
        tag("span", badge, sheet.verdict.headline)
        + tag("div", FAINT + ";font-size:12px", "noregret certificate")
        + tag("div", "font-size:18px;font-weight:600", sheet.learner)
        + tag("div", FAINT, sheet.params)
    )


def figures(sheet: Sheet) -> str:
    """Return the figures."""
    return table(
        row(
            (
                tag("th", LEFT + ";" + FAINT, fact.label, ' scope="row"'),
                tag("td", NUMBER, fact.figure),
                tag("td", LEFT + ";width:99%", fact.words),
            )
        )
        for fact in sheet.facts
    )


def verdict(sheet: Sheet) -> str:
    """Return why."""
    said = sheet.verdict
    colour = COLOURS[said.mood]
    parts = []
    if said.share is not None:
        full = 100 * min(1.0, max(0.0, said.share))
        parts.append(
            '<div style="height:6px;border-radius:3px;background:rgba(127,127,127,.25);'
            f'margin:0 0 8px"><div style="height:6px;border-radius:3px;width:{full:.2f}%;'
            f'background:{colour}"></div></div>'
        )
    parts.append(tag("div", "", said.words))
    if said.theorem:
        promise = f": {said.promise}" if said.promise else ""
        parts.append(tag("div", FAINT + ";margin-top:4px", f"Theorem {said.theorem}{promise}"))
    style = f"border-left:4px solid {colour};padding:2px 0 2px 14px;margin:14px 0 0"
    return f'<div style="{style}">{"".join(parts)}</div>'


def assumptions(sheet: Sheet) -> str:
    """Return what was assumed, and what was found."""
    if not sheet.assumptions:
        return ""
    names = (("It assumes", LEFT), ("measured", RIGHT), ("limit", RIGHT), ("", LEFT))
    head = row(tag("th", f"{style};{FAINT}", name, ' scope="col"') for name, style in names)
    return table([head, *map(assumption, sheet.assumptions)])


def assumption(found: Assumed) -> str:
    """Return a row of the assumptions."""
    mark = LEFT + ";white-space:nowrap"
    if found.good is False:
        mark += f";color:#fff;background:{COLOURS['bad']};padding:3px 10px;font-weight:600"
    return row(
        (
            tag("td", LEFT + ";width:99%", found.name),
            tag("td", NUMBER, found.measured),
            tag("td", NUMBER, found.limit),
            tag("td", mark, found.held),
        )
    )


def weights(sheet: Sheet) -> str:
    """Return the heaviest weights of the best fixed predictor."""
    if not sheet.weights:
        return ""
    more = f", and {sheet.more_weights:,} more in the file" if sheet.more_weights else ""
    title = f"Heaviest weights of the best in hindsight{more}"
    rows = (
        row(
            (
                tag("td", NUMBER, f"{'' if weight < 0 else '+'}{figure(weight)}"),
                tag("td", LEFT + ";width:99%", name),
            )
        )
        for name, weight in sheet.weights
    )
    return tag("div", FAINT + ";margin-top:14px", title) + table(rows).replace(
        "margin:12px 0 0", "margin:2px 0 0"
    )
