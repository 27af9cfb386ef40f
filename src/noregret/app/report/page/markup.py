"""HTML and SVG in small pieces: text is escaped unless it is known to be markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from noregret.base.numbers import clean

# Elements that never have anything inside.
VOID = {"meta"}


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def safe(text: str) -> str:
    """Return text as markup that shows it, and does nothing else."""
    return text if isinstance(text, Html) else escape(clean(text))


def joined(parts: Iterable[str]) -> Html:
    """Return pieces, one after the other."""
    return Html("".join(map(safe, parts)))


def element(name: str, /, *inside: str, **attributes: object) -> Html:
    """Return an element around text or other elements.

    Attributes that are None are left out. Of their names a last underscore is dropped, and others
    are dashes, so that Python can write them.

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
