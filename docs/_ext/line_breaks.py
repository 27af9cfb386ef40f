"""Where lines must not break: within an option of a command, or between code and punctuation.

Browsers break after hyphens, so that a narrow screen would show ``--`` on one line and ``target``
on the next; and they break before a full stop that follows code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from pygments.lexers.shell import BashLexer
from pygments.token import Name, _TokenType

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

MAX_WORD = 28  # characters: longer words may have to break on a phone
HYPHENATED = re.compile(r"[^\s-]*(?:-+[^\s-]+)+")
WHOLE = Name.Whole  # in CSS: .n-Whole
OPENING, CLOSING = re.compile(r"[(\[“‘]+$"), re.compile(r"^[)\].,;:!?’”]+")


class ShellLexer(BashLexer):
    """Bash, with words that have hyphens marked."""

    name = "Shell commands"
    aliases = ("sh",)
    filenames = ()

    def get_tokens_unprocessed(
        self, text: str, *more: object
    ) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield the tokens of Bash, but words that must stay whole with a type of their own."""
        for start, kind, value in super().get_tokens_unprocessed(text, *more):
            whole = len(value) <= MAX_WORD and HYPHENATED.fullmatch(value)
            yield start, WHOLE if whole and kind not in Name else kind, value


def keep(node: nodes.Element) -> None:
    """Put code, or a link that is code, and the punctuation around it into one span."""
    parent = node.parent
    place = parent.index(node)
    before = parent[place - 1] if place else None
    after = parent[place + 1] if place + 1 < len(parent) else None
    opened = OPENING.search(before.astext()) if isinstance(before, nodes.Text) else None
    closed = CLOSING.search(after.astext()) if isinstance(after, nodes.Text) else None
    if not opened and not closed:
        return
    kept = nodes.inline("", classes=["kept"])
    parent[place] = kept
    if opened:
        kept += nodes.Text(opened[0])
        parent[place - 1] = nodes.Text(before.astext()[: opened.start()])
    kept += node
    if closed:
        kept += nodes.Text(closed[0])
        parent[place + 1] = nodes.Text(after.astext()[closed.end() :])


def keep_all(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Keep all short code of one word together with its punctuation."""
    for code in list(doctree.findall(nodes.literal)):
        if len(code.astext()) > MAX_WORD or " " in code.astext():
            continue
        node: nodes.Element = code
        while len(node.parent) == 1 and isinstance(node.parent, nodes.reference | nodes.inline):
            node = node.parent
        if isinstance(node.parent, nodes.TextElement):
            keep(node)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the lexer, and keep code together."""
    app.add_lexer("sh", ShellLexer)
    app.connect("doctree-resolved", keep_all)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
