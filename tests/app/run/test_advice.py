"""Advice in messages can be followed, and is not what is done already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.run.commands import command, done, refused


def test_a_bad_outcome_names_on_error_and_no_categories(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("x,y\n" + "".join(f"{k},{k}\n" for k in range(9)) + "3,oops\n")
    told = refused("run", file, "--target", "y")
    assert "--on-error skip" in told
    assert "--categories" not in told
    assert "1 row skipped" in (said := done("run", file, "--target", "y", "--on-error", "skip"))
    assert "--on-error" not in said
    file.write_text("x,y\n" + "".join(f"{k},{k}\n" for k in range(9)) + "oops,3\n")
    assert "--categories x" in refused("run", file, "--target", "y")  # a feature may be one


def test_the_answer_to_a_bad_line_has_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    lines = ['{"id": "a", "x": 1, "y": 2}', '{"id": "b", "x": 2, "y": "oops"}', "{", '{"id": "c"}']
    file.write_text("\n".join(lines) + "\n")
    how = ("--target", "y", "--id", "id", "--on-error", "skip", "--predictions", "-", "-q")
    found = [json.loads(line) for line in command("run", file, *how).out.splitlines()]
    assert [(each["row"], each.get("id")) for each in found] == [
        (1, "a"),
        (2, "b"),
        (3, None),
        (4, "c"),
    ]
    assert ["error" in each for each in found] == [False, True, True, False]
    assert all("on-error" not in each.get("error", "") for each in found)


def test_groups_without_a_certificate_say_how_to_get_one(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("k,x,y\n" + "".join(f"{'ab'[k % 2]},{k % 5},{k}\n" for k in range(20)))
    how = ("run", file, "--target", "y", "--group", "k")
    for more in ((), ("--workers", "2")):
        assert "--certificate FILE compares them." in " ".join(done(*how, *more).split())
