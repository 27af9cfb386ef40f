"""Where bytes come from: files, compressed or not, globs, standard input; in whole lines.

A plain file is cut at line ends first and read later, by whoever parses the piece, so that several
can read at once. Everything else, which must be read from its beginning, is read here.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import select
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from noregret.errors import NoRegretError

# Bytes parsed at a time, and looked through at a time for the end of a line.
BLOCK = 1 << 22
LOOK = 1 << 16
# Bytes before a mark that must be the same when reading goes on there.
TAIL = 1 << 12
# A quoted value that is longer than this was probably never closed.
LONGEST_VALUE = 1 << 26
STDIN = "-"
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
BOM, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")

Paths = str | Path | Sequence[str | Path]


def as_paths(given: Paths) -> tuple[str, ...]:
    """Return the files that are meant: globs are expanded, in alphabetical order."""
    if isinstance(given, str | Path):
        given = [given]
    found: list[str] = []
    for path in map(str, given):
        if path != STDIN and not os.path.exists(path) and glob.has_magic(path):
            matching = sorted(glob.glob(path, recursive=True))
            if not matching:
                raise FileNotFoundError(errno.ENOENT, "no file matches", path)
            found += matching
        else:
            found.append(path)
    if not found:
        raise NoRegretError("no file was given")
    if found.count(STDIN) > 1:
        raise NoRegretError("standard input (-) can be read once only")
    for path in found:
        check_readable(path)
    return tuple(found)


def check_readable(path: str) -> None:
    """Tell at once where a file cannot be read."""
    if path == STDIN:
        if sys.stdin is None:
            raise NoRegretError("standard input is closed")
    elif os.path.isdir(path):
        raise NoRegretError(f"{path}: a folder: name the files in it, as in '{path}/*.csv'")
    elif not stat.S_ISFIFO(os.stat(path).st_mode):
        with open(path, "rb"):
            pass


def total_size(paths: Sequence[str]) -> int | None:
    """Return how many bytes there will be to read, where that is known."""
    if any(path == STDIN or not os.path.isfile(path) for path in paths):
        return None
    return sum(os.path.getsize(path) for path in paths)


def suffix_of(path: str) -> str:
    """Return the extension that says what a file holds, that of a compression aside."""
    place = Path(path)
    if place.suffix.lower() in (".gz", ".zst", ".zstd"):
        place = place.with_suffix("")
    return place.suffix.lower()


@dataclass
class Piece:
    """Whole lines of a file.

    ``start`` and ``stop`` count bytes of text; ``read`` bytes of input so far, of this file. A
    piece that was not read yet knows its file.
    """

    file: int
    path: str
    start: int
    stop: int
    read: int
    contents: bytes | None = None
    opened: Opened | None = None

    def text(self) -> bytes:
        """Return the text, without a byte order mark."""
        text = self.contents
        if text is None:
            assert self.opened is not None
            text = read_at(self.opened.descriptor, self.start, self.stop - self.start)
            if len(text) < self.stop - self.start:
                raise NoRegretError(f"{self.path}: became shorter while it was being read")
        if self.start == 0:
            if text.startswith(UTF_16):
                raise NoRegretError(f"{self.path}: UTF-16 text: save it as UTF-8")
            text = text.removeprefix(BOM)
        return text


def read_at(descriptor: int, place: int, size: int) -> bytes:
    """Return bytes of a file, fewer only at its end."""
    text = os.pread(descriptor, size, place)
    while 0 < len(text) < size:
        more = os.pread(descriptor, size - len(text), place + len(text))
        if not more:
            break
        text += more
    return text


class Source:
    """The text of some files, one after the other, in pieces of whole lines.

    Parameters
    ----------
    paths
        The files; ``-`` is standard input.
    quoted
        Whether a line end may be part of a quoted value.
    careful
        Whether to read plain files here too, as quotes must be counted to know where to cut them.
    """

    def __init__(self, paths: Sequence[str], quoted: bool = False, careful: bool = False) -> None:
        self.paths, self.quoted, self.careful = tuple(paths), quoted, careful

    def pieces(self, mark: dict[str, Any] | None = None) -> Iterator[Piece]:
        """Yield the text from a mark on, or from the start."""
        first = 0 if mark is None else mark["file"]
        for number in range(first, len(self.paths)):
            from_here = mark if mark is not None and number == first else None
            with Opened(self.paths[number]) as opened:
                if opened.seekable and not self.careful:
                    yield from self.cut(number, opened, from_here)
                else:
                    yield from self.read(number, opened, from_here)

    def cut(self, number: int, opened: Opened, mark: dict[str, Any] | None) -> Iterator[Piece]:
        """Yield pieces that are still to be read."""
        path, descriptor = opened.path, opened.descriptor
        start = 0
        if mark is not None:
            start = mark["offset"]
            check_tail(path, read_at(descriptor, max(0, start - TAIL), min(start, TAIL)), mark)
        size = os.fstat(descriptor).st_size
        while start < size:
            stop = line_end(descriptor, start, min(start + BLOCK, size), size)
            yield Piece(number, path, start, stop, stop, None, opened)
            start, size = stop, os.fstat(descriptor).st_size

    def read(self, number: int, opened: Opened, mark: dict[str, Any] | None) -> Iterator[Piece]:
        """Yield pieces as they are read."""
        start = 0
        rest: list[bytes] = []
        waiting = 0
        if mark is not None:
            start = opened.skip(mark)
        while block := opened.block():
            cut = self.last_cut(rest, block)
            if cut < 0:
                rest.append(block)
                waiting += len(block)
                if self.quoted and waiting > LONGEST_VALUE:
                    raise NoRegretError(
                        f"{opened.path}: a quote that opens after byte {start:,} is never closed"
                    )
                continue
            text = b"".join([*rest, block[:cut]])
            rest = [block[cut:]] if cut < len(block) else []
            waiting = sum(map(len, rest))
            yield Piece(number, opened.path, start, start + len(text), opened.read_so_far, text)
            start += len(text)
        text = b"".join(rest)
        if text:
            yield Piece(number, opened.path, start, start + len(text), opened.read_so_far, text)

    def last_cut(self, rest: list[bytes], block: bytes) -> int:
        """Return where the last whole line of a block ends, −1 if nowhere."""
        cut = block.rfind(b"\n") + 1
        if not self.quoted:
            return cut or -1
        odd = sum(part.count(b'"') for part in rest) % 2
        while cut > 0 and (odd + block.count(b'"', 0, cut)) % 2:
            cut = block.rfind(b"\n", 0, cut - 1) + 1
        return cut or -1


class Opened:
    """A file that is open for reading, unpacked where it is packed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.stream: IO[bytes] | None = None
        if path == STDIN:
            self.descriptor, self.owned = sys.stdin.fileno(), False
        else:
            self.descriptor, self.owned = os.open(path, os.O_RDONLY), True
        self.regular = stat.S_ISREG(os.fstat(self.descriptor).st_mode)
        self.read_so_far = 0
        packing = None
        if self.regular:
            packing = next((k for m, k in PACKED.items() if os.pread(self.descriptor, 4, 0).startswith(m)), None)
        self.seekable = self.regular and packing is None and path != STDIN
        if packing is not None:
            self.raw = os.fdopen(os.dup(self.descriptor), "rb")
            self.stream = unpacked(self.raw, packing)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *failure: object) -> None:
        # Pieces of a plain file may still be read: that is closed when they are forgotten.
        if self.stream is not None:
            self.stream.close()

    def __del__(self) -> None:
        if self.owned:
            os.close(self.descriptor)

    def block(self) -> bytes:
        """Return the next bytes: as many as there are now, at most a block."""
        if self.stream is not None:
            try:
                text = self.stream.read(BLOCK)
            except (OSError, EOFError, ValueError) as error:
                raise NoRegretError(f"{self.path}: damaged, it cannot be unpacked: {error}") from None
            self.read_so_far = self.raw.tell()
            return text
        parts = [os.read(self.descriptor, BLOCK)]
        if self.read_so_far == 0 and not self.regular and parts[0].startswith(tuple(PACKED)):
            raise NoRegretError(f"{self.path}: compressed data: unpack it on the way, as with zcat")
        waiting = len(parts[0])
        while parts[-1] and waiting < BLOCK and self.more_is_there():
            parts.append(os.read(self.descriptor, BLOCK - waiting))
            waiting += len(parts[-1])
        self.read_so_far += waiting
        return b"".join(parts)

    def more_is_there(self) -> bool:
        """Whether reading would not have to wait."""
        return self.regular or bool(select.select([self.descriptor], [], [], 0)[0])

    def skip(self, mark: dict[str, Any]) -> int:
        """Read up to a mark, and check that it is the same text."""
        left, tail = mark["offset"], b""
        while left > 0:
            if self.stream is not None:
                block = self.stream.read(min(left, BLOCK))
            else:
                block = os.read(self.descriptor, min(left, BLOCK))
            if not block:
                raise NoRegretError(f"{self.path}: shorter than it was: there is nothing to go on with")
            self.read_so_far = self.raw.tell() if self.stream is not None else self.read_so_far + len(block)
            left -= len(block)
            tail = (tail + block)[-TAIL:]
        check_tail(self.path, tail, mark)
        return int(mark["offset"])


