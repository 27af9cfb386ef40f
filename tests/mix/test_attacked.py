"""What strangers and attackers came upon: first rows that cannot be used, slips, silent choices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.commands import done, refused

NORTH = "g,y,a,b\nnorth,1,1,2\nsouth,2,3,4\nv,2,3,4\n"
ONE_BAD = "y,a,b\n1,2,3\n2,1.5.2,3\n3,1,2\n4,4,4\n"


def written(place: Path, text: str | bytes, name: str = "d.csv") -> Path:
    """Write a file."""
    file = place / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("y,a,b\n1,,\n2,,\n", (), "d.csv, line 2: every expert is asleep"),
        ("y,a,b\n1,,\n2,,\n", ("--on-error", "skip"), "none of its 2 rows could be used"),
        ("y,a,b\n1,1e999,2\n2,3,4\n", (), "d.csv, line 2: column 'a' is inf"),
        ("g,y,a\nu,1,x\nu,2,3\nu,2,3\n", ("--group", "g"), "line 2: column 'a': 'x' is not a num"),
        ("g,y,a\n,1,1\n,2,3\n", ("--group", "g", "--on-error", "skip"), "none of its 2 rows"),
    ],
)
def test_no_row_of_the_first_block_can_be_used(
    text: str, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    assert said in refused("mix", written(tmp_path, text), "--target", "y", *options)


def test_no_row_of_a_portfolio_can_be_used(tmp_path: Path) -> None:
    latin = written(tmp_path, b"A,B\n1.1,0.9\xe9\n1.0,1.1\n")
    assert "line 2: column 'B': not UTF-8 text" in refused("portfolio", latin)
    csv = written(tmp_path, "A,B\n1.1,0.9\n")
    assert "d.csv, line 1: " in refused("portfolio", csv, "--format", "jsonl")


def test_one_bad_cell_does_not_drop_an_expert(tmp_path: Path) -> None:
    file = written(tmp_path, ONE_BAD)
    said = refused("mix", file, "--target", "y")
    assert "line 3: column 'a': '1.5.2' is not a number" in said
    out = done("mix", file, "--target", "y", "--on-error", "skip")
    assert "1 row left out" in out
    assert "left out a: no numbers" not in " ".join(out.split())


@pytest.mark.parametrize(
    ("wanted", "said"), [("nroth", "did you mean 'north'"), ("zzz", "there are 'north', 'south'")]
)
def test_a_group_that_is_not_there(wanted: str, said: str, tmp_path: Path) -> None:
    file = written(tmp_path, NORTH)
    assert said in refused("mix", file, "--target", "y", "--group", "g", "--only", wanted)


def test_at_most_ten_groups_are_named(tmp_path: Path) -> None:
    rows = "".join(f"g{k},1,{k},2\n" for k in range(30))
    file = written(tmp_path, "g,y,a,b\n" + rows)
    said = refused("mix", file, "--target", "y", "--group", "g", "--only", "zzz")
    assert "'g9' and 20 more" in said
