"""The first step of a job by key: workers read parts of files, and write their rows by bucket.

A bucket is a share of the keys, which the text of each key tells.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import Place
from noregret.proof.game.grouping import GroupKeys
from noregret.scale.parts import Data, located
from noregret.scale.row_files import Stored, as_text, moved, rows_in, write
from noregret.streams.block import Block, Fault, Floats, Sparse
from noregret.streams.coded_tags import CodedTags
from noregret.streams.last_positions import LastPositions
from noregret.streams.source import Part

# Bytes of input per bucket, and the fewest and most buckets.
BUCKET_BYTES, MIN_BUCKETS, MAX_BUCKETS = 1 << 23, 8, 256


@dataclass(frozen=True)
class Splitting:
    """The first step for one part: read it, and write its rows by bucket to a file.

    ``tagged`` if the values that rows pass on are kept with them.
    """

    data: Data
    part: Part
    columns: tuple[str, ...]
    buckets: int
    tagged: bool
    file: str

    def __str__(self) -> str:
        return self.data.words(self.part)


def bucket_count(size: int) -> int:
    """Return the number of buckets for so many bytes of input."""
    return min(MAX_BUCKETS, max(MIN_BUCKETS, size // BUCKET_BYTES))


def bucket_of(key: Any, buckets: int) -> int:
    """Return the bucket of a key."""
    return zlib.crc32(json.dumps(key).encode()) % buckets


def split(task: Splitting) -> list[Fault]:
    """Read a part and write its rows by bucket; return rows that cannot be used.

    Each of these has the number of rows before it. The facts in the file are how many they are,
    the names of features that the part adds, and its classes; the last dates in it, and those
    before it that gaps in it were filled with.
    """
    blocks = list[Block]()
    keys, found = GroupKeys(task.columns), list[NDArray[np.int64]]()
    faults, rows = list[Fault](), 0
    names: list[Any] = []
    era, before = 0, 0  # keys get other numbers if there are very many
    with task.data.read(task.part) as reading:
        known = len(reading.vocabulary)
        start = dict(reading.columns_state().get("positions", {}))
        for each in reading:
            seen = keys.names
            codes, block = keys.of(each)
            if keys.era != era:
                names, before, era = [*names, *seen], before + len(seen), keys.era
            faults += [Fault(rows + fault.row, fault.error) for fault in block.faults]
            rows += len(block)
            blocks.append(block)
            found.append(codes + before)
    names += keys.names
    for fault in faults:
        located(fault.error.with_traceback(None), task.data, task.part)
    bucket_of_key = np.array([bucket_of(key, task.buckets) for key in names], dtype=np.int64)
    codes = np.concatenate([np.zeros(0, np.int64), *found])
    buckets = bucket_of_key[codes]
    order = np.argsort(buckets.astype(np.uint8), kind="stable")  # which is a radix sort
    # Keys are numbered within their bucket.
    sorted_keys = np.argsort(bucket_of_key, kind="stable")
    key_spans = np.searchsorted(bucket_of_key[sorted_keys], np.arange(task.buckets + 1))
    number = np.empty(len(names), np.int64)
    number[sorted_keys] = np.arange(len(names)) - key_spans[bucket_of_key[sorted_keys]]
    texts = [
        json.dumps([names[key] for key in sorted_keys[start:stop].tolist()]).encode()
        for start, stop in zip(key_spans[:-1].tolist(), key_spans[1:].tolist(), strict=True)
    ]
    arrays = rows_in(blocks, order) | {
        "order": order,
        "spans": np.searchsorted(buckets[order], np.arange(task.buckets + 1)),
        "codes": number[codes][order],
        "keys": np.frombuffer(b"".join(texts), dtype=np.uint8),
        "key_spans": np.cumsum([0, *map(len, texts)]),
        "y": np.concatenate([np.zeros(0), *(block.y for block in blocks)])[order],
    }
    if task.tagged:
        arrays |= tags_of(blocks)
    dates = getattr(reading, "positions", None) or LastPositions()
    write(
        task.file,
        arrays,
        faults=len(faults),
        names=reading.vocabulary.names(known),
        classes=[] if reading.classes is None else list(reading.classes.names),
        booleans=any(block.booleans for block in blocks),
        positions={name: dates.last[name] for name in sorted(dates.own)},
        borrowed={name: start.get(name) for name in sorted(dates.borrowed)},
        transforms=reading.transforms,
    )
    return faults


def tags_of(blocks: list[Block]) -> dict[str, NDArray[Any]]:
    """Return the tags that occur, and the number of each row's."""
    numbers, codes = dict[str, int](), [np.zeros(0, np.int64)]
    for block in blocks:
        tags: Sequence[str] = block.tags or []
        where: Any = slice(None)
        if isinstance(tags, CodedTags):
            _, first, where = np.unique(tags.codes, return_index=True, return_inverse=True)
            tags = [tags[row] for row in first.tolist()]
        found = [numbers.setdefault(tag, len(numbers)) for tag in tags]
        codes.append(np.array(found, dtype=np.int64)[where])
    return {"tags": as_text(list(numbers)), "tag_codes": np.concatenate(codes)}


def keys_of(text: NDArray[np.uint8]) -> list[Any]:
    """Return keys that were written as text."""
    keys = json.loads(text.tobytes())
    return [tuple(key) if isinstance(key, list) else key for key in keys]


class KeyTexts:
    """The keys of a bucket in one part, as ``CodedTags`` takes them."""

    def __init__(self, keys: Sequence[Any]) -> None:
        self.keys, self.count = keys, len(keys)

    def cells(self, code: int) -> list[Any]:
        """Return the values that a key is made of."""
        key = self.keys[code]
        return list(key) if isinstance(key, list) else [key]

    def all_cells(self, first: int) -> list[list[Any]]:
        """Return the values of all keys from one on."""
        return list(map(self.cells, range(first, self.count)))

    def single_cells(self, first: int) -> list[str] | None:
        """Return all keys from one on, if they are texts."""
        found = list(self.keys[first:])
        return found if all(type(key) is str for key in found) else None


def bucket_rows(
    part: Stored, bucket: int, places: NDArray[np.int32], known: int
) -> tuple[Block, NDArray[np.int64]]:
    """Return the rows of a bucket in one part, and their numbers in it.

    The first ``known`` features have the same positions in every part; ``places`` has those of the
    others.
    """
    start, stop = part["spans"][bucket : bucket + 2].tolist()
    first, last = part["key_spans"][bucket : bucket + 2].tolist()
    keys: Any = KeyTexts(json.loads(part["keys"][first:last].tobytes()))
    rows = slice(start, stop)
    X: Floats | Sparse
    if "X" in part:
        X = part["X"][rows]
    else:
        starts = part["starts"][start : stop + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        indices, data = part["indices"][inside], part["data"][inside]
        X = moved(Sparse(starts - starts[0], indices, data), places, known)
    tags, facts = CodedTags(keys, part["codes"][rows]), part.facts
    block = Block(X, part["y"][rows], lambda row: Place(), {}, tags=tags)
    block.booleans, block.classes = facts["booleans"], facts["classes"]
    return block, part["order"][rows]
