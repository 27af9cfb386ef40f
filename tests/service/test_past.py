"""Certificates and exports take their time; requests are answered meanwhile."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.service import Service, certifying, past
from noregret.service.errors import NotCertified


def learned(service: Service, start: int, stop: int) -> None:
    for k in range(start, stop):
        service.learn({"a": k % 7 / 7, "b": k % 5}, k % 3, id=f"e{k}")


def in_thread(act: Any) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(act())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def test_requests_are_answered_while_a_certificate_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It covers the labels that had come when it was asked for, in few or many pieces."""
    monkeypatch.setattr(past, "BLOCKS_AT_ONCE", 7)
    begun, go_on, whole = threading.Event(), threading.Event(), certifying.certified

    def slow(*given: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        return whole(*given)

    monkeypatch.setattr(certifying, "certified", slow)
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        learned(service, 0, 50)
        thread, found = in_thread(service.certificate)
        assert begun.wait(30)
        learned(service, 50, 80)
        assert service.labels == 80
        go_on.set()
        thread.join()
        (certificate,) = found
        assert certificate.data.rounds == 50
        lines = service.exported()
        first = next(lines)
        learned(service, 80, 90)
        rows = [json.loads(line) for line in (first, *lines)]
        assert len(rows) == 80
    pairs = [({"a": row["a"], "b": row["b"]}, row["y"]) for row in rows[:50]]
    assert nr.verify(certificate.to_dict(), pairs).confirmed


def test_rows_that_are_removed_meanwhile_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "BLOCKS_AT_ONCE", 7)
    with Service(nr.Nlms(), tmp_path / "s.db", retain=5, snapshot_every=20) as service:
        learned(service, 0, 19)
        lines = service.exported()
        next(lines)
        learned(service, 19, 200)
        with pytest.raises(NotCertified, match="were removed"):
            list(lines)
