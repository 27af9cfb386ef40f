"""svmlight and libsvm text: one outcome and numbered features per line."""

from __future__ import annotations

from typing import Any

from noregret.streams.parsing.parsed_rows import Rows
from noregret.streams.parsing.text import parse_svmlight, resolve_vw, scan_svmlight
from noregret.streams.stream import State, Stream, reader_of
from noregret.streams.text_reading import FOR_TABLES, TextReading


class SvmlightReading(TextReading):
    """One pass through svmlight files.

    Features are columns by their numbers; with hashing they are names, as any others.
    """

    named = False

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        self.named = stream.options.hash is not None  # type: ignore[misc]
        super().__init__(stream, learning, state)

    def scan(self, text: bytes) -> Any:
        """Parse lines."""
        intercept, scored = self.options.intercept, not self.learning
        if self.named:
            known = self.vocabulary.known
            return scan_svmlight(text, 1, intercept, scored, hashed=True, known=known)
        return parse_svmlight(text, 1, intercept, scored=scored)

    def rows_of(self, found: Any) -> Rows:
        """Look names up, where there are any."""
        return resolve_vw(found, self.vocabulary) if self.named else found


class SvmlightStream(Stream):
    """Files of lines ``outcome number:value number:value …``."""

    name = "svmlight"
    extensions = (".svmlight", ".svm", ".libsvm")
    reading_class = SvmlightReading
    meaningless = FOR_TABLES


read_svmlight = reader_of(SvmlightStream)
