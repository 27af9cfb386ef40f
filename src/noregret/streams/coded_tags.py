"""The values that rows pass on, as numbers of the texts that occur."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from noregret.streams.block import Block
from noregret.streams.csv_repair import cells_as_json

if TYPE_CHECKING:
    from noregret.streams.parsing.cells import CellCodes

# Texts, and their bytes, after which numbers start again.
MAX_TEXTS, MAX_BYTES = 1 << 20, 1 << 26
# Cells of a row that are coded together.
MAX_CELLS = 64


class CodedTags(Sequence[str]):
    """The tags of rows: a number for each row, and the cells that have this number."""

    def __init__(self, texts: CellCodes, codes: NDArray[np.int64]) -> None:
        self.texts, self.codes = texts, codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> CodedTags: ...

    def __getitem__(self, at: int | slice) -> str | CodedTags:
        if isinstance(at, slice):
            return CodedTags(self.texts, self.codes[at])
        return f"[{', '.join(map(quoted, self.texts.cells(int(self.codes[at]))))}]"

    def __iter__(self) -> Iterator[str]:
        _, first, codes = np.unique(self.codes, return_index=True, return_inverse=True)
        tags = [self[row] for row in first.tolist()]
        return map(tags.__getitem__, codes.tolist())

    def some(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> CodedTags:
        """Return the tags of some rows."""
        return CodedTags(self.texts, self.codes[rows])


class TagCodes:
    """Codes the cells of some columns of CSV, block by block, in bounded memory.

    Parameters
    ----------
    columns
        The positions of the columns.
    delimiter
        The character between cells.
    """

    def __init__(self, columns: Iterable[int], delimiter: str) -> None:
        self.columns, self.delimiter = list(columns), delimiter
        self.simple = len(delimiter.encode()) == 1 and len(self.columns) <= MAX_CELLS
        self.texts = self.new()

    def new(self) -> CellCodes | None:
        """Return codes that start from 0."""
        if not self.simple:
            return None
        from noregret.streams.parsing.cells import CellCodes

        return CellCodes(self.columns, self.delimiter.encode())

    def of(self, body: bytes, block: Block, before: int) -> Sequence[str]:
        """Return the tags of the rows of a block, from its text after ``before`` lines."""
        if self.texts is not None and b'"' not in body:
            if self.texts.count > MAX_TEXTS or self.texts.size > MAX_BYTES:
                self.texts = self.new()
            assert self.texts is not None
            codes = self.texts.code(body, len(block))
            if codes is not None:
                return CodedTags(self.texts, codes)
        records = cells_as_json(body, self.delimiter, self.columns)
        if len(records) == len(block):  # every record is a row, in the same order
            return list(records.values())
        return [records[(block.place_of(row).line or 0) - before] for row in range(len(block))]
