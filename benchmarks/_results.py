"""The page of results: some of its rows measured again, the others as they were."""

from __future__ import annotations

import re
from collections.abc import Iterable


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table; none if it is no such line."""
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []


def updated(page: str, rows: Iterable[tuple[str, ...]], fact: str) -> str:
    r"""Put rows in the place of those with the same first cell, and new ones at the end.

    The fact says which rows these are and what they were measured on, below those of the page.

    >>> page = "- once\n\n| work | reached |\n| --- | --- |\n| a | NO |\n| b | NO |\n\n"
    >>> page += "0 of 2 targets reached.\n"
    >>> print(updated(page, [("b", "yes"), ("c", "")], "b and c: later"), end="")
    - once
    - b and c: later
    <BLANKLINE>
    | work | reached |
    | --- | --- |
    | a | NO |
    | b | yes |
    | c |  |
    <BLANKLINE>
    1 of 2 targets reached.
    """
    new = {row[0]: f"| {' | '.join(row)} |" for row in rows}
    lines = page.split("\n")
    start = next(k for k, line in enumerate(lines) if cells_of(line))
    end = next(k for k in range(start, len(lines)) if not cells_of(lines[k]))
    table = [new.pop(cells_of(line)[0], line) for line in lines[start:end]] + list(new.values())
    last = max(k for k in range(start) if lines[k].startswith("- "))
    facts = [line for line in lines[: last + 1] if line != f"- {fact}"]
    reached = [cells_of(line)[-1] for line in table]
    judged = f"{reached.count('yes')} of {reached.count('yes') + reached.count('NO')} targets"
    rest = re.sub(r"\d+ of \d+ targets", judged, "\n".join(lines[end:]), count=1)
    return "\n".join([*facts, f"- {fact}", "", *table, rest])
