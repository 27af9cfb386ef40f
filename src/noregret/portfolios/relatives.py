"""Price relatives as strategies take them: checked row by row, or made from prices."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.linear import inputs
from noregret.proof.game.table_rows import TableBlock

Floats = NDArray[np.float64]
TOO_FEW = "prices make relatives from the second row on: there are fewer than two"
MISSING = "is missing: every asset needs a number in every round: drop the asset, or fill it in"


def first_fault(X: Floats, names: Sequence[str]) -> tuple[int, str, str | None] | None:
    """Return the first row that no portfolio can be held in, why not, and the asset at fault."""
    good = (X >= 0) & np.isfinite(X)
    fine = good.all(axis=1) & (X > 0).any(axis=1)
    if fine.all():
        return None
    row = int(np.argmin(fine))
    if good[row].all():
        return row, "every relative is 0: nothing is left of any portfolio", None
    k = int(np.argmin(good[row]))
    name, value = names[k], X[row, k]
    if np.isnan(value):
        return row, f"column {name!r} {MISSING}", name
    wanted = "a relative is the price divided by the one before, a number that is 0 or above"
    return row, f"column {name!r} is {value:g}: {wanted}", name


def one_row(relatives: Any, names: Sequence[str] | None) -> tuple[Floats, list[str] | None]:
    """Return one round's relatives in the order of the names, and those where they have any."""
    if isinstance(relatives, Mapping) or hasattr(relatives, "keys"):
        found = {key: relatives[key] for key in relatives.keys()}  # noqa: SIM118
        for key in found:
            if not isinstance(key, str):
                raise BadExample(f"names of assets are strings: got {key!r}")
        order = list(names) if names else sorted(found)
        for name in order:
            if name not in found:
                raise BadExample(f"column {name!r} {MISSING}", feature=name)
        for name in found:
            if name not in order:
                raise BadExample(
                    f"column {name!r} was not there before: all assets are there from the first"
                    " round on",
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
    """Return a relative as a number; NaN for one that is missing."""
    try:
        if isinstance(value, inputs.NOT_NUMBERS):
            raise TypeError
        return np.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadExample(
            f"column {name!r} is {reprlib.repr(value)}: every relative must be a number",
            feature=name,
        ) from None


def relatives_of(prices: Floats, names: Sequence[str] | None = None) -> Floats:
    """Return what each price is divided by the one before it: one row less.

    Parameters
    ----------
    prices
        One row a moment, one column an asset; all positive.
    names
        Of the columns, for messages.

    Examples
    --------
    >>> relatives_of(np.array([[10.0, 4.0], [11.0, 2.0], [22.0, 2.0]]))
    array([[1.1, 0.5],
           [2. , 1. ]])
    """
    prices = np.asarray(prices, dtype=np.float64)
    if prices.ndim != 2 or len(prices) < 2:
        raise BadExample(TOO_FEW)
    good = good_prices(prices)
    if not good.all():
        row, k = map(int, np.argwhere(~good)[0])
        raise bad_price(prices[row, k], row + 1, str(k) if names is None else names[k])
    with np.errstate(over="ignore", under="ignore"):
        found: Floats = prices[1:] / prices[:-1]
    usable = np.isfinite(found) & (found > 0)
    if not usable.all():
        row, k = map(int, np.argwhere(~usable)[0])
        name = str(k) if names is None else names[k]
        raise BadExample(
            f"price {row + 2} of {name!r} is {prices[row + 1, k]:g} after {prices[row, k]:g}: what"
            " lies between is beyond all numbers",
            feature=name,
            round=row + 2,
        )
    return found


def relative_blocks(blocks: Iterable[TableBlock]) -> Iterator[TableBlock]:
    """Turn blocks of prices into blocks of relatives, the first of each from the last before it."""
    last, seen = np.empty((0, 0)), 0
    for block in blocks:
        before = len(last)
        prices = np.concatenate([last, block.X]) if before else block.X
        place_of = None if block.place_of is None else partial(shifted, block.place_of, 1 - before)
        made = np.empty((0, block.X.shape[1]))
        if len(prices) > 1:
            try:
                made = relatives_of(prices, block.names)
            except BadExample as error:
                if block.place_of is not None and error.round is not None:
                    place = block.place_of(max(0, error.round - 1 - before))
                    error.args = (f"{place}: {error}",)
                raise
        last, seen = block.X[-1:] if len(block.X) else last, seen + len(block.X)
        yield TableBlock(made, None, block.names, block.fault, place_of)
    if seen == 1:
        raise BadExample(TOO_FEW)


def shifted(place_of: Callable[[int], str], by: int, row: int) -> str:
    """Say where the price is that a relative leads to."""
    return place_of(row + by)


def good_prices(prices: Floats) -> NDArray[np.bool_]:
    """Say which prices are any."""
    return np.asarray((prices > 0) & (prices < np.inf))


def bad_price(price: float, row: int, name: str) -> BadExample:
    """Say what is wrong with a price."""
    if np.isnan(price):
        words = "is missing: fill it in, or drop the asset"
    else:
        words = f"is {price:g}: a price is a positive number"
    return BadExample(f"price {row} of {name!r} {words}", feature=name, round=row)
