"""What the site's script adds to the theme for readers without a mouse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.app.report.browser import Browser
from tests.docs.test_docs import contrast

STATIC = Path(__file__).parents[2] / "docs" / "_static"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>
<style>pre { overflow: auto; width: 10em }</style>
<aside class="sidebar-drawer"><p class="caption" role="heading">Guide</p></aside>
<aside class="toc-drawer"></aside>
<div class="highlight"><pre id="wide">a line that is much too long for ten letters</pre></div>
<div class="highlight"><pre id="narrow">short</pre></div>
<dl><dt class="sig">f(<dl><dd>one</dd><dd>two</dd></dl>)</dt><dd>It.</dd></dl>
<table><thead><tr><th class="head"><p></p></th><th>b</th></tr></thead></table>
<table class="stacks"><thead><tr><th>who</th><th>rounds</th><th>loss</th><th>bound</th></tr></thead>
<tbody><tr><td>ogd</td><td><p>10</p></td><td>1</td><td>2</td></tr></tbody></table>
<script src="SCRIPT"></script></html>"""


def test_readers_without_a_mouse_get_what_the_theme_leaves_out(
    chromium: Browser, tmp_path: Path
) -> None:
    place = tmp_path / "page.html"
    script = (STATIC / "accessible.js").as_uri()
    place.write_text(PAGE.replace("SCRIPT", script), encoding="utf-8")
    chromium.show(place, 800, "light")

    def found(what: str) -> object:
        return chromium.run(f"document.{what}")

    assert found("querySelector('.caption').getAttribute('aria-level')") == "2"
    names = "[...document.querySelectorAll('aside')].map((each) => each.ariaLabel)"
    assert chromium.run(names) == ["Menu", "Contents of this page"]
    assert found("getElementById('wide').tabIndex") == 0
    assert found("getElementById('narrow').tabIndex") == -1
    assert found("querySelectorAll('.parameters > .parameter').length") == 2
    assert found("querySelectorAll('dt.sig dl').length") == 0
    assert found("querySelectorAll('th').length") == 1 + 4
    columns = "[...document.querySelectorAll('[data-column]')].map((each) => each.dataset.column)"
    assert chromium.run(columns) == ["rounds: ", "loss: ", "bound: "]
    assert found("querySelector('tbody td > p').dataset.column") == "rounds: "
    assert found("querySelector('h1').textContent") == "Search"


@pytest.mark.parametrize("kind", ["card", "course", "gallery"])
def test_words_in_pictures_can_be_read_on_light_and_on_dark_pages(kind: str) -> None:
    pictures = sorted(STATIC.glob(f"{kind}-*.svg"))
    assert pictures
    for picture in pictures:
        (words,) = re.findall(r"text \{[^}]*fill: (#\w{6})", picture.read_text(encoding="utf-8"))
        assert min(contrast(words, page) for page in ("#ffffff", "#131416")) > 4.2, picture
