"""The bytes of a stream, in whole lines: from files, compressed or not, globs or standard input.

A plain file is split at line ends first, and each piece is read by the thread that parses it, so
that several threads can read at once. All other input is read here, sequentially.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from noregret.base.atomic_files import naming, new_hash
from noregret.errors import BadExample, NoRegretError, WrongUsage
from noregret.streams import open_file as files
from noregret.streams.addresses import check_known
from noregret.streams.csv_quotes import Quotes
from noregret.streams.open_file import (
    STDIN,
    UTF_16,
    Opened,
    is_plain,
    is_remote,
    shortened,
    size_of,
    stdin_descriptor,
)
from noregret.streams.seals import Range, Sealing, Seals

__all__ = ["STDIN", "Part", "Paths", "Piece", "Source", "as_paths", "suffix_of", "total_size"]

# Bytes searched at a time for the end of a line.
BYTES_PER_SEARCH = 1 << 16
# Bytes of a line and of a quoted value. A longer line is not text, a longer value never closed.
MAX_LINE, MAX_VALUE = 1 << 27, 1 << 26
BOM = b"\xef\xbb\xbf"

Paths = str | Path | Sequence[str | Path]


def as_paths(given: Paths) -> tuple[str, ...]:
    """Return the paths of the files, with globs expanded in alphabetical order."""
    if isinstance(given, str | Path):
        given = [given]
    found: list[str] = []
    for path in map(str, given):
        if not os.path.exists(path):
            check_known(path)
            if is_remote(path):
                found += stored(path)
                continue
        if path != STDIN and not os.path.exists(path) and glob.has_magic(path):
            matching = sorted(glob.glob(path, recursive=True))
            if not matching:
                raise FileNotFoundError(errno.ENOENT, "no file matches", path)
            found += matching
        else:
            found.append(path)
    if not found:
        raise WrongUsage("no file was given")
    if found.count(STDIN) > 1:
        raise WrongUsage("standard input (-) can be read only once")
    for path in found:
        check_readable(path)
    return tuple(found)


def stored(path: str) -> list[str]:
    """Return the address of a file in a store, or those that a pattern matches."""
    from noregret.streams.remote_files import matching

    if "*" not in path.partition("?")[0]:
        return [path]
    if not (found := matching(path)):
        raise FileNotFoundError(errno.ENOENT, "no file matches", path)
    return found


def check_readable(path: str) -> None:
    """Raise an error early if a file cannot be read."""
    if path == STDIN:
        stdin_descriptor()
    elif is_remote(path):
        size_of(path)
    elif os.path.isdir(path):
        raise NoRegretError("a folder", f"name the files in it, as in '{path}/*.csv'", file=path)
    elif not stat.S_ISFIFO(os.stat(path).st_mode):
        with open(path, "rb"):
            pass


def total_size(paths: Sequence[str]) -> int | None:
    """Return the number of bytes to read, if known."""
    if not all(map(is_plain, paths)):
        return None
    return sum(map(size_of, paths))


def suffix_of(path: str) -> str:
    """Return the extension of a file, ignoring that of a compression."""
    place = Path(path.partition("?")[0] if is_remote(path) else path)
    if place.suffix.lower() in (".gz", ".zst", ".zstd"):
        place = place.with_suffix("")
    return place.suffix.lower()


@dataclass
class Piece:
    """Whole lines of a file.

    ``start`` and ``stop`` count bytes of text, ``read`` the bytes of input read so far from this
    file. A piece that has not been read yet holds the open file. ``ranges`` are the digests of its
    text, or None if it is not sealed; ``wide`` text was UTF-16 in the file.
    """

    file: int
    path: str
    start: int
    stop: int
    read: int
    contents: bytes | None = None
    opened: Opened | None = None
    ranges: list[Range] | None = None
    wide: bool = False

    def text(self) -> bytes:
        """Return the text, without a byte order mark."""
        text = self.contents
        if text is None:
            assert self.opened is not None
            with naming(self.path):
                text = self.opened.file.read_at(self.start, self.stop - self.start)
            if len(text) < self.stop - self.start:
                raise shortened(self.path)
            if self.ranges is not None:
                digest = new_hash()
                digest.update(text)
                self.ranges = [Range(self.start, self.stop, digest.digest())]
        if self.start == 0:
            if text.startswith(UTF_16):
                raise NoRegretError("UTF-16 text", "save it as UTF-8", file=self.path)
            text = text.removeprefix(BOM)
        return text

    def with_next(self, other: Piece) -> Piece:
        """Return this piece and the next one as one piece."""
        contents = self.contents
        if contents is not None:
            contents += other.contents or b""
        ranges = None if self.ranges is None else [*self.ranges, *(other.ranges or [])]
        return replace(other, start=self.start, contents=contents, ranges=ranges)


class Part(NamedTuple):
    """A range of a file, in bytes or rows: from ``start`` to ``stop``, or to its end.

    Its ends are those of pieces or batches, so that it is read in the same blocks as the whole.
    """

    file: int
    start: int = 0
    stop: int | None = None


class Indivisible(Exception):
    """Raised when a part of a file cannot be read without what is before it."""


class Source:
    """The text of some files, in order, in pieces of whole lines.

    Parameters
    ----------
    paths
        The files; ``-`` is standard input.
    delimiter
        Returns the delimiter between values, given the first text, if a quoted value may contain
        line ends.
    careful
        Whether to read plain files sequentially too, as quotes must be counted to split them.
    seals
        The seals of all text before the mark, if they are kept.
    open
        Opens a file.
    part
        The only part to read, if not all.
    cuts
        How many pieces a block makes, except for the first of a file.
    """

    def __init__(
        self,
        paths: Sequence[str],
        delimiter: Callable[[bytes], bytes] | None = None,
        careful: bool = False,
        seals: Seals | None = None,
        open: Callable[[str], Opened] = Opened,
        part: Part | None = None,
        cuts: int = 1,
    ) -> None:
        self.paths, self.delimiter, self.careful = tuple(paths), delimiter, careful
        self.seals, self.open, self.part, self.cuts = seals, open, part, cuts

    def check(self, mark: dict[str, Any]) -> None:
        """Check that seekable files are unchanged up to a mark.

        Other input is checked while it is read up to the mark.
        """
        assert self.seals is not None
        for number in range(mark["file"] + 1):
            if is_plain(self.paths[number]):
                with self.open(self.paths[number]) as opened:
                    if number < mark["file"] or opened.seekable:
                        opened.check(self.seals.of_file(number))

    def pieces(self, mark: dict[str, Any] | None = None) -> Iterator[Piece]:
        """Yield the text from a mark or from the start."""
        first = 0 if mark is None else mark["file"]
        last = len(self.paths) - 1 if self.part is None else self.part.file
        for number in range(first, last + 1):
            from_here = mark if mark is not None and number == first else None
            with self.open(self.paths[number]) as opened:
                if opened.seekable and not self.careful:
                    yield from self.cut(number, opened, from_here)
                elif self.part is not None and self.part.stop is not None:
                    raise Indivisible(opened.path)
                else:
                    yield from self.read(number, opened, from_here)

    def cut(self, number: int, opened: Opened, mark: dict[str, Any] | None) -> Iterator[Piece]:
        """Yield pieces of the current contents of a file, without reading them."""
        start = 0 if mark is None else mark["offset"]
        size = opened.file.size()
        if self.part is not None and self.part.stop is not None:
            start = max(start, self.part.start)
            size = min(size, self.part.stop)
        if size < start:
            raise shortened(opened.path)
        while start < size:
            with naming(opened.path):
                most = files.BLOCK // self.cuts if start else files.BLOCK
                stop = line_end(opened, start, min(start + max(1, most), size), size)
            ranges: list[Range] | None = None if self.seals is None else []
            yield Piece(number, opened.path, start, stop, stop, None, opened, ranges)
            start = stop

    def read(self, number: int, opened: Opened, mark: dict[str, Any] | None) -> Iterator[Piece]:
        """Yield pieces as they are read."""
        quotes: Quotes | None = None
        start = line = waiting = 0
        rest: list[bytes] = []
        if mark is not None:
            start, line = mark["offset"], mark["line"]
            if self.seals is None or opened.seekable:  # otherwise it was checked before
                opened.skip(start)
            else:
                opened.check(self.seals.of_file(number))
        sealing = None if self.seals is None else Sealing(start)

        def piece(text: bytes) -> Piece:
            ranges = None if sealing is None else [sealing.add(text)]
            stop = start + len(text)
            read, wide = opened.read_so_far, opened.decoder is not None
            return Piece(number, opened.path, start, stop, read, text, None, ranges, wide)

        while block := opened.block():
            if quotes is None and self.delimiter is not None:
                quotes = Quotes(self.delimiter(block))
            if quotes is None:
                cut = block.rfind(b"\n") + 1
            else:
                cut = quotes.last_cut(without_bom(block, start + waiting))
            rest.append(block)
            waiting += len(block)
            if cut:
                text = b"".join(rest)
                rest = [text[len(text) - len(block) + cut :]]
                text, waiting = text[: len(text) - len(rest[0])], len(rest[0])
                yield piece(text)
                start += len(text)
                line += text.count(b"\n") if quotes is not None else 0
            elif quotes is not None and quotes.inside and waiting > MAX_VALUE:
                raise unclosed(opened.path, line)
            elif waiting > MAX_LINE:
                raise too_long(opened.path, start)
        opened.check_whole()
        if quotes is not None and quotes.inside:
            raise unclosed(opened.path, line)
        if text := b"".join(rest):
            yield piece(text)


def without_bom(block: bytes, at: int) -> bytes:
    """Return a block that starts at byte ``at``, with blanks in place of a byte order mark."""
    marked = block[: max(0, len(BOM) - at)]
    return b"\r" * len(marked) + block[len(marked) :] if BOM.startswith(marked, at) else block


def too_long(path: str, start: int) -> BadExample:
    """Return the error for a line without an end."""
    return BadExample(
        f"the line that begins at byte {start:,} has no end within {MAX_LINE >> 20}"
        " MiB: is this a text file with one row per line?",
        file=path,
    )


def unclosed(path: str, line: int) -> BadExample:
    """Return the error for a quoted value without an end."""
    return BadExample("a quote is opened and never closed", file=path, line=line + 1)


def line_end(opened: Opened, start: int, stop: int, size: int) -> int:
    """Return the end of the last line that ends before ``stop``, or of the first one after it."""
    if stop >= size:
        return size
    file, at = opened.file, stop
    while at > start:
        begin = max(start, at - BYTES_PER_SEARCH)
        found = file.read_at(begin, at - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at = begin
    at = stop
    while at < size:
        if at - start > MAX_LINE:
            raise too_long(opened.path, start)
        found = file.read_at(at, files.BLOCK).find(b"\n")
        if found >= 0:
            return at + found + 1
        at += files.BLOCK
    return size
