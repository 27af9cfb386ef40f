"""Empty cells: 0, and an indicator once a column has had one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noregret import streams
from tests.app.run.commands import command, done

from .files import assert_same, blocks_of, game_of

ROWS = [{"a": k % 7 / 2, "b": k % 5 - 1.5, "y": k % 3} for k in range(60)]


def written(folder: Path, gaps: dict[int, str], kind: str = "csv") -> Path:
    rows = [row | ({gaps[k]: None} if k in gaps else {}) for k, row in enumerate(ROWS)]
    if kind == "jsonl":
        lines = [json.dumps(row) for row in rows]
    else:
        lines = ["a,b,y", *("{},{},{}".format(*row.values()).replace("None", "") for row in rows)]
    (folder / f"d.{kind}").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / f"d.{kind}"


def pairs(gaps: dict[int, str], intercept: bool) -> list[tuple[dict[str, float], float]]:
    """Return the examples that the rows stand for."""
    found = []
    for k, row in enumerate(ROWS):
        x = {"a": row["a"], "b": row["b"]} | ({"intercept": 1.0} if intercept else {})
        if k in gaps:
            x |= {gaps[k]: 0.0, f"{gaps[k]}=missing": 1.0}
        found.append((x, float(row["y"])))
    return found


@pytest.mark.parametrize("gaps", [{}, {0: "a"}, {40: "b"}, {20: "b", 21: "a", 55: "a"}])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [50, 1 << 22])
def test_an_indicator_joins_in_the_row_of_the_first_gap(
    gaps: dict[int, str], intercept: bool, size: int, tmp_path: Path
) -> None:
    expected = game_of(pairs(gaps, intercept))
    with blocks_of(size):
        file = written(tmp_path, gaps)
        assert_same(game_of(file, target="y", missing="indicator", intercept=intercept), expected)


@pytest.mark.parametrize("scale", ["max", "standard", "unit"])
def test_scaling_is_the_same_in_blocks_with_and_without_gaps(scale: str, tmp_path: Path) -> None:
    file = written(tmp_path, {20: "b", 21: "a", 55: "a"})
    options = {"target": "y", "missing": "indicator", "intercept": True, "scale": scale}
    whole = game_of(file, **options)
    with blocks_of(50):
        assert_same(game_of(file, **options), whole)


def test_rows_are_dense_until_a_cell_is_empty(tmp_path: Path) -> None:
    with blocks_of(100):
        stream = streams.read(written(tmp_path, {40: "b"}), "y", missing="indicator")
        dense = [not isinstance(block.X, tuple) for block in stream.blocks()]
    assert dense == sorted(dense, reverse=True)
    assert (dense[0], dense[-1]) == (True, False)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_command_goes_on_at_an_empty_cell_and_says_so(kind: str, tmp_path: Path) -> None:
    file = written(tmp_path, {20: "b", 55: "a"}, kind)
    cert, model = tmp_path / "c.json", tmp_path / "m.model"
    done("run", file, "--target", "y", "--certificate", cert, "--model", model)
    assert "missing=indicator" in json.loads(cert.read_text("utf-8"))["data"]["transforms"]
    assert "CONFIRMED" in done("verify", cert, file)
    assert done("predict", model, file).count("\n") == len(ROWS) + 1
    ended = command("run", file, "--target", "y", "--missing", "stop")
    assert (ended.code, "'b' is empty" in ended.err) == (1, True)


def test_formats_without_cells_are_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_text("1 0:1\n-1 1:1\n" * 9, "utf-8")
    cert = tmp_path / "c.json"
    done("run", tmp_path / "d.svm", "--certificate", cert)
    assert not any(
        "missing" in told for told in json.loads(cert.read_text("utf-8"))["data"]["transforms"]
    )
