"""Many series in one file: each is mixed as if it were alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noregret.app.commands.mix import store
from noregret.app.commands.mix.writing import file_of
from noregret.streams import open_file as opened
from tests.app.mix.forecasts import csv, frame
from tests.app.run.commands import done, refused
from tests.thorough import sized


@pytest.mark.parametrize("block", [1 << 20, 300])
@pytest.mark.parametrize("learner", ["blend", "fixed-share"])
def test_groups_are_as_separate_runs(
    learner: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", block)
    table = frame(200, asleep=0.2, series=7)
    table.loc[[30, 199], "y"] = np.nan
    file, out, weights = csv(tmp_path, table), tmp_path / "p.csv", tmp_path / "w.parquet"
    how = ("--target", "y", "--learner", learner)
    done("mix", file, *how, "--group", "series", "--predictions", out, "--weights", weights, "-q")
    together = pd.read_csv(out)
    assert list(together.columns) == ["row", "series", "prediction", "outcome"]
    assert together["series"].tolist() == table["series"].tolist()
    held = pd.read_parquet(weights)
    for name, part in table.groupby("series"):
        alone = csv(tmp_path, part.drop(columns="series"), "alone.csv")
        one, used = tmp_path / "one.csv", tmp_path / "used.parquet"
        done("mix", alone, *how, "--predictions", one, "--weights", used, "-q")
        mine = together[together["series"] == name]["prediction"]
        np.testing.assert_array_equal(mine, pd.read_csv(one)["prediction"])
        own = held[held["series"] == name].drop(columns=["row", "series"])
        pd.testing.assert_frame_equal(
            own.reset_index(drop=True), pd.read_parquet(used).drop(columns="row")
        )


def test_one_group_keeps_its_place_in_the_file(tmp_path: Path) -> None:
    table = frame(90, series=3)
    file, all_of_them, one = csv(tmp_path, table), tmp_path / "all.csv", tmp_path / "one.csv"
    how = ("--target", "y", "--group", "series", "-q")
    done("mix", file, *how, "--predictions", all_of_them)
    done("mix", file, *how, "--only", "s 1", "--predictions", one)
    found = pd.read_csv(all_of_them)
    pd.testing.assert_frame_equal(
        found[found["series"] == "s 1"].drop(columns="series").reset_index(drop=True),
        pd.read_csv(one),
    )


def test_every_group_has_its_own_certificate(tmp_path: Path) -> None:
    table = frame(90, asleep=0.2, series=3)
    file = csv(tmp_path, table)
    how = ("mix", file, "--target", "y", "--group", "series", "-q")
    done(*how, "--certificate", tmp_path / "c-{group}.json")
    made = sorted(path.name for path in tmp_path.glob("c-*.json"))
    assert made == ["c-s 0.json", "c-s 1.json", "c-s 2.json"]
    for name in made:
        assert "CONFIRMED: every figure" in done("verify", tmp_path / name, file)
    assert "put {group} where its name goes" in refused(
        *how, "--certificate", tmp_path / "c.json", code=2
    )
    assert "--only" in refused(*how, "--model", tmp_path / "m", code=2)
    alone = ("mix", file, "--target", "y", "--experts", "north,east")
    assert "no groups" in refused(*alone, "--certificate", tmp_path / "{group}.json", code=2)


def test_names_of_groups_lead_nowhere_else() -> None:
    assert file_of("a/{group}", "../../etc/x") == "a/..%2F..%2Fetc%2Fx"
    assert file_of("a/{group}", "..") == "a/%2E%2E"
    assert file_of("a/{group}", "é/") == "a/%C3%A9%2F"


def test_figures_are_sums_over_the_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = frame(120, series=4)
    file = csv(tmp_path, table)
    how = ("mix", file, "--target", "y", "--group", "series", "--json")
    whole = json.loads(done(*how))
    parts = [json.loads(done(*how, "--only", f"s {k}")) for k in range(4)]
    for key in ("loss", "average", "median", "convex"):
        total = sum(part[key]["total"] for part in parts)
        assert whole[key]["total"] == pytest.approx(total, rel=1e-5)
    assert whole["regret"] == pytest.approx(sum(part["regret"] for part in parts))
    assert [group["rounds"] for group in whole["groups"]] == [
        int((table["series"] == name).sum()) for name in dict.fromkeys(table["series"])
    ]
    assert len(whole["history"]["rounds"]) == table["series"].value_counts().max()
    monkeypatch.setattr(store, "MEMORY", 1000)
    less = json.loads(done(*how))
    assert less["convex"] is None
    assert less["loss"] == whole["loss"]
    said = refused(*how, "-q", "--certificate", tmp_path / "{group}.json")
    assert "do not fit in memory" in said


def test_thousands_of_groups_are_fine(tmp_path: Path) -> None:
    groups = sized(2_100, full=3_000)
    table = frame(2 * groups)
    table["series"] = np.arange(2 * groups) % groups
    text = done("mix", csv(tmp_path, table), "--target", "y", "--group", "series")
    assert f"{groups:,} series" in text
    assert "up to 2,000 groups" in " ".join(text.split())
