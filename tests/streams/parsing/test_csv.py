"""The fast reader of tables reads what a plain one reads, and gives up where it should."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noregret.streams.parsing.parsed_rows import Csv
from noregret.streams.parsing.text import parse_csv
from tests.streams.parsing.compare import same_bits
from tests.streams.parsing.reference import read_csv
from tests.thorough import draws

CELL = st.sampled_from(
    [
        b"1",
        b"-2.5",
        b"0.12345678901234567",
        b"1e-3",
        b"17",
        b"0.000001",
        b"-0",
        b"123456.75",
        b"12345678.5",
    ]
    * 5
    + [
        b"",
        b" ",
        b" 1",
        b"2 ",
        b"\t3",
        b"x",
        b'"1"',
        b"nan",
        b"1e150",
        b"inf",
        b"1e400",
        b"+",
        b"\0",
        b"\xff",
        b"1 2",
        b"1\r",
    ]
)
PLACES = st.lists(st.integers(-2, 3), min_size=1, max_size=5)


often = draws(500)


@st.composite
def tables(draw: st.DrawFn) -> tuple[bytes, list[int]]:
    places = draw(PLACES)
    rows = draw(st.lists(st.lists(CELL, min_size=len(places), max_size=len(places)), max_size=8))
    if draw(st.integers(0, 5)) == 0:
        rows.append(draw(st.lists(CELL, max_size=6)))
    end = draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n"]))
    text = end.join(b",".join(row) for row in rows) + draw(st.sampled_from([b"", end, b"\n" * 70]))
    return text, places


def check(text: bytes, places: list[int], zero: bool, delimiter: bytes = b",") -> Csv:
    found = parse_csv(
        text, len(places), np.array(places, np.int32), 4, delimiter, "zero" if zero else "stop"
    )
    expected = read_csv(text, places, 4, delimiter, zero)
    assert found.plain == (expected is not None)
    if expected is not None:
        X, outcomes, lines = expected
        same_bits(found.X, np.array(X).reshape(-1, 4))
        same_bits(found.outcomes, outcomes)
        assert lines == (
            list(range(1, len(lines) + 1)) if found.lines is None else found.lines.tolist()
        )
        assert found.line_count == len(text.split(b"\n")) - (text == b"" or text.endswith(b"\n"))
        assert found.faults == []
        assert b'"' not in text
        assert found.returns or b"\r" not in text
    return found


@often
@given(tables(), st.booleans())
@example((b"", [0]), True)
@example((b"\n", [0]), True)
@example((b"1", [0]), False)
@example((b",", [0, 1]), True)
def test_tables_are_those_of_the_reference(table: tuple[bytes, list[int]], zero: bool) -> None:
    check(*table, zero)


@often
@given(st.binary(max_size=60), st.sampled_from([b",", b";", b"\t", b" ", b"|"]), st.booleans())
def test_any_bytes_and_delimiters(text: bytes, delimiter: bytes, zero: bool) -> None:
    check(text, [0, -2], zero, delimiter)
    check(text, [1], zero, delimiter)


def test_many_rows() -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(3000, 3)) * 10.0 ** random.integers(-8, 8, (3000, 3))
    text = b"".join(b"%r,%.6f,%r\r\n" % (a, b, int(c)) for a, b, c in X.tolist())
    found = check(text, [0, -2, 2], False)
    assert found.plain
    assert found.lines is None
    assert (found.X[:, [1, 3]] == 1).all()


@pytest.mark.parametrize(
    ("places", "width", "delimiter", "missing"),
    [
        ([0, 4], 4, b",", "stop"),
        ([0, -3], 4, b",", "stop"),
        ([0], 4, b",", "stop"),
        ([0, 1], 4, b",,", "stop"),
        ([0, 1], 4, b"\n", "stop"),
        ([0, 1], 4, b",", "skip"),
    ],
)
def test_what_makes_no_sense_is_refused(
    places: list[int], width: int, delimiter: bytes, missing: str
) -> None:
    with pytest.raises(ValueError, match=r"place|delimiter|missing"):
        parse_csv(b"1,2\n", 2, np.array(places, np.int32), width, delimiter, missing)  # type: ignore[arg-type]
