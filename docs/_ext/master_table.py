"""The directive ``{masters}``: all masters over experts side by side, written from the registry."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from docstrings import page_of, prose
from sphinx.util.docutils import SphinxDirective

from noregret.base.registry import all_algorithms

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

    from noregret.base.algorithm import Named

# Parameters that say how to play, not what is known of the data.
MANNERS = {"loss", "loss_parameter", "gradient", "prior", "play", "seed", "schedule", "variable"}
HEADINGS = ("Master", "May be told", "Experts", "Gradients", "Promise as it comes")


def row(kind: type[Named]) -> tuple[str, ...]:
    """Say what a master takes and what it promises with its usual parameters."""
    master, takes = kind(), inspect.signature(kind).parameters
    told = ", ".join(f"`{name}`" for name in takes if name not in MANNERS)
    gradient = "no option"
    if "gradient" in takes:
        gradient = "gradients by default" if takes["gradient"].default else "gradients if told"
    promise = next(t for t in kind.theorems if t.covers(master.params))
    return (
        f"[`{kind.name}`]({page_of(kind)})",
        told or "nothing",
        "may sleep" if getattr(master, "may_sleep", False) else "always awake",
        gradient,
        prose(in_signs(promise.plain)),
    )


def in_signs(plain: str) -> str:
    """Write a bound with the signs that a page has and a terminal may lack."""
    return re.sub(r"_(\w)²", r"_{\1}²", plain.replace("<=", "≤").replace(">=", "≥"))


def table() -> str:
    """Write the table of all masters."""
    lines = ["::::{list-table}", ":header-rows: 1", ":widths: 22 14 11 14 39", ":class: stacks", ""]
    kinds = [kind for kind in all_algorithms() if kind.family == "experts"]
    for cells in (HEADINGS, *map(row, kinds)):
        first, *others = cells
        lines += [f"* - {first}", *(f"  - {cell}" for cell in others)]
    return "\n".join([*lines, "::::"])


class Masters(SphinxDirective):
    """The table, as it stands in a page."""

    def run(self) -> list[Node]:
        """Parse the table as if it had been written there."""
        return self.parse_text_to_nodes(table())


def setup(app: Sphinx) -> ExtensionMetadata:
    """Make the directive known."""
    app.add_directive("masters", Masters)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
