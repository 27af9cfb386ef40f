"""Read and check price relatives."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.linear import inputs

Floats = NDArray[np.float64]


def first_fault(X: Floats, names: Sequence[str]) -> tuple[int, BadExample] | None:
    """Return the first row that cannot be played, and the error."""
    good = (X >= 0) & np.isfinite(X)
    fine = good.all(axis=1) & (X > 0).any(axis=1)
    if fine.all():
        return None
    row = int(np.argmin(fine))
    if good[row].all():
        return row, BadExample("every relative is 0: no portfolio keeps any wealth")
    k = int(np.argmin(good[row]))
    name, value = names[k], X[row, k]
    if np.isnan(value):
        return row, missing(name)
    rule = "a relative is the price divided by the previous one, a number that is 0 or above"
    return row, BadExample(f"column {name!r} is {value:g}: {rule}", feature=name)


def missing(name: str) -> BadExample:
    """Return the error for an asset without a relative."""
    what = f"column {name!r} is missing: every asset needs a number in every round"
    return BadExample(what, ("drop the asset", "fill it in"), feature=name)


def one_row(relatives: Any, names: Sequence[str] | None) -> tuple[Floats, list[str] | None]:
    """Return the relatives of one round in the order of the names, and the names, if any."""
    if isinstance(relatives, Mapping) or hasattr(relatives, "keys"):
        found = {key: relatives[key] for key in relatives.keys()}  # noqa: SIM118
        for key in found:
            if not isinstance(key, str):
                raise BadExample(f"names of assets are strings: got {key!r}")
        order = list(names) if names else sorted(found)
        for name in order:
            if name not in found:
                raise missing(name)
        for name in found:
            if name not in order:
                raise BadExample(
                    f"column {name!r} is new: all assets must be there from the first round on",
                    feature=name,
                )
        return np.array([number_of(found[name], name) for name in order]), order
    try:
        row = inputs.as_floats(inputs.numbers_of(relatives))
    except (TypeError, ValueError):
        raise BadExample(
            "a round is a dict of names to relatives or a 1-d array of them: got"
            f" {inputs.kind_of(relatives)}"
        ) from None
    if row.ndim != 1:
        raise BadExample(f"a round is a 1-d array: got shape {row.shape} (many go to learn_many)")
    return row, None


def number_of(value: Any, name: str) -> float:
    """Return a relative as a number; NaN if it is missing."""
    try:
        if isinstance(value, inputs.NOT_NUMBERS):
            raise TypeError
        return np.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadExample(
            f"column {name!r} is {reprlib.repr(value)}: every relative must be a number",
            feature=name,
        ) from None
