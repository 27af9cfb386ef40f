"""Tables of the members of a mixture: colour, name, figures, bar."""

from __future__ import annotations

from collections.abc import Iterable

from noregret.app.report.page.markup import Html, element

STYLE = """
.chip { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 9px;
  background: var(--tone, var(--line)); vertical-align: -1px; }
.roster .bar { width: 22%; }
.roster .bar div { height: 10px; border-radius: 3px; background: var(--tone, var(--line)); }
.roster td, .roster th { padding-top: 5px; padding-bottom: 5px; vertical-align: middle; }
.roster tr.added th { font-style: italic; }
.roster .name { padding-left: 28px; }
@media (max-width: 560px) { .roster .bar { display: none; }
  .roster .number { width: auto; padding-right: 8px; } }
"""


def heading(names: Iterable[tuple[str, str]]) -> Html:
    """Return the header row of a table: names, each with its class."""
    cells = (element("th", name, scope="col", class_=kind or None) for name, kind in names)
    return element("thead", element("tr", *cells))


def bar(share: float) -> Html:
    """Return a bar whose length is a share of the cell."""
    width = 100 * min(1.0, max(0.0, share))
    return element("div", style=f"width:{width:.2f}%", aria_hidden="true")


def chip(look: str) -> Html:
    """Return a coloured square."""
    return element("span", class_=f"chip {look}")
