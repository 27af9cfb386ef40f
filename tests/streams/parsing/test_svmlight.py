"""The fast reader of svmlight files reads what a plain one reads."""

import threading

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noregret.streams.parsing.text import parse_svmlight
from noregret.streams.parsing.vocabulary import Vocabulary
from tests.streams.parsing.compare import check_rows
from tests.streams.parsing.reference import read_svmlight
from tests.thorough import draws

USUAL = st.builds(
    lambda index, value: b"%d:%s" % (index, value),
    st.integers(0, 300),
    st.sampled_from(
        [b"1", b"0.5", b"-2", b"1e-3", b"+3.25", b"0", b"0.12345678901234567", b"17.25"]
    ),
)
ODD = st.sampled_from(
    [
        b"qid:3",
        b"qid:x",
        b"qid:",
        b"# c",
        b"#",
        b"3:4#c",
        b"1:",
        b":1",
        b"7",
        b"x:1",
        b"1:x",
        b"1:nan",
        b"1:1e150",
        b"007:1",
        b"16777215:1",
        b"16777216:2",
        b"99999999999999999999:1",
        b"3:1e149",
        b"4:9e149",
        b"4:4e149",
        b"1:2:3",
        b"-1:2",
        b"1:1e400",
        b"\x00",
        b"\xff",
        b"1:1\x00",
        b"\xef\xbb\xbf1",
        b"1:1\r",
        b"12345678:1",
        b"1:.",
        b"\x0b",
    ]
)
LABEL = st.sampled_from(
    [b"1", b"-1", b"+1", b"0.25", b"1e-3"] * 6
    + [b"", b"x", b"nan", b"1e200", b"1:2", b"+", b"# only"]
)
BLANKS = st.sampled_from([b" "] * 12 + [b"  ", b"\t", b" \t", b"\x0b"])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    group = draw(st.sampled_from([[], [], [], [b"qid:17"], [b"qid:"], [b"qid:1x"]]))
    words = [draw(LABEL), *group, *draw(st.lists(USUAL, max_size=60))]
    if draw(st.integers(0, 3)) == 0:
        for word in draw(st.lists(ODD, max_size=2)):
            words.insert(draw(st.integers(0, len(words))), word)
    if draw(st.booleans()):
        line = b" ".join(words)
    else:
        line = b"".join(word + draw(BLANKS) for word in words)
    return line + draw(st.sampled_from([b""] * 8 + [b"\r", b" ", b"\r\r", b" # comment"]))


often = draws(500)

TEXTS = st.builds(
    lambda all_lines, end: b"\n".join(all_lines) + end,
    st.lists(lines(), max_size=6),
    st.sampled_from([b"", b"\n", b"\r\n", b"\n" * 70]),
)


@often
@given(TEXTS | st.binary(max_size=80), st.booleans(), st.booleans())
@example(b"", True, False)
@example(b"\n", True, False)
@example(b"1", True, False)
@example(b"1 1:2", False, False)
def test_rows_and_faults_are_those_of_the_reference(
    text: bytes, intercept: bool, scored: bool
) -> None:
    rows = parse_svmlight(text, 1, intercept, scored=scored)
    expected, faults = read_svmlight(text, scored)
    features = [
        [(0, 1.0)] * intercept + [(int(index) + intercept, value) for index, value in row.features]
        for row in expected
    ]
    check_rows(rows, expected, features)
    assert [fault.line for fault in rows.faults] == faults
    assert [fault.row for fault in rows.faults] == [
        sum(row.line < line for row in expected) for line in faults
    ]
    assert rows.line_count == len(text.split(b"\n")) - (text == b"" or text.endswith(b"\n"))


