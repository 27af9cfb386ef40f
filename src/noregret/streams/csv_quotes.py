"""Quotes in CSV: where text may be split, and which quotes are ordinary characters.

If values may span several lines, a line end inside a quoted value does not end the row.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import Use, tell

QUOTE = ord('"')
Places = NDArray[np.int64]


class Quotes:
    """Tracks whether a quoted value is open, over consecutive blocks of text.

    A quote opens a value only at its start, after a delimiter or a line end. Anywhere else in an
    unquoted value it is an ordinary character.

    Parameters
    ----------
    delimiter
        The delimiter between values.
    """

    def __init__(self, delimiter: bytes) -> None:
        self.before_values = np.zeros(256, dtype=bool)  # by byte: not isin, which imports numpy.ma
        self.before_values[list(delimiter + b"\r\n")] = True
        self.inside = False
        self.last = ord("\n")  # the byte before the block
        self.closed = False  # whether that ended a quoted value

    def last_cut(self, block: bytes) -> int:
        """Return the last line end in the next block at which it can be split, or 0."""
        was_inside = self.inside
        opens, closes = self.values_in(block)
        if was_inside:
            opens = np.insert(opens, 0, -1)
        end = int(opens[-1]) if self.inside else len(block)
        while end > 0:
            end = block.rfind(b"\n", 0, end) + 1
            k = int(np.searchsorted(opens, end - 1)) - 1
            if k < 0 or k >= len(closes) or closes[k] < end - 1:
                return end
            end = int(opens[k])
        return 0

    def values_in(self, block: bytes) -> tuple[Places, Places]:
        """Return where quoted values open and close in a block, and remember how it ends."""
        text = np.frombuffer(block, dtype=np.uint8)
        quotes = np.flatnonzero(text == QUOTE)
        before = text[quotes - 1]
        if len(quotes) and quotes[0] == 0:
            before[0] = self.last
        first = int(self.inside)  # the first opening quote, if quotes alternate
        opening = before[first::2]
        regular = self.before_values[opening] | (opening == QUOTE)
        if not self.inside and len(quotes) and quotes[0] == 0 and self.last == QUOTE:
            regular[0] = self.closed
        if regular.all():
            opens, closes = quotes[first::2], quotes[1 - first :: 2]
        else:
            opens, closes = self.one_by_one(quotes, before)
        last = len(block) - 1
        self.closed = bool(len(closes) and closes[-1] == last)
        self.inside = len(opens) + self.inside > len(closes)
        self.last = block[-1]
        return opens, closes

    def one_by_one(self, quotes: Places, before: NDArray[np.uint8]) -> tuple[Places, Places]:
        """Do the same if some quotes are ordinary characters."""
        opens: list[int] = []
        closes: list[int] = []
        inside, closed = self.inside, -1 if self.closed else -2
        starts = self.before_values[before].tolist()
        for at, starts_value in zip(quotes.tolist(), starts, strict=True):
            if inside:
                closes.append(at)
                inside, closed = False, at
            elif starts_value or closed == at - 1:  # a doubled quote stands for one, and goes on
                opens.append(at)
                inside = True
        return np.array(opens, dtype=np.int64), np.array(closes, dtype=np.int64)


def with_letters_quoted(text: bytes, delimiter: bytes, some_quote: bool) -> bytes:
    """Return text in which every value that begins with a quote is a quoted value.

    With ``some_quote``, a value that is closed on its line, before a delimiter or the line end, is
    left alone. In all others the quotes are ordinary characters: they are doubled, and the value is
    put in quotes. The lines stay the same.
    """
    if b'"' not in text:
        return text

    def quoted(found: re.Match[bytes]) -> bytes:
        whole = found.group()
        letters = not some_quote or found.group(1) is None
        return b'"' + whole.replace(b'"', b'""') + b'"' if letters else whole

    return beginnings(delimiter, some_quote).sub(quoted, text)


@cache
def beginnings(delimiter: bytes, some_quote: bool) -> re.Pattern[bytes]:
    """Return a pattern for values that begin with a quote; group 1 is a properly quoted one."""
    mark = re.escape(delimiter)
    starts = rb"(?:(?<=%b)|(?<=\n)|\A)" % mark
    closed = rb'("[^"\r\n]*+(?:""[^"\r\n]*+)*+"(?=%b|[\r\n]|\Z))|' % mark if some_quote else b""
    return re.compile(rb'%b(?:%b"[^\r\n%b]*+)' % (starts, closed, mark))


class Joined(NamedTuple):
    """Quoted values whose lines could all be rows, perhaps joined by a stray quote.

    ``first`` and ``last`` are the lines of the first such value; ``lines`` counts the lines that
    were joined to an earlier row, over all such values.
    """

    first: int
    last: int
    lines: int

    def tell(self, path: str, before: int) -> None:
        """Warn about them; ``before`` is the number of lines before the text."""
        first, last = before + self.first, before + self.last
        more = self.lines - (last - first)
        others = f", and quotes join at least {more:,} more lines" if more else ""
        tell(
            f"lines {first} to {last} were read as one row, because a quote opens in line {first}"
            f" and closes in line {last}, but each of them looks like a row{others}",
            (
                Use("quotes", "line", "if quoted values end on their line, use {}"),
                Use("quotes", "none", "if quotes are ordinary characters, {}"),
            ),
            file=path,
        )


def lines_that_look_like_rows(text: bytes, delimiter: bytes, columns: int) -> Joined | None:
    """Return the multi-line quoted values whose lines all have delimiters for every column."""
    opens, closes = Quotes(delimiter).values_in(text)
    letters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    count = min(len(opens), len(closes))
    first, last = np.searchsorted(ends, opens[:count]), np.searchsorted(ends, closes[:count])
    spans = np.flatnonzero(last > first)
    if not len(spans):
        return None
    marks = np.flatnonzero(letters == delimiter[0])
    per_line = np.diff(np.searchsorted(marks, ends), prepend=0, append=len(marks))
    odd = [k for k in spans.tolist() if per_line[first[k] : last[k] + 1].min() >= columns - 1 > 0]
    if not odd:
        return None
    lines = int((last[odd] - first[odd]).sum())
    return Joined(int(first[odd[0]]) + 1, int(last[odd[0]]) + 1, lines)
