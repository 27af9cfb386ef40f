"""Ctrl-C and a polite kill: the block at hand is finished, and everything is written."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import noregret
from noregret.app.commands.run.runner import Run
from tests.app.run import data
from tests.app.run.commands import COMMAND, Ended, command, done, small_blocks, without_progress

__all__ = ["small_blocks"]
PLAIN = ["--target", "y", "--drop", "label", "--learner", "widrow-hoff"]
PLAIN += ["-p", "rate=0.3", "-p", "norm=6"]
pytestmark = pytest.mark.usefixtures("small_blocks")


def stopped(monkeypatch: pytest.MonkeyPatch, blocks: int, number: int, *arguments: Any) -> Ended:
    """Run a command that gets a signal while it plays its last block."""
    really, taken = Run.take, []

    def take(run: Run, block: Any, played: Any) -> None:
        taken.append(block)
        if len(taken) == blocks:
            os.kill(os.getpid(), number)
        really(run, block, played)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "take", take)
        return command(*arguments)


def first_rows(file: Path, rows: int) -> Path:
    """Write the first rows of a CSV file to another."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    short = file.with_name(f"first-{file.name}")
    short.write_text("".join(lines[: rows + 1]), encoding="utf-8")
    return short


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_everything_is_written_for_the_rows_played(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers())
    names = {"model": "m", "certificate": "c.json", "predictions": "p.csv", "report": "r.html"}
    asked = [part for kind, name in names.items() for part in (f"--{kind}", tmp_path / name)]
    ended = stopped(monkeypatch, 2, number, "run", file, *PLAIN, *asked, "--json")
    assert ended.code == 130
    told = json.loads(ended.out)
    assert told["run"]["interrupted"] is True
    rows = told["data"]["rows"]
    assert 0 < rows < data.ROWS
    assert len((tmp_path / "p.csv").read_text().splitlines()) == rows + 1
    assert noregret.load(tmp_path / "m").rounds == rows
    assert "Interrupted" in (tmp_path / "r.html").read_text(encoding="utf-8")
    short = first_rows(file, rows)
    assert "CONFIRMED" in done("verify", tmp_path / "c.json", short)
    done("run", short, *PLAIN, "--model", tmp_path / "again", "--quiet")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_an_interrupted_run_goes_on_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, kept = data.csv(tmp_path / "d.csv", data.numbers()), tmp_path / "kept"
    asked = [*PLAIN, "--quiet", "--certificate", tmp_path / "c.json", "--model", tmp_path / "m"]
    asked += ["--predictions", tmp_path / "p.parquet"]
    done("run", file, *asked)
    whole = {name: (tmp_path / name).read_bytes() for name in ("c.json", "m", "p.parquet")}
    for _ in range(2):
        more = ["--resume", kept] if kept.exists() else []
        args = ["run", file, *asked, "--checkpoint", kept, *more]
        assert stopped(monkeypatch, 2, signal.SIGINT, *args).code == 130
        assert (tmp_path / "m").read_bytes() != whole["m"]
    done("run", file, *asked, "--resume", kept)
    assert whole == {name: (tmp_path / name).read_bytes() for name in whole}
    assert not list(tmp_path.glob("kept*"))


def test_a_second_signal_gives_up_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers())
    (tmp_path / "m").write_text("what was there", encoding="utf-8")

    def finish(run: Run, started: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("it went on")

    monkeypatch.setattr(Run, "finish", finish)
    monkeypatch.setattr("noregret.app.commands.progress.SAME_REQUEST", -1.0)
    args = ["run", file, *PLAIN, "--model", tmp_path / "m", "--checkpoint", tmp_path / "kept"]
    ended = stopped(monkeypatch, 2, signal.SIGINT, *args)
    assert ended.code == 130
    assert ended.err.startswith("noregret: interrupted: to resume: ")
    assert ended.err.endswith(f" --resume {tmp_path / 'kept'}\n")
    assert (tmp_path / "m").read_text(encoding="utf-8") == "what was there"
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_the_line_that_goes_on_is_told_and_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice: the second line has its --resume already."""
    file, kept = data.csv(tmp_path / "d.csv", data.numbers()), tmp_path / "kept it"
    line = ["run", str(file), *PLAIN[:-2], f"-p{PLAIN[-1]}", "--model", str(tmp_path / "m")]
    whole = done(*line, "--json")
    for _ in range(2):
        arguments = line if "--resume" in line else [*line, "--checkpoint", str(kept)]
        monkeypatch.setattr("sys.argv", ["noregret", *arguments])
        ended = stopped(monkeypatch, 2, signal.SIGINT, *arguments)
        assert ended.code == 130
        prefix, _, told = ended.err.partition(": to resume: ")
        assert prefix == "noregret: interrupted"
        line = shlex.split(told)[1:]
        assert line[-2:] == ["--resume", str(kept)]
    assert json.loads(done(*line, "--json"))["loss"] == json.loads(whole)["loss"]


def test_without_a_checkpoint_the_option_for_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers())
    assert "--checkpoint FILE" in stopped(monkeypatch, 2, signal.SIGINT, "run", file, *PLAIN).err
    quiet = stopped(monkeypatch, 2, signal.SIGINT, "run", file, *PLAIN, "--quiet")
    assert quiet == (130, "", "")


def test_a_signal_after_the_last_row_interrupts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, really = data.csv(tmp_path / "d.csv", data.numbers()), Run.finish

    def finish(run: Run, started: str) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return really(run, started)

    monkeypatch.setattr(Run, "finish", finish)
    told = json.loads(done("run", file, *PLAIN, "--json"))
    assert told["run"]["interrupted"] is False
    assert told["data"]["rows"] == data.ROWS


def test_signals_are_as_before_when_it_is_over(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    done("run", data.csv(tmp_path / "d.csv", data.numbers()), *PLAIN, "--quiet")
    assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def begun(tmp_path: Path, rows: bytes) -> subprocess.Popen[bytes]:
    """Start a run that waits for more standard input after the first rows were learned."""
    child = subprocess.Popen(
        [
            *[*COMMAND, "run", "-", "--format", "csv", *PLAIN, "--every", "1"],
            *["--checkpoint", str(tmp_path / "kept"), "--model", str(tmp_path / "m")],
            *["--certificate", str(tmp_path / "c")],
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    child.stdin.write(rows)
    child.stdin.flush()
    patience = time.monotonic() + 60
    while rows.count(b"\n") > 1 and not (tmp_path / "kept").exists():
        assert time.monotonic() < patience
        time.sleep(0.05)
    return child


def test_a_run_that_waits_for_input_is_stopped_at_once(tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers(50))
    child = begun(tmp_path, file.read_bytes())
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert b"Interrupted" in out
    assert b"interrupted: to resume, with the same input: " in without_progress(err)
    assert "CONFIRMED" in done("verify", tmp_path / "c", first_rows(file, 50))


def test_before_the_first_row_there_is_nothing_to_write(tmp_path: Path) -> None:
    child = begun(tmp_path, b"x0,x1,y,label\n")
    time.sleep(2)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=60)
    assert child.returncode in (130, -signal.SIGTERM), err
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []
