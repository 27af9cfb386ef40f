"""Growth of the peak memory of a process while it learns from a million rows.

Each kind of input is learned from in a fresh process, which says by how much its peak grew between
the first hundredth of the rows and the last.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks._data import coin_tosses, names, regression, sparse_rows
from benchmarks._harness import Row, skipped
from noregret import WidrowHoff

PACKAGES = ("numpy", "scipy")
BLOCK = 1_000
FLAT_MB = 1.0
STATUS = Path("/proc/self/status")


def run(quick: bool) -> Iterator[Row]:
    rows = 20_000 if quick else 1_000_000
    for kind in KINDS:
        work = f"memory, {rows:,} rows as {kind}"
        if not STATUS.exists():
            yield skipped(work, "peak memory is read from /proc, which this system lacks")
            continue
        command = [sys.executable, "-m", "benchmarks.memory", kind, str(rows)]
        root = Path(__file__).parents[1]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
        early, late = (float(peak) for peak in done.stdout.split())
        yield Row(
            work,
            f"peak {late:.0f} MB",
            f"after 1 %: {early:.0f} MB",
            f"{late - early:+.2f} MB",
            f"≤ +{FLAT_MB:g} MB",
            late - early <= FLAT_MB,
        )


def dense_blocks() -> Callable[[], None]:
    X, y = regression(BLOCK, 20)
    learner = WidrowHoff(rate=0.1)
    return lambda: learner.learn_many(X.copy(), y)


def sparse_blocks() -> Callable[[], None]:
    X, y = sparse_rows(BLOCK, 20, 2**18), coin_tosses(BLOCK)
    learner = WidrowHoff(rate=0.1)
    return lambda: learner.learn_many(X.copy(), y)


def dicts() -> Callable[[], None]:
    X, y = regression(BLOCK, 20)
    learner, keys = WidrowHoff(rate=0.1), names(20)

    def learn() -> None:
        for x, outcome in zip(X.tolist(), y.tolist(), strict=True):
            learner.learn_one(dict(zip(keys, x, strict=True)), outcome)

    return learn


KINDS: dict[str, Callable[[], Callable[[], None]]] = {
    "dense blocks": dense_blocks,
    "CSR blocks": sparse_blocks,
    "dicts": dicts,
}


def peak_mb() -> float:
    """Return the peak resident memory of this process alone.

    Not ru_maxrss: Linux hands a child the peak of the process that started it.
    """
    lines: Any = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024


def main(kind: str, rows: int) -> None:
    learn = KINDS[kind]()
    blocks = rows // BLOCK
    for done in range(blocks):
        if done == max(1, blocks // 100):
            early = peak_mb()
        learn()
    print(early, peak_mb())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
