"""The directive ``{linear-learners}``: all linear learners side by side, from the registry."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from docstrings import page_of, prose
from master_table import in_signs
from sphinx.util.docutils import SphinxDirective

from noregret.base.registry import all_algorithms

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

    from noregret.base.algorithm import Named

HEADINGS = ("Learner", "May be told", "Bounds", "Promise as it comes")


def row(kind: type[Named]) -> tuple[str, ...]:
    """Say what a learner takes, and what it promises with its usual parameters."""
    params = kind().params
    promise = next((t for t in kind.theorems if t.covers(params) and not t.warning), None)
    return (
        f"[`{kind.name}`]({page_of(kind)})",
        ", ".join(f"`{name}`" for name in inspect.signature(kind).parameters) or "nothing",
        promise.quantity if promise else "",
        prose(in_signs(promise.plain)) if promise else "nothing",
    )


def table() -> str:
    """Write the table of all linear learners."""
    lines = ["::::{list-table}", ":header-rows: 1", ":widths: 20 28 12 40", ":class: stacks", ""]
    kinds = [kind for kind in all_algorithms() if kind.family == "learners"]
    for first, *others in (HEADINGS, *map(row, kinds)):
        lines += [f"* - {first}", *(f"  - {cell}" for cell in others)]
    return "\n".join([*lines, "::::"])


class LinearLearners(SphinxDirective):
    """The table, as it stands in a page."""

    def run(self) -> list[Node]:
        """Parse the table as if it had been written there."""
        return self.parse_text_to_nodes(table())


def setup(app: Sphinx) -> ExtensionMetadata:
    """Make the directive known."""
    app.add_directive("linear-learners", LinearLearners)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
