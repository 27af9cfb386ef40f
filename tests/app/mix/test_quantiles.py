"""Forecasts of quantiles: each level is mixed alone, then every row is sorted."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_pinball_loss

import noregret
from noregret.app.commands.mix.quantiles import pinball, sorted_known
from tests.app.mix.forecasts import csv
from tests.app.run.commands import done, refused
from tests.thorough import sized

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
HOW = ("--target", "y", "--quantiles")


def table(rows: int = 150, seed: int = 0) -> pd.DataFrame:
    """Return quantiles of three forecasters, the last of them too wide, with gaps."""
    draw = np.random.default_rng(seed)
    truth = np.sin(np.arange(rows) / 9) * 2
    made: dict[str, object] = {"date": np.arange(rows) // 4}
    for name, bias, width in (("a", 0.6, 0.4), ("b", -0.5, 1.0), ("c", 0.0, 3.0)):
        centre = truth + bias + 0.5 * draw.normal(size=rows)
        for level in LEVELS:
            said = (centre + width * NormalDist().inv_cdf(level)).round(4)
            gaps = draw.random(rows) < (0.1 if name == "b" else 0.0)
            made[f"{name}@{level}"] = np.where(gaps, np.nan, said)
    return pd.DataFrame(made).assign(y=(truth + draw.normal(size=rows)).round(4))


def columns(level: float) -> list[str]:
    """Return the columns of a level."""
    return [f"{name}@{level}" for name in "abc"]


def test_the_crps_is_the_weighted_interval_score(tmp_path: Path) -> None:
    """That of forecasters' hubs: the median's error, and intervals weighted by half their level."""
    data, out = table(), tmp_path / "out.csv"
    made = json.loads(done("mix", csv(tmp_path, data), *HOW, "--predictions", out, "--json"))
    found = pd.read_csv(out)
    Q, y = found[[f"prediction@{level}" for level in LEVELS]].to_numpy(), found["outcome"]
    assert (np.diff(Q, axis=1) >= 0).all()
    score = 0.5 * (y - Q[:, 2]).abs()
    for below in (0, 1):
        low, high, outside = Q[:, below], Q[:, -1 - below], 2 * LEVELS[below]
        missed = np.maximum(low - y, 0) + np.maximum(y - high, 0)
        score += outside / 2 * ((high - low) + 2 / outside * missed)
    assert made["crps"]["mixture"] == pytest.approx(score.mean() / 2.5)


@pytest.mark.parametrize("further", [(), ("--batch", "date"), ("--learner", "boa")])
def test_levels_are_mixed_alone_and_sorted(further: tuple[str, ...], tmp_path: Path) -> None:
    data = table()
    data.loc[149, "y"] = np.nan
    file, out, one = csv(tmp_path, data), tmp_path / "out.csv", tmp_path / "one.csv"
    made = json.loads(done("mix", file, *HOW, *further, "--predictions", out, "--json"))
    found = pd.read_csv(out)
    alone = []
    for level in LEVELS:
        chosen = ("--experts", ",".join(columns(level)), "--quantile", level)
        done("mix", file, "--target", "y", *chosen, *further, "--predictions", one, "-q")
        alone.append(pd.read_csv(one)["prediction"])
    mixed = np.sort(np.column_stack(alone), axis=1)
    names = [f"prediction@{level:g}" for level in LEVELS]
    np.testing.assert_array_equal(found[names].to_numpy(), mixed)
    assert list(found.columns) == ["row", *names, "outcome"]
    y, average = data["y"][:149], [data[columns(level)].mean(axis=1)[:149] for level in LEVELS]
    for k, (level, said) in enumerate(zip(LEVELS, made["levels"], strict=True)):
        paid = mean_pinball_loss(y, mixed[:149, k], alpha=level)
        plain = mean_pinball_loss(y, average[k], alpha=level)
        assert said["mixture"] == pytest.approx(paid, rel=1e-12)
        assert said["average"] == pytest.approx(plain, rel=1e-12)
        assert said["below"] == pytest.approx((y <= mixed[:149, k]).mean())
    inside = ((mixed[:149, 0] <= y) & (y <= mixed[:149, -1])).mean()
    assert made["covered"]["mixture"] == pytest.approx(inside)
    total = sum(said["mixture"] for said in made["levels"])
    assert made["sum"]["mixture"] == pytest.approx(total)
    assert made["crps"]["mixture"] == pytest.approx(2 * total / len(LEVELS))
    assert made["rounds"] == 149


def test_the_promise_holds_in_sum_and_every_level_is_confirmed(tmp_path: Path) -> None:
    file, template = csv(tmp_path, table()), tmp_path / "cert-{level}.json"
    made = json.loads(done("mix", file, *HOW, "--certificate", template, "--json"))
    best = bound = 0.0
    changed = table()
    changed.loc[20, "c@0.9"] += 0.25
    other = csv(tmp_path, changed, "other.csv")
    for level in LEVELS:
        path = str(template).replace("{level}", f"{level:g}")
        stated = json.loads(Path(path).read_text(encoding="utf-8"))
        best += stated["hindsight"]["loss"]
        bound += stated["theorem"]["bound"]
        assert noregret.verify(path, file).confirmed
        assert noregret.verify(path, other).confirmed == (level != 0.9)
    assert made["bound"] == pytest.approx(bound)
    # The loss of the sorted quantiles, computed from the mean, is within it too.
    assert made["sum"]["mixture"] * made["rounds"] - best <= made["regret"] + 1e-9
    assert made["regret"] <= bound


def test_sorting_never_increases_the_sum_of_pinball_losses() -> None:
    draw = np.random.default_rng(0)
    for _ in range(sized(300, 20_000)):
        levels = np.sort(draw.random(draw.integers(2, 8)))
        said, y = draw.normal(size=(1, len(levels))).round(1), draw.normal(size=1).round(1)
        ordered = np.array([sorted_known(said[0])])
        assert (np.diff(ordered) >= 0).all()
        less = pinball(ordered, y, levels).sum() - pinball(said, y, levels).sum()
        assert less <= 1e-12


def test_a_row_without_a_level_is_a_bad_row(tmp_path: Path) -> None:
    data = table(60)
    data.loc[30, columns(0.5)] = np.nan
    file, out = csv(tmp_path, data), tmp_path / "out.csv"
    said = refused("mix", file, *HOW)
    assert "line 32: level 0.5: every expert is asleep" in said
    assert "--on-error skip" in said
    made = json.loads(done("mix", file, *HOW, "--on-error", "skip", "--predictions", out, "--json"))
    assert (made["rounds"], made["skipped"]) == (59, 1)
    found = pd.read_csv(out).loc[30]
    assert np.isnan(found["prediction@0.5"])
    assert found["prediction@0.25"] <= found["prediction@0.75"]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    file = csv(tmp_path, table(20))
    for further in ("--group", "date"), ("--quantile", "0.5"), ("--model", "m"):
        said = refused("mix", file, *HOW, *further, code=2)
        assert f"--quantiles does not go with {further[0]}" in said
    said = refused("mix", file, *HOW, "--certificate", tmp_path / "c.json", code=2)
    assert "cert-{level}.json" in said
    plain = csv(tmp_path, table(20)[["a@0.5", "b@0.5", "y"]], "plain.csv")
    assert "forecaster@level" in refused("mix", plain, *HOW)
    renamed = table(20).rename(columns={"a@0.5": "a@1.5"})
    said = refused("mix", csv(tmp_path, renamed, "renamed.csv"), *HOW)
    assert "column 'a@1.5': '1.5' is no level of a quantile" in said
    assert "never increases it" in " ".join(done("mix", file, *HOW).split())


def test_levels_may_be_in_per_cent(tmp_path: Path) -> None:
    file = csv(tmp_path, table())
    renamed = table().rename(columns={f"{n}@0.25": f"{n}@25%" for n in "abc"})
    other = csv(tmp_path, renamed, "per_cent.csv")
    found, again = (json.loads(done("mix", f, *HOW, "--json")) for f in (file, other))
    assert [each["mixture"] for each in found["levels"]] == [
        each["mixture"] for each in again["levels"]
    ]


def test_columns_that_are_not_mixed_as_meant_are_named(tmp_path: Path) -> None:
    data = table(60).rename(columns={"a@0.25": "a_0.25"})
    data.loc[10:19, ["c@0.1", "c@0.9"]] = data.loc[10:19, ["c@0.9", "c@0.1"]].to_numpy()
    file = csv(tmp_path, data)
    said = " ".join(done("mix", file, *HOW).split())
    assert "left out date, a_0.25: no level in the name" in said
    assert "incomplete a has no 0.25." in said
    assert "crossing c in 10 rows of 60: a quantile is below one of a lower level" in said
    told = json.loads(done("mix", file, *HOW, "--drop", "date", "--json"))["notes"]
    assert told["left out"].startswith("a_0.25:")
    assert list(told) == ["left out", "incomplete", "crossing"]
    whole = " ".join(done("mix", csv(tmp_path, table(60)), *HOW, "--drop", "date").split())
    assert not any(label in whole for label in ("left out", "incomplete", "crossing"))
    twice = table(20).assign(**{"a@10%": 1.0})
    said = refused("mix", csv(tmp_path, twice, "twice.csv"), *HOW)
    assert "columns 'a@0.1' and 'a@10%' are the same quantile of one forecaster" in said


def test_the_verdict_is_that_of_all_commands(tmp_path: Path) -> None:
    """Praise only where the mixture helped; where the bound says nothing, it says so."""
    good = csv(tmp_path, table(600))
    said = done("mix", good, *HOW)
    assert said.index("HELPED") < said.index("PROMISE KEPT")
    assert "BOUND HOLDS, BUT SAYS NOTHING HERE" in done("mix", csv(tmp_path, table(12)), *HOW)
    one = table(600).loc[:, ["date", *(f"b@{level}" for level in LEVELS), "y"]].dropna()
    alike = one.assign(**{f"c@{level}": one[f"b@{level}"] for level in LEVELS})
    poor = done("mix", csv(tmp_path, alike, "alike.csv"), *HOW, "--no-correct")
    assert "NO DIFFERENCE  The same pinball loss as the average of the forecasters." in poor
    assert "PROMISE KEPT" not in poor
    assert "BOUND HOLDS" in " ".join(poor.split())
