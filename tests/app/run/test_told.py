"""The output of a run: the summary, JSON, skipped rows, progress."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret
from noregret import streams
from noregret.app.commands.run import runner
from noregret.app.commands.run.watching import Watching
from noregret.proof.game.game import Game
from tests.app.run import data
from tests.app.run.commands import (
    COMMAND,
    command,
    done,
    process,
    refused,
    small_blocks,
    without_progress,
)

__all__ = ["small_blocks"]
pytestmark = pytest.mark.usefixtures("small_blocks")
PLAIN = ["--target", "y", "--drop", "label", "--learner", "widrow-hoff"]
PLAIN += ["-p", "rate=0.3", "-p", "norm=6"]
KEYS = {
    "": "format data learner error measures baselines loss constant hindsight certificate"
    " uncertified found groups curve heaviest outlook run",
    "measures": "rmse mae explained accuracy log_loss auc auc_doubt recall confusion",
    "baselines": "constant previous",
    "data": "sources format bytes rows features target transforms weight predicted_only skipped"
    " shared",
    "learner": "name params python",
    "loss": "name total mean mistakes accuracy chosen",
    "constant": "value total mean",
    "hindsight": "total mean gap stopped proven",
    "curve": "rounds loss mistakes regret bound lost",
    "outlook": "residuals spread calibration confusion",
    "run": "started seconds looked_back rows_per_second interrupted command version outputs",
}


def told(*arguments: object) -> dict[str, Any]:
    """Return the JSON of a run, in which nothing may be NaN."""

    def never(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    found: dict[str, Any] = json.loads(done("run", *arguments, "--json"), parse_constant=never)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return data.csv(tmp_path / "d.csv", data.numbers())


def test_json_has_the_documented_keys(file: Path, tmp_path: Path) -> None:
    found = told(file, *PLAIN, "--report", tmp_path / "r.html")
    for part, keys in KEYS.items():
        assert list(found[part] if part else found) == keys.split(), part
    assert found["format"] == "noregret.run/1"
    assert found["data"]["bytes"] == file.stat().st_size
    assert found["data"]["rows"] == data.ROWS
    assert found["loss"]["total"] == found["certificate"]["loss"]["total"]
    assert len({len(column) for column in found["curve"].values()}) == 1
    assert sum(found["outlook"]["residuals"]["counts"]) == data.ROWS
    assert found["run"]["outputs"] == {"report": str(tmp_path / "r.html")}


def test_json_of_labels_and_without_hindsight(file: Path) -> None:
    labels = ["--target", "label", "--drop", "y", "--learner", "logistic"]
    found = told(file, *labels)
    assert found["loss"]["accuracy"] == 1 - found["loss"]["mistakes"] / data.ROWS
    found = told(file, *labels, "--no-hindsight")
    assert found["certificate"] is None
    assert "--no-hindsight" in found["uncertified"]
    said = refused("run", file, *labels, "--no-hindsight", "--certificate", "c.json", code=2)
    assert "leave --no-hindsight out" in said


def test_outcomes_as_large_as_can_be_overflow_nothing() -> None:
    watching = Watching(noregret.make_loss("square"))
    y = np.tile([9e149, -9e149], 60_000)
    watching.note(y, None, None)
    found = watching.constant()
    assert found is not None
    assert found.loss == pytest.approx(60_000 * 2 * 8.1e299)


def test_the_best_constant_is_the_best(file: Path) -> None:
    y = data.numbers()["y"]
    found = told(file, *PLAIN)["constant"]
    assert found["value"] == pytest.approx(y.mean(), abs=1e-12)
    assert found["total"] == pytest.approx(((y - y.mean()) ** 2).sum())


def test_json_is_printed_with_quiet_too(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1.1,0.9\n1.0,1.2\n", "utf-8")
    forecasts = ["mix", file, "--target", "y", "--drop", "label"]
    for line in (["run", file, *PLAIN], forecasts, ["portfolio", table]):
        ended = command(*line, "--quiet", "--json")
        assert (ended.code, ended.err) == (0, "")
        assert json.loads(ended.out)["learner"]


def test_quiet_prints_nothing_and_a_pipe_gets_no_progress(file: Path) -> None:
    assert done("run", file, *PLAIN, "--quiet") == ""
    ended = process("run", file, *PLAIN)
    assert ended.returncode == 0
    assert without_progress(ended.stderr) == b""
    assert b"RMSE" in ended.stdout


def test_a_terminal_gets_progress(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*COMMAND, "run", "-", "--format", "csv", *PLAIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    assert child.stdin is not None
    os.close(theirs)
    text = data.numbers(400).to_csv(index=False).encode()
    header, _, rows = text.partition(b"\n")
    child.stdin.write(header + b"\n" + rows)
    shown = b""
    while b"MB/s" not in shown:  # shown from the first second on
        child.stdin.write(rows)
        child.stdin.flush()
        os.set_blocking(ours, False)
        try:
            shown += os.read(ours, 100_000)
        except BlockingIOError:
            assert child.poll() is None
            child.stdin.write(b"")
            subprocess.run(["sleep", "0.1"], check=True)
    child.stdin.close()
    os.set_blocking(ours, True)
    while True:
        try:
            if not os.read(ours, 100_000):
                break
        except OSError:  # nobody is at the other end any more
            break
    os.close(ours)
    assert child.wait(60) == 0
    assert b"rows" in shown
    assert b"RMSE" in shown


def test_bad_rows_are_counted_and_the_first_are_listed(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    bad = list(range(3, 300, 11))
    for line in bad:
        lines[line] = "1,2" if line % 2 else lines[line].replace(",", ",?", 1)
    file.write_text("\n".join(lines), encoding="utf-8")
    found = told(file, *PLAIN, "--on-error", "skip")
    skipped = found["data"]["skipped"]
    assert skipped["count"] == len(bad)
    assert found["data"]["rows"] == data.ROWS - len(bad)
    places = [int(row["place"].rpartition("line ")[2]) for row in skipped["first"]]
    assert places == [line + 1 for line in bad[:10]]
    assert all(row["reason"] for row in skipped["first"])
    out = done("run", file, *PLAIN, "--on-error", "skip")
    assert f"{len(bad)} rows skipped" in out
    assert "line 4" in refused("run", file, *PLAIN)
    stream = streams.read(file, target="y", drop="label", intercept=True, on_error="skip")
    game = noregret.play(noregret.WidrowHoff(rate=0.3, norm=6), stream)
    assert len(game.skipped) == len(bad)
    assert [row.place.rpartition("line ")[2] for row in game.skipped][:2] == ["4", "15"]
    assert game.loss == found["loss"]["total"]
    strict = streams.read(file, target="y", drop="label", intercept=True)
    with pytest.raises(noregret.BadExample, match="line 4"):
        noregret.play(noregret.WidrowHoff(rate=0.3, norm=6), strict)


def test_rows_that_the_learner_refuses_are_bad_rows_too(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("x,y\n" + "1,1\n" * 5 + "1,3\n" + "1,0\n" * 3, encoding="utf-8")
    args = ["--target", "y", "--learner", "perceptron"]
    found = told(file, *args, "--on-error", "skip", "--predictions", tmp_path / "p.csv")
    assert found["data"]["skipped"]["count"] == 1
    assert found["data"]["skipped"]["first"][0]["place"].endswith("line 7")
    rows = (tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [int(row.split(",")[0]) for row in rows] == [1, 2, 3, 4, 5, 7, 8, 9]
    assert "line 7" in refused("run", file, *args)


def test_nothing_but_bad_rows_and_nothing_at_all(tmp_path: Path) -> None:
    file = tmp_path / "d.vw"
    file.write_text("what\nis\nthis\n", encoding="utf-8")
    said = refused("run", file, "--learner", "logistic", "--on-error", "skip")
    assert "none of its 3 rows could be used" in said
    file.write_text("", encoding="utf-8")
    assert "there are no examples in it" in refused("run", file, "--learner", "logistic")


def test_weighted_rows_are_learned_and_not_certified(tmp_path: Path) -> None:
    file = data.vw(tmp_path / "d.vw", weighted=True)
    places = {kind: tmp_path / kind for kind in ("model", "certificate", "report")}
    args = [text for kind, place in places.items() for text in (f"--{kind}", place)]
    args += ["--learner", "logistic", "--predictions", tmp_path / "p.csv"]
    ended = command("run", file, *args, "--json")
    assert ended.code == 1
    assert "certificates are about rounds that all count the same" in ended.err
    assert f"{places['certificate']}: no certificate" in ended.err
    found = json.loads(ended.out)
    assert found["certificate"] is None
    assert "importance" in found["uncertified"]
    assert found["data"]["weight"] == sum(1 + row % 3 for row in range(data.ROWS))
    assert found["loss"]["mean"] == found["loss"]["total"] / found["data"]["weight"]
    assert set(found["run"]["outputs"]) == {"predictions", "model", "report"}
    assert not places["certificate"].exists()
    assert places["model"].exists()
    assert done("run", file, "--learner", "logistic", "--quiet") == ""
    said = refused("run", file, "--learner", "winnow")
    assert "line 2" in said
    assert "takes none" in said


def test_the_pages_of_a_record_end_where_the_rows_say(tmp_path: Path) -> None:
    table = data.numbers(20_000, 12)
    X, y = table.filter(like="x").to_numpy(), table["y"].to_numpy()
    whole = noregret.play(noregret.WidrowHoff(rate=0.3, norm=9), X, y)
    for size in (7_000, 1_234, 100):
        blocks = ((X[at : at + size], y[at : at + size]) for at in range(0, len(y), size))
        parts = noregret.play(noregret.WidrowHoff(rate=0.3, norm=9), blocks)
        assert parts.certificate().to_dict() == whole.certificate().to_dict()
        assert parts.curve.regret.tolist() == whole.curve.regret.tolist()


def test_sums_that_lost_their_digits_have_a_cure_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, path = np.arange(300), tmp_path / "d.csv"
    table = np.column_stack([20240101 + count % 28, np.sin(count), np.cos(count * count)])
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header="day,a,y", comments="")

    def sums(learner: Any, **given: Any) -> Any:
        return Game(learner, **given | {"keep": "sums"})

    monkeypatch.setattr(runner, "Game", sums)
    said = " ".join(done("run", path, "--target", "y", "--task", "numbers").split())
    assert "NO CERTIFICATE Only sums over the rows were kept" in said
    assert "--drop COLUMN" in said
    assert "keep=" not in said
    assert "BOUND HOLDS" in done("run", path, "--target", "y", "--drop", "day")
