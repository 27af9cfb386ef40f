"""Parquet, through Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret.streams.base import Columns, Stream

# Rows read at a time.
ROWS = 65_536


class ParquetStream(Columns):
    """A Parquet file."""

    extensions = (".parquet", ".pq")

    def tables(self) -> Iterator[Any]:
        """Yield the file's contents, some rows at a time."""
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(self.path) as file:
                for batch in file.iter_batches(ROWS):
                    yield pa.Table.from_batches([batch])
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self.wrong(f"damaged, or not Parquet: {str(error).splitlines()[0]}") from None


def read_parquet(path: str | Path, target: str | None = None) -> Stream:
    """Read a Parquet file as a stream.

    Parameters
    ----------
    path
        The file.
    target
        The column that holds the outcomes.
    """
    return ParquetStream(path, target)
