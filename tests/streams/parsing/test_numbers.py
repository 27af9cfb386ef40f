"""Literals are rounded exactly as Python rounds them."""

import re
from decimal import Context, Decimal

import numpy as np
import pytest

from noregret.streams.parsing.text import read_numbers
from tests.thorough import sized

RANDOM = np.random.default_rng(4)
MANY = sized(10_000, full=100_000)


def check(literals: list[str]) -> None:
    """Compare to the last bit; some literals alone too, since the end of a text is special."""
    expected = np.array([float(literal) for literal in literals])
    for fields in (False, True):
        found = read_numbers("\n".join(literals).encode(), fields)
        differ = np.flatnonzero(found.view(np.int64) != expected.view(np.int64))
        assert [literals[k] for k in differ] == []
    for k in range(0, len(literals), max(1, len(literals) // 2000)):
        assert read_numbers(literals[k].encode())[0] == expected[k]


def random_doubles(count: int) -> np.ndarray:
    bits = RANDOM.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    return bits[np.isfinite(bits)]


def digits(count: int) -> str:
    return "".join(map(str, RANDOM.integers(0, 10, count)))


def test_the_shortest_literal_of_any_double_gives_it_back() -> None:
    check([repr(value) for value in random_doubles(4 * MANY).tolist()])


def test_decimals_as_files_hold_them() -> None:
    values = RANDOM.normal(size=MANY).tolist()
    check([f"{value:.6f}" for value in values])
    check([f"{value:.3g}" for value in values])
    check([repr(value) for value in values])
    check([f"{value * 1000:.2f}" for value in values])


def test_digits_of_all_lengths_with_all_exponents() -> None:
    lengths = RANDOM.integers(1, 25, (MANY, 2)).tolist()
    powers = RANDOM.integers(-360, 330, MANY).tolist()
    pool = digits(2 * MANY)
    starts = RANDOM.integers(0, len(pool) - 50, MANY).tolist()
    check(
        [
            f"{pool[at : at + whole]}.{pool[at + 25 : at + 25 + part]}e{power}"
            for at, (whole, part), power in zip(starts, lengths, powers, strict=True)
        ]
    )
    check([pool[at : at + whole] for at, (whole, _) in zip(starts, lengths, strict=True)])


def test_more_digits_than_any_double_needs() -> None:
    check([f"{digits(a)}.{digits(b)}" for a, b in RANDOM.integers(1, 1200, (1000, 2)).tolist()])
    check([f"0.{'0' * zeros}{digits(40)}" for zeros in range(0, 340)])
    check([f"{digits(30)}{'0' * zeros}" for zeros in range(0, 280)])


def test_the_middle_between_two_doubles_and_its_sides() -> None:
    exact = Context(prec=1200)
    literals = []
    tiny = [k * 5e-324 for k in range(60)]
    for low in [
        *np.abs(random_doubles(2500)).tolist(),
        *tiny,
        2.0**53,
        1.0,
        2.2250738585072009e-308,
    ]:
        high = float(np.nextafter(low, np.inf))
        if high == np.inf:
            continue
        middle = exact.divide(exact.add(Decimal(low), Decimal(high)), Decimal(2))
        text = format(middle, "f")
        below = format(middle.next_minus(exact), "e")
        literals += [
            text,
            f"{middle:e}",
            below,
            text + ("1" if "." in text else ".1"),
            text + ("0" * 900 if "." in text else ""),
        ]
    check(literals)


KNOWN = [
    "0",
    "-0",
    "+0.0",
    "0e999999999999999999999",
    "1e-99999999999999999999",
    "1.",
    ".5",
    "+.5e+1",
    "1e22",
    "1e23",
    "9007199254740993",
    "9007199254740992.5",
    "1e308",
    "1.7976931348623157e308",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "4.9e-324",
    "2.2250738585072011e-308",
]
LONG = ["0." + "0" * 5000 + "1e5000", "1" + "0" * 5000 + "e-5000", "1" * 5000 + "e-4999"]


@pytest.mark.parametrize("literal", KNOWN + LONG)
def test_well_known_hard_ones(literal: str) -> None:
    check([literal, *["0"] * 50])


def test_what_overflows_is_infinite() -> None:
    text = b"1e309\n1e999999999999999999999\n1.7976931348623159e308\n-1e400"
    np.testing.assert_array_equal(read_numbers(text), [np.inf, np.inf, np.inf, -np.inf])


@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("pad", [b"", b"\n" * 60])
@pytest.mark.parametrize(
    "word",
    [
        b"",
        b"+",
        b"-",
        b".",
        b"e5",
        b".e5",
        b"1e",
        b"1e+",
        b"1e-x",
        b"--1",
        b"+-1",
        b"1_0",
        b"0x10",
        b"nan",
        b"inf",
        b"1.2.3",
        b"1,5",
        b" 1",
        b"1 ",
        b"1\x00",
        b"\xd9\xa1",
        b"12345678x",
        b"0.12345678x",
        b"1" * 30 + b"x",
    ],
)
def test_what_is_no_number_is_not_read_as_one(word: bytes, pad: bytes, fields: bool) -> None:
    assert np.isnan(read_numbers(word + b"\n" + pad, fields)[0])


def test_a_character_that_is_no_digit_makes_a_field_no_number() -> None:
    fields = []
    for length in range(1, 21):
        plain = f"{digits(1)}.{digits(length)}"
        fields += [
            f"{sign}{plain[:at]}{other}{plain[at + 1 :]}"
            for sign in ("", "-")
            for at in range(len(plain))
            for other in "/:;,*-+.eEx\0\x80"
        ]
    literal = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
    found = read_numbers("\n".join([*fields, " " * 20]).encode("latin-1"), True)[:-1]
    expected = [float(field) if literal.fullmatch(field) else np.nan for field in fields]
    np.testing.assert_array_equal(found, expected)
