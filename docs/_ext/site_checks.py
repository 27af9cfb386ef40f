"""Checks of the built site, as warnings, which a strict build turns into errors.

Every link has a name and leads to a page and an anchor that exist; every image has a text, every
input a label; every page states its language, has one first heading, skips no level of headings,
and has a moderate size; the menu is short, has no name twice and at most two levels.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from sphinx import addnodes
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

MAX_PAGE_BYTES = 500_000
MAX_LEVELS = 2
MAX_ENTRIES = 30  # of the menu while all of its entries are folded
# Pages that Sphinx makes: the search adds its list by a script.
GENERATED = ("genindex.html", "search.html", "py-modindex.html")

logger = logging.getLogger(__name__)


class Page(HTMLParser):
    """The anchors, links, images, inputs and headings of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.silent: list[str] = []
        self.loads: set[str] = set()
        self.headings = list[int]()
        self.language = ""
        self.link: list[str] | None = None  # its target, then what names it
        self.nameless: list[str] = []
        self.labels: set[str] = set()
        self.labelled = False  # within a label
        self.inputs: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag contributes."""
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "html":
            self.language = found.get("lang") or ""
        if tag == "label":
            self.labels.add(found.get("for") or "")
            self.labelled = True
        unseen = found.get("type") == "hidden" or found.get("aria-label") or self.labelled
        if tag in {"input", "select", "textarea"} and not unseen:
            self.inputs.append(found.get("id") or "?")
        name = found.get("aria-label") or found.get("title") or found.get("alt") or ""
        if tag == "a" and (link := found.get("href")):
            self.links.add(link)
            self.link = [link, name]
        elif self.link:
            self.link.append(name)
        if tag in {"img", "audio", "video", "script", "source"} and (load := found.get("src")):
            self.loads.add(load)
        if tag == "img" and not (found.get("alt") or "").strip():
            self.silent.append(found.get("src") or "?")

    def handle_data(self, data: str) -> None:
        """Note what names the link that is open."""
        if self.link:
            self.link.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Note a link that ends without a name: a reader who listens hears only its address."""
        self.labelled &= tag != "label"
        if tag == "a" and self.link:
            target, *names = self.link
            self.link = None
            if not "".join(names).strip():
                self.nameless.append(target)


def problems(site: Path, *, plain: bool = False) -> list[str]:
    """Return what is wrong with the pages of a site.

    The search boxes and headings beside the text are the theme's: the plain one is for tests only.
    """
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    pages = {path: page for path, page in pages.items() if "_static" not in path.parts}
    wrong = list[str]()
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        if (size := weight(path, page)) > MAX_PAGE_BYTES:
            wrong.append(f"{name}: {size:,} bytes with its images, at most {MAX_PAGE_BYTES:,}")
        if plain:
            page.inputs, page.headings = [], [1] * page.headings.count(1)
        wrong += [f"{name}: {each}" for each in inaccessible(page, generated=name in GENERATED)]
        for link in sorted(page.links):
            if why := broken(link, path, pages):
                wrong.append(f"{name}: the link {link} {why}")
    return wrong


def inaccessible(page: Page, *, generated: bool = False) -> list[str]:
    """Return what keeps readers from a page who listen to it or use no mouse."""
    wrong = [f"the image {each} has no alternative text" for each in page.silent]
    wrong += [f"the link {each} has no name" for each in page.nameless]
    wrong += [f"the input {each} has no label" for each in page.inputs if each not in page.labels]
    if not page.language:
        wrong.append("does not state its language")
    if (firsts := page.headings.count(1)) != 1 and not generated:
        wrong.append(f"{firsts} headings of the first level, not one")
    for above, below in pairwise(page.headings):
        if below > above + 1:
            wrong.append(f"a heading of level {below} follows one of level {above}")
    return wrong


def weight(path: Path, page: Page) -> int:
    """Return the bytes of a page with its images; scripts and sounds are fetched apart."""
    images = [path.parent / each for each in page.loads if each.endswith((".svg", ".png"))]
    return sum(each.stat().st_size for each in [path, *images] if each.exists())


def broken(link: str, path: Path, pages: dict[Path, Page]) -> str:
    """Return why a link within the site leads nowhere, or nothing."""
    place, anchor = urldefrag(link)
    if ":" in place.partition("/")[0]:
        return ""
    target = (path.parent / unquote(place)).resolve() if place else path
    if not target.exists():
        return "leads to no file"
    if anchor and target in pages and unquote(anchor) not in pages[target].anchors:
        return "leads to no heading"
    return ""


def menu(app: Sphinx) -> list[str]:
    """Return what is wrong with the menu: its length, names that occur twice, pages too deep.

    Learners of two families, and a learner and its theorem, may share a name: the indexes of both
    are not counted.
    """
    names, wrong = Counter[str](), list[str]()
    first = list[str]()

    def walk(page: str, level: int) -> None:
        for tree in app.env.tocs[page].findall(addnodes.toctree):
            for title, entry in tree["entries"]:
                if entry not in app.env.titles:
                    continue
                if level == 1:
                    first.append(entry)
                names[title or app.env.titles[entry].astext()] += not page.endswith("/index")
                if level > MAX_LEVELS:
                    wrong.append(f"{entry}: on level {level} of the menu, at most {MAX_LEVELS}")
                walk(entry, level + 1)

    walk(app.config.root_doc, 1)
    if len(first) > MAX_ENTRIES:
        wrong.append(f"the menu has {len(first)} entries, at most {MAX_ENTRIES}")
    return wrong + [f"the menu has {name!r} twice" for name, n in names.items() if n > 1]


def check(app: Sphinx, failure: Exception | None) -> None:
    """Report what is wrong with the site that was built."""
    if failure is None and app.builder.name == "html":
        plain = app.config.html_theme == "basic"
        for each in [*menu(app), *problems(Path(app.outdir).resolve(), plain=plain)]:
            logger.warning(each)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Check the site after every build."""
    app.connect("build-finished", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
