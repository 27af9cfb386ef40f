"""Outcomes that are classes: two of them as −1 and +1, or several, numbered as they appear."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadLabel, NoRegretError, Use
from noregret.limits import MAX_CLASSES
from noregret.streams.block import Block, without

# Class names that mean yes.
AFFIRMATIVE = ("yes", "y", "true", "t", "1", "positive", "pos", "spam", "success")
# Values that a message shows, and rows of the first block that it looks at.
MAX_SHOWN, MAX_COUNTED = 3, 1000
DIFFERENT_EVERYWHERE = "is the target a number, or a column that differs in every row?"


def as_two(block: Block, positive: str, negative: str | None) -> Block:
    """Return a block whose outcomes are +1 for the positive class and −1 for others.

    If the negative class is named too, rows with any third value become faults.
    """
    hits = equal_to(block, positive)
    y = np.where(np.isnan(block.y), np.nan, np.where(hits, 1.0, -1.0))
    made = replace(block, y=y, values=None)
    if negative is None:
        return made
    third = np.flatnonzero(block.labelled & ~hits & ~equal_to(block, negative))
    if not len(third):
        return made
    pair = f"{negative!r} and {positive!r}"
    return without(
        made,
        {
            row: BadLabel(f"the outcome is {shown(block, row)}: there are two classes, {pair}")
            for row in third.tolist()
        },
    )


def equal_to(block: Block, value: str) -> NDArray[np.bool_]:
    """Return which outcomes are a value, given as text."""
    if block.values is not None:
        hits = np.array([*(name == value for name in block.values), False], dtype=bool)
        return hits[np.where(block.labelled, block.y, -1).astype(np.intp)]
    wanted = {"true": 1.0, "false": 0.0}.get(value.lower())
    if wanted is None:
        try:
            wanted = float(value)
        except ValueError:
            file = block.place_of(0).file if len(block) else None
            what = f"the positive value {value!r} is text, but outcomes are numbers"
            raise NoRegretError(what, file=file) from None
    return np.asarray(block.y == wanted)


def shown(block: Block, row: int) -> str:
    """Return the outcome of a row for a message."""
    value = block.y[row]
    return f"{value:g}" if block.values is None else repr(block.values[int(value)])


def bases_refused(block: Block) -> NoRegretError:
    """Return the error for initial predictions of anything but a number."""
    assert block.bases is not None
    row = int(np.flatnonzero(block.bases)[0])
    return NoRegretError(
        f"the initial prediction {block.bases[row]:g} can be added to predictions of numbers only",
        (
            "leave it out",
            Use("task", "numbers", "take outcomes as numbers ({})"),
        ),
    ).at(block.place_of(row))


class TextOutcomes(NoRegretError):
    """Outcomes are text where they must be numbers; ``several`` if there are over two."""

    several = False


def text_refused(block: Block, target: str | None, loss: str = "") -> NoRegretError:
    """Return the error for text where outcomes must be numbers; ``loss`` chooses one of classes."""
    cure = "choose the positive class"
    cure += f" and a loss of classes, as in {{}} {loss}" if loss else ", as in {}"
    counts = counted(block)
    listed = " or ".join(map(repr, list(counts)[:MAX_SHOWN]))
    error = TextOutcomes(
        f"the target {target!r} holds text ({listed}, …)",
        Use("positive", likely_positive(counts), cure),
        file=block.place_of(0).file if len(block) else None,
    )
    error.several = len(counts) > 2
    return error


def counted(block: Block, rows: int | None = MAX_COUNTED) -> Counter[str]:
    """Count the values of text outcomes among the first rows, in order of appearance."""
    assert block.values is not None
    codes = block.y[block.labelled][:rows].astype(int)
    return Counter(block.values[code] for code in codes.tolist())


def likely_positive(counts: Counter[str]) -> str:
    """Return the value that is probably meant as positive: one that says yes, or the rarest."""
    if not counts:
        return "VALUE"
    yes = [value for value in counts if value.strip().lower() in AFFIRMATIVE]
    return yes[0] if len(yes) == 1 else min(counts, key=counts.__getitem__)


class ClassNames:
    """The classes of a stream, numbered in order of appearance.

    Parameters
    ----------
    names
        Classes that were seen before.
    """

    def __init__(self, names: Iterable[Any] = ()) -> None:
        self.names = list(names)
        if len(self.names) > MAX_CLASSES or not all(isinstance(n, str | int) for n in self.names):
            raise ValueError("not the names of classes")
        self.numbers = {name: number for number, name in enumerate(self.names)}

    def numbered(self, block: Block) -> Block:
        """Return a block whose outcomes are positions in ``classes``.

        Classes are text, booleans or whole numbers; rows with other numbers become faults.
        """
        faults = {}
        if block.values is None:
            whole = np.abs(block.y) < 2**53
            whole &= np.floor(block.y) == block.y
            for row in np.flatnonzero(block.labelled & ~whole).tolist():
                what = f"the outcome is {block.y[row]:g}: classes are text or whole numbers"
                faults[row] = BadLabel(what)
        if faults:
            block = without(block, faults)
        rows, y = np.flatnonzero(block.labelled), block.y.copy()
        found, first, places = np.unique(y[rows], return_index=True, return_inverse=True)
        numbers = np.zeros(len(found))
        for k in np.argsort(first).tolist():
            numbers[k] = self.number_of(name_of(found[k], block), block, int(rows[first[k]]))
        y[rows] = numbers[places]
        return replace(block, y=y, values=None, classes=self.names)

    def number_of(self, name: Any, block: Block, row: int) -> int:
        """Return the number of a class, the next one for a new class."""
        number = self.numbers.get(name)
        if number is not None:
            return number
        if len(self.names) >= MAX_CLASSES:
            what = f"there are more than {MAX_CLASSES:,} classes"
            raise BadLabel(what, DIFFERENT_EVERYWHERE).at(block.place_of(row))
        self.numbers[name] = number = len(self.names)
        self.names.append(name)
        return number


def name_of(value: float, block: Block) -> Any:
    """Return the name of a class: text, a boolean or a whole number."""
    if block.values is not None:
        return block.values[int(value)]
    return bool(value) if block.booleans else int(value)


def as_text(value: float) -> str:
    """Return a number as options write it."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def as_written(names: Iterable[Any]) -> list[Any]:
    """Return class names as numbers if all of them are numbers, else as they are."""
    names = list(names)
    for kind in (int, float):
        try:
            made = [kind(name) if isinstance(name, str) else name for name in names]
        except ValueError:
            continue
        if [str(number) for number in made] == names:
            return made
    return names
