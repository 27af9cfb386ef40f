"""Files that are open for reading, decompressed if necessary."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING

from noregret.base.atomic_files import naming, new_hash
from noregret.base.platform_files import enlarge_pipe, is_ready, open_to_read, read_at
from noregret.errors import NoRegretError
from noregret.streams.addresses import STORES, scheme_of
from noregret.streams.seals import Seal

if TYPE_CHECKING:
    from noregret.streams.remote_files import RemoteFile

# Bytes parsed at a time.
BLOCK = 1 << 22
# Bytes that a pipe may hold: its blocks are what is there, and small ones take more time each.
PIPE = 1 << 20
# Seconds between looks at a file that is followed.
POLL_SECONDS = 0.05
STDIN = "-"
UTF_16, UTF_32 = (b"\xff\xfe", b"\xfe\xff"), b"\xff\xfe\0\0"
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


Converter = Callable[[IO[bytes], str], IO[bytes]]


def is_remote(path: object) -> bool:
    """Return whether a path is an address in a store of files."""
    return scheme_of(path) in STORES and not os.path.exists(str(path))


class LocalFile:
    """A file of this machine, or standard input."""

    def __init__(self, path: str) -> None:
        self.owned = path != STDIN
        self.descriptor = open_to_read(path) if self.owned else stdin_descriptor()
        state = os.fstat(self.descriptor)
        self.regular = stat.S_ISREG(state.st_mode)
        if stat.S_ISFIFO(state.st_mode):
            enlarge_pipe(self.descriptor, PIPE)

    def size(self) -> int:
        """Return its size by now."""
        return os.fstat(self.descriptor).st_size

    def read(self, most: int) -> bytes:
        """Return some of the next bytes."""
        return os.read(self.descriptor, most)

    def read_at(self, place: int, size: int) -> bytes:
        """Return bytes at an offset."""
        return read_at(self.descriptor, place, size)

    def seek(self, offset: int) -> int:
        """Go on at an offset."""
        return os.lseek(self.descriptor, offset, os.SEEK_SET)

    def stream(self) -> IO[bytes]:
        """Return it as Python's file, for what decompresses it."""
        return os.fdopen(os.dup(self.descriptor), "rb")

    def is_ready(self) -> bool:
        """Return whether a pipe or device can be read without waiting."""
        return is_ready(self.descriptor)

    def close(self) -> None:
        """Close it, unless it is standard input."""
        if self.owned:
            os.close(self.descriptor)


def file_of(path: str) -> LocalFile | RemoteFile:
    """Open a file of this machine, or of a store."""
    if path == STDIN or not is_remote(path):
        return LocalFile(path)
    from noregret.streams.remote_files import RemoteFile

    return RemoteFile(path)


def binary(path: str) -> IO[bytes]:
    """Open a file to read and seek."""
    if not is_remote(path):
        return open(path, "rb")
    from noregret.streams import remote_files

    file: IO[bytes] = remote_files.binary(path)
    return file


def is_plain(path: str) -> bool:
    """Return whether a path is a file that can be read twice."""
    return path != STDIN and (os.path.isfile(path) or is_remote(path))


def size_of(path: str) -> int:
    """Return the bytes of a file."""
    if not is_remote(path):
        return os.path.getsize(path)
    from noregret.streams import remote_files

    return remote_files.size_of(path)


def stamp_of(path: str) -> tuple[int, int]:
    """Return the size of a file, and when it was changed, in nanoseconds."""
    if not is_remote(path):
        return (state := os.stat(path)).st_size, state.st_mtime_ns
    from noregret.streams import remote_files

    return remote_files.stamp_of(path)


