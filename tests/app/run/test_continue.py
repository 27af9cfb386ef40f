"""Going on with a model: the same as one run over all files."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from noregret.app.cli.app import run
from tests.thorough import sized

OPTIONS: dict[str, list[str]] = {
    "numbers": [],
    "labels": ["--target", "open"],
    "classes": ["--target", "town"],
    "words": ["--text", "remark", "--categories", "zip"],
    "drop": ["--drop", "due,remark", "--missing", "zero"],
    "hash": ["--hash", "6", "--interactions", "town*size"],
    "scaled": ["--learner", "nlms", "--scale", "standard", "--no-intercept"],
    "named": ["--target", "open", "--positive", "no", "--learner", "logistic"],
    "fourier": ["--learner", "widrow-hoff", "-p", "rate=0.1", "--fourier", "20", "--drop", "due"],
    "forest": ["--learner", "mondrian-forest"],
}


def rows_of(count: int, seed: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [
        {
            "due": f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            "town": draw.choice(["Oslo", "Rome", "Rio"]),
            "remark": draw.choice(["warm, not late", "late", "cold and late", ""]),
            "size": draw.choice(["", draw.random(), 3]),
            "open": draw.choice(["yes", "no"]),
            "zip": draw.choice([50001, 50002]),
            "y": draw.gauss(3, 1),
        }
        for _ in range(count)
    ]


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    if path.suffix == ".jsonl":
        given = [{name: value for name, value in row.items() if value != ""} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in given))
    else:
        text = io.StringIO()
        table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        path.write_text(text.getvalue())
    return str(path)


def done(*arguments: str) -> None:
    assert run([*arguments, "--quiet"]) in (None, 0)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("given", OPTIONS)
def test_going_on_is_one_run_over_all_files(given: str, suffix: str, tmp_path: Path) -> None:
    options = OPTIONS[given]
    if "--target" not in options:
        options = [*options, "--target", "y"]
    parts = [rows_of(sized(40, full=2000), seed) for seed in range(3)]
    files = [written(tmp_path / f"{k}.{suffix}", part) for k, part in enumerate(parts)]
    first, whole = str(tmp_path / "first.model"), str(tmp_path / "whole.model")
    done("run", files[0], *options, "--model", first, "--no-hindsight")
    done("run", *files, *options, "--model", whole, "--no-hindsight")
    for file in files[1:]:  # a model may be its own successor
        done("run", file, "--continue", first, "--model", first, "--no-hindsight")
    assert Path(first).read_bytes() == Path(whole).read_bytes()


def test_figures_are_those_of_the_new_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [written(tmp_path / f"{k}.csv", rows_of(50, k)) for k in range(2)]
    model, out = str(tmp_path / "m.model"), str(tmp_path / "out.csv")
    done("run", files[0], "--target", "y", "--model", model)
    run(["run", files[1], "--continue", model, "--predictions", out, "--json"])
    told = json.loads(capsys.readouterr().out)
    with open(out, encoding="utf-8") as file:
        predicted = list(csv.DictReader(file))
    squares = [(float(row["prediction"]) - float(row["outcome"])) ** 2 for row in predicted]
    assert told["data"]["rows"] == len(squares) == 50
    assert told["error"]["mine"] ** 2 * 50 == pytest.approx(sum(squares), rel=1e-9)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--learner", "nlms"], "the model decides that: leave --learner out"),
        (["-p", "rate=1"], "the model decides that: leave --param out"),
        (["--no-intercept"], "leave --intercept out"),
        (["--target", "size"], "the model predicts 'y', not 'size'"),
        (["--certificate", "c.json"], "run all files at once"),
        (["--group", "town"], "in Python"),
        (["--checkpoint", "c.ckpt"], "--save-every"),
    ],
)
def test_what_the_model_decides_is_refused(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, model = written(tmp_path / "a.csv", rows_of(20, 1)), str(tmp_path / "m.model")
    done("run", file, "--target", "y", "--model", model)
    before = Path(model).read_bytes()
    assert run(["run", file, "--continue", model, "--model", model, *more]) == 2
    assert said in capsys.readouterr().err
    assert Path(model).read_bytes() == before


def test_a_day_of_one_class_is_learned(tmp_path: Path) -> None:
    """As in one run over both files."""
    rows = rows_of(30, 1)
    one = [row | {"open": "no"} for row in rows_of(5, 2)]
    files = [written(tmp_path / f"{k}.csv", part) for k, part in enumerate((rows, one))]
    model, whole = str(tmp_path / "m.model"), str(tmp_path / "whole.model")
    done("run", files[0], "--target", "open", "--model", model, "--no-hindsight")
    done("run", *files, "--target", "open", "--model", whole, "--no-hindsight")
    done("run", files[1], "--continue", model, "--model", model, "--no-hindsight")
    assert Path(model).read_bytes() == Path(whole).read_bytes()


def test_other_columns_are_refused_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, model = written(tmp_path / "a.csv", rows_of(20, 1)), str(tmp_path / "m.model")
    done("run", file, "--target", "y", "--model", model)
    before = Path(model).read_bytes()
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert run(["run", str(other), "--continue", model, "--model", model]) == 1
    assert "y" in capsys.readouterr().err
    assert Path(model).read_bytes() == before
