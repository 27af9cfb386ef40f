"""A run between two pipes: every line is answered at once."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret
from noregret.app.cli.app import run
from tests.app.run.commands import command, done

ROWS = [{"a": k % 7 / 2, "b": k % 5 - 1.5, "town": f"t{k % 3}", "y": k % 4 / 2} for k in range(60)]
PLAIN = ("--format", "jsonl", "--target", "y", "--predictions", "-", "-q")


class Filter:
    """The command in a thread, with pipes as its standard input and output."""

    def __init__(self, patch: pytest.MonkeyPatch, *arguments: object) -> None:
        here, self.to = os.pipe()
        out, there = os.pipe()
        self.input = os.fdopen(here)
        patch.setattr("sys.stdin", self.input)
        self.output = io.TextIOWrapper(os.fdopen(there, "wb"))
        patch.setattr("sys.stdout", self.output)
        self.answers = os.fdopen(out, "rb")
        self.code: int | None = None
        self.thread = threading.Thread(
            target=self.work, args=([*map(str, arguments)],), daemon=True
        )
        self.thread.start()

    def work(self, arguments: list[str]) -> None:
        self.code = run(arguments)
        self.output.close()

    def tell(self, line: object) -> None:
        """Write a line, of JSON unless it is text."""
        text = line if isinstance(line, bytes) else (json.dumps(line) + "\n").encode()
        os.write(self.to, text)

    def ask(self, line: object) -> Any:
        """Write a line and return its answer, which must come before any other line does."""
        self.tell(line)
        return self.answer()

    def answer(self) -> Any:
        line = self.answers.readline()
        return json.loads(line) if line.startswith(b"{") else line.decode().rstrip("\n")

    def end(self) -> int:
        """Close the input and return the exit code."""
        os.close(self.to)
        self.thread.join(30)
        assert not self.thread.is_alive()
        assert self.code is not None
        for thread in threading.enumerate():  # the one that reads may not have ended yet
            if thread.name == "noregret-feed":
                thread.join(5)
        self.answers.close()
        self.input.close()
        return self.code


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Filter]:
    return lambda *arguments: Filter(monkeypatch, "run", *arguments)


def in_a_file(folder: Path, rows: list[dict[str, Any]]) -> Path:
    (folder / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "d.jsonl"


def test_single_lines_are_answered_as_a_file_would_be(
    start: Callable[..., Filter], tmp_path: Path
) -> None:
    rows = [row if k % 5 else {**row, "y": None} for k, row in enumerate(ROWS, 1)]
    names = ("--model", tmp_path / "m.model", "--certificate", tmp_path / "c.json")
    live = start("-", *PLAIN, *names)
    found = [live.ask(row) for row in rows]
    assert live.end() == 0
    file = in_a_file(tmp_path, rows)
    told = ("--target", "y", "--task", "numbers", "--predictions", tmp_path / "p.csv")
    done("run", file, *told, "--model", tmp_path / "f.model", "-q")
    lines = (tmp_path / "p.csv").read_text().splitlines()[1:]
    expected = [[float(part) if part else None for part in line.split(",")] for line in lines]
    assert [[a["row"], a["prediction"], a.get("outcome")] for a in found] == expected
    models = [noregret.load(tmp_path / name) for name in ("m.model", "f.model")]
    assert models[0].weights.tolist() == models[1].weights.tolist()
    done("verify", tmp_path / "c.json", file)


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_answers_do_not_depend_on_how_lines_arrive(
    pieces: int, start: Callable[..., Filter]
) -> None:
    texts = [
        {**row, "say": f"some words {k} and {k} more of them, all of them"}
        for k, row in enumerate(ROWS)
    ]
    whole = "".join(json.dumps(row) + "\n" for row in texts).encode()
    live = start("-", *PLAIN)
    size = -(-len(whole) // pieces)
    for at in range(0, len(whole), size):
        live.tell(whole[at : at + size])
    found = [live.answer() for _ in texts]
    assert live.end() == 0
    alone = start("-", *PLAIN)
    assert [alone.ask(row) for row in texts] == found
    assert alone.end() == 0


@pytest.mark.parametrize("format", ["csv", "vw"])
def test_other_text_is_answered_in_csv(format: str, start: Callable[..., Filter]) -> None:
    target = ("--target", "y") if format == "csv" else ()
    live = start("-", "--format", format, *target, "--predictions", "-", "-q")
    if format == "csv":
        live.tell(b"a,y\n")
    first, second = (b"1,2\n", b"1,\n") if format == "csv" else (b"2 'x|a\n", b" y| a\n")
    live.tell(first)
    tag = "" if format == "csv" else ",tag"
    assert live.answer() == f"row,prediction,outcome{tag}"
    assert live.answer().startswith("1,0,2")
    assert live.ask(second).startswith("2,2,")
    assert live.end() == 0


def test_classes_are_told_by_the_first_line(start: Callable[..., Filter]) -> None:
    live = start("-", *PLAIN)
    kinds = ["r", "g", "b"]
    found = [live.ask({"a": k % 3, "y": kinds[k % 3]}) for k in range(30)]
    assert found[0]["prediction"] is None
    assert {answer["prediction"] for answer in found[3:]} <= {*kinds}
    assert "probability" in live.ask({"a": 1})
    assert live.end() == 0


def test_booleans_are_answered_with_booleans(start: Callable[..., Filter]) -> None:
    live = start("-", *PLAIN)
    found = [live.ask({"a": 1, "y": k > 0}) for k in range(3)]
    assert [answer["outcome"] for answer in found] == [False, True, True]
    assert "outcome" not in live.ask({"a": 1})
    assert live.end() == 0


def test_a_line_with_neither_id_nor_target_is_noted_once(
    start: Callable[..., Filter], capfd: pytest.CaptureFixture[str]
) -> None:
    live = start("-", *PLAIN, "--id", "id")
    for line in ({"id": 1, "a": 1, "y": 2}, {"a": 1}, {"a": 2}):
        live.ask(line)
    assert live.end() == 0
    assert capfd.readouterr().err.count("predicted, and never learned") == 1


def test_classes_after_a_first_line_without_one_need_the_task(
    start: Callable[..., Filter], capfd: pytest.CaptureFixture[str]
) -> None:
    live = start("-", *PLAIN)
    assert live.ask({"a": 1})["prediction"] == 0
    live.tell({"a": 1, "y": "r"})
    assert live.end() == 1
    live = start("-", *PLAIN, "--task", "classes")
    assert live.ask({"a": 1})["prediction"] is None
    assert live.ask({"a": 1, "y": "r"})["outcome"] == "r"
    assert live.end() == 0


def test_a_bad_line_is_answered_with_its_error(start: Callable[..., Filter]) -> None:
    live = start("-", *PLAIN, "--on-error", "skip")
    live.ask(ROWS[0])
    said = live.ask(b'{"a": 1, "y": \xff}\n')
    assert said["row"] == 2
    assert "line 2: byte" in said["error"]
    assert "line 3" in live.ask(b"[1]\n")["error"]
    live.tell(b'{"a": 1}\n{"a": [1]}\n{"a": 2, "y": 1}\n')
    assert [live.answer()["row"] for _ in range(3)] == [4, 5, 6]
    assert live.end() == 0


def test_an_error_ends_the_stream_and_the_model_is_saved(
    start: Callable[..., Filter], tmp_path: Path
) -> None:
    live = start("-", *PLAIN, "--model", tmp_path / "m.model")
    for row in ROWS[:9]:
        live.ask(row)
    live.tell(b"nonsense\n")
    assert live.end() == 1
    assert noregret.load(tmp_path / "m.model").rounds == 9


@pytest.mark.parametrize(
    ("options", "good", "bad"),
    [
        (("--format", "jsonl", "--target", "y"), '{"x": 1, "y": 3}\n', "oops"),
        (("--format", "jsonl", "--target", "y"), '{"x": 1, "y": true}\n', '{"x": 1, "y": 5}'),
        (("--format", "jsonl", "--target", "y"), '{"x": 1, "y": "a"}\n', '{"x": "q"}'),
        (
            ("--format", "jsonl", "--target", "y", "--group", "g"),
            '{"x": 1, "y": 1, "g": 2}\n',
            '{"x": 1, "y": 1}',
        ),
        (("--format", "csv", "--target", "2", "--no-header"), "1,3\n", "oops"),
        (("--format", "vw"), "3 | x:1\n", "3 | x:inf"),
    ],
)
def test_lines_before_a_bad_one_are_answered_however_they_arrive(
    options: tuple[str, ...], good: str, bad: str, start: Callable[..., Filter], tmp_path: Path
) -> None:
    live = start("-", *options, "--predictions", "-", "-q", "--model", tmp_path / "m.model")
    live.tell((good * 5 + bad + "\n" + good).encode())
    live.thread.join(5)
    lines = live.answers.read().decode().splitlines()
    lines = [line for line in lines if not line.startswith("row,")]
    assert live.end() == 1
    assert len(lines) == 5
    assert not any("error" in line for line in lines)
    if "--group" in options:
        assert noregret.Groups.load(tmp_path / "m.model")[2].rounds == 5
    else:
        assert noregret.load(tmp_path / "m.model").rounds == 5


def test_the_first_row_of_csv_tells_what_columns_hold_however_rows_arrive(
    start: Callable[..., Filter], capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [b"x;t;y\n", b"1,5;1;3\n", b"2;a;4\n"]
    said = []
    for parts in (lines, [b"".join(lines)], [lines[0], b"".join(lines[1:])]):
        live = start("-", "--format", "csv", "--target", "y", "--predictions", "-", "-q")
        for k, part in enumerate(parts):
            live.tell(part)
            if k == 1 and len(parts) == 3:
                live.answer(), live.answer()
        live.thread.join(5)
        assert live.end() == 1
        said.append(capfd.readouterr().err)
    assert "line 3: column 't': 'a' is not a number" in said[0]
    assert said == said[:1] * 3


def test_a_reader_that_has_gone_ends_the_run_quietly(
    start: Callable[..., Filter], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    live = start("-", *PLAIN[:-1], "--model", tmp_path / "m.model")
    for row in ROWS[:5]:
        live.ask(row)
    live.answers.close()
    live.tell(ROWS[5])
    live.thread.join(30)
    assert not live.thread.is_alive()
    assert live.end() == 0
    assert capfd.readouterr().err == ""
    assert noregret.load(tmp_path / "m.model").rounds == 6


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_with_everything_written(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, to = os.pipe()
    lines = os.fdopen(here)
    monkeypatch.setattr("sys.stdin", lines)
    made = io.BytesIO()
    output = io.TextIOWrapper(made)
    monkeypatch.setattr("sys.stdout", output)
    os.write(to, b"".join((json.dumps(row) + "\n").encode() for row in ROWS))

    def kill() -> None:  # which is handled while lines are awaited
        until(lambda: made.getvalue().count(b"\n") == len(ROWS))
        os.kill(os.getpid(), number)

    threading.Thread(target=kill).start()
    names = ("--model", tmp_path / "m.model", "--certificate", tmp_path / "c.json")
    assert run([*map(str, ("run", "-", *PLAIN, *names))]) == 0
    os.close(to)
    lines.close()
    assert noregret.load(tmp_path / "m.model").rounds == len(ROWS)
    done("verify", tmp_path / "c.json", in_a_file(tmp_path, ROWS))


def until(true: Callable[[], bool]) -> None:
    for _ in range(1500):
        if true():
            return
        time.sleep(0.02)
    pytest.fail("in vain")


def test_the_model_is_saved_while_no_line_comes(
    start: Callable[..., Filter], tmp_path: Path
) -> None:
    model = tmp_path / "m.model"
    live = start("-", *PLAIN, "--model", model, "--save-every", "50ms")
    for row in ROWS[:7]:
        live.ask(row)
    until(lambda: model.exists() and noregret.load(model).rounds == 7)
    first = model.read_bytes()
    time.sleep(0.12)
    assert model.read_bytes() == first
    live.ask(ROWS[7])
    until(lambda: noregret.load(model).rounds == 8)
    assert live.end() == 0


def test_a_save_that_fails_does_not_end_the_run(
    start: Callable[..., Filter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []

    def save(run: Any, path: str, result: Any = None) -> None:
        saved.append(run.rounds)
        if len(saved) < 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("noregret.app.commands.run.concluding.write_model", save)
    live = start("-", *PLAIN, "--model", tmp_path / "m.model", "--save-every", "50ms")
    live.ask(ROWS[0])
    until(lambda: len(saved) == 3)
    assert live.ask(ROWS[1])["row"] == 2
    until(lambda: len(saved) == 4)
    assert live.end() == 0
    assert saved == [1, 1, 1, 2, 2]  # the last at the end of the run


def test_a_growing_file_is_followed(start: Callable[..., Filter], tmp_path: Path) -> None:
    file = in_a_file(tmp_path, ROWS[:3])
    live = start("--follow", file, *PLAIN[2:], "--on-error", "skip")
    assert [live.answer()["row"] for _ in range(3)] == [1, 2, 3]
    with file.open("a") as log:
        text = json.dumps(ROWS[3])
        log.write(text[:9])
        log.flush()
        time.sleep(0.1)
        log.write(text[9:] + "\n")
        log.flush()
        assert live.answer()["outcome"] == ROWS[3]["y"]
        log.write(json.dumps(ROWS[4]) + "\n")
        log.flush()
        assert live.answer()["row"] == 5
    file.write_text("")  # which is refused, as lines may be lost
    assert live.end() == 1


def test_what_a_stream_cannot_have_is_refused(tmp_path: Path) -> None:
    file = in_a_file(tmp_path, ROWS)
    for options, said in (
        (("--checkpoint", tmp_path / "k"), "leave --checkpoint and --resume out"),
        (("--save-every", "1s"), "name its file with --model"),
        (("--save-every", "soon"), "is not a time"),
    ):
        ended = command("run", file, "--target", "y", "--predictions", "-", *options)
        assert ended.code == 2
        assert said in ended.err
