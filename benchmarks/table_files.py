"""Learning from a table, the whole command: CSV and Parquet, against pandas and scikit-learn.

The peer is the script that people write, ``_table_peer.py``: chunks of the size that suits it best,
and ``partial_fit`` on each, at the same constant rate, without penalty and intercept. Both are
whole processes, imports included; what the peer takes without its imports stands beside.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: F401  (they run in processes of their own, but must be there)
import sklearn  # noqa: F401

from benchmarks._command import (
    LEARN_ONLY,
    LEARNER,
    QUIET,
    finish,
    missing,
    noregret_run,
    python,
    runs,
)
from benchmarks._files import TABLE_ROWS, csv_table, parquet_table, read
from benchmarks._harness import (
    Grid,
    Row,
    duration,
    faster,
    must_agree,
    of_its_speed,
    race,
    skipped,
    speed,
)
from noregret import WidrowHoff, load
from noregret.linear.learn_many import play_columns
from noregret.streams import read_csv, read_parquet

PACKAGES = ("pandas", "pyarrow", "scikit-learn")
RATE = 0.05
TARGET = 8
CHUNK = 200_000  # the best for the peer of 5,000 to 1,000,000


def run(quick: bool) -> Iterator[Row | Grid]:
    if reason := missing():
        yield skipped("table files", reason)
        return
    rows = 20_000 if quick else TABLE_ROWS
    yield from compare("CSV", csv_table(rows), rows)
    yield from compare("Parquet", parquet_table(rows), rows)
    yield stages({"CSV": csv_table(rows), "Parquet": parquet_table(rows)})


def compare(kind: str, path: Path, rows: int) -> Iterator[Row]:
    command = noregret_run(path, "--target", "y", *LEARNER, QUIET, "-p", f"rate={RATE}")
    peer = python("-m", "benchmarks._table_peer", path, RATE, CHUNK)
    must_agree(our_weights(command), told(peer)[1], f"weights learned from {kind}")
    without_imports: list[float] = []
    learning, certified, theirs, reading = race(
        *runs([*command, LEARN_ONLY], command),
        lambda: without_imports.append(told(peer)[0]),
        partial(read, path),
        seconds=0,
    )
    size = path.stat().st_size
    work = f"{kind} of {rows:,} × 20, {size / 1e6:.0f} MB, whole command"
    bare = min(without_imports)
    beside = f"pandas and SGDRegressor {duration(theirs)}, {duration(bare)} without imports"
    yield faster(f"{work}, learning only", duration(learning), beside, theirs / learning, TARGET)
    yield faster(f"{work}, with certificate", duration(certified), beside, theirs / certified)
    yield Row(
        f"{work}, learning only, against reading",
        speed(size / learning),
        f"plain read {speed(size / reading)}",
        of_its_speed(reading / learning),
    )


def stages(tables: dict[str, Path]) -> Grid:
    """Measure the processor time of each stage, one after the other, without start and imports."""
    times = {kind: [duration(s) for s in stage_times(kind, path)] for kind, path in tables.items()}
    title = "Processor time per MB of table"
    return Grid(title, ["plain read", "read and parse", "rows", "play"], list(times.items()))


def stage_times(kind: str, path: Path) -> list[float]:
    """Return the seconds per MB of each stage, the best of several runs."""
    best = np.full(4, np.inf)
    for _ in range(5):
        stream = (read_csv if kind == "CSV" else read_parquet)(path, "y", intercept=False)
        reading, entry = stream.reading(), WidrowHoff(rate=RATE)._entry
        spent = np.zeros(4)
        clock = [time.process_time()]

        def done(stage: int, spent: np.ndarray = spent, clock: list[float] = clock) -> None:
            clock.append(time.process_time())
            spent[stage] += clock[-1] - clock[-2]

        read(path)
        done(0)
        for job in reading.jobs(None):
            raw = job()
            done(1)
            block = reading.settle(raw)
            reading.mark = block.mark
            done(2)
            names = list(reading.feature_names(reading.features))
            play_columns(entry, np.asarray(block.X), block.y, names, None)
            done(3)
        best = np.minimum(best, spent)
    return [float(seconds) for seconds in best / (path.stat().st_size / 1e6)]


def told(peer: list[str]) -> tuple[float, list[float]]:
    """Run the peer; return its seconds without imports, and its weights."""
    seconds, weights = json.loads(finish(peer).stdout)
    return seconds, weights


def our_weights(command: list[str]) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        finish([*command, LEARN_ONLY, "--model", str(model)])
        return list(load(model).weights)
