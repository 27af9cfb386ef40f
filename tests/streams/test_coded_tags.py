"""Cells as numbers: equal cells have one number, and come back as the csv module reads them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.streams.block import Block
from noregret.streams.coded_tags import CodedTags, TagCodes
from noregret.streams.csv_repair import cells_as_json
from noregret.streams.parsing.cells import CellCodes
from tests.thorough import draws

CELL = st.text(st.characters(exclude_characters='",\r\n\x00', codec="utf-8"), max_size=9)
ROWS = st.lists(st.tuples(CELL, st.sampled_from(["", "x", "y"]), CELL), min_size=1, max_size=30)


def block_of(rows: int) -> Block:
    return Block(np.zeros((rows, 0)), np.zeros(rows), lambda row: None, {})  # type: ignore[arg-type,return-value]


@draws(60)
@given(ROWS, st.sampled_from([[0], [1], [2], [2, 0], [1, 1]]), st.sampled_from(["\n", "\r\n"]))
def test_cells_are_as_the_csv_module_reads_them(
    rows: list[tuple[str, str, str]], at: list[int], end: str
) -> None:
    body = "".join(",".join(row) + end for row in rows).encode()
    expected = list(cells_as_json(body, ",", at).values())
    tags = TagCodes(at, ",").of(body, block_of(len(rows)), 0)
    assert isinstance(tags, CodedTags)
    assert list(tags) == [tags[row] for row in range(len(rows))] == expected
    assert list(tags[1:3]) == expected[1:3]
    assert list(tags.some(np.array([0]))) == expected[:1]
    codes = tags.codes.tolist()
    assert [codes.index(code) for code in codes] == [expected.index(tag) for tag in expected]
    assert sorted(set(codes)) == list(range(len(set(expected))))


def test_numbers_go_on_over_blocks_and_tables_that_grow() -> None:
    codes = CellCodes([0], b",")
    names = [f"näme-{n}" for n in range(5000)] + ["x" * 300_000, ""]
    body = "".join(f"{name},1\n" for name in names).encode()
    for _ in range(2):
        found = codes.code(body, len(names))
        assert found is not None
        assert found.tolist() == list(range(len(names)))
    assert [codes.cells(n) for n in range(len(names))] == [[name] for name in names]
    with pytest.raises(IndexError):
        codes.cells(len(names))


def test_lines_that_are_not_rows_of_plain_cells_are_left_to_the_csv_module() -> None:
    assert CellCodes([1], b",").code(b"a,1\nb\n", 2) is None  # too few cells
    assert CellCodes([0], b",").code(b"a,1\nb,2\n", 1) is None  # more rows
    assert CellCodes([0], b",").code(b"a,1\n", 2) is None  # fewer
    found = CellCodes([0], b",").code(b"a,1\n\n\r\nb,2", 2)
    assert found is not None
    assert found.tolist() == [0, 1]
    tags = TagCodes([0], ",").of(b'"a,b",1\nc,2\n', block_of(2), 0)
    assert [json.loads(tag) for tag in tags] == [["a,b"], ["c"]]
    with pytest.raises(ValueError, match="one byte"):
        CellCodes([0], "→".encode())
    with pytest.raises(ValueError, match="columns"):
        CellCodes([], b",")
