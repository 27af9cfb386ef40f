"""A model per group on several workers: the same bits as in one process."""

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from noregret import Vaw, streams
from noregret.app.commands.run.runner import Run
from noregret.scale import parts
from noregret.streams import open_file
from tests.app.run.commands import done, refused
from tests.scale.inline import Inline
from tests.thorough import THOROUGH, sized

ROWS = sized(1_500, full=6_000)


def table(rows: int = ROWS, classes: bool = False, gaps: bool = True) -> pa.Table:
    """Return rows with categories that appear late, and gaps that begin late."""
    random = np.random.default_rng(5)
    temperature = random.normal(10, 5, rows).round(3)
    city = [f"city {min(k // 90, n)}" for k, n in enumerate(random.integers(0, 40, rows))]
    shop = [f"shop {k}" for k in random.integers(0, 40, rows)]
    sold = (temperature + 3 * random.normal(size=rows)).round(3)
    outcome = pa.array([f"class {int(abs(y)) % 5}" for y in sold] if classes else sold)
    empty = np.arange(rows) % 97 == (96 if gaps else -1)
    empty &= np.arange(rows) > rows // 2
    return pa.table(
        {
            "shop": shop,
            "city": city,
            "sun": random.random(rows).round(4),
            "temperature": pa.array(temperature, mask=empty),
            "sold": outcome,
        }
    )


def write_csv(found: pa.Table, path: Path) -> Path:
    csv.write_csv(found, path, csv.WriteOptions(quoting_style="none", quoting_header="none"))
    return path


