"""Where quoted text may be cut: a line end inside a quoted value ends no line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

QUOTE = ord('"')
Places = NDArray[np.int64]


class Quotes:
    """Whether a quoted value is open, as text goes by in blocks.

    A quote opens a value only where one begins: after a delimiter or a line end. Elsewhere in a
    value without quotes it is a letter as any other.

    Parameters
    ----------
    delimiter
        What stands between values.
    """

    def __init__(self, delimiter: bytes) -> None:
        self.before_values = np.frombuffer(delimiter + b"\r\n", dtype=np.uint8)
        self.inside = False
        self.last = ord("\n")  # the byte before the block
        self.closed = False  # whether that ended a quoted value

    def last_cut(self, block: bytes) -> int:
        """Return where the last line of the next block ends that can be cut, 0 if none does."""
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
        before = np.concatenate([[self.last], text])[quotes]
        first = int(self.inside)  # of those that open a value, where all is regular
        opening = before[first::2]
        regular = np.isin(opening, self.before_values) | (opening == QUOTE)
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

    def one_by_one(self, quotes: Places, before: Places) -> tuple[Places, Places]:
        """Do the same where some quotes are letters."""
        opens: list[int] = []
        closes: list[int] = []
        inside, closed = self.inside, -1 if self.closed else -2
        starts = np.isin(before, self.before_values).tolist()
        for at, starts_value in zip(quotes.tolist(), starts, strict=True):
            if inside:
                closes.append(at)
                inside, closed = False, at
            elif starts_value or closed == at - 1:  # a doubled quote stands for one, and goes on
                opens.append(at)
                inside = True
        return np.array(opens, dtype=np.int64), np.array(closes, dtype=np.int64)
