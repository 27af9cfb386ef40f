"""Mixing a file of forecasts, the whole command, against merely reading the file.

The peer reads the same file with the same reader and does nothing with it: what a mixture could
take at best. Both are whole processes, imports included. pandas reading it stands beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: F401  (it runs in a process of its own, but must be there)

from benchmarks._command import QUIET, finish, missing, noregret, python, runs
from benchmarks._files import kept, write_csv
from benchmarks._harness import Row, duration, longer, race, skipped

PACKAGES = ("pandas", "pyarrow")
READ = """
import sys
from noregret.streams import read
print(sum(len(block) for block in read(sys.argv[1], "y", missing="asleep").reading()))
"""
PANDAS = "import sys, pandas; print(len(pandas.read_csv(sys.argv[1])))"


def forecasts(rows: int) -> Path:
    """Return a CSV file of twenty forecasters, some better than others."""

    def write(path: Path) -> None:
        import pyarrow as pa

        draw = np.random.default_rng(3)
        y = np.cumsum(draw.standard_normal(rows)) * 0.01
        columns = {"y": y}
        columns |= {f"e{k}": y + draw.standard_normal(rows) * (0.5 + 0.1 * k) for k in range(20)}
        write_csv(pa.table(columns), path)

    return kept(f"forecasts-{rows}.csv", write)


def run(quick: bool) -> Iterator[Row]:
    if reason := missing():
        yield skipped("a file of forecasts", reason)
        return
    rows = 20_000 if quick else 1_000_000
    path = forecasts(rows)
    command = noregret("mix", path, "--target", "y", QUIET)
    plain = [*command, "--no-hindsight", "--no-correct"]
    read, pandas = python("-c", READ, path), python("-c", PANDAS, path)
    assert finish(read).stdout == finish(pandas).stdout == f"{rows}\n"
    poly = [*plain, "--learner", "ml-poly"]
    mixing, single, corrected, certified, reading, theirs = race(
        *runs(plain, poly, [*command, "--no-hindsight"], command, read, pandas), seconds=0
    )
    work = f"mix, CSV of {rows:,} × 20 forecasts, {path.stat().st_size / 1e6:.0f} MB, whole command"
    beside = f"reading it {duration(reading)}, pandas.read_csv {duration(theirs)}"
    yield longer(f"{work}, blend", duration(mixing), beside, mixing / reading)
    yield longer(f"{work}, ml-poly", duration(single), beside, single / reading)
    yield longer(f"{work}, as it comes", duration(corrected), beside, corrected / reading)
    yield longer(f"{work}, and its certificate", duration(certified), beside, certified / reading)
