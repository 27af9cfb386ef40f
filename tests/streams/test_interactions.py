"""Products of columns are what multiplying their features by hand gives, in every format."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from noregret import streams
from tests.app.run.commands import done, refused

ROWS: list[dict[str, Any]] = [
    {
        "price": k / 4 - 3,
        "size": k % 5,
        "town": ["Oslo", "Rome"][k % 2],
        "kind": "abc"[k % 3],
        "y": k,
    }
    for k in range(30)
]


def written(path: Path) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        return path
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ROWS[0])
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def product(row: dict[str, Any], a: str, b: str) -> dict[str, float]:
    """Return the product of two columns, by its definition."""
    a, b = sorted((a, b))
    names = [row[c] for c in (a, b) if isinstance(row[c], str)]
    value = 1.0
    for column in (a, b):
        value *= 1.0 if isinstance(row[column], str) else row[column]
    return {f"{a}*{b}" + (f"={'*'.join(names)}" if names else ""): value}


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("asked", [["price*size"], ["town*price", "kind*town"], ["pairs"]], ids=str)
def test_products_are_those_of_the_columns(tmp_path: Path, suffix: str, asked: list[str]) -> None:
    file = written(tmp_path / f"data.{suffix}")
    plain = [x for x, _ in streams.read(file, "y")]
    found = [x for x, _ in streams.read(file, "y", interactions=asked)]
    columns = [name for name in ROWS[0] if name != "y"]
    pairs = [*combinations(columns, 2)]
    if asked != ["pairs"]:
        pairs = [(a, b) for a, b in (text.split("*") for text in asked)]
    for row, before, x in zip(ROWS, plain, found, strict=True):
        expected = dict(before)
        for a, b in pairs:
            expected |= product(row, a, b)
        kept = {name: value for name, value in expected.items() if value}
        assert {name: value for name, value in x.items() if value} == pytest.approx(kept)


def test_a_run_with_products_learns_a_product_and_is_verified(tmp_path: Path) -> None:
    file, proof = tmp_path / "xor.csv", tmp_path / "proof.json"
    rows = [(a, b, 1.0 if a == b else -1.0) for a in (-1, 1) for b in (-1, 1)] * 50
    file.write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    told = ("--target", "y", "--task", "numbers", "--quiet", "--certificate", proof)
    done("run", file, *told, "--interactions", "a*b")
    certificate = json.loads(proof.read_text())
    assert "interactions=a*b" in certificate["data"]["transforms"]
    assert certificate["hindsight"]["loss"] < 1e-6
    assert "CONFIRMED" in done("verify", proof, file)


def test_columns_that_are_not_there_are_named(tmp_path: Path) -> None:
    file = written(tmp_path / "data.csv")
    assert "'price*sise'" in refused(
        "run", file, "--target", "y", "--interactions", "price*sise", code=2
    )
