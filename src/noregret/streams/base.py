"""What every stream from a file can do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

from noregret.errors import BadExample

Block = tuple[Any, Any]


class Stream:
    """Examples from a file, in blocks: tables with their outcomes, from the start each time.

    Parameters
    ----------
    path
        The file.
    target
        The column that holds the outcomes.
    """

    extensions: ClassVar[tuple[str, ...]] = ()
    transforms: tuple[str, ...] = ()

    def __init__(self, path: str | Path, target: str | None = None) -> None:
        self.path, self.target = Path(path), target
        with self.path.open("rb"):  # a file that cannot be read is told at once
            pass

    def __iter__(self) -> Iterator[Block]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}>"

    def wrong(self, message: str) -> BadExample:
        """Return an error that names the file."""
        return BadExample(f"{self.path}: {message}")

    def target_among(self, names: list[str]) -> str:
        """Return the target, or say which columns there are instead."""
        if self.target is None:
            raise self.wrong(
                f"say which column is to be predicted: --target, target=…; there are"
                f" {listed(names)}"
            )
        if self.target not in names:
            near = get_close_matches(self.target, names)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else listed(names)
            raise self.wrong(f"there is no column {self.target!r}: {hint}")
        return self.target


class Columns(Stream):
    """A stream of Arrow tables with named columns, one of them the target."""

    def tables(self) -> Iterator[Any]:
        """Yield the file's contents, a table at a time."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Block]:
        for table in self.tables():
            if table.num_rows:
                yield self.split(table)

    def split(self, table: Any) -> Block:
        """Return a table without its target, and the target as outcomes."""
        try:
            names = table.column_names
        except UnicodeDecodeError:
            raise self.wrong("the names of its columns are not UTF-8 text") from None
        target = self.target_among(names)
        if len(set(names)) < len(names):
            times = Counter(names)
            twice = next(name for name in times if times[name] > 1)
            raise self.wrong(f"two columns are called {twice!r}: rename one")
        for name, column in zip(names, table.schema.types, strict=True):
            if not is_usable(column):
                raise self.wrong(
                    f"column {name!r} holds {column}: give numbers, text or booleans, or drop it"
                )
        table = self.in_floats(table)
        return table.drop_columns([target]), table.column(target).to_numpy()

    def in_floats(self, table: Any) -> Any:
        """Return a table with its 64-bit integers as floats; one that no float holds is refused."""
        import pyarrow as pa

        for at, field in enumerate(table.schema):
            if pa.types.is_int64(field.type) or pa.types.is_uint64(field.type):
                try:
                    column = table.column(at).cast(pa.float64())
                except pa.ArrowInvalid as error:
                    said = str(error).splitlines()[0]
                    raise self.wrong(f"column {field.name!r}: {said}: give floats") from None
                table = table.set_column(at, field.name, column)
        return table


def is_usable(column: Any) -> bool:
    """Whether learners can read a column of an Arrow type."""
    from pyarrow import types

    if types.is_dictionary(column):
        column = column.value_type
    checks = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(check(column) for check in checks) or str(column) in (
        "string",
        "large_string",
        "string_view",
    )


def listed(names: list[str], most: int = 12) -> str:
    """Name some columns for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more if names else "no columns"
