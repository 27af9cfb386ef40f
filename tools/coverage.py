"""Write the tables of docs/online-to-batch.md: how often the promise for the risk is kept.

python tools/coverage.py          # 200 splits of the flights that come with the package
python tools/coverage.py 20       # fewer, and the page stays as it is
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._coverage import (  # noqa: E402
    CHANCES,
    FIRST,
    LEARNERS,
    TAKES,
    TASKS,
    Outcome,
    split,
)
from benchmarks._pages import fill, table  # noqa: E402

PAGE = ROOT / "docs" / "online-to-batch.md"
SPLITS = 200


def tables(splits: int) -> Iterator[tuple[str, str]]:
    """Yield the name of every table, and the table."""
    found = {
        (task, learner, take): [split(seed, task, learner, take)[1] for seed in range(splits)]
        for task in TASKS
        for learner in LEARNERS
        for take in TAKES
    }
    heads = [f"δ = {chance:g}" for chance in CHANCES]
    rows = []
    for task in TASKS:
        for take in TAKES[:2]:
            runs = found[task, FIRST, take]
            cells = [coverage(runs, chance) for chance in CHANCES]
            paid, risk = (np.mean([getattr(run, of) for run in runs]) for of in Outcome._fields[:2])
            rows.append([f"{task.name}, {task.loss}", take, f"{paid:.4f}", f"{risk:.4f}", *cells])
    yield (
        "coverage",
        table(["", "weights", "paid on the way", "test risk", *heads], rows, figures=True),
    )
    rows = []
    for task in TASKS:
        for learner in LEARNERS:
            risks = [np.mean([run.risk for run in found[task, learner, take]]) for take in TAKES]
            best = min(risks)
            cells = [f"**{risk:.4f}**" if risk == best else f"{risk:.4f}" for risk in risks]
            rows.append([f"{task.name}, {task.loss}", learner, *cells])
    yield "takes", table(["", "learner", *TAKES], rows, figures=True)


def coverage(runs: list[Outcome], chance: float) -> str:
    """Say how often the risk was within its bound, and how large that was."""
    kept = np.mean([run.risk <= run.bounds[chance] for run in runs])
    return f"{kept:.1%} within {np.mean([run.bounds[chance] for run in runs]):.3f}"


def main(arguments: list[str]) -> None:
    """Measure, show, and write the page where nothing else was asked for."""
    splits = int(arguments[0]) if arguments else SPLITS
    for name, made in tables(splits):
        print(made, end="\n\n")
        if not arguments:
            fill(PAGE, name, made)


if __name__ == "__main__":
    main(sys.argv[1:])
