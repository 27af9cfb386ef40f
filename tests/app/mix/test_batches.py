"""Rows that come together: all of a batch are forecast before any of their outcomes is learned."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret import experts, play, streams
from noregret.streams import open_file as opened
from tests.app.mix.forecasts import csv, frame
from tests.app.run.commands import done, refused

HOW = ("--target", "y", "--drop", "day")
EXPERTS = ["east", "north", "west"]


def batched(rows: int = 240, seed: int = 0, **how: Any) -> pd.DataFrame:
    """Return a table of forecasts in batches of 1 to 9 rows."""
    sizes = np.random.default_rng(seed + 100).integers(1, 10, rows)
    return frame(rows, seed, **how).assign(date=np.repeat(np.arange(rows), sizes)[:rows])


def mixed(file: Path, *how: Any) -> pd.DataFrame:
    """Return the predictions of a mix."""
    out = file.with_suffix(".out.csv")
    done("mix", file, *HOW, *how, "--predictions", out, "-q")
    return pd.read_csv(out)


@pytest.mark.parametrize("learner", ["blend", "boa", "hedge", "fixed-share"])
def test_batches_of_one_row_change_nothing(learner: str, tmp_path: Path) -> None:
    table = frame(150, asleep=0.2)
    table.loc[[5, 149], "y"] = np.nan
    file = csv(tmp_path, table.assign(date=[f"d{k}" for k in range(150)]))
    outputs = {}
    for name, how in {"alone": ("--batch", "date"), "plain": ("--drop", "date")}.items():
        files = [tmp_path / f"{name}.csv", tmp_path / f"{name}-weights.csv"]
        written = ("--predictions", files[0], "--weights", files[1], "-q")
        done("mix", file, *HOW, "--learner", learner, *how, *written)
        outputs[name] = [each.read_bytes() for each in files]
    assert outputs["alone"] == outputs["plain"]


@pytest.mark.parametrize("block", [1 << 20, 250])
@pytest.mark.parametrize("learner", ["blend", "ml-poly", "hedge"])
def test_forecasts_are_those_of_the_master_before_the_batch(
    learner: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", block)
    table = batched(asleep=0.1)
    table.loc[[0, 17, 18, 239], "y"] = np.nan
    how = ("--batch", "date", "--no-average", "--no-correct", "--learner", learner)
    found = mixed(csv(tmp_path, table), *how)["prediction"].to_numpy()
    master, expected = experts.make(learner), []
    for _, batch in table.groupby("date", sort=False):
        before, seen = copy.copy(master), batch[[*EXPERTS, "y"]].to_numpy()
        for *advice, _ in seen:
            expected.append(before.predict_one(dict(zip(EXPERTS, advice, strict=True))))
        for *advice, y in seen:
            if not np.isnan(y):
                master.learn_one(dict(zip(EXPERTS, advice, strict=True)), y)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("block", [1 << 20, 250])
def test_no_forecast_depends_on_outcomes_of_its_batch(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", block)
    table = batched()
    first = mixed(csv(tmp_path, table), "--batch", "date")["prediction"]
    dates = table["date"].unique()
    for date in dates[[3, len(dates) // 2, -1]]:
        here = table["date"] == date
        changed = table.assign(y=table["y"].where(~here, -table["y"] + 3))
        again = mixed(csv(tmp_path, changed, "changed.csv"), "--batch", "date")["prediction"]
        until = table["date"] <= date
        np.testing.assert_array_equal(first[until], again[until])
        assert not until.any() or until.all() or not np.array_equal(first[~until], again[~until])


@pytest.mark.parametrize("learner", ["blend", "boa", "squint", "hedge", "fixed-share", "ada-hedge"])
def test_the_certificate_counts_the_forecasts_as_made(learner: str, tmp_path: Path) -> None:
    table = batched(asleep=0.1)
    table.loc[[0, 17], "y"] = np.nan
    file, certificate = csv(tmp_path, table), tmp_path / "cert.json"
    how = ("--batch", "date", "--learner", learner, "--certificate", certificate)
    made = mixed(file, *how)
    stated = json.loads(certificate.read_text(encoding="utf-8"))
    paid = ((made["prediction"] - made["outcome"]) ** 2).sum()
    assert stated["loss"]["total"] == pytest.approx(paid, rel=1e-12)
    assert "batch=date" in stated["data"]["transforms"]
    if stated["theorem"]["bound"] is not None:
        plain = streams.read(file, target="y", drop=["day", "date"], missing="asleep")
        game = play(experts.make(learner), plain)
        assert stated["theorem"]["holds"]
        assert game.certificate().theorem.holds
    assert noregret.verify(certificate, file).confirmed
    # A row that moves to another batch, or another number.
    at = int(np.flatnonzero(table["date"].diff().to_numpy() > 0)[20])
    moved, other = table.copy(), table.copy()
    moved.loc[at, "date"] = moved.loc[at - 1, "date"]
    other.loc[at, "west"] += 0.5
    for changed in (moved, other):
        assert not noregret.verify(certificate, csv(tmp_path, changed, "other.csv")).confirmed


def test_the_bound_grows_by_what_waiting_added(tmp_path: Path) -> None:
    file = csv(tmp_path, batched(asleep=0.1))
    how = {"target": "y", "missing": "asleep"}
    waited = play(experts.Blend(), streams.read(file, drop="day", batch="date", **how))
    at_once = play(experts.Blend(), streams.read(file, drop=["day", "date"], **how))
    more = waited.loss - at_once.loss
    assert more != 0
    here, there = waited.certificate(), at_once.certificate()
    assert here.theorem.bound == pytest.approx(there.theorem.bound + more, rel=1e-12)
    assert here.hindsight.loss == there.hindsight.loss
    assert here.theorem.assumptions[-1].measured == pytest.approx(more, rel=1e-9)
    assert [each.holds for each in here.further] == [True]


@pytest.mark.parametrize("block", [1 << 20, 250])
def test_series_with_batches_are_as_separate_runs(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", block)
    table = batched(series=3)
    file, template = csv(tmp_path, table), tmp_path / "cert-{group}.json"
    together = mixed(file, "--batch", "date", "--group", "series", "--certificate", template)
    for name, part in table.groupby("series"):
        alone = csv(tmp_path, part.drop(columns="series"), "alone.csv")
        one = mixed(alone, "--batch", "date")["prediction"]
        mine = together[together["series"] == name]["prediction"]
        np.testing.assert_allclose(mine, one, rtol=1e-12)
        assert noregret.verify(str(template).replace("{group}", str(name)), file).confirmed


def test_games_in_python_have_the_forecasts_as_made_and_go_on(tmp_path: Path) -> None:
    table = batched(60)
    file = csv(tmp_path, table)
    expected = mixed(file, "--batch", "date", "--no-average", "--no-correct")["prediction"]
    stream = streams.read(file, target="y", drop="day", missing="asleep", batch="date")
    game = play(experts.Blend(), stream, predictions=True)
    np.testing.assert_array_equal(game.predictions, expected)
    # Batches are numbered from 0 in every pass: here, one batch of each.
    whole = streams.read(
        csv(tmp_path, table.assign(date=0), "whole.csv"),
        target="y", drop="day", missing="asleep", batch="date",
    )  # fmt: skip
    master = experts.Blend()
    twice = play(master, whole, predictions=True)
    before = master.copy()
    twice.play(whole)
    rows = table[EXPERTS].to_numpy()
    later = [before.predict_one(dict(zip(EXPERTS, row, strict=True))) for row in rows.tolist()]
    np.testing.assert_allclose(twice.predictions[60:], later, rtol=1e-12)
    assert twice.certificate().theorem.holds


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_every_format_has_the_same_batches(suffix: str, tmp_path: Path) -> None:
    table = batched(100)
    expected = mixed(csv(tmp_path, table), "--batch", "date")
    file = tmp_path / f"same.{suffix}"
    if suffix == "parquet":
        table.to_parquet(file)
    else:
        table.to_json(file, orient="records", lines=True)
    pd.testing.assert_frame_equal(mixed(file, "--batch", "date"), expected)


def test_figures_in_json(tmp_path: Path) -> None:
    table = batched()
    how = (csv(tmp_path, table), "--target", "y", "--no-correct", "--json")
    made = json.loads(done("mix", *how, "--drop", "day", "--batch", "date"))
    plain = json.loads(done("mix", *how, "--drop", "day,date"))
    assert plain["data"]["batches"] is None
    assert made["data"]["batches"]["count"] == table["date"].nunique()
    added = made["loss"]["total"] - plain["loss"]["total"]
    assert made["data"]["batches"]["added"] == pytest.approx(added, rel=1e-9)
    assert made["regret"] == pytest.approx(plain["regret"] + added, rel=1e-9)
    assert made["experts"][0]["total"] == plain["experts"][0]["total"]


def test_what_cannot_be_batches_is_refused(tmp_path: Path) -> None:
    table = batched(60)
    back = csv(tmp_path, table.assign(date=["a", "b", "a"] + ["c"] * 57))
    said = refused("mix", back, *HOW, "--batch", "date")
    assert "line 4: the batch 'a' of column 'date' comes back" in said
    file = csv(tmp_path, table.assign(date=[""] + ["c"] * 59))
    assert "every row needs its batch" in refused("mix", file, *HOW, "--batch", "date")
    assert "did you mean 'date'" in refused("mix", file, *HOW, "--batch", "dates")
    assert "--batch y is the target" in refused("mix", file, *HOW, "--batch", "y", code=2)
    with pytest.raises(ValueError, match="need missing='asleep'"):
        streams.read(file, target="y", batch="date")
    with pytest.raises(ValueError, match="batches need another column"):
        streams.read(file, target="y", missing="asleep", batch="date", group="date")
