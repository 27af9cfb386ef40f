"""Lines whose names share slots of a hash: JSON of different fields, and sparse ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import noregret
from noregret import streams
from noregret.errors import BadExample
from noregret.streams.parsing.vocabulary import hash_name


def test_names_in_one_slot_add_up_in_json_lines_of_different_fields(tmp_path: Path) -> None:
    examples = [{"a": 1.0, "b": 2.0, "c": 4.0, "y": 1.0}, {"a": 8.0, "y": 0.0}]
    file = tmp_path / "d.jsonl"
    file.write_text("\n".join(map(json.dumps, examples)), encoding="utf-8")
    stream = streams.read(file, target="y", hash=1)
    slots = {name: f"#{hash_name(name) % 2}" for name in "abc"}
    for (found, _), example in zip(stream, examples, strict=True):
        expected: dict[str, float] = {}
        for name in "abc":
            if name in example:
                expected[slots[name]] = expected.get(slots[name], 0.0) + example[name]
        assert found == expected
    assert noregret.play(noregret.WidrowHoff(rate=0.01), stream).rounds == 2


def test_hashed_positions_of_sparse_lines_may_have_any_number_of_digits(tmp_path: Path) -> None:
    """Their digits are the name, without zeros in front; without hashing they are places."""
    long, lines = "9" * 400, tmp_path / "d.svm"
    lines.write_text(f"1 3:1 12345678901234567890:2 {long}:3\n2 003:1 0012345678901234567890:5\n")
    rows = [x for x, _ in streams.read(lines, hash=30)]
    slots = [f"#{hash_name(name) % 2**30}" for name in ("3", "12345678901234567890", long)]
    assert rows == [dict(zip(slots, (1.0, 2.0, 3.0), strict=True)), {slots[0]: 1.0, slots[1]: 5.0}]
    with pytest.raises(BadExample, match=r"out of range: .* with hashing"):
        list(streams.read(lines))
