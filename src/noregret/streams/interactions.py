"""Products of features of two columns: ``price*town=Oslo`` is the price where the town is Oslo.

Of two columns of numbers it is their product ``price*size``, of two columns of names the indicator
``town*kind=Oslo*small`` of both. A missing value has no products.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError, Use, WrongUsage
from noregret.streams.block import Floats
from noregret.streams.free_text import Bag

if TYPE_CHECKING:
    from noregret.streams.columns import Category, Roles

# The option that asks for the products of all pairs of columns, and the mark between two.
PAIRS, TIMES = "pairs", "*"


class Factor(NamedTuple):
    """One feature per row of a column: which of its values, −1 for none, and its number."""

    name: str
    values: Sequence[str]  # nothing for a number
    codes: NDArray[np.int64]
    numbers: Floats


def pairs_of(asked: Iterable[str], columns: Sequence[str], where: str) -> list[tuple[str, str]]:
    """Return the pairs of columns whose products are asked for, each once, in order."""
    found: dict[tuple[str, str], None] = {}
    for text in asked:
        if text == PAIRS:
            found |= dict.fromkeys(combinations(sorted(columns), 2))
            continue
        at = [k for k, letter in enumerate(text) if letter == TIMES]
        splits = [(text[:k], text[k + 1 :]) for k in at]
        known = [pair for pair in splits if set(pair) <= {*columns}]
        if not known:
            there = ", ".join(map(repr, columns[:12]))
            raise WrongUsage(
                f"{text!r} is not two columns whose values can be multiplied: there are {there}",
                Use("interactions", "a*b", "name two of them, as in {}, or give the word pairs"),
                file=where,
            )
        first, second = sorted(known[0])
        found[first, second] = None
    return list(found)


def product_bags(
    columns: Mapping[str, Floats], categories: Sequence[Category], roles: Roles, rows: int
) -> tuple[Bag, ...]:
    """Return the products of the pairs of columns that are asked for."""
    factors: dict[str, list[Factor]] = {}
    for name in {name for pair in roles.pairs for name in pair}:
        factors[name] = []
        if name in columns:
            numbers = columns[name]
            codes = np.where(np.isnan(numbers) | (numbers == 0), -1, 0)
            factors[name].append(Factor(name, (), codes, numbers))
        parts = [
            each
            for each in categories
            if each.name == name or (each.derived and each.name.rpartition(".")[0] == name)
        ]
        factors[name] += [
            Factor(each.name, each.values, each.codes.astype(np.int64), np.ones(rows))
            for each in parts
        ]
    return tuple(
        product_bag(first, second, rows)
        for a, b in roles.pairs
        for first in factors[a]
        for second in factors[b]
    )


def product_bag(first: Factor, second: Factor, rows: int) -> Bag:
    """Return the products of two factors as one feature per row."""
    width = max(1, len(second.values))
    there = (first.codes >= 0) & (second.codes >= 0)
    used, codes = np.unique(first.codes[there] * width + second.codes[there], return_inverse=True)
    name = f"{first.name}{TIMES}{second.name}"
    features = [
        product_name(name, first.values[k // width :][:1], second.values[k % width :][:1])
        for k in used.tolist()
    ]
    starts = np.append(0, np.cumsum(there))
    values = first.numbers[there] * second.numbers[there]
    return Bag(name, starts, codes.astype(np.int64), values, features, np.zeros(rows, bool), "=")


def product_name(name: str, *values: Sequence[str]) -> str:
    """Return the name of a product of two features, given the value of each that is a name."""
    said = TIMES.join(value for found in values for value in found)
    return f"{name}={said}" if any(values) else name


def products_in(asked: Sequence[str], row: Mapping[str, Any], where: str) -> dict[str, float]:
    """Return the products of one row, given its values by column: numbers and names."""
    if PAIRS not in asked:  # fields that a row leaves out have no products
        asked = [text for text in asked if all(part in row for part in text.split(TIMES))]
    found: dict[str, float] = {}
    for pair in pairs_of(asked, list(row), where):
        values = [row[name] for name in pair]
        said = [[value] if isinstance(value, str) else [] for value in values]
        numbers = [1.0 if isinstance(value, str) else float(value) for value in values]
        if all(numbers):
            found[product_name(TIMES.join(pair), *said)] = numbers[0] * numbers[1]
    return found


def check_no_text(asked: Sequence[str], texts: Iterable[str], where: str) -> None:
    """Refuse products of free text."""
    for name in texts:
        if any(name in text.split(TIMES) for text in asked):
            what = f"column {name!r} holds free text, whose words have no products"
            cure = Use("categories", name, "{} takes whole values")
            raise NoRegretError(what, cure, file=where, feature=name)
