"""Found by newcomers and attackers: first rows that cannot be used, slips, silent choices."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noregret.base.numbers import brief
from tests.app.mix.forecasts import csv, frame
from tests.app.run.commands import done, refused

NORTH = "g,y,a,b\nnorth,1,1,2\nsouth,2,3,4\nv,2,3,4\n"
ONE_BAD = "y,a,b\n1,2,3\n2,1.5.2,3\n3,1,2\n4,4,4\n"


def written(place: Path, text: str | bytes, name: str = "d.csv") -> Path:
    """Write a file."""
    file = place / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("y,a,b\n1,,\n2,,\n", (), "d.csv, line 2: every expert is asleep"),
        ("y,a,b\n1,,\n2,,\n", ("--on-error", "skip"), "none of its 2 rows could be used"),
        ("y,a,b\n1,1e999,2\n2,3,4\n", (), "d.csv, line 2: column 'a' is inf"),
        ("g,y,a\nu,1,x\nu,2,3\nu,2,3\n", ("--group", "g"), "line 2: column 'a': 'x' is not a num"),
        ("g,y,a\n,1,1\n,2,3\n", ("--group", "g", "--on-error", "skip"), "none of its 2 rows"),
    ],
)
def test_no_row_of_the_first_block_can_be_used(
    text: str, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    assert said in refused("mix", written(tmp_path, text), "--target", "y", *options)


@pytest.mark.parametrize(
    ("field", "said"), [("b", "line 2: column 'b' is inf"), ("y", "line 2: the outcome is inf")]
)
def test_a_number_of_thousands_of_digits_is_named(field: str, said: str, tmp_path: Path) -> None:
    rows = [{"a": "1", "b": "2", "y": "1"}, {"a": "1", "b": "2", "y": "1", field: "9" * 5000}]
    lines = ["{" + ", ".join(f'"{k}": {v}' for k, v in row.items()) + "}\n" for row in rows]
    assert said in refused("mix", written(tmp_path, "".join(lines), "d.jsonl"), "--target", "y")


def test_no_row_of_a_portfolio_can_be_used(tmp_path: Path) -> None:
    latin = written(tmp_path, b"A,B\n1.1,0.9\xe9\n1.0,1.1\n")
    assert "line 2: column 'B': not UTF-8 text" in refused(
        "portfolio", latin, "--encoding", "utf-8"
    )
    csv = written(tmp_path, "A,B\n1.1,0.9\n")
    assert "d.csv, line 1, column 1: " in refused("portfolio", csv, "--format", "jsonl")


def test_one_bad_cell_does_not_drop_an_expert(tmp_path: Path) -> None:
    file = written(tmp_path, ONE_BAD)
    said = refused("mix", file, "--target", "y")
    assert "line 3: column 'a': '1.5.2' is not a number" in said
    out = done("mix", file, "--target", "y", "--on-error", "skip")
    assert "1 row skipped" in out
    assert "left out a: no numbers" not in " ".join(out.split())


@pytest.mark.parametrize(
    ("wanted", "said"), [("nroth", "did you mean 'north'"), ("zzz", "there are 'north', 'south'")]
)
def test_a_group_that_is_not_there(wanted: str, said: str, tmp_path: Path) -> None:
    file = written(tmp_path, NORTH)
    assert said in refused("mix", file, "--target", "y", "--group", "g", "--only", wanted)


def test_at_most_ten_groups_are_named(tmp_path: Path) -> None:
    rows = "".join(f"g{k},1,{k},2\n" for k in range(30))
    file = written(tmp_path, "g,y,a,b\n" + rows)
    said = refused("mix", file, "--target", "y", "--group", "g", "--only", "zzz")
    assert "'g8', 20 more, and the last, 'g29'" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--quantile", "0.5", "-p", "loss_parameter=0.7"), "the quantile is given twice"),
        (("--learner", ""), "--learner needs the name of an algorithm"),
        (("--experts", ""), "names no column"),
    ],
)
def test_nothing_is_dropped_silently(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    file = written(tmp_path, NORTH)
    assert said in refused("mix", file, "--target", "y", *options, code=2)


def test_the_quantile_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, NORTH)
    assert "mean quantile 0.5 loss" in done("mix", file, "--target", "y", "--loss", "quantile")


def series(place: Path, *names: str) -> Path:
    """Write series of loads around 100, with two experts."""
    draw = np.random.default_rng(3)
    y = 100 + draw.normal(size=90)
    rows = [
        f"{names[k % len(names)]},{v},{v + draw.normal()},{v - draw.normal()}"
        for k, v in enumerate(y)
    ]
    return written(place, "\n".join(["g,y,a,b", *rows]) + "\n")


def test_one_group_without_a_file_does_not_keep_back_the_others(tmp_path: Path) -> None:
    file = series(tmp_path, "north", "x" * 300, "south")
    place = f"{tmp_path}/cert-{{group}}.json"
    said = refused("mix", file, "--target", "y", "--group", "g", "--certificate", place)
    assert "no certificate of the group 'xxx" in said
    assert sorted(one.name for one in tmp_path.glob("*.json")) == [
        "cert-north.json",
        "cert-south.json",
    ]


def test_the_promises_of_groups_are_counted(tmp_path: Path) -> None:
    file = series(tmp_path, "north", "south")
    asked = ("mix", file, "--target", "y", "--group", "g")
    assert "BOUND HOLDS, BUT SAYS NOTHING HERE in 2 of 2 series" in done(*asked)
    report = tmp_path / "r.html"
    out = " ".join(done(*asked, "--learner", "hedge", "--report", report).split())
    assert "NO BOUND IS CLAIMED in 2 of 2 series" in out
    assert "-p low=" in out
    assert "No bound is claimed in 2 of 2 series" in report.read_text("utf-8")


def test_the_best_expert_is_judged_while_awake(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    y = 100 + draw.normal(size=120)
    table = pd.DataFrame({"y": y, "old": y + 2 * draw.normal(size=120), "new": y + 0.1})
    table.loc[:79, "new"] = np.nan
    table.to_csv(tmp_path / "d.csv", index=False)
    report, said = tmp_path / "r.html", tmp_path / "p.csv"
    asked = ("mix", tmp_path / "d.csv", "--target", "y")
    out = " ".join(done(*asked, "--report", report, "--predictions", said).split())
    awake = pd.read_csv(said).iloc[80:]
    mixture = brief(float(np.sqrt(((awake["prediction"] - awake["outcome"]) ** 2).mean())))
    words = (
        "RMSE 0.1 in the 33.3% of rounds where it has a forecast; the mixture has"
        f" {mixture} in those rounds"
    )
    assert words in out
    page = report.read_text("utf-8").replace("&#x27;", "'")
    assert f"new itself: {words}" in page
    assert "Where that expert has no forecast, the mixture's loss is counted." in page


def test_columns_that_are_no_forecasts_are_left_out_and_named(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    y = 10_000 + 300 * draw.normal(size=80)
    table = pd.DataFrame({"y": y, "hour": np.arange(80) % 24, "a": y + 90 * draw.normal(size=80)})
    table = table.assign(day=736_000 + np.arange(80), fixed=5.0, far=1e9 + draw.normal(size=80))
    table = table.assign(b=y + 70 * draw.normal(size=80), rankine=1.8 * y + 1e6)
    table.to_csv(tmp_path / "d.csv", index=False)
    given = ("mix", tmp_path / "d.csv", "--target", "y")
    said = " ".join(done(*given).split())
    assert "--all-columns" in said
    result = json.loads(done(*given, "--json", "--certificate", tmp_path / "c.json"))
    assert set(result["data"]["no_forecasts"]) == {"hour", "day", "fixed", "far"}
    assert all(name in said for name in result["data"]["no_forecasts"])
    experts = {expert["name"] for expert in result["experts"] if not expert["added"]}
    assert experts == {"a", "b", "rankine"}  # in another unit, but related to the outcome
    assert "CONFIRMED" in done("verify", tmp_path / "c.json", tmp_path / "d.csv")
    every = json.loads(done(*given, "--json", "--all-columns"))
    assert not every["data"]["no_forecasts"]
    assert {"hour", "day", "fixed", "far"} <= {expert["name"] for expert in every["experts"]}
    named = json.loads(done(*given, "--json", "--experts", "a,hour"))
    assert {expert["name"] for expert in named["experts"] if not expert["added"]} == {"a", "hour"}


def test_the_hint_to_drop_columns_names_all_of_them(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    y = 10_000 + 300 * draw.normal(size=80)
    table = pd.DataFrame({"y": y} | {f"e{k}": y + draw.normal(size=80) for k in range(20)})
    for k in range(6):
        table[f"odd{k}"] = 1.8 * y + 1e6
    table.to_csv(tmp_path / "d.csv", index=False)
    said = "".join(done("mix", tmp_path / "d.csv", "--target", "y").split())
    assert "--drop" + ",".join(f"odd{k}" for k in range(6)) in said


def test_losses_have_the_names_of_the_errors_that_they_average(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    y = 5 + draw.normal(size=60)
    pd.DataFrame({"y": y, "a": y + 1, "b": y - draw.random(60)}).to_csv(tmp_path / "d.csv")
    given = ("mix", tmp_path / "d.csv", "--target", "y", "--json")
    for name, loss in {"mae": "absolute", "MSE": "square", "mape": "percentage"}.items():
        assert json.loads(done(*given, "--loss", name))["loss"]["name"] == loss
    pinball = json.loads(done(*given, "--loss", "pinball", "--quantile", "0.9"))
    assert pinball["loss"]["name"] == "quantile"


def test_a_wrong_outcome_is_told(tmp_path: Path) -> None:
    table = frame()
    table.loc[50, "y"] = 1e5
    file = csv(tmp_path, table)
    said = " ".join(done("mix", file, "--target", "y").split())
    assert "outcomes 1 outcome far outside the others, and not foreseen: not learned from" in said
    made = json.loads(done("mix", file, "--target", "y", "--json"))
    assert made["data"]["outcomes_aside"] == 1
    for further in (("--learner", "boa"), ("--loss", "percentage")):
        assert "far outside the others" not in done("mix", file, "--target", "y", *further)
