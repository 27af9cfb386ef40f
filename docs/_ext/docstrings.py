"""Docstrings, turned into Markdown.

They are plain prose with ``code``, indented lines for formulas, and NumPy-style sections, which
``noregret.app.cli.learner_facts`` takes apart; a subscript is written w_i or x_{t,i}.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from noregret.base.registry import families_with, find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

    from noregret.base.algorithm import Named


def markdown(text: str) -> str:
    """Turn prose into Markdown: code stays code, and a learner's name is a link."""
    pieces = re.split(r"``([^`]+)``", text)
    pieces[::2] = [prose(piece) for piece in pieces[::2]]
    pieces[1::2] = [code(piece) for piece in pieces[1::2]]
    return "".join(pieces)


def prose(text: str) -> str:
    """Keep Markdown from reading markup into prose, and lower its subscripts."""
    parts = re.split(r"(?<=[\w‖])_(\{[^{}]+\}|\w⁻¹|\w(?![^\W²³]))", text)
    parts[::2] = [re.sub(r"([\\*_\[\]<>$`#])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"<sub>{part.strip('{}')}</sub>" for part in parts[1::2]]
    return "".join(parts)


def code(text: str) -> str:
    """Return code as Markdown, with a link where it is a learner's name, of any family."""
    families = families_with(text)
    return f"[`{text}`]({page_of(find(text))})" if families else f"`{text}`"


def page_of(kind: type[Named]) -> str:
    """Return where the page of a learner is; those of other families have folders of their own."""
    folder = "" if kind.family == "learners" else f"{kind.family}/"
    return f"/learners/{folder}{kind.name}.md"


def blocks(text: str) -> Iterator[str]:
    """Turn paragraphs into Markdown, formulas on indented lines and examples into code."""
    for block in re.split(r"\n\s*\n", text):
        if block.startswith(">>>"):
            yield f"```python\n{block}\n```"
        elif block.startswith("    "):
            # A formula in words: in no language, but with a look of its own.
            yield f":::{{code-block}} text\n:class: update\n\n{textwrap.dedent(block)}\n:::"
        else:
            yield markdown(block)


# For autodoc, which reads docstrings as reStructuredText.


def keep_prose(
    _app: Sphinx, what: str, _name: str, _of: object, _options: object, lines: list[str]
) -> None:
    """Keep autodoc from reading markup into prose: bars, and a colon in a property's first line."""
    lines[:] = [line.replace("|", r"\|") for line in lines]
    if what == "property":
        lines[:0] = ["..", ""]  # an empty comment: it hides the line from napoleon


def plain_types(
    _app: Sphinx, _what: str, _name: str, _of: object, _options: object, *signature: str | None
) -> tuple[str | None, ...]:
    """Say of an array that it is one, and of a learner of any kind that it is a learner."""

    def plain(types: str | None) -> str | None:
        types = types and re.sub(r"(numpy\.)?ndarray\[.*\]|\bFloats\b", "ndarray", types)
        types = types and re.sub(
            r"\bnoregret\.batch\.\w+\.[BS]\b", "noregret.batch.method.Batch", types
        )
        return types and re.sub(r"\bnoregret\.\w+\.[LN]\b", "noregret.Learner", types)

    return tuple(plain(types) for types in signature)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Let autodoc read docstrings as they are meant."""
    app.connect("autodoc-process-docstring", keep_prose, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", plain_types)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