class Opened:
    """A file that is open for reading, decompressed if necessary.

    If it is not ``seekable``, it is read sequentially, by ``block``.

    Parameters
    ----------
    path
        The file.
    converted
        Returns the text of a file of another kind, given the open file and its path.
    follow
        Whether to wait for more at the end of a plain file.
    """

    def __init__(self, path: str, converted: Converter | None = None, follow: bool = False) -> None:
        self.path, self.read_so_far = path, 0
        self.stream: IO[bytes] | None = None
        self.file = file_of(path)
        self.regular = self.file.regular
        self.size = self.file.size() if self.regular else 0
        if self.regular and path == STDIN:  # which may have been read from already
            self.size -= os.lseek(stdin_descriptor(), 0, os.SEEK_CUR)
        self.decoder: codecs.IncrementalDecoder | None = None  # for UTF-16
        self.decoded = b""  # read, and not taken yet
        first = self.file.read_at(0, 4) if self.regular else b""
        packing = packing_of(first)
        packed = packing is not None or converted is not None
        self.follow = follow and self.regular and path != STDIN
        if self.follow and packed:
            cure = "unpack it on the way, as with tail -c +1 -f … | zcat"
            raise NoRegretError("compressed: what is added later cannot be read", cure, file=path)
        self.seekable = (
            not self.follow and self.regular and not packed and path != STDIN and not is_wide(first)
        )
        if packed:
            self.raw = self.file.stream()
            self.stream = self.raw if packing is None else unpacked(self.raw, packing)
            if converted is not None:
                try:
                    self.stream = converted(self.stream, path)
                except BaseException:
                    self.raw.close()
                    raise

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *failure: object) -> None:
        # Pieces of a plain file may still be read: that is closed when they are forgotten.
        if self.stream is not None:
            self.stream.close()
            self.raw.close()

    def __del__(self) -> None:
        if hasattr(self, "file"):  # it was opened
            self.file.close()

    def block(self) -> bytes:
        """Return the next bytes: as many as are available, at most one block."""
        begins = self.read_so_far == 0
        parts = [self.some(BLOCK)]
        if begins and not self.regular and packing_of(parts[0]):
            raise NoRegretError(
                "compressed data", "unpack it on the way, as with zcat", file=self.path
            )
        left = BLOCK - len(parts[0])
        while parts[-1] and left and self.more_is_there():
            parts.append(self.some(left))
            left -= len(parts[-1])
        return b"".join(parts)

    def some(self, most: int) -> bytes:
        """Return some of the next bytes, as UTF-8 if they are UTF-16; empty at the end."""
        if self.decoder is None:
            begins = not self.seekable and self.read_so_far == 0
            text = self.some_raw(most)
            if not begins or not is_wide(text):
                return text
            self.decoder = codecs.getincrementaldecoder("utf-16")()
            self.decode(text)
        while not self.decoded:
            text = self.some_raw(most)
            self.decode(text)
            if not text:
                break
        text, self.decoded = self.decoded[:most], self.decoded[most:]
        return text

    def decode(self, text: bytes) -> None:
        """Decode UTF-16; empty text is the end."""
        assert self.decoder is not None
        try:
            self.decoded += self.decoder.decode(text, not text).encode("utf-8")
        except UnicodeDecodeError as error:
            what = f"damaged UTF-16 text: {error.reason}"
            raise NoRegretError(what, file=self.path) from None

    def some_raw(self, most: int) -> bytes:
        """Return some of the next bytes of the file, decompressed."""
        if self.seekable:  # a file that grows is read as it was when it was opened
            most = min(most, self.size - self.read_so_far)
        if self.stream is None:
            with naming(self.path):
                text = self.file.read(most)
                while not text and self.follow:
                    self.check_whole()
                    time.sleep(POLL_SECONDS)
                    text = self.file.read(most)
            self.read_so_far += len(text)
            return text
        try:
            text = self.stream.read(most)
        except NoRegretError:
            raise
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise NoRegretError(
                f"damaged, it cannot be unpacked: {error}", file=self.path
            ) from None
        self.read_so_far = self.raw.tell()
        return text

    def check_whole(self) -> None:
        """Refuse a file that has ended before the place where it ended when it was opened."""
        self.size = max(self.size, self.read_so_far) if self.follow else self.size
        cut = self.file.size() < self.size
        if self.regular and (cut or (self.stream is None and self.read_so_far < self.size)):
            raise shortened(self.path)

    def more_is_there(self) -> bool:
        """Return whether data can be read without waiting."""
        if self.follow:
            return self.file.size() > self.read_so_far
        return self.regular or self.file.is_ready()

    def skip(self, offset: int) -> None:
        """Skip to a position in the text."""
        if self.seekable:
            self.read_so_far = self.file.seek(offset)
            return
        for _ in self.parts(offset):
            pass

    def check(self, seals: Sequence[Seal]) -> None:
        """Read the text that was sealed, and check that it is the same."""
        for seal in seals:
            digest = new_hash()
            for text in self.parts(seal.stop - seal.start):
                digest.update(text)
            seal.check(digest.digest(), self.path, "lines")

    def parts(self, size: int) -> Iterator[bytes]:
        """Yield the given number of bytes, in blocks."""
        while size > 0:
            text = self.some(min(size, BLOCK))
            if not text:
                raise NoRegretError(
                    "shorter than before: there is nothing to resume with", file=self.path
                )
            size -= len(text)
            yield text


def shortened(path: str) -> NoRegretError:
    """Return the error for a file that was truncated."""
    return NoRegretError("became shorter while it was being read", file=path)


def stdin_descriptor() -> int:
    """Return the file descriptor of standard input; raise an error if it is closed."""
    try:
        return sys.stdin.fileno()
    except (AttributeError, ValueError, OSError):  # None, closed, or replaced by something else
        raise NoRegretError("standard input is closed: there is nothing to read") from None


def is_wide(text: bytes) -> bool:
    """Return whether the first bytes of a file are those of UTF-16 text."""
    return text.startswith(UTF_16) and not text.startswith(UTF_32)


def packing_of(text: bytes) -> str | None:
    """Return the compression of a file, from its first bytes."""
    return next((kind for magic, kind in PACKED.items() if text.startswith(magic)), None)


def unpacked(raw: IO[bytes], packing: str) -> IO[bytes]:
    """Return a decompressed stream."""
    if packing == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[return-value]
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")  # type: ignore[no-any-return]
