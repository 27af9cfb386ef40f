"""Where quoted text is cut, and what quotes mean: told against readers that go letter by letter."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret import streams
from noregret.errors import BadExample, DataWarning
from noregret.streams.csv_quotes import Quotes, with_letters_quoted
from tests.thorough import draws

from .files import blocks_of

texts = st.lists(st.sampled_from([b'"', b",", b"\n", b"a", b"\r\n", b'""']), max_size=40).map(
    b"".join
)


def line_ends(text: bytes) -> tuple[list[int], bool]:
    """Return where lines end outside of quoted values, and whether one is open at the end."""
    ends: list[int] = []
    state = "start"  # of a value; or in it, quoted, or just after a quote in a quoted one
    for k, letter in enumerate(text.decode()):
        if state == "quoted":
            state = "after" if letter == '"' else "quoted"
        elif (state in {"start", "after"}) and letter == '"':
            state = "quoted"
        else:
            state = "start" if letter in ",\n\r" else "in"
        if letter == "\n" and state != "quoted":
            ends.append(k + 1)
    return ends, state == "quoted"


@draws(500)
@given(texts, st.lists(st.integers(1, 12), min_size=1))
def test_blocks_are_cut_after_the_last_line_that_ends_outside_of_quotes(
    text: bytes, sizes: list[int]
) -> None:
    quotes, start = Quotes(b","), 0
    ends, is_open = line_ends(text)
    while start < len(text):
        block = text[start : start + sizes[start % len(sizes)]]
        inside = [end for end in ends if start < end <= start + len(block)]
        assert quotes.last_cut(block) == (inside[-1] - start if inside else 0)
        start += len(block)
    assert quotes.inside == is_open


def values_of(line: str, delimiter: str, some_quote: bool) -> list[str]:
    """Return the values of a line, letter by letter."""
    found: list[str] = []
    rest: str | None = line
    while rest is not None:
        end = closing(rest) if some_quote and rest.startswith('"') else None
        if end is not None and (end + 1 == len(rest) or rest[end + 1] == delimiter):
            found.append(rest[1:end].replace('""', '"'))
            rest = None if end + 1 == len(rest) else rest[end + 2 :]
        else:
            value, more, after = rest.partition(delimiter)
            found.append(value)
            rest = after if more else None
    return found


def closing(text: str) -> int | None:
    """Return where the quote is that closes the one that a text begins with."""
    at = 1
    while at < len(text):
        if text[at] != '"':
            at += 1
        elif text[at + 1 : at + 2] == '"':
            at += 2
        else:
            return at
    return None


@draws(500)
@given(
    st.lists(st.text('"a\t\N{SNOWMAN}', max_size=12), min_size=1, max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_every_line_is_a_row_with_the_values_that_its_quotes_leave(
    lines: list[str], some_quote: bool, crlf: bool
) -> None:
    text = "".join(line + ("\r\n" if crlf else "\n") for line in lines)
    plain = with_letters_quoted(text.encode(), b"\t", some_quote).decode()
    found = list(csv.reader(io.StringIO(plain, newline=""), delimiter="\t"))
    assert [row or [""] for row in found] == [values_of(line, "\t", some_quote) for line in lines]


SMS = [
    ("ham", "Ok lar"),
    ("spam", '"Free entry'),  # opens, and never closes
    ("ham", 'He said "no"'),
    ("ham", '"Gimme a few" was 5 minutes ago'),
    ("spam", '"WIN" a "prize"'),
    ("ham", '"'),
    ("ham", 'bye"'),
    ("spam", '"all of it"'),
]


@pytest.mark.parametrize("size", [1, 20, 1 << 20])
@pytest.mark.parametrize("quotes", ["auto", "line", "none"])
def test_no_row_is_lost_to_a_quote_that_is_a_letter(size: int, quotes: str, tmp_path: Path) -> None:
    file = tmp_path / "sms.tsv"
    text = "".join(f"{kind}\t{words}\n" for kind, words in SMS)
    file.write_text("kind\ttext\n" + text, "utf-8")
    stream = streams.read(file, "kind", positive="spam", quotes=quotes)
    with blocks_of(size):
        found = list(stream)
    assert len(found) == len(SMS)
    for (x, y), (kind, words) in zip(found, SMS, strict=True):
        meant = "all of it" if words == '"all of it"' and quotes != "none" else words
        assert (x, y) == ({f"text={meant}": 1.0}, 1.0 if kind == "spam" else -1.0)


def test_tables_that_pandas_writes_are_read_back(tmp_path: Path) -> None:
    words = ['a "b" c', "tab\there", '"', '""', "plain", '"x"', "\t", 'end"', '"start']
    table = pd.DataFrame({"t": words, "y": range(len(words))})
    table.to_csv(tmp_path / "d.tsv", sep="\t", index=False)
    found = [next(iter(x)) for x, _ in streams.read(tmp_path / "d.tsv", "y")]
    assert found == [f"t={word}" for word in words]


def test_a_value_over_several_lines_must_be_announced_in_tabs(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text('y\tt\n1\t"one\ntwo"\n2\tx\n', "utf-8")
    with pytest.raises(BadExample, match=r"line 3: 1 value.*use quotes='multiline'"):
        list(streams.read(tmp_path / "d.tsv", "y"))
    found = list(streams.read(tmp_path / "d.tsv", "y", quotes="multiline"))
    assert found == [({"t=one\ntwo": 1.0}, 1.0), ({"t=x": 1.0}, 2.0)]


@pytest.mark.parametrize("size", [1, 30, 1 << 20])
def test_lines_that_a_quote_joins_are_told_where_each_could_be_a_row(
    size: int, tmp_path: Path
) -> None:
    file = tmp_path / "d.csv"
    file.write_text('y,a,t\n1,x,one\n2,x,"two\n3,x,three\n4,x,four"\n5,x,five\n', "utf-8")
    with blocks_of(size):
        advice = r"each of them looks like a row: if .* quotes='line', or .* quotes='none'"
        with pytest.warns(DataWarning, match=rf"lines 3 to 5 were read as one row.*{advice}"):
            assert len(list(streams.read(file, "y"))) == 3
        assert len(list(streams.read(file, "y", quotes="line"))) == 5
        assert len(list(streams.read(file, "y", quotes="none"))) == 5
        # Text over several lines, as it should be, is no reason to say anything.
        file.write_text('y,a,t\n1,x,"one\nand, so on\nend"\n2,x,"two ""\n"\n', "utf-8")
        assert len(list(streams.read(file, "y"))) == 2


def test_all_lines_that_quotes_have_joined_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    stray = '1,x,"two\n2,x,three\n3,x,four"\n4,x,five\n'
    file.write_text("y,a,t\n" + stray * 1_000, "utf-8")
    with pytest.warns(DataWarning, match=r"lines 2 to 4 .*quotes join at least 1,998 more lines"):
        assert len(list(streams.read(file, "y"))) == 2_000
    assert len(list(streams.read(file, "y", quotes="line"))) == 4_000
