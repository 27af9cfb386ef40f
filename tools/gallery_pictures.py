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


def weather(page: Names) -> Drawn:
    """Return the weights of the centres, without those that are silent."""
    awake = ~np.isnan(page["forecasts"])
    weights = np.array(page["weights"])[:, :5] * awake
    shares = np.apply_along_axis(moving, 0, weights / weights.sum(axis=1, keepdims=True), 7)
    return layers(shares), [(BLUE, "weights of those that speak, by week")]


def shares(page: Names) -> Drawn:
    """Return the wealth of the strategies."""
    frame = Frame(1, 0.5, 2.6)
    lines = [
        frame.line(thinned(np.array(wealth), 250), colour)
        for wealth, colour in zip(page["wealth"].values(), (GREY, ORANGE, BLUE), strict=True)
    ]
    key = [(BLUE, "online Newton"), (ORANGE, "universal"), (GREY, "equal shares")]
    return [*lines, *scale("2.6", "2013 to 2018")], key


def ads(page: Names) -> Drawn:
    """Return estimates with their intervals, and the truth."""
    shapes = []
    for k, (name, estimate) in enumerate(page["found"].items()):
        rule, y = page["rules"][name], 34 + 34 * k
        clicks = [page["CLICKS"][on][page["ADS"].index(rule(on))] for on in page["CLICKS"]]
        low, middle, high, truth = (
            EDGE + 105 + 950 * (value - 0.06)
            for value in (estimate.low, estimate.value, estimate.high, np.mean(clicks))
        )
        shapes += [
            words(name, EDGE, y + 4),
            f'<line x1="{low:.0f}" x2="{high:.0f}" y1="{y}" y2="{y}" stroke="{BLUE}"'
            ' stroke-width="6" stroke-opacity="0.5"/>',
            f'<circle cx="{middle:.0f}" cy="{y}" r="5" fill="{BLUE}"/>',
            f'<line x1="{truth:.0f}" x2="{truth:.0f}" y1="{y - 11}" y2="{y + 11}"'
            f' stroke="{ORANGE}" stroke-width="3"/>',
        ]
    return shapes, [(BLUE, "clicks, estimated from the log"), (ORANGE, "truth")]


def call(page: Names) -> Drawn:
    """Return the microphone before and after, and write both down to be heard."""
    import soundfile

    heard, clean = page["heard"], page["clean"]
    for name, sound in (("before", heard.mic), ("after", clean)):
        soundfile.write(PLACE / f"gallery-call-{name}.mp3", sound, heard.rate)
    most = np.abs(heard.mic).max()
    frame, shapes = Frame(1, -most, most), []
    for sound, colour in ((heard.mic, GREY), (clean, BLUE)):
        parts = sound[: len(sound) // 200 * 200].reshape(200, -1)
        shapes.append(frame.area(parts.min(axis=1), parts.max(axis=1), colour))
    return shapes, [(GREY, "microphone, 12 s"), (BLUE, "without the echo")]


def keys(page: Names) -> Drawn:
    """Return how eight chicks grow."""
    grown: dict[Any, list[tuple[float, float]]] = {}
    for row in page["rows"]:
        grown.setdefault(row["chick"], []).append((float(row["time"]), float(row["weight"])))
    frame, shapes = Frame(21, 0, 400), []
    for k, chick in enumerate(list(grown)[2:50:6]):
        x, y = np.array(grown[chick]).T
        style = f'fill="none" stroke="{COLOURS[k % 5]}" stroke-width="2"'
        shapes.append(f'<polyline points="{frame.points(x, y)}" {style}/>')
    return [*shapes, *scale("400 g", "21 days")], [(BLUE, "eight of fifty chicks")]


def late(page: Names) -> Drawn:
    """Return how many flights wait for their labels."""
    waiting = np.array(page["waiting"], dtype=float)
    frame = Frame(1, 0, 1.15 * waiting.max())
    return [
        frame.area(np.zeros(len(waiting)), waiting, ORANGE),
        *scale(f"{frame.high:.0f}"),
    ], [(ORANGE, "flights in the air, whose labels wait")]


PICTURES: dict[str, Callable[[Names], Drawn]] = {
    "passengers": passengers,
    "flights": flights,
    "drift": drift,
    "phishing": phishing,
    "digits": digits,
    "keys": keys,
    "polls": polls,
    "weather": weather,
    "ads": ads,
    "shares": shares,
    "call": call,
    "late": late,
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
