"""Named arrays in safetensors files; arrays that are mostly zero are packed.

A learner has room for every feature up to the largest position, of which a stream may use only a
few. Of an array that is mostly zero, only the nonzero pages are written: their indices as
``name.pages``, their contents as ``name.page_data``.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.atomic_files import write_pieces
from noregret.base.compiled.machine import PAGE_NUMBERS, used_pages, zeros

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

# Lengths of arrays that may be packed, up to those of auto for all positions of a stream.
MIN_PACKED_NUMBERS, MAX_PACKED_NUMBERS = 2**16, 2**29
PAGES, DATA = ".pages", ".page_data"
# The format's names of types, in the order of its own writer, largest first.
TYPES = {
    np.dtype(kind): name
    for kind, name in (
        ("u8", "U64"), ("i8", "I64"), ("f8", "F64"), ("f4", "F32"), ("u4", "U32"), ("i4", "I32"),
        ("u2", "U16"), ("i2", "I16"), ("i1", "I8"), ("u1", "U8"), ("?", "BOOL"),
    )
}  # fmt: skip


def packed(arrays: Mapping[str, NDArray[Any]]) -> tuple[Arrays, dict[str, int]]:
    """Return the arrays to write, and the lengths of those that were packed."""
    kept: Arrays = {}
    lengths: dict[str, int] = {}
    for name, array in arrays.items():
        pages = pages_of(array)
        if pages is None:
            kept[name] = array
            continue
        lengths[name] = len(array)
        data = np.zeros((len(pages), PAGE_NUMBERS))
        for row, page in enumerate(pages.tolist()):
            part = array[page * PAGE_NUMBERS : (page + 1) * PAGE_NUMBERS]
            data[row, : len(part)] = part
        kept |= {name + PAGES: pages, name + DATA: data}
    return kept, lengths


def pages_of(array: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the indices of nonzero pages if they are less than half of all, else None."""
    if array.dtype != np.float64 or array.ndim != 1 or len(array) < MIN_PACKED_NUMBERS:
        return None
    pages = used_pages(np.ascontiguousarray(array)).astype(np.int64)
    return pages if 2 * len(pages) * PAGE_NUMBERS < len(array) else None


def unpacked(arrays: Arrays, lengths: Mapping[str, Any]) -> Arrays:
    """Invert ``packed``, or raise ValueError if the arrays are invalid."""
    found = dict(arrays)
    for name, length in lengths.items():
        pages, data = found.pop(name + PAGES), found.pop(name + DATA)
        if type(length) is not int or not 0 <= length <= MAX_PACKED_NUMBERS or name in found:
            raise ValueError(f"array {name} cannot be packed to a length of {length!r}")
        fits = pages.dtype == np.int64 and pages.ndim == 1 and data.dtype == np.float64
        if not fits or data.shape != (len(pages), PAGE_NUMBERS):
            raise ValueError(f"array {name} is packed in pages of {PAGE_NUMBERS} numbers")
        ordered = len(pages) == 0 or (pages[0] >= 0 and bool((np.diff(pages) > 0).all()))
        if not ordered or (len(pages) and pages[-1] * PAGE_NUMBERS >= length):
            raise ValueError(f"the pages of array {name} do not follow each other within it")
        made = zeros(length)
        for page, row in zip(pages.tolist(), data, strict=True):
            part = made[page * PAGE_NUMBERS : (page + 1) * PAGE_NUMBERS]
            part[:] = row[: len(part)]
        found[name] = made
    return found


def write_parts(
    path: str | Path, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Write a file atomically, one array at a time; equal arrays give equal bytes."""
    write_pieces(path, pieces_of(arrays, metadata))


def pieces_of(
    arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]
) -> Iterator[bytes | memoryview]:
    """Return the contents of a file, one array at a time."""
    order = list(TYPES)
    names = sorted(arrays, key=lambda name: (order.index(arrays[name].dtype), name))
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": TYPES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    contents = (np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8) for name in names)
    return chain([len(text).to_bytes(8, "little"), text], (each.data for each in contents))


def with_prefix(prefix: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """Add a prefix to the names."""
    return {f"{prefix}{name}": value for name, value in named.items()}


def of_prefix(prefix: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the items whose names begin with a prefix, without the prefix."""
    return {k.removeprefix(prefix): v for k, v in named.items() if k.startswith(prefix)}
