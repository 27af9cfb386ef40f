"""One model per key, from a CSV file: ``noregret run --group`` and a dict of River pipelines.

Rows of the keys are mixed, with 5 columns and an intercept. Each is predicted before it is learned.
``widrow-hoff`` and River's LinearRegression do least mean squares; ``auto``, which needs no
scaling, stands against the same behind a StandardScaler: on a tenth of the keys, whose learners fit
into memory, and on all, of which some wait in a file. The time is that of the processor, the memory
the peak of the process, both as the system counts them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks._command import QUIET, missing, noregret_run
from benchmarks._files import temporary_folder
from benchmarks._harness import Failed, Row, duration, faster, skipped, three_digits

PACKAGES = ("numpy", "river")
KEYS, ROWS_PER_KEY, COLUMNS = 100_000, 20, 5
FASTER, MEMORY_SHARE = 20.0, 0.1
PEER = """
import csv, sys
from river import linear_model, optim, preprocessing
models, loss = {}, 0.0
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        key, y = row.pop("key"), float(row.pop("y"))
        x = {name: float(value) for name, value in row.items()}
        model = models.get(key)
        if model is None:
            model = models[key] = MODEL
        loss += (model.predict_one(x) - y) ** 2
        model.learn_one(x, y)
"""
# Linux hands a process the peak of the one that started it: so that one is small.
WAITING = """
import os, sys
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
PLAIN = "linear_model.LinearRegression(optim.SGD(0.01))"
SCALED = f"preprocessing.StandardScaler() | {PLAIN}"
PEERS = {"plain": PLAIN, "scaled": SCALED}
# Our learners, each with the peers that it is compared with.
PAIRS = {"widrow-hoff": ("plain", "scaled"), "auto": ("scaled",)}


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
    with temporary_folder() as folder:
        file = written(Path(folder) / "groups.csv", keys)
        peers = {
            name: cost([sys.executable, "-c", PEER.replace("MODEL", model), str(file)])
            for name, model in PEERS.items()
        }
        for learner, names in PAIRS.items():
            told = ["--target", "y", "--group", "key", "--learner", learner, QUIET]
            ours = cost(noregret_run(file, *told))
            for name in names:
                yield from compared(f"{work}, {learner} ({name} peer)", ours, peers[name])


def compared(work: str, ours: Cost, peer: Cost) -> Iterator[Row]:
    """Yield the comparison of the times and of the memory."""
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
    waiting = [sys.executable, "-I", "-S", "-c", WAITING, *command]
    done = subprocess.run(waiting, check=False, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Failed(done.stderr[-500:])
    seconds, kilobytes = map(float, done.stdout.split())
    return Cost(seconds, kilobytes / 1024)
