"""Learning from a table, the whole command: CSV and Parquet, against pandas and scikit-learn.

The peer is the script that people write, ``_table_peer.py``: chunks of the size that suits it best,
and ``partial_fit`` on each, at the same constant rate, without penalty and intercept. Both are
whole processes, imports included; what the peer takes without its imports stands beside.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
from benchmarks._files import TABLE_ROWS, csv_table, parquet_table
from benchmarks._harness import Row, duration, faster, must_agree, race, skipped
from noregret import load

PACKAGES = ("pandas", "pyarrow", "scikit-learn")
RATE = 0.05
CHUNK = 200_000  # the best for the peer of 5,000 to 1,000,000


def run(quick: bool) -> Iterator[Row]:
    if reason := missing():
        yield skipped("table files", reason)
        return
    rows = 20_000 if quick else TABLE_ROWS
    yield from compare("CSV", csv_table(rows), rows)
    yield from compare("Parquet", parquet_table(rows), rows)


def compare(kind: str, path: Path, rows: int) -> Iterator[Row]:
    command = noregret_run(path, "--target", "y", *LEARNER, QUIET, "-p", f"rate={RATE}")
    peer = python("-m", "benchmarks._table_peer", path, RATE, CHUNK)
    must_agree(our_weights(command), told(peer)[1], f"weights learned from {kind}")
    without_imports: list[float] = []
    learning, certified, theirs = race(
        *runs([*command, LEARN_ONLY], command),
        lambda: without_imports.append(told(peer)[0]),
        seconds=0,
    )
    work = f"{kind} of {rows:,} × 20, {path.stat().st_size / 1e6:.0f} MB, whole command"
    bare = min(without_imports)
    beside = f"pandas and SGDRegressor {duration(theirs)}, {duration(bare)} without imports"
    yield faster(f"{work}, learning only", duration(learning), beside, theirs / learning, 8)
    yield faster(f"{work}, with certificate", duration(certified), beside, theirs / certified)


def told(peer: list[str]) -> tuple[float, list[float]]:
    """Run the peer; return its seconds without imports, and its weights."""
    seconds, weights = json.loads(finish(peer).stdout)
    return seconds, weights


def our_weights(command: list[str]) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        finish([*command, LEARN_ONLY, "--model", str(model)])
        return list(load(model).weights)
