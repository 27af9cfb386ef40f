"""The cost of a pass over rows that workers hold: per row, per question to a worker, and per byte.

With N workers, a pass over T rows takes about T c/N + α N + β b seconds: c per row, α per question,
as one process asks all workers, and β per byte of the b that it sends and receives. The times of
one and two workers are measured; those of more are what this model says, not a measurement.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks._harness import Row
from noregret.scale import Processes, SpreadRows, rows

PACKAGES = ("numpy",)
ROWS, FEATURES, TIMES = 8 * 65_536, 20, 60
PREDICTED = (8, 64)


def echo(kept: Any, question: Any) -> Any:
    """Return the question, in a worker."""
    return question


def inner(kept: Any, question: int) -> float:
    """Return the seconds of one pass for scores and one for sums, in a worker: the fastest."""
    weights, best = np.ones(FEATURES), float("inf")
    shares = [np.ones(block.shape[0]) for _, block in kept]
    for _ in range(question):
        began = time.process_time()
        for (_, block), part in zip(kept, shares, strict=True):
            block.scores(weights)
            block.combine(part)
        best = min(best, time.process_time() - began)
    return best


def fastest(act: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of several calls."""
    best = float("inf")
    for _ in range(TIMES):
        began = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - began)
    return best


def both(held: SpreadRows) -> None:
    """Pass twice over the rows: for scores, and for sums."""
    held.combine(held.scores(np.ones(FEATURES)))


def run(quick: bool) -> Iterator[Row]:
    count = ROWS // 8 if quick else ROWS
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, FEATURES))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        columns = {f"x{k}": X[:, k] for k in range(FEATURES)}
        parquet.write_table(pa.table(columns | {"y": X @ rng.normal(size=FEATURES)}), file)
        measured = {}
        for workers in (1, 2):
            with Processes(workers) as pool, rows(file, "y", pool=pool) as held:
                _ = held.survey
                measured[workers] = fastest(partial(both, held)) / 2
                if workers == 1:
                    ask = held.keepers.ask
                    per_row = ask(inner, {0: TIMES})[0] / 2 / count
                    question = fastest(partial(ask, echo, {0: 0}))
                    there_and_back = fastest(partial(ask, echo, {0: np.ones(count)}))
                    per_byte = max(0.0, there_and_back - question) / (2 * 8 * count)
    work = f"a pass over {count:,} × {FEATURES} rows"
    yield Row(
        f"{work}: cost per row, per question, per byte",
        f"c = {per_row * 1e9:.2f} ns",
        f"α = {question * 1e6:.0f} µs, β = {per_byte * 1e9:.3f} ns",
        "model: T c/N + α N + β b",
    )
    for workers in (1, 2, *PREDICTED):
        model = count * per_row / workers + question * workers + per_byte * 8 * count
        own = f"{measured[workers] * 1e3:.1f} ms" if workers in measured else "not measured"
        yield Row(f"{work} on {workers} workers", own, f"model: {model * 1e3:.1f} ms", "—")
