"""Warn about columns that are hardly meant so: text that is new in almost every row, and epochs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from noregret.errors import Cure, Use, tell
from noregret.streams.block import Floats

# A column is reported after this many rows if more than this share of them has a new value.
MIN_ROWS, MAX_SHARE = 1_000, 0.5
# A value of this many words is probably free text.
MIN_WORDS = 3
# A number with thousands separators, a percent sign or a currency.
ALMOST_A_NUMBER = re.compile(r"\s*[-+(]?\s*\W?\s*\d[\d,.'\s]*\s*(?:\W|[a-zA-Z]{1,3})?\)?\s*")


# Numbers in these ranges are times from 1990 to 2060 in milliseconds, microseconds, nanoseconds.
EPOCHS = tuple((6.3e8 * unit, 2.85e9 * unit) for unit in (1e3, 1e6, 1e9))
# Seconds in the same range are also counters and ids, so that the name must tell.
SECONDS = (6.3e8, 2.85e9)
NAMED_AS_TIME = re.compile(r"(.*[^a-z])?(time|timestamp|datetime|date|epoch|ts)|.*_at", re.I)
# Rows from which a column of epochs is recognised.
MIN_EPOCHS = 10


def tell_epochs(names: Sequence[str], numbers: Floats, where: str) -> None:
    """Warn about columns of numbers that look like times since 1970."""
    if len(numbers) < MIN_EPOCHS:
        return
    there = ~np.isnan(numbers)  # in JSON lines, values may be missing
    low = np.where(there, numbers, np.inf).min(axis=0)
    high = np.where(there, numbers, -np.inf).max(axis=0)
    for first, last in (SECONDS, *EPOCHS):
        for k in np.flatnonzero((low >= first) & (high < last) & (low < high)).tolist():
            if first == SECONDS[0] and not NAMED_AS_TIME.fullmatch(names[k]):
                continue
            tell(
                f"column {names[k]!r} looks like times since 1970, and is taken as plain numbers",
                (
                    Use("time", names[k], "take it as times ({})"),
                    Use("drop", names[k], "leave it out ({})"),
                ),
                file=where,
            )


class Growth:
    """Counts of the new values in each column."""

    def __init__(self) -> None:
        self.rows = 0
        self.new: Counter[str] = Counter()
        self.told: set[str] = set()

    def note(self, names: Sequence[str], rows: int, columns: Collection[str], where: str) -> None:
        """Count rows and the new features in them."""
        self.rows += rows
        latest: dict[str, str] = {}
        for name in names:
            column, _, value = name.partition("=")
            if column not in columns:
                column = next((c for c in columns if name.startswith(f"{c}=")), "")
                value = name[len(column) + 1 :]
            if column:
                self.new[column] += 1
                latest[column] = value
        if self.rows < MIN_ROWS:
            return
        for column, value in latest.items():
            if self.new[column] > MAX_SHARE * self.rows and column not in self.told:
                self.told.add(column)
                self.tell(column, value, where)

    def tell(self, column: str, value: str, where: str) -> None:
        """Warn about a column, and say what to do."""
        shown = repr(value if len(value) <= 40 else value[:40] + "…")
        cures: list[Cure] = [
            Use("drop", column, "leave the column out ({})"),
            Use("hash", 20, "bound memory with {}"),
        ]
        if len(value.split()) >= MIN_WORDS:
            cures.insert(0, Use("text", column, "take its words as features ({})"))
        if ALMOST_A_NUMBER.fullmatch(value):
            cures.insert(0, "if these are numbers, write them as plain ones, such as 1234.5")
        tell(
            f"column {column!r} holds text that differs in almost every row, such as {shown}:"
            f" {self.new[column]:,} different values in {self.rows:,} rows, each a feature of its"
            " own from which little can be learned",
            cures,
            file=where,
        )
