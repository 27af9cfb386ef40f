"""Every page of the site in a browser: it fits, loads all of its parts, and obeys axe-core."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from tests.app.report.browser import Browser
from tests.docs.test_docs import site  # noqa: F401  (a fixture)
from tests.thorough import THOROUGH

pytestmark = pytest.mark.skipif(
    not THOROUGH, reason="builds and shows the whole site, which takes minutes: only thorough runs"
)
SETTINGS = [(1280, "light"), (390, "dark")]
SEARCHED = """
    new Promise((done) => {
        const look = (left) => {
            const found = document.querySelectorAll("#search-results li").length;
            if (found > 3 || !left) done(found);
            else setTimeout(look, 100, left - 1);
        };
        look(100);
    })
"""
BROKEN = """
    axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations.map(
        (each) => each.id + ": " + each.nodes[0].html.slice(0, 200)))
"""


def wrong(
    folder: Path, chromium: Browser, settings: list[tuple[int, str]], find: Callable[[], list[str]]
) -> list[str]:
    """Return what is found wrong, with the page it is on."""
    found = []
    pages = [page for page in sorted(folder.rglob("*.html")) if "_static" not in page.parts]
    assert len(pages) > 200
    for page in pages:
        for width, theme in settings:
            chromium.show(page, width, theme)
            where = f"{page.relative_to(folder)} at {width}, {theme}"
            found += [f"{where}: {each}" for each in find()]
    return found


@pytest.mark.long
def test_every_page_fits_and_obeys_axe(site: Path, chromium: Browser) -> None:  # noqa: F811
    def find() -> list[str]:
        names = ("Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed")
        failed = [f"{name}: {each}"[:300] for name in names for each in chromium.heard(name)]
        wide = chromium.run("document.documentElement.scrollWidth - window.innerWidth")
        return failed + ([f"{wide} px too wide"] if wide > 0 else [])

    assert not wrong(site, chromium, SETTINGS, find)
    chromium.show(f"{(site / 'search.html').as_uri()}?q=echo", 1280, "light")
    assert chromium.run(SEARCHED) > 3  # without a network

    axe = pytest.importorskip("axe_core_python", reason="to check it: pip install axe-core-python")
    rules = resources.files(axe).joinpath("axe.min.js").read_text(encoding="utf-8")

    def break_rules() -> list[str]:
        chromium.run(rules)
        broken: list[str] = chromium.run(BROKEN)
        return broken

    assert not wrong(site, chromium, SETTINGS, break_rules)
