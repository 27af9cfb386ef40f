"""The role ``{measured}`ROW```: the ratio of a row of benchmarks/results.md, such as 9.66× faster.

So a page cannot state another figure than the one that was measured last.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results.md"


def ratio(row: str) -> str | None:
    """Return the ratio of a row of the results, or None if there is no such row."""
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")]
        if cells[0] == row and len(cells) > 3:
            return cells[3]
    return None


def measured(
    _name: str, raw: str, text: str, line: int, inliner: Any, *_more: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the ratio as text."""
    found = ratio(text)
    if found is None:
        problem = inliner.reporter.error(f"benchmarks/results.md has no row {text!r}", line=line)
        return [inliner.problematic(raw, raw, problem)], [problem]
    return [nodes.Text(found)], []


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the role."""
    app.add_role("measured", measured)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
