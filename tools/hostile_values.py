"""Arguments made to do harm, for ``fuzz_core.py``: a seeded choice among a few dozen kinds."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable, Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse

SIZES = (0, 1, 2, 3, 4, 5, 8, 17, 64)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 5e-324, 1e-310, 1e150, -1e200, 1.7e308, -1.7e308)
NOT_FINITE = (float("nan"), float("inf"), float("-inf"))
INTEGERS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    -3,
    127,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32 + 1,
    2**62,
    2**63,
    -(2**63),
)
INDICES = (*range(-3, 6), 16, 100_000, 2_000_000_000, -100_000_000, 2**31 - 1, -(2**31))
DTYPES = (
    "f8",
    "f8",
    "f8",
    "f8",
    "f4",
    "f2",
    "i8",
    "i4",
    "u1",
    "i2",
    "u8",
    "?",
    ">f8",
    ">i4",
    "c16",
)
OTHER_DTYPES = ("O", "U3", "S2", "M8[s]", "m8[s]", "V8")


def number(rng: Random) -> Any:
    """Return a number, ordinary more often than not."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice((rng.gauss(0.0, 1.0), float(rng.randint(-2, 2)), 1.0))
    return rng.choice(NUMBERS if kind < 0.85 else NOT_FINITE)


def array(rng: Random, dims: int | None = None, dtype: str | None = None) -> Any:
    """Return an array of some shape, type and place in memory."""
    if dims is None:
        dims = rng.choice((0, 1, 1, 1, 2, 2, 2, 3))
    shape = tuple(rng.choice(SIZES[:7]) for _ in range(dims))
    kind = dtype or rng.choice(DTYPES if rng.random() < 0.9 else OTHER_DTYPES)
    odd = rng.random() < 0.3
    count = int(np.prod(shape))
    if kind in OTHER_DTYPES:
        return np.zeros(shape, kind)
    source = NUMBERS + NOT_FINITE if odd else (0.0, 1.0, -1.0, 0.25)
    with np.errstate(all="ignore"):
        made = np.array([rng.choice(source) for _ in range(count)], "f8").reshape(shape)
        made = made.astype(kind)
    return placed(rng, made)


def placed(rng: Random, made: Any) -> Any:  # noqa: PLR0911  (a way each)
    """Return an array moved: strided, reversed, read-only, out of line, spread out, or as it is."""
    way = rng.randrange(12)
    if way == 0:
        return np.repeat(made, 2, axis=0)[::2] if made.ndim else made
    if way == 1:
        return made[::-1] if made.ndim else made
    if way == 2:
        made.flags.writeable = False
    elif way == 3:
        raw = np.zeros(made.nbytes + 1, np.uint8)
        moved = raw[1:].view(made.dtype)[: made.size].reshape(made.shape)
        moved[...] = made
        return moved
    elif way == 4 and made.ndim:
        return np.broadcast_to(made[:1], made.shape) if len(made) else made
    elif way == 5:
        return np.asfortranarray(made)
    elif way == 6:
        return memoryview(made) if made.dtype.kind in "fiu" else made
    elif way == 7:
        return np.ma.masked_array(made, mask=np.zeros(made.shape, bool))
    return made


def positions(rng: Random, dtype: str | None = None) -> Any:
    """Return indices: mostly in order, sometimes far outside or not in order."""
    count = rng.choice(SIZES[:7])
    good = rng.random() < 0.5
    made = [k if good else rng.choice(INDICES) for k in range(count)]
    return np.array(made, "i8").astype(dtype or rng.choice(("i4", "i8", "i4", "u4")))


def starts(rng: Random) -> Any:
    """Return where rows begin, or what is no such thing."""
    steps = [rng.choice((0, 1, 2, 3)) for _ in range(rng.choice(SIZES[:6]))]
    made = np.concatenate([[0], np.cumsum(steps)]).astype("i8")
    if rng.random() < 0.4 and len(made):
        made[rng.randrange(len(made))] = rng.choice((-1, 2**40, -(2**62), 7, 2**63 - 1))
    return made[: rng.choice((0, len(made), len(made)))]


def sparse(rng: Random) -> Any:
    """Return a sparse matrix, of which parts may have been replaced after it was made."""
    rows, columns = rng.choice(SIZES[1:5]), rng.choice(SIZES[1:6])
    made = scipy.sparse.random(
        rows, columns, 0.6, "csr", rng=np.random.default_rng(rng.getrandbits(32))
    )
    if rng.random() < 0.3:
        return made.asformat(rng.choice(("csc", "coo", "lil", "dok", "bsr")))
    for part, values in (
        ("indices", positions(rng)),
        ("indptr", starts(rng)),
        ("data", array(rng, 1)),
    ):
        if rng.random() < 0.3:
            if rng.random() < 0.5 and part != "data" and len(getattr(made, part)):
                getattr(made, part)[rng.randrange(len(getattr(made, part)))] = rng.choice(INDICES)
            else:
                setattr(made, part, values)
    if rng.random() < 0.2:
        made._shape = (rng.choice((0, rows, 2**31, 5)), rng.choice((0, columns, 2**31 - 1, 2**33)))
    if rng.random() < 0.5:
        made.has_canonical_format = True
    return SparseLiar(rng, made) if rng.random() < 0.2 else made


