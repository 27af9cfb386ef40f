"""Parts of files: ranges that workers read by themselves, the same for any number of workers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from noregret.errors import NoRegretError, Place, WrongUsage
from noregret.streams.addresses import Address
from noregret.streams.open_file import BLOCK, binary, is_remote, size_of, stamp_of
from noregret.streams.options import Options
from noregret.streams.source import STDIN, Part, Source
from noregret.streams.stream import Reading, State, Stream

# The largest parts: bytes of text, and rows of Parquet. Those of small files are smaller, so that
# there are about so many parts at least.
PART_BYTES, PART_ROWS = 16 * BLOCK, 1 << 20
MIN_PARTS = 16


@dataclass(frozen=True)
class Data:
    """The files of a stream, with all that their first lines told about their columns.

    Parameters
    ----------
    kind, given, options
        The class of the stream, and what it reads.
    paths
        The absolute paths of the files.
    arrays, numbers
        The state of a pass after its first block.
    learning
        Whether rows are for learning, or only predicted.
    stamps
        The sizes and times of the files.
    """

    kind: type[Stream]
    given: tuple[str, ...]
    options: Options
    paths: tuple[str, ...]
    arrays: dict[str, NDArray[Any]]
    numbers: dict[str, Any]
    learning: bool = True
    stamps: tuple[Any, ...] = ()

    @classmethod
    def of(cls, stream: Stream, reading: Reading) -> Data:
        """Return the files of a stream, a pass of which has read some rows."""
        if STDIN in stream.paths:
            raise WrongUsage("several workers cannot share standard input: name files")
        if any(isinstance(path, Address) for path in stream.paths):
            raise WrongUsage("databases are read by one process: leave the workers out")
        paths = tuple(p if is_remote(p) else os.path.abspath(p) for p in stream.paths)
        state: State = reading.state()
        arrays = {name: array for name, array in state[0].items() if not name.startswith("seals.")}
        columns = state[1]["columns"] | {"same_files": True}
        if reading.learning:  # these are known after each part, and none before the first
            columns |= {"positions": {}}
        numbers = state[1] | {"mark": None, "columns": columns}
        options, learning = reading.options, reading.learning
        stamps = tuple(map(stamp_of, paths))
        return cls(type(stream), stream.paths, options, paths, arrays, numbers, learning, stamps)

    def reading(self, part: Part) -> Reading:
        """Return a pass through one part."""
        stream = self.kind(self.paths, self.options)
        reading = stream.reading((self.arrays, self.numbers), self.learning)
        reading.read_part(part)
        return reading

    def kept_with_model(self) -> State:
        """Return what a model needs to read later rows in the same way."""
        stream = self.kind(self.paths, self.options)
        return stream.reading((self.arrays, self.numbers), self.learning).kept_with_model()

    @contextmanager
    def read(self, part: Part) -> Iterator[Reading]:
        """Read a part; raise an error that names the file, also if it has changed since before."""
        given = self.given[part.file]
        try:
            self.check_unchanged(part)
            yield self.reading(part)
            self.check_unchanged(part)
        except NoRegretError as error:
            raise located(error, self, part) from None
        except OSError as error:
            names = dict(zip(self.paths, self.given, strict=True))
            what = f"this file cannot be read: {error.strerror or error}"
            raise NoRegretError(what, file=names.get(str(error.filename), given)) from None

    def check_unchanged(self, part: Part) -> None:
        """Raise an error if the file of a part is not the one that parts were cut from."""
        if stamp_of(self.paths[part.file]) != self.stamps[part.file]:
            what = "this file has changed since it was first looked at"
            cure = "start again once nothing writes to it"
            raise NoRegretError(what, cure, file=self.given[part.file])

    def words(self, part: Part) -> str:
        """Return the name of a part for messages."""
        file = self.given[part.file]
        if not part.start and part.stop is None:
            return file
        unit = "row" if self.kind.name == "parquet" else "byte"
        return f"{file} from {unit} {part.start:,}"

    def place(self, part: Part, place: Place) -> Place:
        """Return a place in a part, with the file as the user names it and lines from its start."""
        line = place.line
        if line is not None:
            line += lines_before(self.paths[part.file], part.start)
        return place._replace(file=self.given[part.file], line=line)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(map(size_of, self.paths))

    def size_up_to(self, part: Part) -> int:
        """Return the bytes of the files up to the end of a part, about as many for Parquet."""
        file = self.paths[part.file]
        here = size_of(file)
        if part.stop is not None and self.kind.name != "parquet":
            here = part.stop
        return here + sum(map(size_of, self.paths[: part.file]))

    def after(self, positions: dict[str, float]) -> Data:
        """Return the same for a part before which the last dates had these positions in time."""
        columns = self.numbers["columns"] | {"positions": positions}
        return replace(self, numbers=self.numbers | {"columns": columns})

    def whole(self) -> Data:
        """Return the same for files that cannot be cut."""
        columns = self.numbers["columns"] | {"careful": True}
        return replace(self, numbers=self.numbers | {"columns": columns})


def parts_of(data: Data, cut: bool = True) -> list[Part]:
    """Return the parts of all files, in order; whole files if they are not to be ``cut``."""
    stream = data.kind(data.paths, data.options)
    if not cut:
        return [Part(number) for number in range(len(data.paths))]
    if stream.name == "parquet":
        return [part for number, path in enumerate(data.paths) for part in row_parts(number, path)]
    found: list[Part] = []
    source, most = Source(data.paths), min(PART_BYTES, data.size // MIN_PARTS)
    for number, path in enumerate(data.paths):
        with stream.open(path) as opened:
            if not opened.seekable:  # compressed, or UTF-16: only the whole can be read
                found.append(Part(number))
                continue
            for piece in source.cut(number, opened, None):
                last = found[-1] if found and found[-1].file == number else None
                if last is not None and piece.stop - last.start <= most:
                    found[-1] = last._replace(stop=piece.stop)
                else:
                    found.append(Part(number, piece.start, piece.stop))
    return found


def row_parts(number: int, path: str) -> list[Part]:
    """Return the parts of a Parquet file: row groups, several of them if they are small."""
    from pyarrow import parquet

    place: Any = binary(path) if is_remote(path) else path
    metadata, found, first = parquet.read_metadata(place), list[Part](), 0
    most = min(PART_ROWS, metadata.num_rows // MIN_PARTS)
    for group in range(metadata.num_row_groups):
        last = first + metadata.row_group(group).num_rows
        if found and last - found[-1].start <= most:
            found[-1] = found[-1]._replace(stop=last)
        elif last > first:
            found.append(Part(number, first, last))
        first = last
    return found


def as_given(error: NoRegretError, paths: Sequence[str], given: Sequence[str]) -> NoRegretError:
    """Return an error that names files as the user does, by their paths, in its words too."""
    for path, name in zip(paths, given, strict=True):
        error.what = error.what.replace(path, name)
        if error.file == path:
            error.file = name
    return error


def located(error: NoRegretError, data: Data, part: Part) -> NoRegretError:
    """Return an error that names files as the user does, and counts lines from a file's start."""
    own = error.file == data.paths[part.file]
    as_given(error, data.paths, data.given)
    if own and error.line is not None:
        error.line += lines_before(data.paths[part.file], part.start)
    return error


def lines_before(path: str, start: int) -> int:
    """Return the number of lines in the first bytes of a file."""
    lines, left = 0, start
    if start:
        with binary(path) as file:
            while left and (text := file.read(min(left, BLOCK))):
                lines += text.count(b"\n")
                left -= len(text)
    return lines
