"""Prices as price relatives: each divided by the one before it, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, Place
from noregret.proof.game.table_rows import TableBlock

Floats = NDArray[np.float64]
TOO_FEW = "prices make relatives from the second row on: there are fewer than two"


def relatives_of(prices: Floats, names: Sequence[str] | None = None) -> Floats:
    """Return each price divided by the one before it: one row less.

    Parameters
    ----------
    prices
        One row per time, one column per asset; all positive.
    names
        The names of the columns, for messages.

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
            f"the price of {name!r} is {prices[row + 1, k]:g} after {prices[row, k]:g}: what lies"
            " between is beyond all numbers",
            feature=name,
            round=row + 2,
            unit="price",
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
                    error.at(block.place_of(max(0, error.round - 1 - before)))
                raise
        last, seen = block.X[-1:] if len(block.X) else last, seen + len(block.X)
        yield TableBlock(made, None, block.names, block.fault, place_of)
    if seen == 1:
        raise BadExample(TOO_FEW)


def shifted(place_of: Callable[[int], Place], by: int, row: int) -> Place:
    """Return the place of the later price of a relative."""
    return place_of(row + by)


def good_prices(prices: Floats) -> NDArray[np.bool_]:
    """Return which prices are valid."""
    return np.asarray((prices > 0) & (prices < np.inf))


def bad_price(price: float, row: int, name: str) -> BadExample:
    """Return the error of an invalid price."""
    cure = ("fill it in", "drop the asset") if np.isnan(price) else ()
    said = "missing" if np.isnan(price) else f"{price:g}: a price is a positive number"
    return BadExample(
        f"the price of {name!r} is {said}", cure, feature=name, round=row, unit="price"
    )
