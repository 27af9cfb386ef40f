"""Comparing one figure of a certificate with the same figure found again."""

from __future__ import annotations

import math
from typing import Any

from noregret.hindsight.proofs.answer import USUAL
from noregret.proof.verifying.verification import Line

# How far a figure that is computed again may be off, relatively: rounding on another machine.
TOLERANCE = 1e-9
# The same for figures that follow from others in the file by an addition or a division.
ROUNDING = 1e-14
# The same for figures that depend on where a search stopped. Where the stated one is worse by more,
# the search that the file tells of is done again.
SEARCHED = 10 * USUAL.tolerance
# By what factor a search that is done again, or sums in other blocks, may come out differently.
SEARCH_FACTOR = 10.0


class Missing:
    """Stands for a field that is not there."""

    def __repr__(self) -> str:
        return "left out"


MISSING = Missing()


def same(name: str, stated: Any, found: Any, note: str = "") -> Line:
    """Compare what must be the same."""
    return Line(name, stated, found, are_equal(stated, found), note)


def close(
    name: str,
    stated: float | None,
    found: float | None,
    tolerance: float = TOLERANCE,
    size: float = 0.0,
) -> Line:
    """Compare numbers."""
    return Line(name, stated, found, are_close(stated, found, tolerance, size))


def are_equal(stated: Any, found: Any) -> bool:
    """Compare values of JSON through and through; numbers by value, and true is not 1."""
    if isinstance(stated, dict) and isinstance(found, dict):
        return stated.keys() == found.keys() and all(
            are_equal(value, found[key]) for key, value in stated.items()
        )
    if isinstance(stated, list | tuple) and isinstance(found, list | tuple):
        return len(stated) == len(found) and all(map(are_equal, stated, found))
    if is_number(stated) and is_number(found):
        return bool(stated == found)
    return type(stated) is type(found) and bool(stated == found)


def is_number(value: Any) -> bool:
    """Return whether a value is a number and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_close(
    stated: float | None, found: float | None, tolerance: float = TOLERANCE, size: float = 0.0
) -> bool:
    """Compare numbers, relatively to themselves or to a larger size."""
    if stated is None or found is None or not (math.isfinite(stated) and math.isfinite(found)):
        return stated == found
    return abs(stated - found) <= tolerance * max(abs(stated), abs(found), size)


def is_between(stated: float | None, found: float | None, again: float | None) -> bool:
    """Return whether a figure differs only because its search stopped early.

    ``found`` is where a harder search stopped, ``again`` where the stated one does when it is done
    again: what is stated is near one of them, or lies between.
    """
    if stated is None or found is None or again is None:
        return stated is found
    if are_close(stated, found, SEARCHED) or are_close(stated, again, SEARCHED):
        return True
    return min(found, again) <= stated <= max(found, again)
