"""The directive ``{packages} PART``: parts of the page "Architecture", read from the sources.

PART is ``map``, who imports whom; ``exceptions``, the imports that go up; ``contents``, a paragraph
for each package; ``compiled``, a line for each compiled module.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstrings import markdown
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils.nodes import Node
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

TOOL = Path(__file__).resolve().parents[2] / "tools" / "architecture.py"


def drawn(order: dict[str, Any]) -> Iterator[str]:
    """Yield the map of dependencies."""
    yield from ("```text", order["drawing"](), "```")


def exceptions(order: dict[str, Any]) -> Iterator[str]:
    """Yield the imports that go up, each with its reason."""
    for (lower, upper), reason in order["UPWARD"].items():
        yield f"- `{lower}` → `{upper}`: {markdown(reason)}"


def contents(order: dict[str, Any]) -> Iterator[str]:
    """Yield a paragraph for each package, the lowest last: its docstring."""
    for row in reversed(order["LAYERS"][1:]):
        for package in row:
            said = re.split(r"\n\n", order["docstring"](package).partition(">>>")[0])
            text = " ".join(" ".join(said[:2]).split())
            yield f"`{package}`\n: {markdown(text)}\n"


def compiled(order: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the compiled modules with their first lines."""
    yield from ("::::{list-table}", ":widths: 34 66", ":class: stacks", "")
    for paths in order["modules"]().values():
        for path in paths:
            if path.suffix == ".pyx":
                name = path.relative_to(order["SOURCE"] / "noregret").as_posix()
                (said,) = re.findall(
                    r'\A"""(.*?)(?:"""|\n\n)', path.read_text(encoding="utf-8"), re.DOTALL
                )
                yield f"* - `{name}`\n  - {markdown(' '.join(said.split()).rstrip('.'))}"
    yield "::::"


PARTS = {"map": drawn, "exceptions": exceptions, "contents": contents, "compiled": compiled}


class Packages(SphinxDirective):
    """A part of the page, as it stands there."""

    required_arguments = 1

    def run(self) -> list[Node]:
        """Parse the part as if it had been written there."""
        self.env.note_dependency(str(TOOL))
        lines = PARTS[self.arguments[0]](runpy.run_path(str(TOOL)))
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Make the directive known."""
    app.add_directive("packages", Packages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
