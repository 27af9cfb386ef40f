"""Predictions on standard output, as they are made: a run as a filter between two pipes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.run import predictions
from noregret.app.results.run import skipped
from noregret.base.numbers import clean
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run

Floats = NDArray[np.float64]


class Answers:
    """Writes a line for every row, in order, and flushes it: JSON for JSON lines, else CSV.

    Parameters
    ----------
    file
        Where lines are written to.
    as_json
        Whether they are JSON objects.
    """

    def __init__(self, file: IO[bytes], as_json: bool) -> None:
        self.file, self.as_json = file, as_json
        self.named = as_json  # whether the line of names was written
        self.closed = False  # whether the reader has gone

    def give(
        self,
        run: Run,
        rows: Floats,
        tags: Sequence[str] | None,
        count: int,
        errors: Sequence[NoRegretError],
    ) -> None:
        """Write the answers to rows, the next ``count`` of the run but for those with errors."""
        refused = numbered(run.seen, count, rows[:, 0], errors)
        tagged = None if tags is None else iter([tags])
        [table] = predictions.tables(
            iter([rows]),
            tagged,
            run.learner,
            run.stream.options,
            names=run.class_names,
            labels=run.labels,
        )
        passed = run.stream.options.passed
        try:
            if self.as_json:
                values = [json.loads(tag) for tag in tags or []] if passed else []
                lines = self.objects(table, refused, passed, values)
            else:
                lines = self.lines(table, refused)
            predictions.write_bytes(self.file, b"".join(lines))
        except BrokenPipeError:
            self.closed = run.stopping = True

    def objects(
        self,
        table: Any,
        refused: dict[int, NoRegretError],
        passed: Sequence[str],
        values: list[list[Any]],
    ) -> Iterator[bytes]:
        """Yield the answers as JSON, without outcomes that are not known.

        Columns that are ``passed`` on have their own ``values``, not text.
        """
        found: list[dict[str, Any]] = table.to_pylist()
        for row, own in zip(found, values, strict=False):
            row |= dict(zip(passed, own, strict=True))
        for row in found:
            if row["outcome"] is None:
                del row["outcome"]
        for number, error in refused.items():
            found.append({"row": number, **error_of(error, passed)})
        for row in sorted(found, key=lambda row: row["row"]) if refused else found:
            yield json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n"

    def lines(self, table: Any, refused: dict[int, NoRegretError]) -> Iterator[bytes]:
        """Yield the answers as CSV; only the number of a row that was refused."""
        if not self.named:
            self.named = True
            yield ",".join(table.column_names).encode() + b"\n"
        gaps = np.searchsorted(table.column("row").to_numpy(), list(refused))
        start, empty = 0, b"," * (table.num_columns - 1) + b"\n"
        for number, stop in zip(refused, gaps.tolist(), strict=True):
            yield predictions.csv_of(table.slice(start, stop - start))
            yield str(number).encode() + empty
            start = stop
        yield predictions.csv_of(table.slice(start))


def error_of(error: NoRegretError, passed: Sequence[str]) -> dict[str, Any]:
    """Return the answer to a row that was refused, with the values of it that are passed on."""
    told = skipped(error)
    own = dict(zip(passed, error.passed or (), strict=False))
    return own | {"error": ": ".join(filter(None, [clean(told.place), clean(told.reason)]))}


def numbered(
    seen: int, count: int, numbers: Floats, errors: Sequence[NoRegretError]
) -> dict[int, NoRegretError]:
    """Return errors by the numbers of the rows that were refused, of ``count`` rows after some."""
    every = np.arange(seen + 1, seen + 1 + count)
    left = np.setdiff1d(every, numbers.astype(np.int64)) if errors else every[:0]
    return dict(zip(left.tolist(), errors, strict=True))