class SparseLiar:
    """Something that says it is sparse, and has other parts at every look."""

    def __init__(self, rng: Random, real: Any) -> None:
        self.rng, self.real, self.shape, self.ndim = rng, real, real.shape, 2

    def tocsr(self) -> Any:
        """Return parts that fit no matrix."""
        return SimpleNamespace(
            indptr=starts(self.rng),
            indices=positions(self.rng),
            data=array(self.rng, 1),
            shape=(self.rng.choice(SIZES), self.rng.choice((*SIZES, 2**40, -1))),
            has_canonical_format=True,
            ndim=2,
        )


class Liar:
    """A sequence whose length, items and numbers do not agree."""

    def __init__(self, rng: Random, act: Callable[[], object]) -> None:
        self.rng, self.act = rng, act

    def __len__(self) -> int:
        return self.rng.choice((0, 1, 3, 10**6))

    def __getitem__(self, key: Any) -> Any:
        self.act()
        if isinstance(key, int) and key > 20:
            raise IndexError
        return number(self.rng)

    def __float__(self) -> float:
        self.act()
        return float(number(self.rng))

    def __index__(self) -> int:
        self.act()
        return int(self.rng.choice(INTEGERS))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.act()
        return np.asarray(array(self.rng, self.rng.choice((1, 2)), "f8"))

    def __iter__(self) -> Iterator[Any]:
        self.act()
        return iter([number(self.rng) for _ in range(self.rng.choice((0, 2, 5)))])

    def keys(self) -> list[Any]:
        """Return names that change."""
        self.act()
        return [self.rng.choice(("a", "b", "c", 3)) for _ in range(3)]


def example(rng: Random, act: Callable[[], object]) -> Any:
    """Return one named example."""
    made: dict[Any, Any] = {}
    for _ in range(rng.choice((0, 1, 2, 3, 40))):
        name: Any = rng.choice(("a", "b", "c", "d", "", "é", f"n{rng.randrange(99)}"))
        if rng.random() < 0.05:
            name = rng.choice((1, None, ("a",), "\ud800", b"a"))
        value = number(rng) if rng.random() < 0.8 else scalar(rng)
        made[name] = Liar(rng, act) if rng.random() < 0.05 else value
    return made


def scalar(rng: Random) -> Any:
    """Return one thing that may or may not be a number."""
    choices: tuple[Any, ...] = (
        None, True, False, "", "1.0", "x" * 70, b"bytes", "\ud800", 1j, object(), (), [], {},
        decimal.Decimal("1e400"), decimal.Decimal("NaN"), fractions.Fraction(1, 3),
        datetime.date(2000, 1, 1), np.float32(1.5), np.float64("nan"), np.int64(3), np.bool_(True),
        np.str_("a"), np.datetime64("2000-01-01"), 10**400, -(10**30), range(3), type, len,
    )  # fmt: skip
    kind = rng.random()
    if kind < 0.4:
        return number(rng)
    return rng.choice(INTEGERS) if kind < 0.6 else rng.choice(choices)


def anything(rng: Random, act: Callable[[], object]) -> Any:  # noqa: PLR0911  (a kind each)
    """Return an argument of any kind; ``act`` is what objects with code of their own run."""
    kind = rng.randrange(22)
    if kind < 7:
        return array(rng)
    if kind < 9:
        return array(rng, rng.choice((1, 2)), "f8")
    if kind == 9:
        return positions(rng)
    if kind == 10:
        return starts(rng)
    if kind < 13:
        return sparse(rng)
    if kind == 13:
        return Liar(rng, act)
    if kind == 14:
        return example(rng, act)
    if kind == 15:
        return [example(rng, act) for _ in range(rng.choice((0, 1, 3)))]
    if kind == 16:
        return [[number(rng) for _ in range(rng.choice((1, 2, 3)))] for _ in range(3)]
    if kind == 17:
        return iter([(example(rng, act), number(rng)) for _ in range(3)])
    return scalar(rng)


LINES = {
    "svmlight": [b"1 1:0.5 3:2\n", b"-1 2:1e3 7:-0.25\n", b"0.5 16777215:1\n", b"1 0:1 1:1 # x\n"],
    "vw": [b"1 |f a:1 b:2 c\n", b"-1 2.0 'tag|x y:0.5\n", b"1 | a b c d e f\n", b"|z q\n"],
    "csv": [b"a,b,y\n", b"1,2,3\n", b'"x",2.5,-1\n', b"1e5,,0\n"],
    "jsonl": [b'{"a": 1, "y": 2}\n', b'{"a": "u", "y": 0}\n', b'{"a": [1, {"b": 2}], "y": 1}\n'],
}


def text(rng: Random, kind: str | None = None) -> bytes:
    """Return lines of a format with bytes changed, doubled and left out."""
    lines = LINES[kind or rng.choice(list(LINES))]
    made = bytearray(b"".join(rng.choice(lines) for _ in range(rng.choice((1, 2, 5, 40)))))
    for _ in range(rng.choice((0, 1, 1, 3, 20))):
        at = rng.randrange(len(made) + 1)
        way = rng.randrange(4)
        if way == 0:
            made[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 1:
            made[at:at] = made[: rng.randrange(1 + min(64, len(made)))]
        elif way == 2:
            del made[at : at + rng.randrange(1, 9)]
        else:
            made[at:at] = rng.choice(
                (b"1e999", b"-" * 30, b"9" * 400, b":", b"|", b"\xff\xfe", b"\0", b"nan")
            )
    return bytes(made)
