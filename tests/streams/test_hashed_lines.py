"""JSON lines of different fields, whose names share slots of a hash."""

from __future__ import annotations

import json
from pathlib import Path

import noregret
from noregret import streams
from noregret.core.vocabulary import hash_name


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
