"""The frame of every page: document, header, headline figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.script import SCRIPT
from noregret.app.report.page.style import STYLE

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict

# The browser may not fetch anything.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:;"
    " media-src data:"
)


def document(heading: str, version: str, inside: Iterable[str], style: str = "") -> str:
    """Return a complete page; ``style`` is appended to the style sheet."""
    top = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"noregret {version}"),
        element("title", f"{heading} · noregret"),
        element("style", Html(STYLE + style)),
    )
    body = element("body", element("main", *inside), element("script", Html(SCRIPT)))
    return f"<!DOCTYPE html>\n{element('html', top, body, lang='en')}\n"


def header(
    title: str,
    said: Iterable[Verdict | None],
    sentence: str,
    tiles: Iterable[Html],
    *,
    sources: Sequence[str] = (),
    notes: Iterable[Html] = (),
) -> Html:
    """Return the title, the verdicts (the first one leads), a summary and the headline figures."""
    found = list(tiles)
    badges = [element("span", one.headline, class_=f"badge {one.mood}") for one in said if one]
    columns = columns_of(len(found))
    return element(
        "header",
        element(
            "div",
            element("p", "noregret", class_="brand"),
            element("button", "Theme", type="button", id="theme", hidden=""),
            class_="top",
        ),
        element("h1", title, title=" ".join(sources)) if sources else element("h1", title),
        element("p", *badges, class_="verdict-mark") if badges else "",
        *notes,
        element("p", sentence, class_="verdict"),
        element("div", *found, class_="tiles", style=f"--columns:{columns}"),
    )


def columns_of(tiles: int) -> int:
    """Return the columns for headline figures: full rows if possible, and never one tile alone.

    >>> [columns_of(tiles) for tiles in (6, 7, 8, 9, 10, 13)]
    [6, 4, 4, 3, 5, 5]
    """
    if tiles <= 6:
        return tiles
    full = [columns for columns in (4, 5, 3) if tiles % columns == 0]
    return next(iter(full), 4 if tiles % 4 > 1 else 5)


def tile(label: str, number: str, words: str, mood: str = "") -> Html:
    """Return a headline figure; a unit after the number is smaller."""
    unit = ""
    if number[:1].isdigit():
        number, space, rest = number.partition(" ")
        unit = space + rest
    return element(
        "div",
        element("div", label, class_="label"),
        element(
            "div", number, element("span", unit, class_="unit") if unit else "", class_="figure"
        ),
        element("div", words, class_="words"),
        class_=f"tile {mood}".strip(),
    )
