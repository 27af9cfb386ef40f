"""Every page of the site in a browser: it fits, loads all of its parts, and obeys axe-core."""

from __future__ import annotations

import contextlib
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


def wrong_with(page: Path, chromium: Browser, rules: str) -> list[str]:
    """Return what is found wrong with a page, by each setting."""
    found = []
    for width, theme in SETTINGS:
        chromium.show(page, width, theme)
        names = ("Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed")
        found += [f"{name}: {each}"[:300] for name in names for each in chromium.heard(name)]
        wide = chromium.run("document.documentElement.scrollWidth - window.innerWidth")
        found += [f"{wide} px too wide at {width}"] if wide > 0 else []
        if rules:
            chromium.run(rules)
            found += chromium.run(BROKEN)
    return [f"{page.name}: {each}" for each in found]


@pytest.mark.long
def test_every_page_fits_and_obeys_axe(site: Path, chromium: Browser) -> None:  # noqa: F811
    rules = ""
    with contextlib.suppress(ImportError):
        place = resources.files("axe_core_python").joinpath("axe.min.js")
        rules = place.read_text(encoding="utf-8")
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    assert len(pages) > 200
    assert not [each for page in pages for each in wrong_with(page, chromium, rules)]
    chromium.show(f"{(site / 'search.html').as_uri()}?q=echo", 1280, "light")
    assert chromium.run(SEARCHED) > 3  # without a network
    if not rules:
        pytest.skip("axe-core did not look: pip install axe-core-python")
