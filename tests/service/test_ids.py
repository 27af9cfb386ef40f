"""Ids of a journal against a plain dict: the same answers, however ids come."""

from __future__ import annotations

import random
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.service import Request, Service
from noregret.service import ids as module
from noregret.service.compiled.id_digests import digest_of, digests_of
from noregret.service.database import Sqlite
from noregret.service.ids import Filter, Ids
from tests.thorough import sized


def test_digests_are_those_of_the_standard_library() -> None:
    names = [each * (k + 1) for k in range(256) for each in ("7", "ä", "\x00")]
    plain = [blake2b(name.encode(), digest_size=8).digest() for name in names]
    assert digests_of(names).tobytes() == b"".join(plain)
    assert [digest_of(name) for name in names] == digests_of(names).tolist()
    assert digests_of([]).dtype == np.uint64


def test_the_filter_knows_all_and_hardly_any_other() -> None:
    many = Filter()
    count = many.layers[0].room
    digests = np.random.default_rng(1).integers(0, 2**64, 3 * count, np.uint64)
    for some in np.array_split(digests, 30):
        many.add(some)
        many.add(some[:100])  # once more, as labels do
    assert [layer.room for layer in many.layers][1:] >= [0]
    assert len(many.layers) == 2
    assert many.may_have(digests).all()
    assert all(many.has(int(digest)) for digest in digests[:200])
    others = np.random.default_rng(2).integers(0, 2**64, 100_000, np.uint64)
    found = many.may_have(others)
    assert 0 < found.mean() < 0.003
    assert [many.has(int(digest)) for digest in others[:500]] == found[:500].tolist()


def test_ids_are_found_as_in_a_dict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone and in batches, through runs and restarts, also where the filter is of no use."""
    draw = random.Random(3)
    monkeypatch.setattr(module, "MAX_RECENT", 40)
    monkeypatch.setattr(module, "MERGED", 3)
    database = Sqlite(tmp_path / "ids.db")
    database.run(module.SCHEMA.strip().rstrip(";"))
    ids, known, entry = Ids(database), dict[str, int](), 0
    for turn in range(sized(60, full=600)):
        if turn % 7 == 3:
            for layer in ids.filter.layers:
                layer.bits[:] = b"\xff" * len(layer.bits)  # it suspects all
        names = [f"id {draw.randrange(4000)}" for _ in range(draw.randint(1, 30))]
        new = len({*names}) == len(names) and not known.keys() & {*names}
        assert ids.are_new(digests_of(names)) == new
        for part in ([names[:3], names[3:]] if draw.random() < 0.3 else [names]) if new else ():
            ids.add_new(digests_of(part), entry + 1)
            known |= {name: entry + 1 + k for k, name in enumerate(part)}
            entry += len(part)
        alone = f"alone {turn}"
        if draw.random() < 0.5:
            entry += 1
            ids.add(alone, entry)
            known[alone] = entry
        ids.fold(entry)
        if draw.random() < 0.1 and not ids.recent.count:
            ids = Ids(database)
        for name in draw.sample([*known], min(9, len(known))):
            assert ids.find(name) == [known[name]]
        assert ids.find(f"never {turn}") == []
    assert len(ids.runs) > 1
    database.close()


def test_memory_is_bounded_where_old_labels_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``retain``, ids take no more memory however many have come."""
    monkeypatch.setattr(module, "MAX_RECENT", 100)
    monkeypatch.setattr(module, "MERGED", 4)
    taken, lines = list[int](), 50
    with Service(nr.Nlms(), tmp_path / "s.db", retain=400, snapshot_every=200) as service:
        for turn in range(sized(120, full=2000)):
            asked = [Request("learn", f"{turn}-{k}", {"a": 1.0}, k % 3) for k in range(lines)]
            service.answer_many(asked)
            ids = service.journal.ids
            bits = sum(len(layer.bits) for layer in ids.filter.layers)
            taken.append(bits + sum(starts.nbytes for starts in ids.starts.values()))
        assert service.labels == lines * len(taken) > 10 * 400
        assert ids.find("0-0") == []  # forgotten: a retry of it is a new request
    assert max(taken) == max(taken[: len(taken) // 2])