def made(kind: str, folder: Path) -> list[Path]:
    """Write the rows in one of several forms."""
    found = table(classes=kind == "classes")
    if kind == "parquet":
        parquet.write_table(found, folder / "rows.parquet", row_group_size=700)
        return [folder / "rows.parquet"]
    if kind == "jsonl":
        lines = [
            json.dumps({k: v for k, v in row.items() if v is not None}) for row in found.to_pylist()
        ]
        (folder / "rows.jsonl").write_text("\n".join(lines))
        return [folder / "rows.jsonl"]
    if kind == "files":
        halves = found.slice(0, 900), found.slice(900)
        return [write_csv(half, folder / f"{k}.csv") for k, half in enumerate(halves)]
    if kind == "dates":  # that are missing now and then, also at the start of parts
        days = np.datetime64("2020-01-01") + np.arange(len(found)) // 3
        gone = np.arange(len(found)) % 100 > 40
        found = found.append_column("day", pa.array(np.where(gone, "", days.astype(str))))
    if kind == "numbers":  # dense until the first gap
        found = found.drop_columns(["city"])
    path = write_csv(found, folder / "rows.csv")
    if kind == "quotes":
        path.write_text(path.read_text().replace("city 30", '"city\n30"'))
    if kind == "gzip":
        packed = folder / "rows.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        return [packed]
    return [path]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut files into many small parts, here and in the workers, which do it alike."""
    monkeypatch.setattr(open_file, "BLOCK", 1 << 13)
    monkeypatch.setattr(parts, "PART_BYTES", 3 << 13)
    monkeypatch.setattr(parts, "PART_ROWS", 1_000)


def run(folder: Path, files: list[Path], name: str, *options: str) -> dict[str, Any]:
    """Run the command, and return its models, predictions and figures."""
    model, predictions = folder / f"{name}.models", folder / f"{name}.csv"
    to = ["--model", str(model), "--predictions", str(predictions), "--quiet"]
    asked = ["--target", "sold", "--group", "shop", *options]
    done("run", *files, *asked, *to)
    with sqlite3.connect(model) as rows:
        models = rows.execute("SELECT * FROM models ORDER BY key").fetchall()
    return {"models": models, "predictions": predictions.read_text()}


FORMS = [
    "csv",
    "quotes",
    "parquet",
    "classes",
    "dates",
    "numbers",
    *(["files", "gzip", "jsonl"] if THOROUGH else []),
]


@pytest.mark.parametrize("kind", FORMS)
def test_workers_make_the_same_bits(kind: str, tmp_path: Path, small_parts: None) -> None:
    files = made(kind, tmp_path)
    learner = ("--learner", "vaw") if kind == "numbers" else ()
    alone = run(tmp_path, files, "alone", *learner)
    assert len(alone["models"]) == 40
    workers = ("--workers", "2" if kind == "csv" else "1")
    several = run(tmp_path, files, "several", *learner, *workers)
    assert several["models"] == alone["models"]
    assert several["predictions"] == alone["predictions"]


def test_empty_files_are_refused_as_by_one_process(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    asked = ("run", tmp_path / "empty.csv", "--target", "sold", "--group", "shop", "--quiet")
    assert refused(*asked, "--workers", "1") == refused(*asked)


@pytest.mark.parametrize("kind", FORMS)
def test_workers_make_the_same_certificate(kind: str, tmp_path: Path, small_parts: None) -> None:
    files = made(kind, tmp_path)
    learner = () if kind in ("csv", "classes") else ("--learner", "vaw")
    asked = ("run", *files, "--target", "sold", "--group", "shop", "--quiet", *learner)
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    done(*asked, "--look-back", "600", "--certificate", one)
    workers = ("--workers", "2" if kind == "csv" else "1")
    done(*asked, "--look-back", "600", "--certificate", two, *workers)
    assert two.read_text() == one.read_text()
    assert json.loads(two.read_text())["groups"]["keys"] == 40
    if kind == "csv" or THOROUGH:
        assert "every figure follows from these data" in done("verify", two, *files)


def test_a_certificate_of_workers_covers_only_the_rows_that_were_learned(
    tmp_path: Path, small_parts: None
) -> None:
    path = write_csv(table(), tmp_path / "rows.csv")
    lines = path.read_text().splitlines()
    lines[1_200] = lines[1_200].replace(lines[1_200].split(",")[2], "1e200")
    path.write_text("\n".join(lines))
    asked = ("run", path, "--target", "sold", "--group", "shop", "--on-error", "skip", "--quiet")
    found: list[str] = []
    for more in ((), ("--workers", "1")):
        proof = tmp_path / f"{len(found)}.json"
        done(*asked, "--learner", "vaw", "--certificate", proof, *more)
        found.append(proof.read_text())
    assert found[0] == found[1]
    assert json.loads(found[1])["data"]["rounds"] == ROWS - 1


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_a_bad_row_is_named_by_its_line(
    workers: tuple[str, ...], tmp_path: Path, small_parts: None
) -> None:
    path = write_csv(table(), tmp_path / "rows.csv")
    lines = path.read_text().splitlines()
    lines[1_200] = lines[1_200].replace(lines[1_200].split(",")[2], "1e200")
    path.write_text("\n".join(lines))
    asked = ("run", path, "--target", "sold", "--group", "shop", *workers, "--quiet")
    assert "line 1201" in refused(*asked)
    found = json.loads(done(*asked[:-1], "--on-error", "skip", "--json"))
    assert found["data"]["skipped"]["count"] == 1


def test_options_that_do_not_go_with_workers_are_refused(tmp_path: Path) -> None:
    path = write_csv(table(20), tmp_path / "rows.csv")
    plain = ("run", path, "--target", "sold")
    assert "--group" in refused(*plain, "--workers", "2", code=2)
    assert "from 1 to" in refused(*plain, "--group", "shop", "--workers", "0", code=2)
    assert "--workers" in refused(*plain, "--work-folder", tmp_path, code=2)


def test_progress_is_told_while_workers_play(tmp_path: Path, small_parts: None) -> None:
    path = write_csv(table(), tmp_path / "rows.csv")
    stream = streams.read(path, "sold", passed=("shop",), drop=("shop",), missing="indicator")
    seen: list[tuple[int, str]] = []
    game = Run(stream, Vaw(), hindsight=False, group=["shop"], pool=Inline(2))
    game.told = lambda run: seen.append((run.size, run.standing))
    game.go()
    sizes, words = zip(*seen, strict=True)
    assert list(sizes) == sorted(sizes)
    assert sizes[-1] == path.stat().st_size
    for some in ("parts read: 1 of ", "buckets played: 8 of 8", "RMSE"):
        assert any(text.startswith(some) for text in words)
    assert len({size for size, text in seen if "played" in text}) == 8


def test_columns_whose_values_share_features_are_refused(
    tmp_path: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_csv(table(), tmp_path / "rows.csv")
    monkeypatch.setattr("noregret.streams.many_values.MAX_VALUES", 15)
    asked = ("run", path, "--target", "sold", "--group", "shop", "--quiet", "--workers", "1")
    said = refused(*asked)
    assert "column 'city' has more than 15 different values" in said
    assert "--hash 18" in said
    done(*asked, "--hash", "18")
