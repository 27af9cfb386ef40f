"""CSV and TSV, through Arrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret.errors import BadExample
from noregret.streams.base import Columns, Stream

# Bytes read at a time; the first of them decide which columns are numbers.
BLOCK = 1 << 22
# What Arrow says of a value that is not of its column's type.
MISFIT = re.compile(r"In CSV column #(\d+): Row #(\d+): .*invalid value (.*)", re.DOTALL)


class CsvStream(Columns):
    """A file of values between commas (tabs in ``.tsv``), with a line of names.

    Whether a column holds numbers, booleans or text is decided by the first block, 4 MiB, and then
    held to. All numbers are read as floats, to the nearest.
    """

    extensions = (".csv", ".tsv")

    def tables(self) -> Iterator[Any]:
        """Yield the file's contents, a block at a time."""
        import pyarrow as pa

        names: list[str] = []
        try:
            types = {}
            with self.reader(None) as first:
                names = first.schema.names
                for field in first.schema:
                    whole = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
                    types[field.name] = pa.float64() if whole else field.type
            with self.reader(types) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch])
        except UnicodeDecodeError:
            raise self.wrong("the names in its first row are not UTF-8 text") from None
        except pa.ArrowInvalid as error:
            raise self.explained(str(error), names) from None

    def reader(self, types: dict[str, Any] | None) -> Any:
        """Return a reader of blocks; without types it finds out which there are."""
        from pyarrow import csv

        return csv.open_csv(
            self.path,
            # One thread, so that rows are counted and errors can name them.
            read_options=csv.ReadOptions(block_size=BLOCK, use_threads=False),
            parse_options=csv.ParseOptions(
                delimiter="\t" if self.path.suffix.lower() == ".tsv" else ",",
                newlines_in_values=True,
            ),
            # An empty cell is a missing value, of text too: refused later, by row and name.
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True
            ),
        )

    def explained(self, said: str, names: list[str]) -> BadExample:
        """Say in our words what Arrow stumbled over."""
        found = MISFIT.search(said)
        if found is None or int(found[1]) >= len(names):
            return self.wrong(said.removeprefix("CSV parse error: ").splitlines()[0])
        name, row, value = names[int(found[1])], found[2], found[3][:60]
        return self.wrong(
            f"row {row} (the names are row 1), column {name!r}: {value} is not of the kind that the"
            " rows before it hold: correct it, or quote the column's first values to make it text"
        )


def read_csv(path: str | Path, target: str | None = None) -> Stream:
    """Read a CSV or TSV file as a stream.

    Parameters
    ----------
    path
        The file.
    target
        The column that holds the outcomes.
    """
    return CsvStream(path, target)
