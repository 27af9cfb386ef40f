"""Initial predictions of VW's text: the rest is learned, and they are added to predictions."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path

import pytest

from noregret import streams
from tests.app.run.commands import command, done


def lines(count: int) -> list[tuple[float, float, str]]:
    rng = random.Random(4)
    return [
        (float(rng.randrange(40)), rng.randrange(-8, 9) / 4, f"a:{rng.random():.3f} b c{k % 5}")
        for k in range(count)
    ]


def predictions(path: Path) -> list[float]:
    with path.open() as file:
        return [float(row["prediction"]) for row in csv.DictReader(file)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Write lines with initial predictions, and with outcomes from which these are subtracted."""
    given, less = tmp_path / "given.vw", tmp_path / "less.vw"
    given.write_text("".join(f"{y} 1 {base} 't | {x}\n" for y, base, x in lines(80)) + "| a:1\n")
    less.write_text("".join(f"{y - base} 1 't | {x}\n" for y, base, x in lines(80)) + "| a:1\n")
    return given, less


def test_the_rest_is_learned(files: tuple[Path, Path], tmp_path: Path) -> None:
    given, less = files
    pairs = [(x, y) for x, y in streams.read(str(given))]
    assert [x for x, _ in pairs] == [x for x, _ in streams.read(str(less))]
    assert [y for _, y in pairs[:80]] == [y for _, y in streams.read(str(less))][:80]
    bases = [*(base for _, base, _ in lines(80)), 0.0]
    found = {}
    for path in files:
        out = [tmp_path / f"{path.stem}{end}" for end in (".csv", ".json", ".model", ".again.csv")]
        done("run", path, "--predictions", out[0], "--certificate", out[1], "--model", out[2])
        done("verify", out[1], path)
        done("predict", out[2], given, "--predictions", out[3])
        found[path.stem] = predictions(out[0]), predictions(out[3])
    for k in range(81):
        assert found["given"][0][k] == pytest.approx(found["less"][0][k] + bases[k], abs=1e-9)
    assert found["given"][1] == found["less"][1]


def test_they_are_a_baseline(files: tuple[Path, Path], tmp_path: Path) -> None:
    given, less = files
    page = tmp_path / "r.html"
    found = json.loads(done("run", given, "--json", "--report", page))["baselines"]
    errors = [abs(y - base) for y, base, _ in lines(80)]
    assert found["initial"]["mae"] == pytest.approx(math.fsum(errors) / 80)
    squares = math.fsum(e * e for e in errors) / 80
    assert found["initial"]["rmse"] == pytest.approx(math.sqrt(squares))
    assert "by the initial predictions alone" in page.read_text()
    assert "the initial predictions alone" in " ".join(done("run", given).split())
    assert "initial" not in json.loads(done("run", less, "--json"))["baselines"]


@pytest.mark.parametrize(
    "options", [("--learner", "perceptron"), ("-p", "loss=logistic"), ("--task", "classes")]
)
def test_classes_are_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = tmp_path / "a.vw"
    path.write_text("1 1 | a\n-1 1 0.5 | b\n" * 9)
    ended = command("run", path, *options)
    assert ended.code == 1
    assert "line 2" in ended.err
    assert "initial prediction 0.5 can be added to predictions of numbers only" in ended.err
    done("run", path)  # two values, but numbers: there are initial predictions
