"""Draw the pictures of the gallery: docs/_static/gallery-*.svg, and the sounds of its call.

    python tools/gallery_pictures.py [passengers] [flights] …     # or without names: all

Each page is run as its readers would run it, and its picture shows what the page computed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from card_pictures import (
    BLUE,
    EDGE,
    FOOT,
    GREEN,
    GREY,
    HEIGHT,
    ORANGE,
    PLACE,
    VIOLET,
    WIDTH,
    Drawn,
    Floats,
    Frame,
    moving,
    picture,
    thinned,
)
from shown import printed

from tests.docs.test_docs import BLOCK

DOCS = PLACE.parent
COLOURS = (BLUE, ORANGE, GREEN, VIOLET, GREY)
Names = dict[str, Any]


def words(text: str, x: float, y: float, anchor: str = "start") -> str:
    """Return a text at a place."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{text}</text>'


def scale(high: str, low: str = "") -> list[str]:
    """Return what the top and the bottom of a picture stand for."""
    bottom = [words(low, WIDTH - EDGE, HEIGHT - FOOT - 4, "end")] if low else []
    return [words(high, EDGE, EDGE + 8), *bottom]


def layers(shares: Floats) -> list[str]:
    """Return shares that add up to 1, as layers."""
    tops = np.cumsum(np.c_[np.zeros(len(shares)), shares], axis=1)
    return [
        Frame(1, 0, 1).area(thinned(tops[:, k]), thinned(tops[:, k + 1]), COLOURS[k % 5])
        for k in range(shares.shape[1])
    ]


def passengers(page: Names) -> Drawn:
    """Return passengers by month, with the forecasts."""
    frame = Frame(1, 0, 650)
    shapes = [
        frame.line(np.array(page["months"][2:132]), GREY, "3 3"),
        frame.line(np.array(page["months"][14:]), ORANGE),
        frame.line(np.array(page["forecasts"]), BLUE),
        *scale("650,000 a month", "1950 to 1960"),
    ]
    return shapes, [(BLUE, "forecast"), (ORANGE, "passengers"), (GREY, "a year before")]


def flights(page: Names) -> Drawn:
    """Return the share of flights that arrive in the time allowed."""
    share = moving((page["delays"] <= page["allowed"]).astype(float), 400)
    frame = Frame(1, 0.7, 1)
    shapes = [
        frame.line(np.full(2, 0.9), ORANGE, "6 4"),
        frame.line(thinned(share), BLUE),
        *scale("100 %", "70 %"),
    ]
    return shapes, [(BLUE, "in time, of the latest 400"), (ORANGE, "90 %")]


def drift(page: Names) -> Drawn:
    """Return errors before and after the price of fuel changes."""
    errors = {
        name: moving(np.abs(said - page["price"])[1200:2200], 24)
        for name, said in page["said"].items()
    }
    frame = Frame(1, 0, 1.15 * errors["vaw"].max())
    shapes = [
        frame.line(thinned(errors["vaw"], 200), GREY),
        frame.line(thinned(errors["auto"], 200), BLUE),
        *scale(f"error {frame.high:.0f}"),
        words("hours 1,200 to 2,200", WIDTH - EDGE, EDGE + 8, "end"),
    ]
    return shapes, [(BLUE, "auto"), (GREY, "vaw")]


def phishing(page: Names) -> Drawn:
    """Return the mistakes of the latest hundred pages."""
    learner = page["Arow"]()
    wrong = np.array([learner.play_one(x, y) != y for x, y in page["pages"]], dtype=float)
    share = moving(wrong, 100)
    frame = Frame(1, 0, 0.3)
    shapes = [frame.line(thinned(share), BLUE), *scale("30 %", "0 %")]
    return shapes, [(BLUE, "mistakes in the latest 100 pages")]


def digits(page: Names) -> Drawn:
    """Return images that were read wrongly, the latest ten."""
    shapes, size = [], 6.5
    chosen = np.flatnonzero(~page["right"])[-10:]
    for k, which in enumerate(chosen):
        left, top = EDGE + 4 + 61 * (k % 5), EDGE - 4 + 66 * (k // 5)
        for cell, ink in enumerate(page["X"][which]):
            if ink:
                x, y = left + size * (cell % 8), top + size * (cell // 8)
                shapes.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{size}" height="{size}"'
                    f' fill="{BLUE}" fill-opacity="{ink / 16:.2f}"/>'
                )
        shapes.append(words(f"not {page['said'][which]}", left + 4 * size, top + 63, "middle"))
    return shapes, []


def polls(page: Names) -> Drawn:
    """Return the weights of the pollsters."""
    names = page["master"].names
    key = (BLUE, f"weights, from {names[0]} (below) to {names[-1]}")
    return layers(np.array(page["weights"])), [key]


PICTURES: dict[str, Callable[[Names], Drawn]] = {
    each.__name__: each for each in (passengers, flights, drift, phishing, digits, polls)
}


def run(page: Path) -> Names:
    """Run all blocks of a page whose output it shows, and return its names."""
    names: Names = {"__name__": "__main__"}
    for language, code, shown in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python" or shown:
            printed(language, code, names)
    return names


def main(chosen: list[str]) -> None:
    """Draw pictures, each in a folder of its own."""
    for name in chosen:
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            shapes, key = PICTURES[name](run(DOCS / f"gallery-{name}.md"))
            os.chdir(here)
        drawn = picture(shapes, key).replace("<svg ", '<svg width="480" ', 1)
        (PLACE / f"gallery-{name}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or list(PICTURES))
