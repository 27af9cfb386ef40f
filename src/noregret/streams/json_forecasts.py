"""Forecasts in JSON lines: one row per line; experts that are null or absent sleep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret.errors import BadExample
from noregret.streams.columns import BOOLEAN, NUMBER, TEXT, Category, Roles, Table, summaries

# A field is numeric if at least this share of its values are numbers.
MIN_NUMBER_SHARE = 0.5
Lines = Sequence[tuple[int, Any]]


def kinds_of(examples: Lines, apart: Sequence[str]) -> dict[str, str]:
    """Return the kind of values of each field in the first lines; ``apart`` hold text."""
    values: dict[str, list[Any]] = {}
    for _, example in examples:
        if isinstance(example, dict):
            for name, value in example.items():
                values.setdefault(name, []).append(value)
    return {
        name: TEXT if name in apart else kind_of(found) for name, found in sorted(values.items())
    }


def kind_of(values: list[Any]) -> str:
    """Return the kind of values of a field."""
    there = [value for value in values if not is_nothing(value)]
    if there and all(isinstance(value, bool) for value in there):
        return BOOLEAN
    numbers = sum(isinstance(value, int | float) for value in there)
    return NUMBER if numbers >= MIN_NUMBER_SHARE * len(there) else TEXT


def is_nothing(value: Any) -> bool:
    """Return whether a value is missing."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def table_of(examples: Lines, roles: Roles) -> tuple[Table, list[int], list[BadExample]]:
    """Return lines as a table, the line of each row, and the errors in other lines."""
    options = roles.options
    known = {*roles.kinds}
    rows: list[list[float]] = []
    outcomes: list[float] = []
    labels: dict[str, list[str]] = {name: [] for name in options.labels}
    lines: list[int] = []
    faults: list[BadExample] = []
    for line, example in examples:
        try:
            row, outcome = numbers_of(example, roles, known)
        except BadExample as error:
            faults.append(error.at(line=line).with_traceback(None))
            continue
        rows.append(row)
        outcomes.append(outcome)
        lines.append(line)
        for name, values in labels.items():
            label = example.get(name)
            values.append("" if label is None else str(label))
    names = roles.dense_names
    X = np.ones((len(rows), len(names)))
    X[:, roles.expert_places] = np.array(rows, dtype=float).reshape(len(rows), -1)
    if options.add and rows:
        summaries(X, roles)
    groups, batches = (
        None if name is None else category_of(name, labels[name])
        for name in (options.group, options.batch)
    )
    y = np.array(outcomes, dtype=float)
    return Table(roles.numbers, X, None, [], y, True, groups, batches), lines, faults


def category_of(name: str, values: list[str]) -> Category:
    """Return a column of text as categories."""
    known = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = [known[value] if value else -1 for value in values]
    return Category(name, np.array(codes, dtype=np.int32), list(known))


def numbers_of(example: Any, roles: Roles, known: set[str]) -> tuple[list[float], float]:
    """Return the forecasts of a line and its outcome, with NaN for missing ones."""
    if not isinstance(example, dict):
        raise BadExample('a row is an object: {"name": number, …}')
    if new := next((name for name in example if name not in known), None):
        raise BadExample(
            f"field {new!r} is new: put it in the first line, as null if necessary, or drop it"
        )
    row = [number_of(name, example.get(name)) for name in roles.numbers]
    target = roles.target
    return row, math.nan if target is None else number_of(target, example.get(target))


def number_of(name: str, value: Any) -> float:
    """Return a value as a float, NaN if it is missing."""
    if is_nothing(value):
        return math.nan
    if not isinstance(value, int | float):
        raise BadExample(f"field {name!r} is {str(value)[:40]!r}, which is not a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf
