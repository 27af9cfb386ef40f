"""Standard input and pipes: rows are played as they come, and an end is an end."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import noregret
from noregret import NoRegretError, play, streams

from .files import Row, assert_same, csv_text, game_of, learner, pairs_of

ROWS: list[Row] = [{"a": k / 3, "town": f't"{k % 3}"\n', "sold": k % 2} for k in range(30)]
# Seconds that a row may take to arrive, where it is sent and not held back.
SOON = 20.0


class Standing:
    """A file that stands in for standard input."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def fileno(self) -> int:
        return self.descriptor


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Standard input is a pipe; write to this end."""
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", Standing(reading))
    yield writing
    os.close(reading)


def fed(writing: int, parts: list[bytes], pause: float = 0.0) -> threading.Thread:
    """Write parts to a pipe from another thread, and close it."""

    def feed() -> None:
        for part in parts:
            os.write(writing, part)
            time.sleep(pause)
        os.close(writing)

    thread = threading.Thread(target=feed)
    thread.start()
    return thread


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 16])
def test_a_pipe_gives_the_game_of_its_file(size: int, pipe: int) -> None:
    text = csv_text(ROWS).encode()
    thread = fed(pipe, [text[k : k + size] for k in range(0, len(text), size)])
    game = game_of("-", target="sold", format="csv")
    thread.join()
    assert_same(game, game_of(pairs_of(ROWS)))


LINES: dict[str, tuple[bytes, bytes]] = {
    "csv": (b"a,town,sold\n", b'1,"x\ny",2\n'),
    "tsv": (b"a\ttown\tsold\n", b"1\tx\t2\n"),
    "jsonl": (b"", b'{"a": 1, "town": "x", "sold": 2}\n'),
    "vw": (b"", b"1 | a town\n"),
    "svmlight": (b"", b"1 0:1 3:2\n"),
}


@pytest.mark.parametrize("kind", LINES)
def test_rows_are_read_as_they_come(kind: str, pipe: int) -> None:
    head, line = LINES[kind]
    target = "sold" if kind in {"csv", "tsv", "jsonl"} else None
    pairs = iter(streams.read("-", target, format=kind))
    if head:
        os.write(pipe, head)
        time.sleep(0.05)  # so that the names come alone
    for sent in range(3):
        os.write(pipe, line[:4])
        time.sleep(0.01)
        os.write(pipe, line[4:])
        started = time.perf_counter()
        x, y = next(pairs)
        assert time.perf_counter() - started < SOON, sent
        assert x
        assert y in {1.0, 2.0}
    os.close(pipe)
    assert next(pairs, None) is None


def test_reading_ends_when_it_is_no_longer_wanted(pipe: int) -> None:
    reading = streams.read("-", format="vw").reading()
    stop = threading.Event()
    reading.wanted = lambda: not stop.is_set()
    os.write(pipe, b"1 | a\n")
    blocks = iter(reading)
    assert len(next(blocks)) == 1
    threading.Timer(0.05, stop.set).start()
    assert next(blocks, None) is None  # though the pipe is open
    os.close(pipe)


def test_no_rows_and_no_newline_at_the_end(pipe: int) -> None:
    os.close(pipe)
    assert game_of("-", target="sold", format="csv").rounds == 0


def test_a_last_line_needs_no_newline(pipe: int) -> None:
    os.write(pipe, b"1 | a\n2 | b")
    os.close(pipe)
    assert [y for _, y in streams.read("-", format="vw")] == [1.0, 2.0]


def test_packed_data_in_a_pipe_are_told(pipe: int) -> None:
    os.write(pipe, gzip.compress(b"1 | a\n"))
    os.close(pipe)
    with pytest.raises(NoRegretError, match="compressed data: unpack it on the way"):
        game_of("-", format="vw")


@pytest.mark.parametrize("closed", [None, io.StringIO()])
def test_closed_input_is_told(closed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", closed)
    with pytest.raises(NoRegretError, match="standard input is closed"):
        streams.read("-", format="vw")


@pytest.mark.usefixtures("pipe")
def test_input_needs_a_format_and_is_read_once() -> None:
    with pytest.raises(NoRegretError, match="say what it is with format="):
        streams.read("-")
    with pytest.raises(NoRegretError, match="can be read only once"):
        streams.read(["-", "-"], format="csv")
    for kind in ("parquet", "npz"):
        with pytest.raises(NoRegretError, match="standard input"):
            streams.read("-", format=kind)


def test_input_from_a_file_and_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = csv_text(ROWS).encode()
    for contents in (text, gzip.compress(text)):
        (tmp_path / "d").write_bytes(contents)
        with open(tmp_path / "d", "rb") as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert_same(game_of("-", target="sold", format="csv"), game_of(pairs_of(ROWS)))


def test_a_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    os.mkfifo(path)
    text = csv_text(ROWS).encode()

    def feed() -> None:
        with open(path, "wb", buffering=0) as file:
            for k in range(0, len(text), 50):
                file.write(text[k : k + 50])

    thread = threading.Thread(target=feed)
    thread.start()
    game = game_of(path, target="sold")
    thread.join()
    assert_same(game, game_of(pairs_of(ROWS)))
    assert streams.read(path, "sold").size is None


def test_another_process_sees_each_row_played() -> None:
    code = (
        "import noregret, sys\n"
        "from noregret import streams\n"
        "reading = streams.read('-', 'y', format='csv').reading()\n"
        "game = noregret.Game(noregret.make('nlms'))\n"
        "with game.recorded():\n"
        "    game.play_blocks(\n"
        "        reading, observe=lambda block, played: print(game.rounds, flush=True)\n"
        "    )\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"a,y\n")
        process.stdin.flush()
        for row in range(1, 4):
            process.stdin.write(b"1,2\n")
            process.stdin.flush()
            assert int(process.stdout.readline()) == row
        process.stdin.close()
        assert process.wait(timeout=SOON) == 0


def test_a_writer_that_goes_on_does_not_keep_a_refusal_back(pipe: int) -> None:
    os.write(pipe, b"1 | a\nx | b\n")
    made = learner()
    with pytest.raises(noregret.BadExample, match="standard input, line 2"):
        play(made, streams.read("-", format="vw"))
    assert made.rounds == 1
    os.close(pipe)
