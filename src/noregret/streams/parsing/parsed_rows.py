"""The results of the text parsers: rows, and the lines that could not be parsed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Fault(NamedTuple):
    """A line that was skipped: its place and the error.

    ``row`` is the number of rows of the block before it; line and column count from 1.
    """

    row: int
    line: int
    column: int
    message: str


class Rows(NamedTuple):
    """Sparse rows with increasing positions, and the lines that were skipped.

    ``importances`` is None if all are 1, ``tags`` is None if no row has one, ``bases``
    is None if no row has an initial prediction.
    """

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]
    outcomes: NDArray[np.float64]
    importances: NDArray[np.float64] | None
    lines: NDArray[np.int64]
    tags: list[str] | None
    faults: list[Fault]
    line_count: int
    bases: NDArray[np.float64] | None = None


class Csv(NamedTuple):
    """Rows of a table; the other fields are not valid if ``plain`` is False.

    ``lines`` is None if each line is one row. ``asleep`` counts the NaN, if cells may be empty.
    If ``returns`` is False, there is no carriage return in the text.
    """

    X: NDArray[np.float64]
    outcomes: NDArray[np.float64]
    lines: NDArray[np.int64] | None
    line_count: int
    faults: list[Fault]
    plain: bool
    asleep: int = 0
    returns: bool = True


# Messages for the errors of a line, in the order of noregret_fault_kind in text.h.
MESSAGES = (
    "there is no label: a line to learn from starts with a number",
    "{word} is not a label: write a plain number such as 1, -1 or 0.5",
    "{word} is not a feature: write index:value, the index a whole number from 0 on",
    "feature {word} is out of range: indices go up to 16777215, as all up to the largest have a"
    " place in memory; with hashing (hash=20, --hash 20), only features that occur have one",
    "{word} has no value: write index:value",
    "{word} is not a number: write a plain decimal such as 0.5 or 1e-3",
    "nothing follows the colon: write a number, or leave the colon out",
    "{word} is too large to be squared: scale it down",
    "the values of this line are too large to be squared: scale them down",
    "this is not UTF-8 text: convert the file, for instance with iconv",
    "there is no bar: write label | features",
    "there is a tab before the bar, which would be part of the tag: use blanks",
    "there is a carriage return within the line: end lines with a newline",
    "there is no label: {word} touches the bar, which makes it a tag; put a blank between them",
    "{word} is not an importance: write a number from 0 on",
    "{word} is not an initial prediction: write a number",
    "there is more than a label, an importance, an initial prediction and a tag before the bar:"
    " only simple labels are supported",
    "the scale of a namespace must be a number that follows its name: write |name:0.5",
    "the name of a namespace is longer than 254 bytes: use a shorter one",
    "a feature is called intercept, as the one that is added to every row: rename it, or add none",
)
