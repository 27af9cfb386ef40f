"""The fast reader of Vowpal Wabbit's format reads what a plain one reads."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noregret.streams.parsing.parsed_rows import Rows
from noregret.streams.parsing.text import resolve_vw, scan_vw
from noregret.streams.parsing.vocabulary import Vocabulary
from tests.streams.parsing.compare import check_rows
from tests.streams.parsing.reference import Row, read_vw
from tests.thorough import draws

NAME = st.sampled_from(
    [
        b"a",
        b"b",
        b"cat",
        b"longer_name",
        b"a_name_of_more_than_32_bytes_to_be_hashed",
        b"7",
        b"\xc3\xa9t\xc3\xa9",
        b"x^y",
        b"eightlet",
        b"\xe6\xbc\xa2",
    ]
)
VALUE = st.sampled_from(
    [b"", b"", b":1", b":0.5", b":-2", b":1e-3", b":0", b":12.25", b":0.12345678901234567"]
)
USUAL = st.builds(lambda name, value: name + value, NAME, VALUE)
ODD = st.sampled_from(
    [
        b"a:",
        b":2",
        b":",
        b":x",
        b"a:red",
        b"a:info",
        b"a:nancy",
        b"a:in",
        b"a:1x",
        b"a:1:2",
        b"a:x:2",
        b"a::3",
        b"a:nan",
        b"a:1e200",
        b"a:9e149",
        b"b:9e149",
        b"intercept",
        b"intercept:0",
        b"\xff",
        b"a\x00b",
        b"\x01",
        b"a:\xc3\xa9",
        b"\xed\xa0\x80",
        b"a\rb",
        b"a:1\rb",
        b"a|b",
        b"a:1|b c",
        b"|",
        b"||",
        b"|m",
        b"|m:0.5",
        b"|m:",
        b"|:2",
        b"|m:x",
        b"|m:1e200",
        b"|m:0",
        b"|" + b"n" * 254,
        b"|" + b"n" * 255,
        b"a:e5",
        b"a:+x",
        b"\x0b",
        b"#",
        b"\xef\xbb\xbf",
    ]
)
HEAD = st.sampled_from(
    [b"1 ", b"-1 ", b"0.5 2 ", b"1 'tag ", b"1 2 tag", b"1 0.5 't"] * 4
    + [
        b"",
        b" ",
        b"x ",
        b"1",
        b"'t ",
        b"t",
        b"1 -1 ",
        b"1 2 0 ",
        b"1 2 3 ",
        b"1 2 0 4 ",
        b"1\t",
        b"\t1 ",
        b"1 nan ",
        b"1e200 ",
        b"1:2 ",
        b"nan ",
    ]
    + [
        b"1 't u ",
        b"1 \xff",
        b"1 \xc3\xa9",
        b" 1 ",
        b"1  2  ",
        b"1 '",
        b"1 ''",
        b"1 a\rb",
        b"1 1e200 ",
    ]
)
NAMESPACE = st.sampled_from(
    [b"", b"", b"n", b"user", b"n:2.5", b"namespace", b"seven_7", b"\xc3\xa9"]
)
BLANKS = st.sampled_from([b" "] * 12 + [b"  ", b"\t", b""])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    words = []
    for _ in range(draw(st.integers(0, 3))):
        words += [b"|" + draw(NAMESPACE), *draw(st.lists(USUAL, max_size=30))]
    if draw(st.integers(0, 3)) == 0:
        for word in draw(st.lists(ODD, max_size=2)):
            words.insert(draw(st.integers(0, len(words))), word)
    if draw(st.booleans()):
        body = b" ".join(words)
    else:
        body = b"".join(word + draw(BLANKS) for word in words)
    return draw(HEAD) + body + draw(st.sampled_from([b""] * 8 + [b"\r", b" ", b"\r\r"]))


often = draws(500)

TEXTS = st.builds(
    lambda all_lines, end: b"\n".join(all_lines) + end,
    st.lists(lines(), max_size=6),
    st.sampled_from([b"", b"\n", b"\r\n", b"\n" * 70]),
)


def named(row: Row, intercept: bool) -> list[tuple[str, float]]:
    return [("intercept", 1.0)] * intercept + [(str(name), value) for name, value in row.features]


def positions(
    expected: list[Row], intercept: bool, vocabulary: Vocabulary
) -> list[list[tuple[int, float]]]:
    """The expected features by position, names admitted in order."""
    return [
        [
            (int(vocabulary.positions([name], admit=True)[0]), value)
            for name, value in named(row, intercept)
        ]
        for row in expected
    ]


@often
@given(
    TEXTS | st.binary(max_size=80),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, None, 2, 20]),
)
@example(b"", True, False, None)
@example(b"1 | a", True, False, None)
@example(b"\n\n", True, False, None)
def test_rows_and_faults_are_those_of_the_reference(
    text: bytes, intercept: bool, scored: bool, bits: int | None
) -> None:
    vocabulary, same = Vocabulary(bits), Vocabulary(bits)
    scanned = scan_vw(text, 1, intercept, scored, hashed=bits is not None)
    rows = resolve_vw(scanned, vocabulary)
    expected, faults = read_vw(text, intercept, scored)
    check_rows(rows, expected, positions(expected, intercept, same))
    assert [fault.line for fault in rows.faults] == faults
    assert vocabulary.names() == same.names()
    assert vocabulary.shared == same.shared
    assert scanned.line_count == len(text.split(b"\n")) - (text == b"" or text.endswith(b"\n"))


@often
@given(TEXTS, TEXTS)
def test_names_not_admitted_are_left_out(known: bytes, text: bytes) -> None:
    vocabulary = Vocabulary()
    resolve_vw(scan_vw(known, 1, True), vocabulary)
    before = vocabulary.names()
    rows = resolve_vw(scan_vw(text, 1, True), vocabulary, admit=False)
    assert vocabulary.names() == before
    expected, _ = read_vw(text, True)
    at = {name: k for k, name in enumerate(before)}
    check_rows(
        rows,
        expected,
        [[(at[name], value) for name, value in named(row, True) if name in at] for row in expected],
    )


@often
@given(
    st.lists(TEXTS, min_size=2, max_size=5),
    st.booleans(),
    st.sampled_from([None, None, 2, 20]),
    st.booleans(),
    st.integers(1, 3),
)
def test_rows_do_not_depend_on_which_names_were_known_when_they_were_scanned(
    texts: list[bytes], intercept: bool, bits: int | None, learning: bool, late: int
) -> None:
    vocabulary, same = Vocabulary(bits), Vocabulary(bits)
    hashed = bits is not None
    known = [vocabulary.known] * late  # as other threads see them: some texts behind
    for text in texts:
        scanned = scan_vw(text, 1, intercept, learning, hashed, known[-late])
        rows = resolve_vw(scanned, vocabulary, learning=learning)
        alone = resolve_vw(scan_vw(text, 1, intercept, learning, hashed), same, learning=learning)
        assert rows.starts.tolist() == alone.starts.tolist()
        assert rows.indices.tolist() == alone.indices.tolist()
        assert rows.data.tolist() == alone.data.tolist()
        assert vocabulary.names() == same.names()
        assert vocabulary.shared == same.shared
        known.append(vocabulary.known)
    last = scan_vw(texts[0], 1, intercept, True, hashed, vocabulary.known)
    rows = resolve_vw(last, vocabulary, admit=False)
    assert rows.indices.tolist() == alone_again(texts[0], intercept, same, hashed)
    assert vocabulary.names() == same.names()


def alone_again(text: bytes, intercept: bool, same: Vocabulary, hashed: bool) -> list[int]:
    rows = resolve_vw(scan_vw(text, 1, intercept, True, hashed), same, admit=False)
    return [int(index) for index in rows.indices]


def test_a_scan_is_resolved_once_and_by_the_vocabulary_it_was_for() -> None:
    vocabulary = Vocabulary()
    scanned = scan_vw(b"1 | a b", 1, False)
    resolve_vw(scanned, vocabulary)
    with pytest.raises(ValueError, match="already"):
        resolve_vw(scanned, vocabulary)
    other = scan_vw(b"1 | a", 1, False, known=vocabulary.known)
    with pytest.raises(ValueError, match="another vocabulary"):
        resolve_vw(other, Vocabulary())
    vocabulary.cut(1)
    with pytest.raises(ValueError, match="another vocabulary"):
        resolve_vw(other, vocabulary)


def read(text: bytes, intercept: bool = False) -> tuple[Rows, list[str]]:
    vocabulary = Vocabulary()
    return resolve_vw(scan_vw(text, 1, intercept), vocabulary), vocabulary.names()


@pytest.mark.parametrize(
    ("line", "names", "values"),
    [
        (b"1 | a b", ["a", "b"], [1, 1]),
        (b"1 |  a \tb ", ["a", "b"], [1, 1]),
        (b"1 |n:2.5 a:2", ["n^a"], [5]),
        (b"1 |n :2 :3 |m :4 |n :5", ["n^0", "n^1", "m^0"], [7, 3, 4]),
        (b"1 |n 0:2 1:3", ["n^0", "n^1"], [2, 3]),
        (b"1 |n colour:red", ["n^colour^red"], [1]),
        (b"1 |n a|m b", ["n^a", "m^b"], [1, 1]),
        (b"1 |n|m b", ["m^b"], [1]),
        (b"1 ||a", [], []),
        (b"1 |n a:0 b", ["n^b"], [1]),
        (b"1 |n a a:2", ["n^a"], [3]),
        (b"1 |n^x a^b", ["n^x^a^b"], [1]),
        (b"1 |n a\r", ["n^a"], [1]),
        (b"1 |n # a", ["n^#", "n^a"], [1, 1]),
        (b"1 |n:0 a", [], []),
    ],
)
def test_spellings_are_read_as_vowpal_wabbit_reads_them(
    line: bytes, names: list[str], values: list[float]
) -> None:
    rows, found = read(line + b"\n")
    assert (found, rows.data.tolist(), rows.faults) == (names, values, [])


@pytest.mark.parametrize(
    ("head", "importance", "tag"),
    [
        (b"1 2 ", 2, ""),
        (b"1 'a b|", 1, None),
        (b"1 2 't ", 2, "t"),
        (b"1 tag", 1, "tag"),
        (b"1 2 'a'b", 2, "a'b"),
        (b"1 '", 1, ""),
    ],
)
def test_what_stands_before_the_bar(head: bytes, importance: float, tag: str | None) -> None:
    rows, _ = read(head + b"| x\n")
    if tag is None:
        assert len(rows.faults) == 1
        return
    assert (rows.tags or [""]) == [tag]
    assert (1.0 if rows.importances is None else rows.importances[0]) == importance


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        (b"1| x", 1, "'1' touches the bar"),
        (b"1 x", 3, "there is no bar"),
        (b"1\t| x", 2, "a tab before the bar"),
        (b"1 2 x | x", 5, "not an initial prediction"),
        (b"1 -2 | x", 3, "not an importance"),
        (b"1:0.5:0.25 | x", 1, "not a label"),
        (b"1 2 0 4 | x", 7, "only simple labels"),
        (b"1 | a:", 7, "nothing follows the colon"),
        (b"1 | \xc3\xa9:1x", 7, "'1x' is not a number"),
        (b"1 |n:x a", 6, "scale of a namespace"),
        (b"1 | a intercept", 7, "called intercept"),
        (b"1 | a \xff", 7, "not UTF-8"),
        (b"1 | a\rb", 6, "carriage return"),
        (b"1 | a:1e200", 5, "too large to be squared"),
    ],
)
def test_a_fault_says_where_and_what(line: bytes, column: int, words: str) -> None:
    rows, names = read(b"1 | a\n" + line + b"\n-1 | b\n", intercept=True)
    (fault,) = rows.faults
    assert (fault.row, fault.line, fault.column) == (1, 2, column)
    assert words in fault.message
    assert names == ["intercept", "a", "b"]


def test_many_names_in_many_blocks() -> None:
    vocabulary, at, seen = Vocabulary(), 1, []
    for block in range(40):
        names = [f"w{(block * 300 + k * k) % 9000}" for k in range(400)]
        text = "".join(
            f"1 |t {' '.join(names[k : k + 100])}\n" for k in range(0, 400, 100)
        ).encode()
        rows = resolve_vw(scan_vw(text, at, True), vocabulary)
        at += rows.line_count
        seen += names
    expected = ["intercept", *dict.fromkeys(f"t^{name}" for name in seen)]
    assert vocabulary.names() == expected
    assert rows.lines.tolist() == [157, 158, 159, 160]
