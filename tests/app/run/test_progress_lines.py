"""Progress without a terminal: plain lines now and then, from a thread that ends with the run."""

from __future__ import annotations

import threading

import pytest

from noregret.proof.game.progress import Lines


def test_lines_appear_while_the_main_thread_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said, told = list[str](), threading.Event()

    class Page:
        def write(self, text: str) -> int:
            said.append(text)
            told.set()
            return len(text)

        def flush(self) -> None:
            pass

    monkeypatch.setattr("sys.stderr", Page())
    lines = Lines(every=0.001)
    lines.latest = "7 rows learned"
    assert told.wait(60)
    lines.close()
    assert not lines.thread.is_alive()
    assert any(text.startswith("noregret: ") for text in said)


def test_nothing_is_said_of_what_ends_soon(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(every=3600.0)
    lines.close()
    assert capsys.readouterr().err == ""


def test_a_closed_page_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Event()

    class Closed:
        def write(self, text: str) -> int:
            tried.set()
            raise OSError("closed")

        def flush(self) -> None:
            pass

    monkeypatch.setattr("sys.stderr", Closed())
    lines = Lines(every=0.001)
    assert tried.wait(60)
    lines.close()
    assert not lines.thread.is_alive()
