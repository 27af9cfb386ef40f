"""One round of advice or losses, however it comes, as one number for each expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.core.council import Council
from noregret.errors import BadExample

Floats = NDArray[np.float64]


def as_row(council: Council, x: Any) -> Floats:
    """Return one number an expert; NaN where one sleeps. The first row settles who they are."""
    if isinstance(x, Mapping):
        return from_names(council, x)
    row = numbers_of(council, x)
    if not council.width:
        if not len(row):
            raise BadExample("there are no experts to learn from", round=1)
        council.begin(len(row))
    if len(row) != council.width:
        raise BadExample(
            f"round {council.rounds + 1}: {len(row)} numbers for {council.width} experts: NaN is"
            " for one that sleeps, and add_expert lets one in",
            round=council.rounds + 1,
        )
    return row


def from_names(council: Council, x: Mapping[Any, Any]) -> Floats:
    """Return the numbers of a dict in the order of the experts; who is missing sleeps."""
    if not council.width:
        if not x:
            raise BadExample("there are no experts to learn from", round=1)
        names = [str(name) for name in x]
        council.begin(len(names))
        council.experts = names
    if not council.experts:
        raise BadExample(
            f"round {council.rounds + 1}: the experts so far came without names: go on with a list"
            " or an array",
            round=council.rounds + 1,
        )
    places = {name: place for place, name in enumerate(council.experts)}
    row = np.full(len(places), np.nan)
    for name, value in x.items():
        if str(name) not in places:
            raise BadExample(
                f"round {council.rounds + 1}: there is no expert {name!r}: add_expert({name!r})"
                " lets one in",
                round=council.rounds + 1,
                feature=str(name),
            )
        row[places[str(name)]] = number_of(council, name, value)
    return row


def numbers_of(council: Council, x: Any) -> Floats:
    """Return a sequence of numbers as an array."""
    if isinstance(x, str | bytes) or not (isinstance(x, Sequence) or hasattr(x, "__array__")):
        raise TypeError(
            "give one number an expert, as a list, an array or a dict of names: got"
            f" {type(x).__name__}"
        )
    if isinstance(x, Sequence):
        return np.array([number_of(council, k, value) for k, value in enumerate(x)], dtype=float)
    try:
        row = np.ascontiguousarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadExample(
            f"round {council.rounds + 1}: not all of {x!r} are numbers", round=council.rounds + 1
        ) from None
    if row.ndim != 1:
        raise BadExample(
            f"a round is a row of numbers: got an array of shape {row.shape}; learn_many takes many"
            " rounds",
            round=council.rounds + 1,
        )
    return row


def number_of(council: Council, name: Any, value: Any) -> float:
    """Return a number; NaN for None."""
    if value is None:
        return float("nan")
    try:
        if isinstance(value, str | bytes):
            raise ValueError
        return float(value)
    except (TypeError, ValueError):
        raise BadExample(
            f"round {council.rounds + 1}: expert {name!r} says {value!r}, which is no number",
            round=council.rounds + 1,
            feature=str(name),
        ) from None
