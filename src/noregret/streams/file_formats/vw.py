"""The text of Vowpal Wabbit: outcomes, importances, tags, and named features in namespaces."""

from __future__ import annotations

from typing import Any

from noregret.streams.parsing.parsed_rows import Rows
from noregret.streams.parsing.text import resolve_vw, scan_vw
from noregret.streams.stream import Stream, reader_of
from noregret.streams.text_reading import FOR_TABLES, TextReading


class VwReading(TextReading):
    """One pass through VW files. A feature is called ``namespace^name``.

    Lines without a label have no outcome: they are only predicted.
    """

    cuts = 4  # names that are new in a piece are known only to those parsed after it was learned

    def scan(self, text: bytes) -> Any:
        """Parse lines, and look up the names that are known."""
        return scan_vw(
            text,
            1,
            self.options.intercept,
            scored=not self.learning,
            hashed=self.options.hash is not None,
            known=self.vocabulary.known,
        )

    def rows_of(self, found: Any) -> Rows:
        """Look the other names up."""
        return resolve_vw(found, self.vocabulary, learning=self.learning)


class VwStream(Stream):
    """Files of lines ``outcome importance 'tag|namespace name:value name …``."""

    name = "vw"
    extensions = (".vw",)
    reading_class = VwReading
    meaningless = FOR_TABLES


read_vw = reader_of(VwStream)
