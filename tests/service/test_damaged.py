"""A journal whose rows were changed from outside is refused in words, never believed."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from noregret import Auto, NoRegretError, Service, WidrowHoff, verify
from noregret.base.model_file import dumps
from noregret.service.blocks import seal_of
from noregret.service.certifying import checked
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


def late(path: Path, challenged: bool = False) -> Service:
    """Return a service whose labels came late, without a snapshot of them."""
    service, draw = Service(Auto(), path, snapshot_every=10**6), random.Random(4)
    if challenged:
        service.challengers.add("c", Auto(recent=False), bound=1.0)
    for k in range(40):
        service.predict({"a": draw.gauss(0, 1), "b": draw.gauss(0, 1)}, id=f"i{k}")
        if k >= 3:
            service.label(f"i{k - 3}", draw.gauss(0, 1))
    return service


@pytest.mark.parametrize("value", ["10", "x", "9" * 5000, None])
def test_facts_outside_of_the_blocks_do_not_change_a_certificate(
    value: str | None, tmp_path: Path
) -> None:
    path, rows = tmp_path / "s.db", tmp_path / "rows.jsonl"
    with late(path) as service:
        before = service.certificate()
    if value is None:
        changed(path, "DELETE FROM facts WHERE name = 'plain-predictions'")
    else:
        changed(path, "UPDATE facts SET value = ? WHERE name = 'plain-predictions'", value)
    with Service(None, path) as service:
        found = service.certificate()
        service.export(rows)
        assert found.to_dict() == before.to_dict()
        assert found.loss.total == pytest.approx(service.loss, rel=1e-12)
    assert verify(found, rows, target="y").confirmed
    for labels, loss in ((37, service.loss * 1.001), (36, service.loss)):
        with pytest.raises(NoRegretError, match="the journal was changed or damaged"):
            checked(found, labels, loss)


def test_a_last_block_with_a_new_seal_is_refused_in_words(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    written(whole)
    with closing(sqlite3.connect(whole)) as rows:
        last, data = rows.execute("SELECT last, data FROM blocks WHERE last = 7").fetchone()
    for at in range(len(data) - 40, len(data)):
        path = tmp_path / f"{at}.db"
        path.write_bytes(whole.read_bytes())
        other = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        statement = "UPDATE blocks SET data = ?, seal = ? WHERE last = ?"
        changed(path, statement, other, seal_of(other), last)
        if at < len(data) - 1:
            with suppress(NoRegretError):  # it may be another request
                used(path)
        else:
            with pytest.raises(NoRegretError, match="damaged"):
                used(path)


@pytest.mark.parametrize("value", [
    "note = NULL", "note = x''", "note = 99999999999", "note = 'text'", "score = score + 1",
    "note = substr(note, 1, 40)", "note = randomblob(length(note))", "made = made - 1",
])  # fmt: skip
def test_changed_predictions_of_challengers_are_refused_in_words(
    value: str, tmp_path: Path
) -> None:
    path, copy, other = tmp_path / "s.db", tmp_path / "copy.db", tmp_path / "other.db"
    with late(path, challenged=True) as service:
        for end in ("", "-wal"):  # as a crash leaves them
            for to in (copy, other):
                Path(f"{to}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
        expected = dumps(service.contenders.models["c"].get(None))
    changed(other, f"UPDATE shadows SET {value} WHERE seq = 20")
    with pytest.raises(NoRegretError, match="prediction 20 of the challenger 'c'"):
        Service(None, other)
    with Service(None, copy) as service:
        assert dumps(service.contenders.models["c"].get(None)) == expected
    changed(path, f"UPDATE shadows SET {value} WHERE seq = 40")
    with Service(None, path) as service:
        before = dumps(service.learner)
        with pytest.raises(NoRegretError, match="prediction 40 of the challenger 'c'"):
            service.label("i39", 1.0)
        assert dumps(service.learner) == before
