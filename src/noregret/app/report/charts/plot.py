"""Parts shared by all charts: plot, axes, caption, legend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from noregret.app.report.charts.scale import Scale, Tick
from noregret.app.report.page.markup import Html, element

# Width of a character of an axis label, in pixels.
CHARACTER = 6.6


class Axis(NamedTuple):
    """An axis: its label, its scale, and whether it has grid lines."""

    label: str
    scale: Scale
    lines: bool = True


class Key(NamedTuple):
    """An entry of the legend: its look (a class of the style sheet), name and value."""

    look: str
    name: str
    figure: str = ""


def share(place: float) -> str:
    """Return a position from 0 to 1 as a percentage, without a negative zero.

    >>> share(0.5), share(-1e-9), share(1 / 3)
    ('50%', '0%', '33.333%')
    """
    return f"{round(100 * place, 3) + 0.0:.7g}%"


def plot(
    x: Axis, y: Axis, inside: Iterable[Html], about: str, height: int = 260, **attributes: object
) -> Html:
    """Return a plot: axes, and the elements drawn between them.

    ``about`` describes it for screen readers.
    """
    across, up = x.scale.ticks(), y.scale.ticks()
    left = 14 + CHARACTER * max((len(tick.label) for tick in up), default=1)
    drawn = element(
        "svg",
        element("g", *grid(x, y, across, up), class_="grid"),
        *inside,
        element("g", *labels(across, up), class_="ticks"),
        role="img",
        aria_label=about,
        width="100%",
        height=height,
    )
    return element(
        "div",
        element("div", y.label, class_="axis-y"),
        element("div", drawn, class_="plot", style=f"padding-left:{left:.0f}px", **attributes),
        element("div", x.label, class_="axis-x"),
    )


def grid(x: Axis, y: Axis, across: list[Tick], up: list[Tick]) -> Iterable[Html]:
    """Yield grid lines and axes."""
    for tick in up if y.lines else []:
        yield line(0, 1 - tick.place, 1, 1 - tick.place)
    for tick in across if x.lines else []:
        yield line(tick.place, 0, tick.place, 1)
    yield line(0, 1, 1, 1, class_="axis")
    zero = float(y.scale.place(0.0)) if not y.scale.log else -1.0
    if 0.001 < zero < 0.999:
        yield line(0, 1 - zero, 1, 1 - zero, class_="axis")


def labels(across: list[Tick], up: list[Tick]) -> Iterable[Html]:
    """Yield the tick labels."""
    for tick in up:
        yield element("text", tick.label, x=-8, y=share(1 - tick.place), dy="0.32em", class_="up")
    for tick in across:
        side = "start" if tick.place < 0.02 else "end" if tick.place > 0.98 else "middle"
        yield element(
            "text", tick.label, x=share(tick.place), y="100%", dy="1.5em", text_anchor=side
        )


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> Html:
    """Return a line between two points."""
    return element("line", x1=share(x1), y1=share(y1), x2=share(x2), y2=share(y2), **attributes)


def figure_of(title: str, words: str, key: Iterable[Key], *drawn: str) -> Html:
    """Return a chart with its title, a sentence about it and its legend."""
    entries = [
        element("li", swatch(entry.look), element("span", entry.name), element("b", entry.figure))
        for entry in key
    ]
    return element(
        "figure",
        element(
            "figcaption",
            element("h3", title),
            element("p", words) if words else "",
            element("ul", *entries, class_="key") if entries else "",
        ),
        *drawn,
        class_="chart",
    )


def swatch(look: str) -> Html:
    """Return a sample of a line, for the legend."""
    sample = element("line", x1=1, y1=5, x2=23, y2=5, class_=f"curve {look}")
    return element("svg", sample, width=24, height=10, aria_hidden="true")


def tooltip(words: str) -> Html:
    """Return a tooltip."""
    return element("title", words)
