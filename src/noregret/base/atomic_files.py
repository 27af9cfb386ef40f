"""Files that are written whole, and files that outlive the process that writes them."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from noregret.base.locks import MAX_NAME, SUFFIX, is_named, remove_abandoned
from noregret.base.platform_files import try_lock
from noregret.errors import NoRegretError

# Bytes read at a time to check a file.
BYTES_PER_READ = 1 << 20

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


def write_whole(path: str | Path, contents: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    write_pieces(path, [contents])


def write_pieces(path: str | Path, pieces: Iterable[Buffer]) -> None:
    """Write a file piece by piece so that it is there whole or not at all."""
    with beside(path) as place, open(place, "wb") as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def beside(path: str | Path) -> Iterator[str]:
    """Have a file to write to, which takes the place of another when it is complete.

    A link stays one: what it leads to is replaced.
    """
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(place.parent))
    if place.exists() and not place.is_file():
        kind = "a directory" if place.is_dir() else "a device or a pipe"
        raise OSError(errno.EINVAL, f"{kind}, which no file can take the place of", str(place))
    remove_abandoned(place.parent)
    with naming(path):
        descriptor, made = temporary(place)
        try:
            yield made
            os.fsync(descriptor)
            mode = place.stat().st_mode if place.exists() else 0o666 & ~_umask()
            os.chmod(made, mode)
            os.replace(made, place)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(made)
            raise
        finally:
            os.close(descriptor)


def temporary(place: Path) -> tuple[int, str]:
    """Return a new file beside another, open and locked, and its path.

    It is locked as long as it is open, so that other processes know that it is not abandoned.
    """
    while True:
        descriptor, made = tempfile.mkstemp(SUFFIX, f".{place.name[:MAX_NAME]}.", place.parent)
        # One may have been taken for abandoned before it was locked.
        if try_lock(descriptor) is not False and is_named(descriptor, made):
            return descriptor, made
        os.close(descriptor)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Have errors of the operating system name the file that the user knows."""
    try:
        yield
    except OSError as error:
        if error.errno is None or isinstance(error, BrokenPipeError):
            raise
        raise type(error)(error.errno, os.strerror(error.errno), str(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Growing(FileIO):
    """A file that is only added to, with a digest of all that it holds if it has a path.

    Nothing waits in a buffer: what cannot be written is told at once, and only once.
    """

    def __init__(self, file: str | int, mode: str, path: str | None) -> None:
        super().__init__(file, mode)
        self.path = path
        self.hash = None if path is None else hashlib.blake2b(digest_size=16)

    def add(self, contents: memoryview) -> None:
        """Write all of it where the file is at."""
        rest = contents.cast("B")
        if self.hash is not None:
            self.hash.update(rest)
        while len(rest):
            rest = rest[self.write(rest) :]

    def settle(self) -> str | None:
        """Have all of it on disk, and return its digest."""
        with naming(self.path or tempfile.gettempdir()):
            os.fsync(self.fileno())
        return None if self.hash is None else self.hash.hexdigest()


def opened(path: str | None) -> Growing:
    """Open a new file to add to; without a path, one that is gone with the process."""
    if path is not None:
        return Growing(path, "w+b", path)
    with naming(tempfile.gettempdir()), tempfile.TemporaryFile(buffering=0) as file:
        return Growing(os.dup(file.fileno()), "r+b", None)


def reopened(path: str, size: int, digest: str) -> Growing:
    """Open a file that belongs to a checkpoint; what it holds beyond a size is forgotten."""
    try:
        file = Growing(path, "r+b", path)
    except FileNotFoundError:
        raise NoRegretError("missing: it belongs to the checkpoint", file=path) from None
    try:
        with naming(path):
            check_contents(file, size, digest)
            file.truncate(size)
            file.seek(size)
    except BaseException:
        file.close()
        raise
    return file


def check_contents(file: Growing, size: int, digest: str) -> None:
    """Refuse a file whose first bytes are not those that the checkpoint counts on."""
    assert file.hash is not None
    if os.fstat(file.fileno()).st_size < size:
        raise NoRegretError("shorter than when the checkpoint was made", file=file.path)
    left = size
    while left and (part := file.read(min(left, BYTES_PER_READ))):
        file.hash.update(part)
        left -= len(part)
    if file.hash.hexdigest() != digest:
        raise NoRegretError(
            "damaged: its contents are not those that the checkpoint was made with;"
            " without them the run cannot go on",
            "remove the checkpoint and begin again",
            file=file.path,
        )


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file, by links of any kind."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
