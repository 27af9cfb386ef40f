"""One pass through text files of sparse rows, shared by svmlight and VW."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple

from noregret.errors import BadExample, Place
from noregret.streams.block import Block, Fault, Sparse
from noregret.streams.options import WRITTEN
from noregret.streams.parsing.parsed_rows import Rows
from noregret.streams.source import Piece
from noregret.streams.stream import Reading, State, Stream

# Options about columns, which these files do not have.
FOR_TABLES = (
    "target",
    "drop",
    "keep",
    "categories",
    "text",
    "time",
    "dates",
    "interactions",
    "missing",
    "header",
    "quotes",
    "delimiter",
    "encoding",
    "sheet",
    *WRITTEN,
    "group",
    "passed",
    "id",
)


class Scanned(NamedTuple):
    """A piece of a file, parsed as far as that does not depend on earlier pieces."""

    piece: Piece
    found: Any


class TextReading(Reading):
    """A pass in which every line is a row of named or numbered features."""

    centred: ClassVar[bool] = False

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        super().__init__(stream, learning, state)
        if self.named:
            self.admit_intercept()

    def scan(self, text: bytes) -> Any:
        """Parse lines; called in any thread."""
        raise NotImplementedError

    def rows_of(self, found: Any) -> Rows:
        """Complete the rows; called in order."""
        raise NotImplementedError

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Scanned]]:
        """Yield a job for every piece."""
        for piece in self.source().pieces(mark):
            yield partial(self.parse, piece)

    def parse(self, piece: Piece) -> Scanned:
        """Read and parse a piece."""
        return Scanned(piece, self.scan(piece.text()))

    def settle(self, raw: Scanned) -> Block:
        """Make a block from a piece."""
        piece, before = raw.piece, self.lines_before(raw.piece)
        rows = self.rows_of(raw.found)
        if not self.named and len(rows.indices):
            last = rows.indices[rows.starts[1:] - 1]  # of each row, or of one before an empty row
            self.width = max(self.width, int(last.max()) + 1)
        outcomes = rows.outcomes if rows.bases is None else rows.outcomes - rows.bases
        return Block(
            Sparse(rows.starts, rows.indices, rows.data),
            outcomes,
            lambda row: Place(piece.path, before + int(rows.lines[row])),
            self.mark_after(piece, rows.line_count),
            self.read_so_far(piece.file, piece.read),
            rows.importances,
            rows.tags,
            [
                Fault(row, BadExample(what).at(Place(piece.path, before + line, column)))
                for row, line, column, what in rows.faults
            ],
            bases=rows.bases,
        )