@often
@given(TEXTS, st.booleans(), st.sampled_from([None, 3, 20]))
def test_a_vocabulary_gives_positions_by_first_appearance(
    text: bytes, intercept: bool, bits: int | None
) -> None:
    vocabulary, same = Vocabulary(bits), Vocabulary(bits)
    rows = parse_svmlight(text, 1, intercept, vocabulary)
    expected, faults = read_svmlight(text, named=True)
    named = [
        [("intercept", 1.0)] * intercept + [(str(index), value) for index, value in row.features]
        for row in expected
    ]
    features = [
        [(int(same.positions([name], admit=True)[0]), value) for name, value in row]
        for row in named
    ]
    check_rows(rows, expected, features)
    assert [fault.line for fault in rows.faults] == faults
    assert vocabulary.names() == same.names()
    assert vocabulary.shared == same.shared


@pytest.mark.parametrize("count", [3, 40, 200, 5000])
@pytest.mark.parametrize("kind", ["shuffled", "one late", "halves swapped", "all equal", "falling"])
def test_any_order_is_sorted_and_equals_are_added_in_theirs(count: int, kind: str) -> None:
    random = np.random.default_rng(count)
    index = np.arange(count) * 7
    if kind == "shuffled":
        index = random.integers(0, count * 3, count)
    elif kind == "one late":
        index = np.roll(index, 1)
    elif kind == "halves swapped":
        index = np.roll(index, count // 2)
    elif kind == "all equal":
        index = np.full(count, 5)
    else:
        index = index[::-1]
    values = random.normal(size=count) * 10.0 ** random.integers(-12, 12, count)
    pairs = list(zip(index.tolist(), values.tolist(), strict=True))
    text = b"1 " + b" ".join(b"%d:%s" % (at, repr(value).encode()) for at, value in pairs) + b"\n"
    rows = parse_svmlight(text, 1, False)
    expected, _ = read_svmlight(text)
    check_rows(rows, expected, [pairs])


def test_a_million_bytes_in_pieces_read_as_in_one() -> None:
    random = np.random.default_rng(0)
    block = [
        b"%d %s\n" % (k, b" ".join(b"%d:%.4f" % (j, random.random()) for j in range(k % 90)))
        for k in range(1500)
    ]
    block[700:700] = [b"\n", b"bad\n", b"1 3:4\r\n", b"2\t5:6  7:8\n"]
    whole = parse_svmlight(b"".join(block), 1, True)
    half = b"".join(block[:800])
    first = parse_svmlight(half, 1, True)
    second = parse_svmlight(memoryview(b"".join(block))[len(half) :], 1 + first.line_count, True)
    np.testing.assert_array_equal(np.concatenate([first.indices, second.indices]), whole.indices)
    np.testing.assert_array_equal(np.concatenate([first.data, second.data]), whole.data)
    np.testing.assert_array_equal(np.concatenate([first.lines, second.lines]), whole.lines)
    expected, _ = read_svmlight(b"".join(block))
    check_rows(
        whole,
        expected,
        [[(0, 1.0), *((int(i) + 1, v) for i, v in row.features)] for row in expected],
    )


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        (b"x 1:2", 1, "'x' is not a label"),
        (b"1 2:3 5", 7, "'5' has no value"),
        (b"1 2:", 5, "nothing follows the colon"),
        (b"1 2:1e150", 5, "'1e150' is too large to be squared: scale it down"),
        (b"1 2:abc", 5, "'abc' is not a number"),
        (b"1 16777216:1", 3, "--hash"),
        (b"1:2 2:3", 1, "there is no label"),
        (b"1 2:3 \xc3\xa9:1", 7, "is not a feature"),
        (b"1 2:9e149 3:9e149", 1, "the values of this line are too large"),
    ],
)
def test_a_fault_says_where_and_what(line: bytes, column: int, words: str) -> None:
    (fault,) = parse_svmlight(b"1 1:1\n" + line + b"\n1 1:1\n", 101, True).faults
    assert (fault.row, fault.line, fault.column) == (1, 102, column)
    assert words in fault.message


def test_two_threads_read_two_blocks() -> None:
    text = b"1 3:0.5 8:0.25 19:1\n" * 20_000
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(len(parse_svmlight(text, 1, True).outcomes)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20_000, 20_000]
