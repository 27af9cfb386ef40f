"""One model per key, from a CSV file: ``noregret run --group`` and a dict of River pipelines.

Rows of the keys are mixed. Each is predicted before it is learned; both do least mean squares on 5
columns with an intercept. The time is that of the processor, the memory the peak of the process,
both as the system counts them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks._command import QUIET, missing, noregret_run
from benchmarks._files import FOLDER
from benchmarks._harness import Failed, Row, duration, faster, skipped, three_digits

PACKAGES = ("numpy", "river")
KEYS, ROWS_PER_KEY, COLUMNS = 100_000, 20, 5
FASTER, MEMORY_SHARE = 20.0, 0.1
PEER = """
import csv, sys
from river import linear_model, optim
models, loss = {}, 0.0
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        key, y = row.pop("key"), float(row.pop("y"))
        x = {name: float(value) for name, value in row.items()}
        model = models.get(key)
        if model is None:
            model = models[key] = linear_model.LinearRegression(optim.SGD(0.01))
        loss += (model.predict_one(x) - y) ** 2
        model.learn_one(x, y)
"""


class Cost(NamedTuple):
    """The processor time and the memory of a process."""

    seconds: float
    megabytes: float


def run(quick: bool) -> Iterator[Row]:
    keys = KEYS // 50 if quick else KEYS
    work = f"a model per key, {keys:,} keys × {ROWS_PER_KEY} rows of CSV"
    if reason := missing():
        yield skipped(work, reason)
        return
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        file = written(Path(folder) / "groups.csv", keys)
        told = ["--target", "y", "--group", "key", "--learner", "widrow-hoff", QUIET]
        ours = cost(noregret_run(file, *told))
        peer = cost([sys.executable, "-c", PEER, str(file)])
    speed = peer.seconds / ours.seconds
    yield faster(work, duration(ours.seconds), duration(peer.seconds), speed, FASTER)
    share = ours.megabytes / peer.megabytes
    yield Row(
        f"{work}, peak memory",
        f"{ours.megabytes:.0f} MB",
        f"{peer.megabytes:.0f} MB",
        f"{three_digits(share)}× as much",
        f"≤ {MEMORY_SHARE:g}×",
        share <= MEMORY_SHARE,
    )


def written(path: Path, keys: int, rows: int = ROWS_PER_KEY) -> Path:
    """Write rows whose keys are mixed, each key with a line of its own."""
    random = np.random.default_rng(0)
    owners = random.permutation(np.repeat(np.arange(keys), rows))
    slopes = random.normal(size=(keys, COLUMNS))
    X = random.normal(size=(len(owners), COLUMNS)).round(4)
    y = (X * slopes[owners]).sum(axis=1) + 0.1 * random.normal(size=len(owners))
    with path.open("w") as file:
        file.write(f"key,{','.join(f'x{k}' for k in range(COLUMNS))},y\n")
        for owner, x, outcome in zip(owners.tolist(), X.tolist(), y.tolist(), strict=True):
            file.write(f"k{owner},{','.join(map(str, x))},{outcome:.4f}\n")
    return path


def cost(command: list[str]) -> Cost:
    """Run a command; return the time of the processor and the peak memory."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise Failed(said.read().decode(errors="replace")[-500:])
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
