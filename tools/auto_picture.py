"""Draw how the weights of auto's members go on the bikes data: docs/_static/auto-bikes.svg.

    NOREGRET_DATA=FOLDER python tools/auto_picture.py

FOLDER has bikes/hour.csv (Bike Sharing, UCI Machine Learning Repository 275, CC BY 4.0), which does
not come with noregret; the picture does. The rows are those of ``python -m benchmarks quality``.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import noregret  # noqa: E402
from benchmarks._quality_sets import Floats, Set, real  # noqa: E402
from noregret.app.report.charts.areas import OTHERS_TONE, TONES, band  # noqa: E402
from noregret.app.report.charts.plot import share  # noqa: E402
from noregret.app.report.charts.scale import Scale  # noqa: E402
from noregret.app.report.page.markup import Html, element  # noqa: E402

PLACE = ROOT / "docs" / "_static" / "auto-bikes.svg"
WIDTH, HEIGHT = 760, 232  # of a chart with its title
LEFT, TOP, DOWN = 54, 40, 150
LINE, COLUMNS = 21, 2  # of the key
SHOWN = 9  # members with a colour of their own
STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #333b44; }
.title { font-size: 15px; font-weight: 600; } .soft { fill: #5c6670; font-size: 12px; }
.line { stroke: #00000022; } .area { stroke: #fff; stroke-width: 0.7; }
"""

Course = tuple[Floats, Floats]  # rounds, and the weights after them


def course(rows: Set) -> tuple[noregret.Learner, Course, float]:
    """Return auto after these rows, how its weights went, and its error beside the mean's."""
    learner = noregret.Auto()
    learner.learn_many(rows.X, rows.y)
    rounds, weights = learner.history
    error = learner.total_loss / len(rows.y) / rows.y.var()
    return learner, (rounds.astype(np.float64), weights), float(error)


def chart(title: str, told: Course, chosen: list[int]) -> list[Html]:
    """Return one chart: the chosen members one upon the other, and above them all others."""
    rounds, weights = told
    others = np.delete(weights, chosen, axis=1).sum(axis=1)
    layers = [*(weights[:, k] for k in chosen), others]
    tops = np.cumsum([np.zeros(len(rounds)), *layers], axis=0)
    x, y = Scale(0.0, float(rounds[-1])), Scale(0.0, 1.0)
    areas = [
        element("path", d=band(x.place(rounds), low, high), fill=tone(k), class_="area")
        for k, (low, high) in enumerate(pairwise(tops))
    ]
    sheet = element(
        "svg",
        *areas,
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )
    beside = [
        element(
            "text", f"{100 * t.place:.0f}%", x=-8, y=share(1 - t.place), dy=4, text_anchor="end"
        )
        for t in y.ticks()
    ]
    below = [
        element("text", t.label, x=share(t.place), y="100%", dy=17, text_anchor="middle")
        for t in x.ticks()
    ]
    axis = element("line", x1="0", x2="100%", y1="100%", y2="100%", class_="line")
    inside = element(
        "svg",
        sheet,
        axis,
        *beside,
        *below,
        x=LEFT,
        y=TOP,
        width=WIDTH - LEFT - 24,
        height=DOWN,
        overflow="visible",
    )
    return [element("text", title, x=LEFT, y=24, class_="title"), inside]


def tone(position: int) -> str:
    """Return a layer's colour."""
    return TONES[position][0] if position < SHOWN else OTHERS_TONE[0]


def key(names: list[str]) -> list[Html]:
    """Return the names of the layers, each with its colour, in columns."""
    lines = -(-len(names) // COLUMNS)
    entries = []
    for k, name in enumerate(names):
        x, y = LEFT + (WIDTH - LEFT) / COLUMNS * (k // lines), LINE * (k % lines)
        entries += [
            element("rect", x=x, y=y, width=13, height=13, rx=3, fill=tone(k)),
            element("text", name, x=x + 21, y=y + 11),
        ]
    return entries


def picture(rows: Set) -> str:
    """Return both charts, in the order of time and shuffled, with their key."""
    learner, in_order, first = course(rows)
    _, shuffled, second = course(rows.shuffled())
    means = np.max([weights.mean(axis=0) for _, weights in (in_order, shuffled)], axis=0)
    chosen = sorted(np.argsort(-means)[:SHOWN].tolist())
    names = [learner.members[k].name for k in chosen]  # type: ignore[attr-defined]
    rest = f"{len(means) - SHOWN} others"
    charts = [
        (f"In the order of time: error {first:.3f} of the mean's", in_order),
        (f"The same rows shuffled: error {second:.3f} of the mean's", shuffled),
    ]
    parts = [
        element("g", *chart(title, told, chosen), transform=f"translate(0 {HEIGHT * k})")
        for k, (title, told) in enumerate(charts)
    ]
    place = HEIGHT * len(charts)
    parts.append(element("text", "rounds", x=WIDTH - 24, y=place, text_anchor="end", class_="soft"))
    parts.append(element("g", *key([*names, rest]), transform=f"translate(0 {place + 16})"))
    tall = place + 16 + LINE * -(-(SHOWN + 1) // COLUMNS)
    about = "Weights of the members of auto over the rounds, in the order of time and shuffled"
    return element(
        "svg",
        element("title", about),
        element("style", Html(STYLE)),
        element("rect", width="100%", height="100%", rx=6, fill="#fff"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {tall}",
        width=WIDTH,
        height=tall,
    )


if __name__ == "__main__":
    sets = real()
    if "bikes" not in sets:
        raise SystemExit("set NOREGRET_DATA to a folder that has bikes/hour.csv")
    PLACE.write_text(picture(sets["bikes"]()) + "\n", encoding="utf-8")
    print(PLACE.relative_to(ROOT))
