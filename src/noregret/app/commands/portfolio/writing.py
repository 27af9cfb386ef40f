"""The tables that ``noregret portfolio`` writes, and the dates of their rows."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import write_whole
from noregret.errors import NoRegretError
from noregret.streams.csv_dialect import delimiter_of, from_latin_1, is_latin_1
from noregret.streams.options import AUTO, LATIN_1, MULTILINE, TAB

if TYPE_CHECKING:
    from noregret.app.results.portfolio import Outcome
    from noregret.proof.game.table_game import TableGame
    from noregret.streams.options import Options

Floats = NDArray[np.float64]
# A median outside this range suggests that the numbers are prices, not price relatives.
LIKELY = (0.2, 5.0)
# The fewest rounds that tell relatives of relatives from relatives of prices.
MIN_ROUNDS = 30


def likely(game: TableGame) -> bool:
    """Return whether the numbers are plausible price relatives, in most rounds."""
    middle = np.median([m for X, _ in game.table.blocks() for m in np.median(X, axis=1).tolist()])
    return bool(LIKELY[0] <= middle <= LIKELY[1])


def were_relatives(game: TableGame) -> bool:
    """Return whether relatives were computed from numbers that were relatives already.

    Prices wander, so that the sum of the logarithms of relatives does. That of relatives of
    relatives is the logarithm of a relative, and varies less than its own changes.
    """
    steps = np.concatenate([np.log(np.maximum(X, 1e-300)) for X, _ in game.table.blocks()])
    if len(steps) < MIN_ROUNDS:
        return False
    wander, change = np.cumsum(steps, axis=0).std(axis=0), steps.std(axis=0)
    moving = change > 0
    return bool(moving.any() and np.median((wander / np.where(moving, change, 1.0))[moving]) < 1.0)


def dates_of(path: str, column: str, options: Options, rows: int) -> list[str] | None:
    """Return the values of a column of a CSV file; None for other formats."""
    kind = options.format or Path(path.removesuffix(".gz")).suffix.removeprefix(".")
    if kind not in ("csv", "tsv") or not os.path.isfile(path) or not options.header:
        return None
    opener: Callable[..., Any] = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        text = file.read()
    if options.encoding == LATIN_1 or (options.encoding == AUTO and is_latin_1(text)):
        text = from_latin_1(text)
    mark = options.delimiter
    if mark in (AUTO, TAB):
        mark = "\t" if mark == TAB or kind == "tsv" else delimiter_of(text, MULTILINE, column)
    shown = io.StringIO(text.decode("utf-8-sig", "replace"), newline="")
    lines = csv.reader(shown, delimiter=mark)
    names = next(lines, [])
    if column not in names:
        raise NoRegretError(f"{path}: there is no column {column!r}")
    at = names.index(column)
    found = [line[at] for line in lines if len(line) > at]
    check_order(path, column, found)
    return found if len(found) == rows else None


def check_order(path: str, column: str, dates: Sequence[str]) -> None:
    """Refuse dates in reverse order: a strategy must not learn from the future."""
    try:
        first, last = (datetime.fromisoformat(each.strip()) for each in (dates[0], dates[-1]))
        newest_first = last < first
    except (IndexError, TypeError, ValueError):  # not ISO dates, or only one has a time zone
        return
    if newest_first:
        raise NoRegretError(
            f"{path}: the dates in column {column!r} go backwards, from {dates[0]} to {dates[-1]}",
            "sort the rows by date, oldest first",
        )


def writers(
    game: TableGame, diary: list[Floats], dates: Sequence[str] | None
) -> dict[str, Callable[[str, Outcome], None]]:
    """Return the function that writes each kind of file."""

    def allocations(path: str, outcome: Outcome) -> None:
        when = dates or range(1, outcome.rounds + 1)
        pairs = zip(when, diary, strict=True)
        lines = ([str(moment), *map(repr, row.tolist())] for moment, row in pairs)
        write_table(path, ["date" if dates else "round", *outcome.assets], lines)

    def relatives(path: str, outcome: Outcome) -> None:
        rows = (row for X, _ in game.table.blocks() for row in X.tolist())
        write_table(path, outcome.assets, (list(map(repr, row)) for row in rows))

    def model(path: str, outcome: Outcome) -> None:
        game.player.save(path)

    return {"allocations": allocations, "relatives": relatives, "model": model}


def write_table(path: str, names: Sequence[str], lines: Iterable[list[str]]) -> None:
    """Write a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    write_whole(path, text.getvalue().encode())
