"""Cures for files that are not tables of prices, as options of the command."""

from __future__ import annotations

from noregret.errors import Cure, NoRegretError, Use

# Options of this command that replace parameters for which it has none.
INSTEAD = {"categories": ("date", "drop"), "missing": ("drop",), "target": ("date",)}
TEXTS = {"date": "name the column of dates ({})", "drop": "drop the asset ({})"}


def advised(error: NoRegretError) -> tuple[Cure, ...]:
    """Return the cures of an error about a file, as options of ``noregret portfolio``."""
    column = ... if error.feature is None else error.feature
    found: dict[str, Cure] = {}
    for cure in error.cures:
        if isinstance(cure, str):
            found[cure] = cure
            continue
        for name in INSTEAD.get(cure.name, (cure.name,)):
            found.setdefault(name, cure if name == cure.name else Use(name, column, TEXTS[name]))
    return tuple(found.values())
