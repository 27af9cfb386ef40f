"""The page in a real browser: it shows all, asks for nothing, fits, and changes its theme."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noregret.app.report.run.html import page
from noregret.app.results.run import Result
from tests.app.report.browser import MISSING, Browser, found
from tests.app.report.results import classification, nothing, regression, troubled
from tests.app.report.results import found as telling

RESULTS: dict[str, Callable[[], Result]] = {
    "regression": regression,
    "classification": classification,
    "telling": telling,
    "troubled": troubled,
    "nothing": nothing,
    "one row": lambda: regression(1),
}
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
SIZES = """
[...document.querySelectorAll("figure.chart")].map(figure => {
  const drawn = figure.querySelector("svg[role=img], table");
  const box = drawn.getBoundingClientRect();
  return [figure.querySelector("h3").textContent, box.width, box.height];
})
"""

pytestmark = pytest.mark.skipif(found() is None, reason=MISSING)


@pytest.fixture(params=RESULTS)
def written(request: Any, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(page(RESULTS[request.param]()), encoding="utf-8")
    return path


def complaints(chromium: Browser) -> list[Any]:
    """Return exceptions, console messages, and what the policy forbade."""
    names = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    return [event for name in names for event in chromium.heard(name)]


@pytest.mark.parametrize("width", [360, 1100])
def test_everything_is_shown_and_nothing_sticks_out(
    chromium: Browser, written: Path, width: int
) -> None:
    chromium.show(written, width, "light")
    charts = chromium.run(SIZES)
    assert all(w > 60 and h > 60 for _, w, h in charts), charts
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert complaints(chromium) == []


def test_it_asks_the_network_for_nothing(chromium: Browser, written: Path) -> None:
    chromium.show(written, 800, "light")
    asked = [sent["request"]["url"] for sent in chromium.heard("Network.requestWillBeSent")]
    assert asked == [written.as_uri()]
    assert chromium.run("performance.getEntriesByType('resource').length") == 0


def test_both_themes_and_the_button_between_them(chromium: Browser, written: Path) -> None:
    seen = {}
    for theme in ("light", "dark"):
        chromium.show(written, 800, theme)
        before = chromium.run(BACKGROUND)
        chromium.run("document.getElementById('theme').click()")
        seen[theme] = before, chromium.run(BACKGROUND)
    light, dark = seen["light"][0], seen["dark"][0]
    assert light != dark
    assert seen == {"light": (light, dark), "dark": (dark, light)}


def test_print_is_light_without_buttons(chromium: Browser, written: Path) -> None:
    chromium.show(written, 800, "light")
    light = chromium.run(BACKGROUND)
    chromium.show(written, 800, "dark")
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    chromium.ask("Emulation.setEmulatedMedia", media="print", features=dark)
    assert chromium.run(BACKGROUND) == light
    assert not chromium.run("[...document.querySelectorAll('button')].some(b => b.offsetWidth)")


def test_the_charts_of_a_regression_and_of_a_classifier(chromium: Browser, tmp_path: Path) -> None:
    shown = {}
    for name in ("regression", "classification"):
        path = tmp_path / f"{name}.html"
        path.write_text(page(RESULTS[name]()), encoding="utf-8")
        chromium.show(path, 1100, "light")
        shown[name] = [title for title, _, _ in chromium.run(SIZES)]
    assert shown == {
        "regression": [
            "Mean loss so far", "Regret", "Largest weights", "Errors", "Outcome against prediction",
        ],
        "classification": [
            "Mean loss so far", "Largest weights", "Calibration", "Confusion matrix",
        ],
    }  # fmt: skip


def test_a_pointer_on_a_curve_reads_its_figures(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(regression()), encoding="utf-8")
    chromium.show(path, 1100, "light")
    box = chromium.run(
        "(b => [b.left, b.top, b.width, b.height])"
        "(document.querySelector('[data-hover] svg').getBoundingClientRect())"
    )
    chromium.ask(
        "Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + box[2] + 2, y=box[1] + 50
    )
    words = chromium.run("document.querySelector('.tip').innerText")
    assert "round 20,460" in words
    assert "mean loss so far 312.3" in words
    assert complaints(chromium) == []
