"""Names of columns as features, generated on demand because there may be millions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import overload


class Names(Sequence[str]):
    """Names by position, each computed when it is looked up.

    Parameters
    ----------
    size
        The number of names.
    name
        Returns the name of a position.
    """

    def __init__(self, size: int, name: Callable[[int], str]) -> None:
        self.size, self.name = size, name

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self.name(i) for i in range(*at.indices(self.size))]
        return self.name(range(self.size)[at])


class Positions(Names):
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
    >>> names.names_of([0, 3])
    ['intercept', '2']
    """

    def __init__(self, size: int, first: Sequence[str] = ()) -> None:
        self.first = tuple(first[:size])
        super().__init__(size, partial(name_after, self.first))

    def at(self, name: str) -> int | None:
        """Return the position of a name, or None."""
        if name in self.first:
            return self.first.index(name)
        if not (name.isascii() and name.isdigit() and len(name) < 20):
            return None
        place = int(name) + len(self.first)
        return place if place < self.size and name == str(int(name)) else None

    def names_of(self, places: Iterable[int]) -> list[str]:
        """Return the names of positions, faster than one by one."""
        first = self.first
        given = len(first)
        return [first[place] if place < given else str(place - given) for place in places]


def name_after(first: tuple[str, ...], place: int) -> str:
    """Return the name of a position: one of the first names, or a number."""
    return first[place] if place < len(first) else str(place - len(first))
