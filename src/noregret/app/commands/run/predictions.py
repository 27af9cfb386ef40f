"""The file of predictions, written atomically."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.run.measuring import class_names
from noregret.base.atomic_files import beside
from noregret.errors import WrongUsage
from noregret.linear.learn_many import answers
from noregret.linear.learner import is_of_classes

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.streams.options import Options

Floats = NDArray[np.float64]
SUFFIXES = (".csv", ".parquet", ".pq")
# Rows per group of Parquet files.
ROWS_PER_GROUP = 1 << 16


def check_name(path: str, what: str = "predictions") -> None:
    """Refuse a file name whose suffix is not that of a known format."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise WrongUsage(f"{path}: {what} are written to a .csv or a .parquet file")


def tables(
    blocks: Iterator[Floats],
    tags: Iterator[Sequence[str]] | None,
    learner: Learner,
    options: Options,
    with_outcomes: bool = True,
    names: list[Any] | None = None,
    labels: tuple[Any, Any] | None = None,
) -> Iterator[Any]:
    """Yield Arrow tables of rows: number, prediction, outcome, and further columns that apply.

    Predictions and outcomes are classes as the data name them; outcomes that are NaN are null. Tags
    come in the same blocks as rows. Of several classes, the probability is that of the predicted
    one. ``names`` are those of the classes, and ``labels`` the negative and the positive label, if
    not the learner's own.
    """
    import pyarrow as pa

    names = class_names(learner, options) if names is None else names
    for block, tagged in zip(blocks, chain(tags or [], repeat(None)), strict=False):
        row, scores, outcomes, *chances = block.T
        columns: dict[str, Any] = {"row": row.astype(np.int64)}
        if options.passed:
            columns |= passed_columns(options.passed, tagged or [])
        if is_of_classes(learner):
            columns["prediction"] = named(names, scores)
        elif names:
            columns["prediction"] = named(names, scores > 0)
        elif labels is not None:
            columns["prediction"] = np.where(scores > 0, labels[1], labels[0])
        else:
            columns["prediction"] = np.asarray(answers(learner._entry, scores))
        if with_outcomes:
            unknown = np.isnan(outcomes)
            codes = outcomes if is_of_classes(learner) else outcomes > 0
            codes = np.where(unknown, -1, codes)
            booleans = learner._entry.predicts_booleans
            booleans = booleans if labels is None else isinstance(labels[0], bool)
            plain = outcomes > 0 if booleans else outcomes
            columns["outcome"] = named(names, codes) if names else pa.array(plain, mask=unknown)
        if chances and learner.engine.loss.name == "softmax":
            columns["probability"] = chances[0]
        elif learner.engine.loss.name == "logistic":
            columns["probability"] = np.exp(-np.logaddexp(0.0, -scores))
        elif learner.engine.loss.labels and not is_of_classes(learner):
            columns["score"] = scores
        if tagged is not None and not options.passed:
            columns["tag"] = pa.array(tagged, pa.string())
        yield pa.table(columns)


def passed_columns(names: tuple[str, ...], rows: Sequence[str]) -> dict[str, Any]:
    """Return the columns that are passed on, as text, from their values in each row as JSON."""
    import pyarrow as pa

    texts = [
        [v if v is None or isinstance(v, str) else json.dumps(v) for v in json.loads(row)]
        for row in rows
    ]
    return {name: pa.array([row[k] for row in texts], pa.string()) for k, name in enumerate(names)}


def named(names: list[Any], codes: NDArray[Any]) -> Any:
    """Return the names of classes, given by their numbers; null for a negative number."""
    import pyarrow as pa

    known = pa.array(names) if names else pa.array([], pa.string())
    numbers = codes.astype(np.int64)
    return known.take(pa.array(numbers, mask=numbers < 0))


def write(path: str, found: Iterator[Any]) -> None:
    """Write tables to a CSV or Parquet file, atomically."""
    from pyarrow import parquet

    with beside(path) as place:
        if path.lower().endswith(".csv"):
            with open(place, "wb") as file:
                write_csv(file, found)
            return
        writer: Any = None
        try:
            for table in regrouped(found):
                writer = writer or parquet.ParquetWriter(place, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()


def regrouped(found: Iterator[Any]) -> Iterator[Any]:
    """Yield tables of so many rows, however many come at a time, so that files have the same bytes.

    There is one at least, if any comes.
    """
    import pyarrow as pa

    left: Any = None
    for table in found:
        left = table if left is None else pa.concat_tables([left, table])
        while left.num_rows > ROWS_PER_GROUP:
            yield left.slice(0, ROWS_PER_GROUP).combine_chunks()
            left = left.slice(ROWS_PER_GROUP)
    if left is not None:
        yield left.combine_chunks()


def show(found: Iterator[Any]) -> None:
    """Print tables as CSV."""
    write_csv(sys.stdout.buffer, found)


def write_csv(file: IO[bytes], found: Iterator[Any]) -> None:
    """Write tables as CSV, the names of the first on the first line."""
    named = False
    for table in found:
        if not named:
            write_bytes(file, ",".join(table.column_names).encode() + b"\n")
            named = True
        write_bytes(file, csv_of(table))


def write_bytes(file: IO[bytes], text: bytes) -> None:
    """Write and flush all of a text, also to a full pipe while signals arrive.

    A signal that is handled without an exception cuts a write short. Python's buffered writers
    continue by themselves; with ``PYTHONUNBUFFERED``, standard output has none.
    """
    file.flush()
    try:
        number = file.fileno()
    except (AttributeError, OSError):  # in memory
        file.write(text)
        return
    left = memoryview(text)
    while left:
        try:
            left = left[os.write(number, left) :]
        except BlockingIOError:  # a pipe that another process set not to block
            select.select([], [number], [])


def csv_of(table: Any) -> bytes:
    """Return the rows of a table as CSV, without the names."""
    import pyarrow as pa
    from pyarrow import csv

    rows = pa.BufferOutputStream()
    csv.write_csv(table, rows, csv.WriteOptions(include_header=False))
    return bytes(rows.getvalue())
