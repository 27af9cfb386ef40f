"""``noregret run --shards``: one certificate for the learners of all parts of the rows."""

import json
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.scale import play
from tests.app.run.commands import command, done, refused
from tests.scale.inline import Inline
from tests.scale.test_groups_on_workers import table, write_csv

ASKED = ("--target", "sold", "--drop", "shop,city", "--workers", "1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(table(300, gaps=False), tmp_path / "rows.csv")


def test_certificate_and_model_are_those_of_python(file: Path, tmp_path: Path) -> None:
    proof, model, out = (tmp_path / name for name in ("c.json", "m.model", "p.csv"))
    asked = ("--learner", "vaw", "--shards", "3", "--certificate", proof, "--model", model)
    said = done("run", file, *ASKED, *asked)
    assert "300 rows in 3 shards, 100 rows each: RMSE" in said
    assert "vaw-shards" in said
    options: dict[str, Any] = {"drop": ["shop", "city"], "missing": "indicator", "intercept": True}
    game = play(nr.Vaw(), file, "sold", shards=3, pool=Inline(1), **options)
    assert json.loads(proof.read_text()) == json.loads(game.certificate().to_json())
    done("verify", proof, file)
    done("predict", model, file, "--predictions", out)
    assert len(out.read_text().splitlines()) == 301
    said = refused("serve", "--model", model, "--store", tmp_path / "s.db")
    assert "without --shards" in said


@pytest.mark.parametrize("learner", ["auto", "logistic"])
def test_two_classes(learner: str, file: Path, tmp_path: Path) -> None:
    words = [line.split(",") for line in file.read_text().splitlines()]
    labels = ["warm", *("yes" if float(row[3]) > 10 else "no" for row in words[1:])]
    file.write_text(
        "\n".join(f"{row[2]},{label}" for row, label in zip(words, labels, strict=True))
    )
    proof = tmp_path / "c.json"
    asked = ("--target", "warm", "--learner", learner, "--shards", "2", "--workers", "1")
    assert "accuracy" in done("run", file, *asked, "--certificate", proof)
    assert json.loads(proof.read_text())["loss"]["name"] == "logistic"
    done("verify", proof, file)
    *before, last = file.read_text().splitlines()
    changed = last.replace("no", "yes") if last.endswith("no") else last.replace("yes", "no")
    file.write_text("\n".join([*before, changed]))
    assert "data.parts.2" in command("verify", proof, file).out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--shards", "0"), "at least 1"),
        (("--shards", "2", "--report", "r.html"), "leave --report out, or --shards"),
        (("--shards", "2", "--group", "shop"), "leave --group out"),
        (("--shards", "2", "--scale", "max"), "leave"),
        (("--shards", "2", "--learner", "auto-classes"), "several classes"),
        (("--shards", "301"), "would be empty"),
    ],
)
def test_what_does_not_go_with_shards(
    options: tuple[str, ...], said: str, file: Path, tmp_path: Path
) -> None:
    code = 1 if said == "would be empty" else 2
    assert said in refused("run", file, *ASKED, *options, code=code)
