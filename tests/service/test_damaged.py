"""A journal whose rows were changed from outside is refused in words, never believed."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from noregret import NoRegretError, Service, WidrowHoff
from tests.thorough import sized

VALUES = ("x", b"x", 1.5, 2**62, None, "{}", "null", "[1e999, null]", float("inf"))


def written(path: Path) -> None:
    """Write a journal with labels, and one prediction that waits for its label."""
    with Service(WidrowHoff(), path) as service:
        for k in range(6):
            service.learn({"a": float(k % 3)}, float(k), id=f"i{k}")
        service.predict({"a": 1.0}, id="waits")


def changed(path: Path, statement: str, *values: Any) -> None:
    """Change rows behind the service's back."""
    with closing(sqlite3.connect(path)) as rows:
        rows.execute(statement, values)
        rows.commit()


def used(path: Path) -> None:
    """Use a journal for everything."""
    with Service(None, path) as service:
        service.predict({"a": 1.0}, id="next")
        service.label("waits", 2.0)
        service.metrics()
        service.certificate()


def test_changed_bytes_are_refused_in_words(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    written(whole)
    blocks = sqlite3.connect(whole).execute("SELECT last, data, seal FROM blocks").fetchall()
    draw, damaged = random.Random(2), tmp_path / "damaged.db"
    for last, data, seal in draw.sample(blocks, 3):
        for column, value in (("data", data), ("seal", seal)):
            for _ in range(sized(6, full=500)):
                for rest in tmp_path.glob("damaged*"):
                    rest.unlink()
                damaged.write_bytes(whole.read_bytes())
                other, at = bytearray(value), draw.randrange(len(value))
                other[at] ^= 1 << draw.randrange(8)
                statement = f"UPDATE blocks SET {column} = ? WHERE last = ?"
                changed(damaged, statement, bytes(other[: draw.choice([at, None])]), last)
                with pytest.raises(NoRegretError, match="damaged"):
                    used(damaged)


@pytest.mark.parametrize("value", VALUES)
def test_other_types_are_refused_in_words(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    written(path)
    for column in ("data", "seal"):
        try:
            changed(path, f"UPDATE blocks SET {column} = ? WHERE last = 4", value)
        except sqlite3.IntegrityError:  # the schema forbids it
            continue
        with pytest.raises(NoRegretError):
            used(path)


def test_a_snapshot_beyond_the_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    written(path)
    changed(path, "UPDATE facts SET value = '[1000, \"\", 9]' WHERE name = 'snapshot'")
    with pytest.raises(NoRegretError, match="labels that its models have learned are missing"):
        Service(None, path)
