"""HTML and SVG elements; text is escaped unless it is marked as markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from noregret.base.numbers import clean

# Elements without contents.
VOID = {"meta"}


class Html(str):
    """Text that is markup."""

    __slots__ = ()


def safe(text: str) -> str:
    """Return escaped text; markup is returned unchanged."""
    return text if isinstance(text, Html) else escape(clean(text))


def joined(parts: Iterable[str]) -> Html:
    """Join pieces of markup."""
    return Html("".join(map(safe, parts)))


def element(name: str, /, *inside: str, **attributes: object) -> Html:
    """Return an element around text or other elements.

    Attributes that are None are left out. A trailing underscore of a name is dropped, and other
    underscores become dashes.

    >>> element("p", "1 < 2", element("b", "!"), class_="note", aria_label='"so"', id=None)
    '<p class="note" aria-label="&quot;so&quot;">1 &lt; 2<b>!</b></p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(clean(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(inside)}</{name}>")
