"""The cost of the names of a data frame: learn_many on the frame against converting it to NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks._data import names, regression
from benchmarks._harness import Row, duration, longer, must_agree, race
from noregret import WidrowHoff

PACKAGES = ("pandas", "polars", "pyarrow")


def run(quick: bool) -> Iterator[Row]:
    X, y = regression(20_000 if quick else 1_000_000, 20)
    columns = {name: X[:, k].copy() for k, name in enumerate(names(20))}
    yield compare("pandas", pd.DataFrame(columns), y, lambda frame: frame.to_numpy(), quick)
    yield compare("polars", pl.DataFrame(columns), y, lambda frame: frame.to_numpy(), quick)
    yield compare("Arrow", pa.table(columns), y, arrow_to_numpy, quick)


def compare(kind: str, frame: Any, y: Any, convert: Callable[[Any], Any], quick: bool) -> Row:
    named, bare = WidrowHoff(rate=0.1), WidrowHoff(rate=0.1)
    named.learn_many(frame, y)
    bare.learn_many(convert(frame), y)
    must_agree(named.weights, bare.weights, f"weights learned from {kind}")
    mine, plain = race(
        lambda: named.learn_many(frame, y),
        lambda: bare.learn_many(convert(frame), y),
        seconds=0 if quick else 4,
    )
    work = f"{kind} frame of {len(y):,} × 20, learn_many"
    return longer(work, duration(mine), f"to NumPy first: {duration(plain)}", mine / plain, 1.5)


def arrow_to_numpy(table: Any) -> Any:
    return np.column_stack([column.to_numpy() for column in table.columns])
