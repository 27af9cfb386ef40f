"""A journal whose rows were changed from outside is refused in words, never believed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from noregret import NoRegretError, Service, WidrowHoff

COLUMNS = ("time", "x", "made", "score", "answer", "y", "learned", "labelled", "loss", "seal")
VALUES = ("x", b"x", 1.5, 2**62, None, "{}", "null", "[1e999, null]", float("inf"))


def written(path: Path) -> None:
    """Write a journal with labels, and one prediction that waits for its label."""
    with Service(WidrowHoff(), path) as service:
        for k in range(6):
            service.learn({"a": float(k % 3)}, float(k), id=f"i{k}")
        service.predict({"a": 1.0}, id="waits")


def changed(path: Path, statement: str, *values: Any) -> None:
    """Change rows behind the service's back."""
    rows = sqlite3.connect(path)
    rows.execute(statement, values)
    rows.commit()
    rows.close()


def used(path: Path) -> None:
    """Use a journal for everything."""
    with Service(None, path) as service:
        service.predict({"a": 1.0}, id="next")
        service.label("waits", 2.0)
        service.metrics()
        service.certificate()


@pytest.mark.parametrize("column", COLUMNS)
def test_changed_rows_are_refused_in_words(column: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    written(whole)
    damaged = tmp_path / "damaged.db"
    for value in VALUES:
        for name in ("i3", "waits"):
            for rest in tmp_path.glob("damaged*"):
                rest.unlink()
            damaged.write_bytes(whole.read_bytes())
            try:
                changed(damaged, f"UPDATE events SET {column} = ? WHERE id = ?", value, name)
            except sqlite3.IntegrityError:  # the schema forbids it
                continue
            before = sqlite3.connect(whole).execute(
                f"SELECT {column} FROM events WHERE id = ?", [name]
            )
            if before.fetchone() == (value,):
                continue
            with pytest.raises(NoRegretError):
                used(damaged)


def test_a_prediction_that_waits_cannot_be_improved(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    written(path)
    changed(path, "UPDATE events SET score = 2.0, answer = '[2.0, null]' WHERE id = 'waits'")
    with (
        Service(None, path) as service,
        pytest.raises(NoRegretError, match="'waits' is not the one that was served"),
    ):
        service.label("waits", 2.0)


def test_a_snapshot_beyond_the_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    written(path)
    changed(path, "UPDATE facts SET value = '[1000, \"\"]' WHERE name = 'snapshot'")
    with pytest.raises(NoRegretError, match="labels that its models have learned are missing"):
        Service(None, path)
