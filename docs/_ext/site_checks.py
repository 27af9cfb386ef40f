"""Checks of the built site, as warnings, which a strict build turns into errors.

Every link leads to a page and an anchor that exist; every image has a text; every page has one
first heading and a moderate size; the menu has no name twice and at most two levels.
"""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
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
# Pages that Sphinx makes: the search adds its list by a script.
GENERATED = ("genindex.html", "search.html", "py-modindex.html")

logger = logging.getLogger(__name__)


class Page(HTMLParser):
    """The anchors, links, images and first headings of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.silent: list[str] = []
        self.loads: set[str] = set()
        self.headings = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag contributes."""
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        self.headings += tag == "h1"
        if tag == "a" and (link := found.get("href")):
            self.links.add(link)
        if tag in {"img", "audio", "video", "script", "source"} and (load := found.get("src")):
            self.loads.add(load)
        if tag == "img" and not (found.get("alt") or "").strip():
            self.silent.append(found.get("src") or "?")


def problems(site: Path) -> list[str]:
    """Return what is wrong with the pages of a site."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    pages = {path: page for path, page in pages.items() if "_static" not in path.parts}
    wrong = list[str]()
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        if (size := weight(path, page)) > MAX_PAGE_BYTES:
            wrong.append(f"{name}: {size:,} bytes with its images, at most {MAX_PAGE_BYTES:,}")
        if page.headings != 1 and name not in GENERATED:
            wrong.append(f"{name}: {page.headings} headings of the first level, not one")
        wrong += [f"{name}: the image {each} has no alternative text" for each in page.silent]
        for link in sorted(page.links):
            if why := broken(link, path, pages):
                wrong.append(f"{name}: the link {link} {why}")
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
    """Return what is wrong with the menu: names that occur twice, and pages too deep."""
    names, wrong = Counter[str](), list[str]()

    def walk(page: str, level: int) -> None:
        for tree in app.env.tocs[page].findall(addnodes.toctree):
            for title, entry in tree["entries"]:
                if entry not in app.env.titles:
                    continue
                if level == 1:
                    names[title or app.env.titles[entry].astext()] += 1
                if level > MAX_LEVELS:
                    wrong.append(f"{entry}: on level {level} of the menu, at most {MAX_LEVELS}")
                walk(entry, level + 1)

    walk(app.config.root_doc, 1)
    return wrong + [f"the menu has {name!r} twice" for name, n in names.items() if n > 1]


def check(app: Sphinx, failure: Exception | None) -> None:
    """Report what is wrong with the site that was built."""
    if failure is None and app.builder.name == "html":
        for each in [*menu(app), *problems(Path(app.outdir).resolve())]:
            logger.warning(each)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Check the site after every build."""
    app.connect("build-finished", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
