"""Many learners on one file: ``noregret tournament`` with one and two workers.

The learners are `auto` and a grid of forests, which take far longer than reading and mixing. Whole
commands take turns, from their start to their end, on the same file; beside them, ``noregret run``
with each learner, one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks._command import LEARN_ONLY, QUIET, finish, missing, noregret, noregret_run, runs
from benchmarks._files import temporary_folder
from benchmarks._harness import Row, duration, faster, race, skipped

PACKAGES = ("numpy",)
ROWS, FEATURES, SEEDS, TWO_WORKERS = 30_000, 6, (1, 2, 3, 4, 5), 1.6


def run(quick: bool) -> Iterator[Row]:
    rows = ROWS // 10 if quick else ROWS
    work = f"auto and {len(SEEDS)} forests, {rows:,} × {FEATURES} of CSV"
    if reason := missing():
        yield skipped(work, reason)
        return
    with temporary_folder() as folder:
        file = written(Path(folder) / "tournament.csv", rows)
        told = [file, "--target", "y", QUIET, LEARN_ONLY]
        grid = f"mondrian-forest:seed={','.join(map(str, SEEDS))}"
        command = noregret("tournament", *told, "--learner", "auto", "--learner", grid)
        forests = [("mondrian-forest", "-p", f"seed={seed}") for seed in SEEDS]
        alone = [noregret_run(*told, "--learner", *each) for each in [("auto",), *forests]]

        def in_turn() -> None:
            for each in alone:
                finish(each)

        one, two, apart = race(
            *runs([*command, "--workers", "1"], [*command, "--workers", "2"]), in_turn, seconds=0
        )
        target = TWO_WORKERS if (os.cpu_count() or 1) > 1 else None
        beside = f"one worker {duration(one)}"
        yield faster(f"{work}, two workers", duration(two), beside, one / two, target)
        beside = f"one run after the other {duration(apart)}"
        yield faster(f"{work}, one worker, with the mixture", duration(one), beside, apart / one)


def written(path: Path, rows: int) -> Path:
    """Write a file of numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, FEATURES))
    y = np.sin(X[:, 0]) + X @ rng.normal(size=FEATURES) + rng.normal(size=rows)
    names = ",".join([*(f"x{k}" for k in range(FEATURES)), "y"])
    table = np.column_stack([X, y])
    np.savetxt(path, table, delimiter=",", fmt="%.8g", header=names, comments="")
    return path
