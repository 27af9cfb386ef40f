"""Outcomes that come later, in lines of the same id; and columns that are passed on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret.streams import waiting_lines
from tests.app.run.commands import command, done, refused
from tests.streams.files import blocks_of

Rows = list[dict[str, Any]]
rng = np.random.default_rng(3)
EVENTS: Rows = [
    {"id": k, "a": k % 7 / 2, "town": f"t{k % 3}", "y": k % 4 / 2 + k % 7} for k in range(50)
]
# How many lines later each outcome comes; 0 for at once, None for never.
DELAYS = [[0, 1, 5, 30, None][n] for n in rng.integers(5, size=len(EVENTS))]


def lines_of(events: Rows) -> tuple[Rows, Rows]:
    """Return the lines as they come, and examples in the order in which outcomes come."""
    lines: Rows = []
    whole: Rows = []
    due: list[tuple[int, dict[str, Any]]] = []
    for k, (event, delay) in enumerate(zip(events, DELAYS, strict=True)):
        for _, late in [pair for pair in due if pair[0] <= k]:
            lines.append({"id": late["id"], "y": late["y"]})
            whole.append(late)
        due = [pair for pair in due if pair[0] > k]
        if delay == 0:
            lines.append(event)
            whole.append(event)
        else:
            lines.append({name: event[name] for name in event if name != "y"})
            if delay is not None:
                due.append((k + delay, event))
    return lines, whole


def written(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def told(*arguments: object) -> Any:
    return json.loads(done("run", *arguments, "--json"))


@pytest.mark.parametrize("classes", [False, True])
def test_features_are_those_of_the_question_and_losses_those_of_its_answer(
    classes: bool, tmp_path: Path
) -> None:
    events = [e | {"y": e["y"] > 3} for e in EVENTS] if classes else EVENTS
    lines, whole = lines_of(events)
    live, late = written(tmp_path / "l.jsonl", lines), written(tmp_path / "w.jsonl", whole)
    task = ("--task", "classes" if classes else "numbers")
    names = ("--predictions", tmp_path / "p.parquet", "--model", tmp_path / "l.model")
    found = told(live, "--target", "y", "--id", "id", *task, *names)
    done("run", late, "--target", "y", "--drop", "id", *task, "--model", tmp_path / "w.model", "-q")
    models = [noregret.load(tmp_path / f"{name}.model") for name in "lw"]
    assert models[0].features == models[1].features
    assert models[0].weights.tolist() == models[1].weights.tolist()
    frame = pd.read_parquet(tmp_path / "p.parquet")
    assert frame["id"].tolist() == [str(line["id"]) for line in lines]
    given = frame.groupby("id").head(1).set_index("id")
    labelled = frame[frame["outcome"].notna()].set_index("id")
    column = "probability" if classes else "prediction"
    assert labelled[column].tolist() == given.loc[labelled.index, column].tolist()
    assert found["data"]["rows"] == len(whole)
    assert found["data"]["predicted_only"] == len(events) - len(whole)
    if classes:
        right = labelled["prediction"] == labelled["outcome"]
        right &= labelled["probability"] != 0.5  # no prediction, and a mistake
        assert found["measures"]["accuracy"] == pytest.approx(right.mean())
        truth = labelled["outcome"] == labelled["outcome"].max()
        chance = np.where(truth, labelled["probability"], 1 - labelled["probability"])
        assert found["loss"]["mean"] == pytest.approx(-np.log(chance).mean())
    else:
        error = labelled["prediction"] - labelled["outcome"]
        assert found["measures"]["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
        assert found["loss"]["mean"] == pytest.approx((error**2).mean())
    assert found["certificate"] is None
    assert "--id" in found["uncertified"]


def by_hand(learner: Any, lines: Rows, group: str | None) -> tuple[Any, list[Any], list[float]]:
    """Return learners, the class given to each line and the losses, from Python's own calls.

    Classes that were not known then have the score 0, or an equal chance if none was known.
    """
    learners: dict[Any, Any] = {}
    asked: dict[Any, tuple[Any, Any, dict[Any, float], int]] = {}
    said, losses, guessed = [], list[float](), []
    for line in lines:
        x = {name: line[name] for name in line if name not in ("id", "y", group)}
        if x:
            model = learners.setdefault(line.get(group or ""), learner.clone())
            x["intercept"] = 1.0
            scores = model.decision_one(x)
            asked[line["id"]] = x, model, scores, model.rounds
        x, model, scores, made = asked[line["id"]]
        said.append(max(scores, key=scores.__getitem__) if scores else None)
        if "y" in line:
            paid, late = model.total_loss, model.rounds > made
            model.learn_one(x, line["y"])
            if not late:
                losses.append(model.total_loss - paid)
            elif not scores:
                guessed.append(model)
            else:
                chances = {name: np.exp(scores.get(name, 0.0)) for name in model.classes}
                paid = -np.log(chances[line["y"]] / sum(chances.values()))
                least = 0.0 if line["y"] in scores else np.log(len(chances))
                losses.append(max(paid, least))
    losses += [np.log(len(model.classes)) for model in guessed]
    return learners, said, losses


@pytest.mark.parametrize("learner", ["softmax", "auto-classes"])
@pytest.mark.parametrize("group", [None, "town"])
@pytest.mark.parametrize("live", [False, True])
def test_classes_that_come_later_cost_what_their_prediction_said(
    learner: str, group: str | None, live: bool, tmp_path: Path
) -> None:
    lines, _ = lines_of([e | {"y": f"c{(k * k + k // 9) % 4}"} for k, e in enumerate(EVENTS)])
    file = written(tmp_path / "l.jsonl", lines)
    out: Any = "-" if live else tmp_path / "p.parquet"
    asked = ["--learner", learner, "--predictions", out, "--model", tmp_path / "m", "-q"]
    asked += ["--group", group] if group else []
    said = done("run", file, "--target", "y", "--id", "id", *asked)
    if live:
        found = pd.DataFrame([json.loads(line) for line in said.splitlines()])
    else:
        found = pd.read_parquet(out)
    learners, expected, losses = by_hand(noregret.make(learner), lines, group)
    assert [None if pd.isna(y) else y for y in found["prediction"]] == expected
    told_again = told(file, "--target", "y", "--id", "id", *asked[:2], *asked[6:])["loss"]
    assert told_again["mean"] == pytest.approx(np.mean(losses), rel=1e-9)
    for name, model in learners.items():
        if group is None:
            kept: Any = noregret.load(tmp_path / "m")
        else:
            with noregret.Groups.load(tmp_path / "m").using(name) as kept:
                pass
        assert kept.weights.tolist() == model.weights.tolist()


def test_late_outcomes_go_to_the_learner_that_predicted(tmp_path: Path) -> None:
    """The mean loss of each group is that of its predictions as they were given."""
    lines, _ = lines_of(EVENTS)
    file, out = written(tmp_path / "l.jsonl", lines), tmp_path / "p.parquet"
    common = ["--target", "y", "--id", "id", "--learner", "widrow-hoff", "-p", "rate=0.1"]
    found = told(file, *common, "--group", "town", "--predictions", out)
    frame = pd.read_parquet(out)
    assert frame["town"].tolist() == [EVENTS[line["id"]]["town"] for line in lines]
    frame["loss"] = (frame["prediction"] - frame["outcome"]) ** 2
    means = frame.dropna(subset="loss").groupby("town")["loss"].mean()
    assert found["loss"]["mean"] == pytest.approx(frame["loss"].mean())
    groups = {each["group"]: each["mean"] for each in found["groups"]}
    assert groups == pytest.approx(means.to_dict())
    for name in means.index:
        alone = [line for line in lines if EVENTS[line["id"]]["town"] == name]
        one = written(tmp_path / "one.jsonl", alone)
        assert told(one, *common, "--drop", "town")["loss"]["mean"] == pytest.approx(means[name])


def test_an_outcome_that_names_another_group_is_refused(tmp_path: Path) -> None:
    rows: Rows = [
        {"id": 1, "a": 1, "shop": "x", "y": 1},
        {"id": 2, "a": 1, "shop": "x"},
        {"id": 2, "shop": "z", "y": 1},
        {"id": 2, "shop": "x", "y": 1},
    ]
    found = answers(tmp_path, rows, "--group", "shop", "--on-error", "skip")
    assert "field 'shop' is 'z', and 'x' in the line of the same id" in found[2]["error"]
    assert found[3]["outcome"] == 1


def answers(tmp_path: Path, rows: Rows, *options: object) -> list[Any]:
    file = written(tmp_path / "d.jsonl", rows)
    out = done("run", file, "--target", "y", "--id", "id", "--predictions", "-", "-q", *options)
    return [json.loads(line) for line in out.splitlines()]


def test_an_id_that_repeats_is_that_of_the_last_question(tmp_path: Path) -> None:
    rows: Rows = [
        {"id": "p", "a": 1, "y": 1},
        {"id": "p", "a": 1},
        {"id": "p", "a": 2},
        {"id": "p", "y": 5},
        {"id": "p", "y": 5},
        {"id": "p", "a": 2, "y": 5},
    ]
    found = answers(tmp_path, rows, "--on-error", "skip")
    assert found[3]["prediction"] == found[2]["prediction"]
    assert "waits for its outcome" in found[4]["error"]
    assert found[5]["outcome"] == 5


@pytest.mark.parametrize("id", [[1], {"a": 1}, 1.5, True])
def test_an_id_is_text_or_a_whole_number(id: Any, tmp_path: Path) -> None:
    rows: Rows = [{"id": 1, "a": 1, "y": 1}, {"id": id, "a": 1}, {"a": 1}]
    found = answers(tmp_path, rows, "--on-error", "skip")
    assert "an id is text or a whole number" in found[1]["error"]
    assert found[2]["id"] is None


def test_an_outcome_that_cannot_be_used_leaves_its_line_waiting(tmp_path: Path) -> None:
    rows: Rows = [{"id": 1, "a": 1}, {"id": 1, "y": [2]}, {"id": 1, "y": 2}]
    found = answers(tmp_path, rows, "--on-error", "skip")
    assert "the outcome is" in found[1]["error"]
    assert found[2]["outcome"] == 2


@pytest.mark.parametrize("most", ["MAX_WAITING", "MAX_BYTES"])
def test_the_oldest_lines_are_forgotten(
    most: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: Rows = [{"id": k, "a": 1} for k in range(9)] + [{"id": k, "y": 1} for k in range(9)]
    size = len(json.dumps(rows[0]))
    monkeypatch.setattr(waiting_lines, most, 3 if most == "MAX_WAITING" else 3 * size)
    found = answers(tmp_path, [{"id": 99, "a": 1, "y": 1}, *rows], "--on-error", "skip")
    assert ["error" in answer for answer in found[10:]] == [True] * 6 + [False] * 3


def test_what_does_not_go_with_later_outcomes_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "d.jsonl", EVENTS)
    (tmp_path / "d.csv").write_text("id,a,y\n1,2,3\n")
    run = ("run", file, "--target", "y", "--id", "id")
    for option in ("certificate", "report", "checkpoint", "resume"):
        said = refused(*run, f"--{option}", tmp_path / "x", code=2)
        assert f"leave --{option} out with --id" in said
    assert "--id is for JSON lines" in refused(
        "run", tmp_path / "d.csv", "--target", "y", "--id", "id", code=2
    )


FRAME = pd.DataFrame(
    {
        "id": ["007", "a,b", 'say "x"', "two\nlines", "é"],
        "a": [1.0, 2.0, 3.0, 4.0, 5.0],
        "y": [1.0, np.nan, 2.0, 3.0, 5.0],
    }
)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "xlsx", "jsonl"])
@pytest.mark.parametrize("made", ["p.csv", "p.parquet", "-"])
def test_columns_are_passed_on_as_they_are(kind: str, made: str, tmp_path: Path) -> None:
    frame, file = FRAME, tmp_path / f"d.{kind}"
    if kind == "tsv":
        frame = frame.replace({"two\nlines": "one"})
        file.write_text(frame.to_csv(index=False, sep="\t", quoting=3, escapechar=None))
    elif kind == "csv":
        frame.to_csv(file, index=False)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(file, index=False)
    elif kind == "parquet":
        frame.to_parquet(file)
    else:
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        written(file, rows)
    place = made if made == "-" else tmp_path / made
    run = ("run", file, "--target", "y", "--drop", "id", "--pass", "id,a", "--predictions", place)
    out = done(*run, "-q")
    if made == "-" and kind == "jsonl":
        found = pd.DataFrame([json.loads(line) for line in out.splitlines()])
    elif made == "-":
        (tmp_path / "out.csv").write_text(out)
        found = pd.read_csv(tmp_path / "out.csv", dtype={"id": str})
    else:
        reads = pd.read_parquet if made.endswith("parquet") else pd.read_csv
        found = reads(place, **({} if made.endswith("parquet") else {"dtype": {"id": str}}))
    assert found["id"].tolist() == frame["id"].tolist()
    assert found["a"].astype(float).tolist() == frame["a"].tolist()
    assert found.columns.tolist()[:4] == ["row", "id", "a", "prediction"]


def test_a_resumed_run_passes_on_what_it_did(tmp_path: Path) -> None:
    file, out = tmp_path / "d.csv", tmp_path / "p.csv"
    lines = ["id,a,y\n", *(f"k{k},{k % 5},{k % 3}\n" for k in range(400))]
    plain = ("run", file, "--target", "y", "--drop", "id", "--predictions", out, "-q")
    file.write_text("".join(lines))
    done(*plain, "--pass", "id")
    whole = out.read_bytes()
    with blocks_of(500):
        file.write_text("".join(lines[:300]) + "k,1,bad\n")
        kept = ("--checkpoint", tmp_path / "kept", "--every", "50")
        assert command(*plain, "--pass", "id", *kept).code == 1
        file.write_text("".join(lines))
        said = refused(*plain, "--resume", tmp_path / "kept")
        assert "made with other options: passed" in said
        done(*plain, "--pass", "id", "--resume", tmp_path / "kept")
    assert out.read_bytes() == whole


def test_passing_on_is_refused_where_it_makes_no_sense(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "d.csv", index=False)
    run = ("run", tmp_path / "d.csv", "--target", "y", "--drop", "id")
    assert "add --predictions" in refused(*run, "--pass", "id", code=2)
    named = ("--predictions", tmp_path / "p.csv", "--pass")
    assert "did you mean 'id'?" in refused(*run, *named, "idd")
    assert "a column of this name already" in refused(*run, *named, "row", code=2)
    (tmp_path / "d.vw").write_text("1 | a\n")
    assert command("run", tmp_path / "d.vw", *named, "id").code == 2
