"""Columns of free text as counts of words and of pairs of neighbouring words.

The word “good” in the column ``comment`` is the feature ``comment:good``, the words “not good” are
``comment:not good`` besides. Words are sequences of letters and digits in lower case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.streams.block import Floats, Sparse

if TYPE_CHECKING:
    from noregret.streams.parsing.vocabulary import Vocabulary

# Different words and pairs of a column that become features, in order of appearance: frequent ones
# are among them. Others are left out, so that memory is bounded.
MAX_WORDS = 1 << 18
# Values are free text if they differ in this share of the rows and have this many words on average,
# or if they have many words. Fewer values than MIN_VALUES decide nothing.
MIN_DISTINCT, MIN_MEAN_WORDS, MANY_WORDS = 0.5, 3.0, 8.0
MIN_VALUES, SAMPLE_VALUES = 20, 1_000
ASCII_WORD = re.compile("[a-z0-9]+")
NO_WORD = r"[^\pL\pM\pN]+"


class Bag(NamedTuple):
    """The words of a column: those of row r are ``codes[starts[r]:starts[r + 1]]``."""

    name: str
    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: Floats
    features: list[str]
    missing: NDArray[np.bool_]
    mark: str = ":"  # between its name and a word

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.missing)), np.diff(self.starts))

    def kept(self, keep: NDArray[np.bool_]) -> Bag:
        """Return the bag of some of the rows."""
        here = keep[self.rows]
        starts = np.append(0, np.cumsum(np.diff(self.starts)[keep]))
        return self._replace(
            starts=starts,
            codes=self.codes[here],
            counts=self.counts[here],
            missing=self.missing[keep],
        )

    def new_features(self, vocabulary: Vocabulary) -> dict[str, int]:
        """Return the features that have no position yet, with the row of their first appearance.

        Those beyond ``MAX_WORDS`` of the column, in the order of appearance, are left out.
        """
        first, rows = self.first_rows(), len(self.missing)
        hashed = vocabulary.bits is not None  # all are passed on, so that collisions are counted
        unknown = np.flatnonzero(
            (hashed | (vocabulary.positions(self.features) < 0)) & (first < rows)
        )
        new = {self.features[code]: int(first[code]) for code in unknown.tolist()}
        order = sorted(new, key=lambda name: (new[name], name))
        return {
            name: new[name]
            for name in order[: room_for(self.name + self.mark, len(new), vocabulary)]
        }

    def added_to(self, rows: Sparse, places: NDArray[np.int32]) -> Sparse:
        """Return rows with the words at their places; what falls in one place is added up."""
        at = places[self.codes]
        there = at >= 0
        before = np.repeat(np.arange(len(self.missing)), np.diff(rows.starts))
        owners = np.concatenate([before, self.rows[there]])
        indices = np.concatenate([rows.indices, at[there]])
        data = np.concatenate([rows.data, self.counts[there]])
        order = np.lexsort((indices, owners))
        owners, indices, data = owners[order], indices[order], data[order]
        fresh = np.append(True, (np.diff(owners) > 0) | (np.diff(indices) > 0))[: len(data)]
        sums = np.add.reduceat(data, np.flatnonzero(fresh)) if len(data) else data
        starts = np.searchsorted(owners[fresh], np.arange(len(self.missing) + 1))
        return Sparse(starts, indices[fresh], sums)

    def first_rows(self) -> NDArray[np.int64]:
        """Return the row in which each feature first appears; the number of rows if in none."""
        first = np.full(len(self.features), len(self.missing))
        first[self.codes[::-1]] = self.rows[::-1]  # the last assignment wins
        return first


def is_free_text(values: Sequence[Any]) -> bool:
    """Return whether the first of some values are sentences rather than names."""
    there = [value for value in values[:SAMPLE_VALUES] if isinstance(value, str) and value.strip()]
    if len(there) < MIN_VALUES:
        return False
    words = sum(len(value.split()) for value in there) / len(there)
    distinct = len(set(there)) / len(there)
    return words >= MANY_WORDS or (words >= MIN_MEAN_WORDS and distinct > MIN_DISTINCT)


def room_for(start: str, new: int, vocabulary: Vocabulary) -> int:
    """Return how many of some new words, whose names start alike, may become features."""
    if vocabulary.bits is not None or len(vocabulary) + new <= MAX_WORDS:
        return new
    taken = sum(word.startswith(start) for word in vocabulary.names())
    return min(new, max(0, MAX_WORDS - taken))


def words_of(text: str, name: str, vocabulary: Vocabulary) -> dict[str, float]:
    """Return the counts of the words of one text by feature."""
    if text.isascii():  # Arrow takes a hundred times as long for a single text
        words = ASCII_WORD.findall(text.lower())
        counts = Counter([*words, *map(" ".join, pairwise(words))])
        if vocabulary.bits is not None or len(vocabulary) + len(counts) <= MAX_WORDS:
            return {f"{name}:{word}": float(count) for word, count in counts.items()}
    import pyarrow as pa

    bag = bag_of(pa.array([text]), name)
    new = bag.new_features(vocabulary)
    known = vocabulary.positions(bag.features) >= 0
    return {
        bag.features[k]: n
        for k, n in zip(bag.codes.tolist(), bag.counts.tolist(), strict=True)
        if known[k] or bag.features[k] in new
    }


def bag_of(column: Any, name: str) -> Bag:
    """Count the words of an Arrow column of text, and the pairs of neighbours."""
    import pyarrow as pa
    from pyarrow import compute

    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.string())
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = compute.fill_null(column.cast(pa.large_string()), "")
    split = compute.split_pattern_regex(compute.utf8_lower(texts), NO_WORD)
    words = split.flatten().dictionary_encode()
    codes = words.indices.to_numpy().astype(np.int64)
    names = words.dictionary.to_pylist()
    rows = np.repeat(np.arange(len(texts)), np.diff(split.offsets.to_numpy()))
    if "" in names:  # before the first word, or after the last
        there = codes != names.index("")
        codes, rows = codes[there], rows[there]
    together = rows[1:] == rows[:-1]
    pairs, which = np.unique(
        codes[:-1][together] * len(names) + codes[1:][together], return_inverse=True
    )
    first, second = np.divmod(pairs, max(1, len(names)))
    features = [f"{name}:{word}" for word in names]
    features += [f"{name}:{names[a]} {names[b]}" for a, b in zip(first, second, strict=True)]
    rows = np.concatenate([rows, rows[1:][together]])
    codes = np.concatenate([codes, which + len(names)])
    entries, counts = np.unique(rows * max(1, len(features)) + codes, return_counts=True)
    rows, codes = np.divmod(entries, max(1, len(features)))
    starts = np.searchsorted(rows, np.arange(len(texts) + 1))
    return Bag(
        name,
        starts,
        codes,
        counts.astype(float),
        features,
        compute.equal(texts, "").to_numpy(False),
    )
