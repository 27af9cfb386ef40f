"""A model per key on several workers: ``run --group`` with ``--workers`` and ``--cluster``.

The work is `auto` for each of 2,000 keys, which one process does in one thread. Whole commands take
turns, from their start to their end, on the same file.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks._command import QUIET, missing, noregret_run, runs
from benchmarks._files import FOLDER
from benchmarks._harness import Row, duration, faster, race, skipped
from benchmarks.groups import written

PACKAGES = ("numpy",)
KEYS, ROWS_PER_KEY = 2_000, 200
TWO_WORKERS, ONE_RAY_WORKER = 1.6, 0.9


def run(quick: bool) -> Iterator[Row]:
    keys = KEYS // 50 if quick else KEYS
    work = f"auto per key, {keys:,} keys × {ROWS_PER_KEY} rows of CSV"
    if reason := missing():
        yield skipped(work, reason)
        return
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        file = written(Path(folder) / "scale.csv", keys, ROWS_PER_KEY)
        command = noregret_run(file, "--target", "y", "--group", "key", QUIET)
        alone, one, two = race(
            *runs(command, [*command, "--workers", "1"], [*command, "--workers", "2"]), seconds=0
        )
        beside = f"one process {duration(alone)}"
        yield faster(f"{work}, one worker", duration(one), beside, alone / one)
        target = TWO_WORKERS if (os.cpu_count() or 1) > 1 else None
        yield faster(f"{work}, two workers", duration(two), beside, alone / two, target)
        if importlib.util.find_spec("ray") is None:
            yield skipped(f"{work}, one Ray worker", "ray is not installed")
            return
        clustered = [*command, "--cluster", "local", "--workers", "1"]
        alone, ray = race(*runs(command, clustered), seconds=0)
        beside = f"one process {duration(alone)}"
        name = f"{work}, one Ray worker, with the start of the cluster"
        yield faster(name, duration(ray), beside, alone / ray, ONE_RAY_WORKER)
