"""ARFF, the format of Weka: a header that names the columns, then rows as in CSV.

No well-maintained reader handles all of it (SciPy's refuses text, liac-arff has not changed since
2020), and after the header it is CSV.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import IO, ClassVar

from noregret.errors import BadExample
from noregret.streams.converted_text import csv_of
from noregret.streams.file_formats.csv import CsvStream
from noregret.streams.open_file import Opened
from noregret.streams.stream import reader_of

ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(.*)""", re.IGNORECASE
)
ESCAPED = re.compile(r"\\(.)")
MISSING = "?"


def csv_text(file: IO[bytes], path: str) -> IO[bytes]:
    """Return a file as CSV text."""
    lines = (line.decode("utf-8", "surrogateescape") for line in file)
    return csv_of(rows_of(lines, path))


def rows_of(lines: Iterator[str], path: str) -> Iterator[list[str]]:
    """Yield the names of the columns, then the rows."""
    names: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.lower().startswith("@data"):
            break
        if text.lower().startswith("@attribute"):
            found = ATTRIBUTE.fullmatch(text)
            if found is None:
                raise BadExample(
                    "an @attribute line needs a name and a type", file=path, line=number
                )
            name = next(part for part in found.groups()[:3] if part is not None)
            names.append(ESCAPED.sub(r"\1", name))
        elif text and not text.startswith(("%", "@")):
            raise BadExample(
                "not ARFF: there is no @data line before this one", file=path, line=number
            )
    if not names:
        raise BadExample("not ARFF: there is no @attribute line", file=path)
    yield names
    yield from [[]] * (number - 1)  # so that lines keep their numbers
    for line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            yield []
            continue
        if text.startswith("{"):
            what = "sparse ARFF is not supported"
            raise BadExample(what, "save it as CSV or svmlight", file=path)
        yield cells_of(text)


def cells_of(line: str) -> list[str]:
    """Return the values of a row; missing ones are empty."""
    mark = '"' if '"' in line and "'" not in line else "'"
    cells = next(csv.reader([line], quotechar=mark, escapechar="\\", skipinitialspace=True))
    return ["" if cell.strip() == MISSING else cell.strip() for cell in cells]


class ArffStream(CsvStream):
    """ARFF files."""

    name = "arff"
    extensions: ClassVar[tuple[str, ...]] = (".arff",)
    meaningless = ("header", "quotes", "delimiter", "encoding", "sheet", "follow")
    sniffed: ClassVar[bool] = False

    def open(self, path: str) -> Opened:
        """Open a file as CSV text."""
        return Opened(path, csv_text)


read_arff = reader_of(ArffStream)
