"""Small files of every kind, made from the same numbers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 600


def frame(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Return a table with numbers, a city, a label and an outcome."""
    draw = np.random.default_rng(seed)
    sun, wind = draw.uniform(0, 1, rows).round(4), draw.normal(0, 1, rows).round(4)
    wind[::5] = 0.0
    city = draw.choice(["Oslo", "Rome", "São Paulo"], rows)
    sold = (2 * sun - wind + (city == "Rome") + draw.normal(0, 0.1, rows)).round(4)
    label = np.where(sold > 0.8, "yes", "no")
    return pd.DataFrame({"sun": sun, "city": city, "wind": wind, "sold": sold, "late": label})


def numbers(rows: int = ROWS, columns: int = 3, seed: int = 0) -> pd.DataFrame:
    """Return a table of nothing but numbers, with an outcome and a label."""
    draw = np.random.default_rng(seed)
    X = draw.normal(0, 1, (rows, columns)).round(3)
    X[::7, 0] = 0.0
    y = (X @ np.linspace(-1, 1, columns) + draw.normal(0, 0.1, rows)).round(3)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(columns)])
    return table.assign(y=y, label=np.where(y > 0, 1, -1))


def csv(path: Path, table: pd.DataFrame) -> Path:
    """Write a CSV file; its rows in quotes and commas where the data are so."""
    text = table.to_csv(index=False)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), 1, mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def vw(path: Path, rows: int = ROWS, weighted: bool = False, seed: int = 0) -> Path:
    """Write VW text whose names go on growing, tags from the second third on."""
    draw = np.random.default_rng(seed)
    lines = []
    for row in range(rows):
        words = sorted(set(draw.integers(0, 20 + row, 5).tolist()))
        label = 1 if sum(words) % 2 else -1
        weight = f" {1 + row % 3}" if weighted else ""
        tag = f" 'row{row}" if row > rows // 3 else " "
        shown = " ".join(f"w{word}:{1 + word % 4 / 4}" for word in words)
        lines.append(f"{label}{weight}{tag}|words {shown}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def svmlight(path: Path, rows: int = ROWS, seed: int = 0) -> Path:
    """Write svmlight text."""
    draw = np.random.default_rng(seed)
    lines = []
    for _ in range(rows):
        places = np.unique(draw.integers(1, 40, 4))
        values = draw.normal(0, 1, len(places)).round(3)
        shown = " ".join(f"{i}:{v}" for i, v in zip(places, values, strict=True))
        lines.append(f"{values.sum().round(3)} {shown}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def jsonl(path: Path, table: pd.DataFrame) -> Path:
    """Write JSON lines."""
    rows = table.to_dict("records")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def parquet(path: Path, table: pd.DataFrame) -> Path:
    """Write Parquet with several row groups."""
    table.to_parquet(path, row_group_size=100)
    return path


def npz(path: Path, table: pd.DataFrame) -> Path:
    """Write arrays."""
    np.savez(path, X=table.filter(like="x").to_numpy(), y=table["y"].to_numpy())
    return path


TABLES: dict[str, Callable[[Path, pd.DataFrame], Path]] = {
    "csv": csv,
    "jsonl": jsonl,
    "parquet": parquet,
}