def unpacked(raw: IO[bytes], packing: str) -> IO[bytes]:
    """Return a packed stream as a plain one."""
    if packing == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[return-value]
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")  # type: ignore[no-any-return]


def line_end(descriptor: int, start: int, stop: int, size: int) -> int:
    """Return where the last line that ends before ``stop`` ends; if none does, where one ends."""
    if stop >= size:
        return size
    at = stop
    while at > start:
        begin = max(start, at - LOOK)
        found = read_at(descriptor, begin, at - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at = begin
    at = stop
    while at < size:
        found = read_at(descriptor, at, BLOCK).find(b"\n")
        if found >= 0:
            return at + found + 1
        at += BLOCK
    return size


def tail_of(text: bytes) -> dict[str, Any]:
    """Return what a mark keeps of the text before it."""
    tail = bytes(text[-TAIL:])
    return {"tail": len(tail), "digest": hashlib.blake2b(tail, digest_size=16).hexdigest()}


def check_tail(path: str, tail: bytes, mark: dict[str, Any]) -> None:
    """Check that the text before a mark is what it was."""
    length = mark["tail"]
    if length == 0:
        return
    if len(tail) < length or tail_of(tail[-length:])["digest"] != mark["digest"]:
        raise NoRegretError(f"{path}: not the data that the checkpoint was made from")
