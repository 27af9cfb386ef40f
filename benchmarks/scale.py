"""A model per key on several workers: ``run --group`` with ``--workers`` and ``--cluster``.

The work is `auto` for each of 2,000 keys, which one process does in one thread. Whole commands take
turns, from their start to their end, on the same file. The start of a cluster is left out.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks._command import QUIET, missing, noregret_run, runs
from benchmarks._files import temporary_folder
from benchmarks._harness import Row, duration, faster, race, skipped
from benchmarks.groups import written

PACKAGES = ("numpy",)
# Keys, and rows of each: with few, starting counts.
SIZES = ((2_000, 200), (2_000, 2_000))
TWO_WORKERS, ONE_RAY_WORKER = 1.6, 0.9
ONE_RAY, REPEATS = ["--cluster", "local", "--workers", "1"], 3
# A command that is timed after a cluster has started, if it asks for one.
STARTED = """
import os, sys, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"
if "--cluster" in sys.argv:
    import ray
    ray.init("local", num_cpus=1, log_to_driver=False, logging_level="error")
from noregret.app.cli import main
began = time.perf_counter()
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(time.perf_counter() - began)
"""


def run(quick: bool) -> Iterator[Row]:
    for keys, rows in SIZES:
        yield from spread(keys // 50 if quick else keys, rows)


def spread(keys: int, rows: int) -> Iterator[Row]:
    """Yield the comparisons for some keys."""
    work = f"auto per key, {keys:,} keys × {rows:,} rows of CSV"
    if reason := missing():
        yield skipped(work, reason)
        return
    with temporary_folder() as folder:
        file = written(Path(folder) / "scale.csv", keys, rows)
        command = noregret_run(file, "--target", "y", "--group", "key", QUIET)
        alone, one, two = race(
            *runs(command, [*command, "--workers", "1"], [*command, "--workers", "2"]), seconds=0
        )
        beside = f"one process {duration(alone)}"
        yield faster(f"{work}, one worker", duration(one), beside, alone / one)
        target = TWO_WORKERS if (os.cpu_count() or 1) > 1 else None
        yield faster(f"{work}, two workers", duration(two), beside, alone / two, target)
        name = f"{work}, one Ray worker, after the cluster has started"
        if importlib.util.find_spec("ray") is None:
            yield skipped(name, "ray is not installed")
            return
        given = command[command.index("run") :]
        pairs = [(started(given), started([*given, *ONE_RAY])) for _ in range(REPEATS)]
        alone, ray = (min(each) for each in zip(*pairs, strict=True))
        beside = f"one process {duration(alone)}"
        yield faster(name, duration(ray), beside, alone / ray, ONE_RAY_WORKER)


def started(given: list[str]) -> float:
    """Return the seconds that a command takes without the start of a cluster."""
    made = [sys.executable, "-c", STARTED, *given]
    told = subprocess.run(made, check=True, capture_output=True, text=True)
    return float(told.stdout.split()[-1])
