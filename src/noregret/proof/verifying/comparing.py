"""Compare a figure of a certificate with the recomputed one."""

from __future__ import annotations

import math
from typing import Any

from noregret.hindsight.proofs.answer import USUAL
from noregret.proof.verifying.verification import Line

# Relative tolerance of a recomputed figure: rounding on another machine.
TOLERANCE = 1e-9
# The same for figures that follow from others in the file by an addition or a division.
ROUNDING = 1e-14
# The same for figures that depend on where a search stopped. If the stated one is worse by more,
# the search is repeated with the limits in the file.
SEARCHED = 10 * USUAL.tolerance
# Factor by which the gap of a repeated search, or of sums in other blocks, may differ.
SEARCH_FACTOR = 10.0


class Missing:
    """A missing field."""

    def __repr__(self) -> str:
        return "left out"


MISSING = Missing()


def same(name: str, stated: Any, found: Any, note: str = "") -> Line:
    """Compare values that must be equal."""
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
    """Compare JSON values recursively; numbers by value, and true is not 1."""
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
    """Compare numbers, relative to themselves or to a larger size."""
    if stated is None or found is None or not (math.isfinite(stated) and math.isfinite(found)):
        return stated == found
    return abs(stated - found) <= tolerance * max(abs(stated), abs(found), size)


def is_between(stated: float | None, found: float | None, again: float | None) -> bool:
    """Return whether a figure differs only because its search stopped early.

    ``found`` is the result of a longer search, ``again`` that of the repeated one: the stated
    figure is near one of them, or lies between.
    """
    if stated is None or found is None or again is None:
        return stated is found
    if are_close(stated, found, SEARCHED) or are_close(stated, again, SEARCHED):
        return True
    return min(found, again) <= stated <= max(found, again)
