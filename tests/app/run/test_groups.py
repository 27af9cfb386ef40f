"""A learner per group: as if each group were a run of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret.base.model_file import dumps
from noregret.proof.game import grouping
from noregret.streams import open_file as opened
from noregret.streams import read
from tests.app.run.commands import command, done, refused

rng = np.random.default_rng(7)
FRAME = pd.DataFrame(
    {
        "shop": rng.choice(["007", "Oslo", "a,b"], 90),
        "sun": rng.normal(size=90).round(3),
        "town": rng.choice(["x", "y", "z"], 90),
        "sold": rng.normal(size=90).round(3),
    }
)
FRAME.loc[FRAME.index % 11 == 3, "sold"] = np.nan
FRAME["sold"] += FRAME["shop"].map({"007": 0, "Oslo": 5, "a,b": -5})


def written(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_one_group_is_a_game_of_its_own_with_a_certificate(kind: str, tmp_path: Path) -> None:
    file, alone = written(FRAME, tmp_path / f"all.{kind}"), tmp_path / f"alone.{kind}"
    written(FRAME[FRAME["shop"] == "Oslo"].drop(columns="shop"), alone)
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    which = ("--group", "shop", "--only", "Oslo")
    done("run", file, "--target", "sold", *which, "--certificate", one, "--quiet")
    done("run", alone, "--target", "sold", "--certificate", other, "--quiet")
    said = [noregret.load_certificate(each).to_dict() for each in (one, other)]
    assert said[0]["data"]["transforms"][-2:] == ["group=shop", "only=Oslo"]
    for part in ("loss", "hindsight", "regret", "theorem"):
        assert said[0][part] == said[1][part]
    assert noregret.verify(one, file).confirmed
    later = FRAME[FRAME["shop"].ne("Oslo") | (FRAME.index > 20)]
    assert not noregret.verify(one, written(later, file)).confirmed


def test_a_group_that_does_not_occur_is_refused_with_a_similar_one(tmp_path: Path) -> None:
    file = written(FRAME, tmp_path / "all.csv")
    said = refused("run", file, "--target", "sold", "--group", "shop", "--only", "Olso")
    assert "no group 'Olso' in the column 'shop'" in said
    assert "did you mean 'Oslo'?" in said
    said = refused("run", file, "--target", "sold", "--group", "shop", "--report", "r", code=2)
    assert "--only GROUP chooses one" in said


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("task", ["numbers", "classes", "several"])
def test_each_group_is_as_a_run_of_its_own(
    kind: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", 400)
    frame = FRAME.copy()
    if task == "classes":
        named = frame["sun"].gt(0).map({True: "u", False: "d"})
        frame["sold"] = named.where(frame["sold"].notna(), None)
    if task == "several":
        named = frame["sun"].map(lambda sun: "low" if sun < -0.5 else "mid" if sun < 0.5 else "up")
        frame["sold"] = named.where(frame["sold"].notna(), None)
    file = written(frame, tmp_path / f"all.{kind}")
    more = {"numbers": ("--task", task), "classes": ("--positive", "u")}
    plain = ("--target", "sold", *more.get(task, ("--learner", "auto-classes")))
    model, made = tmp_path / "m.models", tmp_path / "p.parquet"
    out = done(
        "run", file, *plain, "--group", "shop", "--model", model, "--predictions", made, "--json"
    )
    found, learners = json.loads(out), noregret.Groups.load(model)
    predicted = pd.read_parquet(made)
    assert predicted["row"].tolist() == list(range(1, 91))
    assert predicted["shop"].tolist() == frame["shop"].tolist()
    total = 0.0
    for shop, rows in frame.groupby("shop"):
        alone = written(rows.drop(columns="shop"), tmp_path / f"one.{kind}")
        names = ("--model", tmp_path / "one.model", "--predictions", tmp_path / "made.parquet")
        one = json.loads(done("run", alone, *plain, *names, "--no-hindsight", "--json"))
        learner, expected = learners[str(shop)], noregret.load(tmp_path / "one.model")
        assert learner.features == expected.features
        assert learner.weights.tolist() == expected.weights.tolist()
        column = "prediction" if task == "numbers" else "probability"
        expected_rows = pd.read_parquet(tmp_path / "made.parquet")[column]
        own_rows = predicted[predicted["shop"] == shop][column].tolist()
        # Chances of several classes are computed in two ways, for rows in tables and one by one.
        assert own_rows == pytest.approx(expected_rows.tolist(), rel=1e-12 * (task == "several"))
        told = next(each for each in found["groups"] if each["group"] == shop)
        assert told["rows"] == one["data"]["rows"]
        assert told["mean"] == pytest.approx(one["loss"]["mean"])
        total += one["loss"]["total"]
    assert found["loss"]["total"] == pytest.approx(total)
    assert found["data"]["predicted_only"] == FRAME["sold"].isna().sum()
    assert [each["mean"] for each in found["groups"]] == sorted(
        (each["mean"] for each in found["groups"]), reverse=True
    )
    labelled = predicted[predicted["outcome"].notna()]
    if task == "numbers":
        error = labelled["prediction"] - labelled["outcome"]
        assert found["measures"]["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
    if task == "several":
        right = labelled["prediction"] == labelled["outcome"]
        assert found["measures"]["accuracy"] == pytest.approx(right.mean())
        assert labelled["outcome"].tolist() == frame["sold"].dropna().tolist()


def test_the_summary_lists_the_worst_and_the_best_groups(tmp_path: Path) -> None:
    rows = [(f"s{k:02}", k % 5, k if t % 2 else -k) for t in range(6) for k in range(20)]
    file = written(pd.DataFrame(rows, columns=["shop", "a", "y"]), tmp_path / "d.csv")
    out = done("run", file, "--target", "y", "--group", "shop")
    assert "groups" in out
    worst, best = out.split("of the best groups")
    assert "s19" in worst
    assert "s00" in best


def test_a_run_that_is_stopped_has_learned_the_rows_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "FEWEST", 8)
    monkeypatch.setattr(grouping, "SECONDS", 0.0)
    whole = FRAME.dropna()
    file = written(whole, tmp_path / "d.csv")
    stream = read(file, "sold", passed=("shop",), drop=("shop",))
    reading = stream.reading()
    asked = iter([True, True, False, False])
    seen: list[int] = []
    made = grouping.Grouping(noregret.Nlms(), ["shop"])
    blocks = list(reading)
    reading.wanted = lambda: next(asked)
    made.play(reading, blocks, lambda block, played: seen.append(len(block)))
    assert (seen, made.rounds) == ([24], 24)
    counts = whole["shop"][:24].value_counts().to_dict()
    assert {each.key: each.rounds for each in made.groups.records()} == counts


def run_of(tmp_path: Path, text: str, *options: object) -> Any:
    (tmp_path / "d.csv").write_text(text)
    return ("run", tmp_path / "d.csv", "--target", "y", "--group", "shop", *options)


def test_rows_that_cannot_be_used_are_refused_or_skipped(tmp_path: Path) -> None:
    text = "shop,a,y\nu,1,2\n,1,3\nu,1e200,3\nv,1e200,\nu,2,4\nu,3,x\nv,1,1\n"
    run = run_of(tmp_path, text)
    said = refused(*run)
    assert "line 3: column 'shop' is empty" in said
    found = json.loads(done(*run, "--on-error", "skip", "--json"))
    assert [row["place"].split(", ")[1] for row in found["data"]["skipped"]["first"]] == [
        "line 3",
        "line 4",
        "line 5",
        "line 7",
    ]
    assert found["data"]["rows"] == 3


def test_the_models_of_groups_are_named_where_one_model_is_needed(tmp_path: Path) -> None:
    groups = noregret.Groups(noregret.WidrowHoff(rate=0.5))
    groups.save(tmp_path / "m.model")
    with pytest.raises(noregret.ModelFileError, match=r"one model per group.*Groups\.load"):
        noregret.load(tmp_path / "m.model")


def test_what_does_not_go_with_groups_is_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path, "shop,a,y\nu,1,2\nv,2,3\nv,2,5\n")
    for option in ("report", "checkpoint", "resume"):
        said = refused(*run, f"--{option}", tmp_path / "x", code=2)
        assert f"leave --{option} out with --group" in said
    assert "leave --scale out" in refused(*run, "--scale", "standard", code=2)
    assert "did you mean 'shop'?" in refused(*run[:-1], "shopp")
    assert command("predict", tmp_path / "no.models", tmp_path / "d.csv").code == 1


def test_a_refused_row_of_a_known_group_is_the_only_one_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", 100)
    rows = [(f"s{t % 3}", 1e200 if t in (40, 41, 58) else t % 7, t % 5) for t in range(90)]
    frame = pd.DataFrame(rows, columns=["shop", "a", "y"])
    plain = ("--target", "y", "--learner", "nlms", "--on-error", "skip", "--json")
    file = written(frame, tmp_path / "d.csv")
    models, one = tmp_path / "m.models", tmp_path / "one.model"
    found = json.loads(done("run", file, *plain, "--group", "shop", "--model", models))
    assert found["data"]["rows"] == 87
    assert len(found["data"]["skipped"]["first"]) == 3
    total = 0.0
    for shop, part in frame.groupby("shop"):
        alone = written(part.drop(columns="shop"), tmp_path / "one.csv")
        made = json.loads(done("run", alone, *plain, "--no-hindsight", "--model", one))
        total += made["loss"]["total"]
        learner = noregret.Groups.load(models)[str(shop)]
        assert learner.weights.tolist() == noregret.load(one).weights.tolist()
    assert found["loss"]["total"] == pytest.approx(total)


RAW = pd.DataFrame(
    {
        "shop": rng.choice(["Oslo", "Rome"], 120),
        "day": pd.date_range("2024-01-01", periods=120, freq="7h").strftime("%Y-%m-%dT%H:%M"),
        "town": rng.choice(["x", "y", "z"], 120),
        "sun": rng.normal(size=120).round(3),
        "note": [f"a long remark number {n} about the weather of the day" for n in range(120)],
    }
)


@pytest.mark.parametrize("target", ["number", "two", "several"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_the_models_of_groups_predict_raw_rows_as_the_run_did(
    target: str, suffix: str, tmp_path: Path
) -> None:
    names = {"number": RAW.sun * 2, "two": RAW.sun > 0, "several": (RAW.sun * 2).round()}
    y = names[target] if target == "number" else "class " + names[target].astype(str)
    frame, cut = RAW.assign(y=y), 100
    some = written(frame[:cut], tmp_path / f"some.{suffix}")
    # Rows without a target are predicted, not learned, as the loaded models do.
    later = written(frame.assign(y=y.where(frame.index < cut)), tmp_path / f"all.{suffix}")
    asked = ["--target", "y", "--group", "shop", "--json"]
    asked += ["--task", "classes"] if target == "several" else []
    done("run", some, *asked, "--model", tmp_path / "m")
    done("run", later, *asked, "--predictions", tmp_path / "p.csv")
    made = pd.read_csv(tmp_path / "p.csv").prediction[cut:].tolist()
    groups = noregret.Groups.load(tmp_path / "m", resident=1)
    rows = frame[cut:].drop(columns="y")
    raw = rows.to_dict("records")
    one = [groups.predict_one(x["shop"], x) for x in raw]
    without = [groups.predict_one(x["shop"], {k: x[k] for k in x if k != "shop"}) for x in raw]
    groups.save(tmp_path / "again")
    again = noregret.Groups.load(tmp_path / "again")
    assert one == without == [again.predict_one(x["shop"], x) for x in raw]
    assert one == [again[x["shop"]].predict_one(x) for x in raw]
    assert again.predict_many(rows, keys="shop").tolist() == one
    assert one == (made if target != "number" else pytest.approx(made, rel=1e-12))
    again.learn_one("Bern", raw[0], y[0])
    assert again["Bern"].rounds == 1


def test_two_columns_name_groups_as_one_column_of_both_would(tmp_path: Path) -> None:
    both = FRAME.assign(item=[f"n{n % 3}" for n in range(len(FRAME))])
    joined = FRAME.assign(shop=both["shop"] + " " + both["item"])
    made = {}
    for name, frame, by in (("two", both, "shop,item"), ("one", joined, "shop")):
        file, out = written(frame, tmp_path / f"{name}.csv"), tmp_path / f"{name}-made.csv"
        files = ["--predictions", out, "--model", tmp_path / f"{name}.m"]
        done("run", file, "--target", "sold", "--group", by, *files)
        made[name] = pd.read_csv(out).prediction.tolist()
    assert made["two"] == made["one"]
    groups, one = (noregret.Groups.load(tmp_path / f"{name}.m", resident=2) for name in made)
    assert sorted(groups) == sorted(set(zip(both["shop"], both["item"], strict=True)))
    asked = groups.predict_many(both.drop(columns="sold"), keys=("shop", "item"))
    assert asked.tolist() == one.predict_many(joined.drop(columns="sold"), keys="shop").tolist()


def test_a_row_without_one_of_its_keys_is_refused(tmp_path: Path) -> None:
    text = "shop,item,x,y\nOslo,a,1,2\nOslo,,1,2\n"
    (tmp_path / "gap.csv").write_text(text)
    told = refused("run", tmp_path / "gap.csv", "--target", "y", "--group", "shop,item")
    assert "'item' is empty" in told
    told = refused(
        "run", tmp_path / "gap.csv", "--target", "y", "--group", "shop,item", "--only", "a", code=2
    )
    assert "one column" in told


@pytest.mark.parametrize(
    ("learner", "memory"),
    [
        (noregret.Nlms(), 1),
        (noregret.Nlms(), 2_500),
        (noregret.Nlms(), 1 << 30),
        (noregret.Auto(), 1),
        (noregret.Auto(), 150_000),
        (noregret.Auto(), 1 << 30),
    ],
)
def test_groups_that_do_not_fit_into_memory_come_back_as_they_were(
    learner: Any, memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "FEWEST", 16)
    monkeypatch.setattr(grouping, "SECONDS", 0.0)
    names = rng.permutation([f"shop {n} Ω" for n in range(20)] * 15)
    sun = rng.normal(size=300).round(3)
    sun[[50, 51, 200]] = 1e200  # refused
    file = written(pd.DataFrame({"shop": names, "sun": sun, "y": sun % 7}), tmp_path / "d.csv")
    stream = read(file, "y", passed=("shop",), drop=("shop",), on_error="skip")
    made = grouping.Grouping(learner, ["shop"])
    made.groups.memory = memory
    reading, skipped = stream.reading(), list[Any]()
    made.play(reading, reading, lambda block, played: skipped.extend(played.refused))
    assert (made.rounds, len(skipped)) == (297, 3)
    pooled = made.groups._pooled
    assert (pooled is not None) == (learner.params.get("delay", 0) == 0)
    assert pooled is None or bool(pooled.spilled.places) == (memory < 1 << 30)
    total = 0.0
    for shop in set(names.tolist()):
        alone = learner.clone()
        for x in sun[names == shop]:
            if x < 1e100:
                alone.learn_one({"sun": x}, x % 7)
        assert dumps(made.groups[shop]) == dumps(alone)
        total += alone.total_loss
    assert made.loss == pytest.approx(total)
    assert sum(each.rounds for each in made.groups.records()) == 297
    made.groups.save(tmp_path / "m")
    again = noregret.Groups.load(tmp_path / "m")
    assert again.records() == made.groups.records()
    assert all(dumps(again[shop]) == dumps(made.groups[shop]) for shop in set(names.tolist()))


def test_the_target_is_no_group_and_no_column_is_named_twice(tmp_path: Path) -> None:
    file = written(FRAME, tmp_path / "all.csv")
    assert "not known beforehand" in refused(
        "run", file, "--target", "sold", "--group", "sold", code=2
    )
    assert "twice" in refused("run", file, "--target", "sold", "--group", "shop,shop", code=2)


def test_groups_that_are_not_text_are_refused(tmp_path: Path) -> None:
    lines = [b"k,a,y", *("é,1,3".encode(),) * 60_000, b"\xe9,1,4", b"\xff,1,5"]
    file = tmp_path / "mixed.csv"
    file.write_bytes(b"\n".join(lines))
    told = refused("run", file, "--target", "y", "--group", "k", "--learner", "nlms", "--quiet")
    assert "line 60002" in told
    assert "UTF-8" in told
