"""A bound on the features of a column of names, such as ids.

The first ``MAX_VALUES`` different values of a column are features of their own. Later ones share
the features ``column=#slot`` by hash. A column becomes so at a certain row, whatever the blocks in
which rows are read, and certificates name it (``many-values=column``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.errors import Use, tell
from noregret.streams.parsing.vocabulary import hash_name

if TYPE_CHECKING:
    from noregret.streams.columns import Category, Table
    from noregret.streams.options import Options
    from noregret.streams.parsing.vocabulary import Vocabulary

# Different values of a column that become features of their own, and the base-2 logarithm of the
# number of features that all later ones share.
MAX_VALUES, SLOT_BITS = 1 << 18, 16
# Values that keep their names: gaps, and those that look like a slot.
OWN_NAME = re.compile(r"missing|#\d+")


class ManyValues:
    """The columns whose later values share features, found as rows arrive.

    Parameters
    ----------
    learning
        Whether the values of rows count; otherwise only columns that have many already share.
    """

    def __init__(self, learning: bool, where: str) -> None:
        self.where = where
        self.columns: list[str] = []  # those in which values share features, in order
        self.counts: Counter[str] = Counter()  # of names, by the part before the first "="
        self.counted = 0  # names of the vocabulary
        self.start(learning)

    def start(self, learning: bool) -> None:
        """Begin with other rows, which are learned or not."""
        self.learning = learning
        self.size: int | None = None  # of the vocabulary before rows that are not learned

    def resume(self, columns: Iterable[str]) -> None:
        """Continue a pass in which some columns shared features."""
        self.columns = list(columns)

    def room(self, column: str, options: Options, vocabulary: Vocabulary, new: int) -> int | None:
        """Return how many more values may have features of their own; None without a bound.

        ``new`` is the number of features that may become known with the next rows.
        """
        if not self.learning and self.size is None:
            self.size = len(vocabulary)
        size = len(vocabulary) if self.learning or self.size is None else self.size
        if vocabulary.bits is not None or size + new <= MAX_VALUES or "=" in column:
            return None
        if not options.sniff and column not in options.many_values:
            return None
        if self.counted > size:  # some were forgotten
            self.counted = 0
            self.counts.clear()
        if self.counted < size:
            names = vocabulary.names(self.counted, size)
            parts = (name.partition("=") for name in names if "=" in name)
            self.counts.update(first for first, _, value in parts if value != "missing")
            self.counted = size
        return max(0, MAX_VALUES - self.counts[column])

    def name_of(self, value: str, column: str, options: Options, vocabulary: Vocabulary) -> str:
        """Return the feature of one value, before its row is learned."""
        name = f"{column}={value}"
        if self.room(column, options, vocabulary, 0) != 0 or OWN_NAME.fullmatch(value):
            return name
        if vocabulary.positions([name])[0] >= 0:
            return name
        return f"{column}={self.slots_of(column, [value])[0]}"

    def shared(
        self, table: Table, options: Options, vocabulary: Vocabulary, learned: NDArray[np.bool_]
    ) -> Table:
        """Return a table in which values beyond the bound have the names of their slots."""
        if not table.categories or vocabulary.bits is not None:
            return table
        made = [self.bounded(each, options, vocabulary, learned) for each in table.categories]
        return table._replace(categories=made)

    def bounded(
        self,
        category: Category,
        options: Options,
        vocabulary: Vocabulary,
        learned: NDArray[np.bool_],
    ) -> Category:
        """Return a column in which values beyond the bound have the names of their slots."""
        new = len(category.values) if self.learning else 0
        room = None if category.derived else self.room(category.name, options, vocabulary, new)
        if room is None or (room > 0 and not self.learning):
            return category
        unknown = np.flatnonzero(vocabulary.positions(category.features()) < 0)
        rows = len(learned)
        first = np.full(len(category.values) + 1, rows)
        there = np.flatnonzero(learned)[::-1]  # backwards, as the last assignment wins
        first[category.codes[there]] = there
        order = unknown[np.argsort(first[unknown], kind="stable")]
        # Values of rows that are only predicted come last, and share if all rows have been counted.
        admitted = int((first[order] < rows).sum())
        beyond = order[room:].tolist() if admitted >= room else []
        late = [code for code in beyond if not OWN_NAME.fullmatch(category.values[code])]
        if not late:
            return category
        values = list(category.values)
        slots = self.slots_of(category.name, [values[code] for code in late])
        for code, slot in zip(late, slots, strict=True):
            values[code] = slot
        return category._replace(values=values)

    def slots_of(self, column: str, values: Sequence[str]) -> list[str]:
        """Return the slots of some values of a column; say so the first time."""
        if column not in self.columns:
            self.columns.append(column)
            tell(
                f"column {column!r} has more than {MAX_VALUES:,} different values: further ones"
                f" share {1 << SLOT_BITS:,} features, so that memory is bounded",
                (
                    Use("drop", column, "leave the column out with {} if it holds ids"),
                    Use("hash", 20, "hash all features with {}"),
                ),
                file=self.where,
            )
        return [f"#{hash_name(f'{column}={value}') % (1 << SLOT_BITS)}" for value in values]

    def named(self, options: Options) -> tuple[str, ...]:
        """Return the columns as certificates name them."""
        return (*options.many_values, *(c for c in self.columns if c not in options.many_values))
