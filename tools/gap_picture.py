"""Draw how the gap of hindsight closes with time: docs/_static/gap-over-time.svg.

    python tools/gap_picture.py

The rows are those of ``python -m benchmarks hindsight``, and wide ones for the square loss.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._data import sparse_rows  # noqa: E402
from benchmarks.hindsight import census, labelled_sensors, words  # noqa: E402
from noregret.app.report.page.markup import Html, element  # noqa: E402
from noregret.hindsight import Answer, Limits, Rows, best_in_ball, best_linear  # noqa: E402

PLACE = ROOT / "docs" / "_static" / "gap-over-time.svg"
WIDTH, HEIGHT, LEFT, TOP = 760, 400, 64, 16
RIGHT, BOTTOM = 740, 300
SECONDS, GAPS = (-2, 1), (-7, 0)  # powers of ten
TONES = ("#2563eb", "#d97706", "#059669", "#dc2626")
STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #333b44; }
.line { stroke: #00000022; } .course { fill: none; stroke-width: 2; }
"""


def texts_with_numbers(less: int) -> Rows:
    """Return rows of 30 out of 20,000 features with noisy linear outcomes."""
    X = sparse_rows(200_000 // less, 30, 20_000)
    random = np.random.default_rng(7)
    return Rows(X, X @ random.standard_normal(20_000) + 0.5 * random.standard_normal(X.shape[0]))


Search = Callable[[Rows, Limits], Answer]
TASKS: dict[str, tuple[Callable[[int], Rows], Search]] = {
    "logistic loss, ball, 32,000 × 123, indicators": (
        census,
        lambda rows, limits: best_in_ball(rows, "logistic", 5.0, limits=limits),
    ),
    "logistic loss, ball, 1,000,000 × 20, dense": (
        labelled_sensors,
        lambda rows, limits: best_in_ball(rows, "logistic", 5.0, limits=limits),
    ),
    "logistic loss, ball, 100,000 × 50,000, sparse": (
        words,
        lambda rows, limits: best_in_ball(rows, "logistic", 30.0, limits=limits),
    ),
    "square loss, linear, 200,000 × 20,000, sparse": (
        texts_with_numbers,
        lambda rows, limits: best_linear(rows, limits=limits),
    ),
}


def course(rows: Rows, search: Search) -> list[tuple[float, float]]:
    """Return after how many seconds of processor which relative gap was left."""
    rows.survey  # noqa: B018 - read once before the clock starts
    began, told = time.process_time(), list[tuple[float, float]]()

    def tell(gap: float) -> None:
        told.append((time.process_time() - began, min(gap, told[-1][1] if told else 1.0)))

    search(rows, Limits(told=tell))
    return told


def placed(seconds: float, gap: float) -> tuple[float, float]:
    """Return where a point is."""
    x, y = math.log10(max(seconds, 1e-9)), math.log10(max(gap, 1e-12))
    x, y = np.clip(x, *SECONDS), np.clip(y, *GAPS)
    across = LEFT + (x - SECONDS[0]) / (SECONDS[1] - SECONDS[0]) * (RIGHT - LEFT)
    return across, BOTTOM - (y - GAPS[0]) / (GAPS[1] - GAPS[0]) * (BOTTOM - TOP)


def stairs(told: list[tuple[float, float]]) -> str:
    """Return a path that keeps each gap until the next is known."""
    points, level = [placed(10.0 ** SECONDS[0], 1.0)], 1.0
    for seconds, gap in told:
        points += [placed(seconds, level), placed(seconds, gap)]
        level = gap
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def picture(courses: dict[str, list[tuple[float, float]]]) -> Html:
    """Return all courses on logarithmic axes, with a key below."""
    parts = [element("style", Html(STYLE))]
    for power in range(SECONDS[0], SECONDS[1] + 1):
        x, _ = placed(10.0**power, 1.0)
        parts.append(element("line", x1=x, x2=x, y1=TOP, y2=BOTTOM, class_="line"))
        label = f"{10.0**power:g} s"
        parts.append(element("text", label, x=x, y=BOTTOM + 18, text_anchor="middle"))
    for power in range(GAPS[0], GAPS[1] + 1):
        _, y = placed(1.0, 10.0**power)
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="line"))
        parts.append(element("text", f"{10.0**power:g}", x=LEFT - 8, y=y + 4, text_anchor="end"))
    for k, (name, told) in enumerate(courses.items()):
        parts.append(element("path", d=stairs(told), stroke=TONES[k], class_="course"))
        y = BOTTOM + 42 + 20 * (k // 2)
        x = LEFT + (RIGHT - LEFT) / 2 * (k % 2)
        parts.append(element("rect", x=x, y=y - 9, width=12, height=4, fill=TONES[k]))
        parts.append(element("text", name, x=x + 20, y=y))
    return element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {HEIGHT - 30}"
    )


def main() -> None:
    """Search, and draw."""
    courses = {name: course(rows(1), search) for name, (rows, search) in TASKS.items()}
    PLACE.write_text(picture(courses) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
