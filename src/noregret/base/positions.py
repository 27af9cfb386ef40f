"""Names of columns as features, generated on demand because there may be millions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload


class Positions(Sequence[str]):
    """The names "0", "1", …, after a few given names.

    Parameters
    ----------
    size
        The total number of names.
    first
        The names that come first, such as that of an intercept.

    Examples
    --------
    >>> names = Positions(4, ["intercept"])
    >>> list(names), names.at("2"), names.at("3")
    (['intercept', '0', '1', '2'], 3, None)
    """

    def __init__(self, size: int, first: Sequence[str] = ()) -> None:
        self.first = tuple(first[:size])
        self.size = size

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self.size))]
        place = range(self.size)[at]
        return self.first[place] if place < len(self.first) else str(place - len(self.first))

    def at(self, name: str) -> int | None:
        """Return the position of a name, or None."""
        if name in self.first:
            return self.first.index(name)
        if not (name.isascii() and name.isdigit() and len(name) < 20):
            return None
        place = int(name) + len(self.first)
        return place if place < self.size and name == str(int(name)) else None
