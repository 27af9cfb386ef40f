"""The outputs of the command: forecasts, weights, certificates, models, figures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret.app.commands.mix import DEFAULT
from noregret.data import path as bundled
from tests.app.mix.forecasts import by_hand, completed, csv, frame
from tests.app.run.commands import done, refused
from tests.thorough import paired

LEARNERS = [
    DEFAULT,
    "ml-poly",
    "hedge",
    "ada-hedge",
    "boa",
    "squint",
    "fixed-share",
    "follow-the-leader",
]


@pytest.fixture(params=[4_000, 700], ids=["", "blocks"], autouse=True)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read files in blocks of several sizes."""
    from noregret.streams import open_file as opened

    monkeypatch.setattr(opened, "BLOCK", request.param)
    size: int = request.param
    return size


def mixed(file: Path, *options: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(done("mix", file, "--target", "y", "--json", *options))
    return found


def names_in(made: dict[str, object]) -> list[str]:
    """Return the names of the experts."""
    experts = made["experts"]
    assert isinstance(experts, list)
    return [expert["name"] for expert in experts]


@pytest.mark.parametrize("learner", LEARNERS)
def test_forecasts_and_weights_are_those_of_the_master_row_by_row(
    learner: str, tmp_path: Path
) -> None:
    table = frame(120, asleep=0.3)
    out, weights = tmp_path / "p.csv", tmp_path / "w.csv"
    files = ("--predictions", out, "--weights", weights, "-q")
    done("mix", csv(tmp_path, table), "--target", "y", "--learner", learner, "--no-correct", *files)
    said, used, master = by_hand(table, learner, correct=False)
    found = pd.read_csv(out)
    assert list(found.columns) == ["row", "prediction", "outcome"]
    assert found["row"].tolist() == list(range(1, 121))
    np.testing.assert_allclose(found["prediction"], said, rtol=1e-12)
    np.testing.assert_array_equal(found["outcome"], table["y"])
    held = pd.read_csv(weights)
    assert list(held.columns) == ["row", "average", "east", "median", "north", "west"]
    np.testing.assert_allclose(held.to_numpy()[1:, 1:], np.array(used[1:]), atol=1e-12)
    assert master.rounds == 120


def test_the_figures_add_up(tmp_path: Path) -> None:
    table = frame(asleep=0.2)
    made = mixed(csv(tmp_path, table))
    said, _, master = by_hand(table)
    assert made["format"] == "noregret.mix/1"
    loss = made["loss"]
    assert isinstance(loss, dict)
    assert loss["total"] == pytest.approx(((said - table["y"]) ** 2).sum())
    rows = completed(table)
    paid = (np.where(rows.isna(), said[:, None], rows) - table[["y"]].to_numpy()) ** 2
    experts = made["experts"]
    assert isinstance(experts, list)
    for k, expert in enumerate(experts):
        assert expert["name"] == rows.columns[k]
        assert expert["total"] == pytest.approx(paid[:, k].sum())
        assert expert["awake"] == rows.notna().to_numpy()[:, k].sum()
        assert expert["added"] == (expert["name"] in ("average", "corrected", "median"))
        assert expert["weight"] == pytest.approx(master.weights()[k])
    history = made["history"]
    assert isinstance(history, dict)
    np.testing.assert_allclose(np.sum(history["losses"], axis=0), paid.sum(axis=0))
    assert sum(history["loss"]) == pytest.approx(loss["total"])
    convex = made["convex"]
    assert isinstance(convex, dict)
    least = min(expert["total"] for expert in experts)
    assert convex["total"] <= least * (1 + 1e-9)
    assert sum(convex["weights"].values()) == pytest.approx(1.0)


WAYS: list[tuple[str, ...]] = [(), ("--no-correct",), ("--no-average",), ("--loss", "absolute")]


@pytest.mark.parametrize(("options", "learner"), paired(WAYS, ["blend", "fixed-share"]))
def test_a_certificate_is_confirmed_by_the_data_in_any_format(
    learner: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    table = frame(150, asleep=0.2)
    file, certificate = csv(tmp_path, table), tmp_path / "c.json"
    if learner == "fixed-share" and "absolute" in options:
        options = (*options, "-p", "rate=0.1")
    done(
        "mix", file, "--target", "y", "--learner", learner, *options, "-q",
        "--certificate", certificate,
    )  # fmt: skip
    assert "CONFIRMED: every figure" in done("verify", certificate, file)
    table.to_parquet(tmp_path / "f.parquet")
    rows = [
        json.dumps({k: None if v != v else v for k, v in row.items()})  # noqa: PLR0124
        for row in table.to_dict("records")
    ]
    (tmp_path / "f.jsonl").write_text("\n".join(rows))
    for other in ("f.parquet", "f.jsonl"):
        assert "CONFIRMED: every figure" in done("verify", certificate, tmp_path / other)
    table.loc[7, "north"] += 0.001
    assert "NOT CONFIRMED" in refused_text(certificate, csv(tmp_path, table, "other.csv"))


def refused_text(certificate: Path, file: Path) -> str:
    from tests.app.run.commands import command

    ended = command("verify", certificate, file)
    assert ended.code == 1
    return ended.out


def test_rows_without_an_outcome_are_forecast_and_not_learned_from(tmp_path: Path) -> None:
    table = frame(60)
    table.loc[[20, 21, 58, 59], "y"] = np.nan
    out, certificate = tmp_path / "p.parquet", tmp_path / "c.json"
    text = done(
        "mix", csv(tmp_path, table), "--target", "y", "--predictions", out,
        "--certificate", certificate,
    )  # fmt: skip
    assert "4 rows without an outcome: forecast, not learned from" in " ".join(text.split())
    found = pd.read_parquet(out)
    said, _, _ = by_hand(table)
    np.testing.assert_allclose(found["prediction"], said, rtol=1e-12)
    assert found["outcome"].isna().tolist() == table["y"].isna().tolist()
    assert "CONFIRMED: every figure" in done("verify", certificate, tmp_path / "forecasts.csv")


def test_the_order_of_columns_makes_no_difference(tmp_path: Path) -> None:
    table = frame(80)
    one = mixed(csv(tmp_path, table))
    other = mixed(csv(tmp_path, table[["west", "y", "north", "day", "east"]], "other.csv"))
    for key in ("loss", "experts", "convex", "history"):
        assert one[key] == other[key]


def test_experts_are_chosen_or_dropped(tmp_path: Path) -> None:
    file = csv(tmp_path, frame(50))
    chosen = mixed(file, "--experts", "north,east")
    assert mixed(file, "--experts", "north", "--experts", "east")["loss"] == chosen["loss"]
    assert mixed(file, "--drop", "west,day")["loss"] == chosen["loss"]
    assert names_in(chosen) == ["average", "corrected", "east", "median", "north"]
    alone = mixed(file, "--experts", "north,east", "--no-average", "--no-correct")
    assert names_in(alone) == ["east", "north"]


def test_a_model_goes_on_where_it_stopped(tmp_path: Path) -> None:
    table = frame(50)
    model = tmp_path / "model"
    done("mix", csv(tmp_path, table), "--target", "y", "--model", model, "-q")
    loaded, (_, _, master) = noregret.load(model), by_hand(table)
    assert loaded.weights().tolist() == pytest.approx(master.weights().tolist())
    assert "not a linear learner" in refused("predict", model, tmp_path / "forecasts.csv")


def test_losses_and_quantiles(tmp_path: Path) -> None:
    file = csv(tmp_path, frame(80))
    quantile = mixed(file, "--quantile", "0.9")["loss"]
    assert isinstance(quantile, dict)
    assert (quantile["name"], quantile["parameter"]) == ("quantile", 0.9)
    assert mixed(file, "--loss", "quantile", "-p", "loss_parameter=0.9")["loss"] == quantile
    wrong = mixed(file, "--loss", "zero-one")
    assert wrong["convex"] is None
    how = ("--learner", "ml-poly")
    linear, plain = mixed(file, *how, "--gradient"), mixed(file, *how, "--no-gradient")
    assert linear["loss"] != plain["loss"]


def test_columns_that_are_no_forecasts_are_pointed_out() -> None:
    text = done("mix", bundled("approval"), "--target", "five_thirty_eight", "--all-columns")
    assert "--drop ordinal_date" in " ".join(text.split())
    text = done("mix", bundled("approval"), "--target", "five_thirty_eight")
    assert "left out ordinal_date" in " ".join(text.split())


def test_the_summary_fits_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = done("mix", csv(tmp_path, frame(80, asleep=0.3)), "--target", "y")
    assert max(map(len, text.splitlines())) <= 40
    assert re.search(r"mixture +\d", text)
    assert "missing" in text
