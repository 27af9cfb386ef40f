"""Atomic writes, and append-only files that survive the process."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.base.locks import MAX_NAME, SUFFIX, is_named, remove_abandoned
from noregret.base.platform_files import try_lock
from noregret.errors import NoRegretError

# Bytes of a digest.
DIGEST_SIZE = 16
# Bytes per read when a file is checked.
BYTES_PER_READ = 1 << 20

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


def write_whole(path: str | Path, contents: bytes) -> None:
    """Write a file atomically."""
    write_pieces(path, [contents])


def write_pieces(path: str | Path, pieces: Iterable[Buffer]) -> None:
    """Write a file atomically, in pieces."""
    with beside(path) as place, open(place, "wb") as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def beside(path: str | Path) -> Iterator[str]:
    """Open a temporary file that replaces another when the block ends without an error.

    A symbolic link is kept, and its target replaced.
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
    """Return a new temporary file in the same folder, open and locked, and its path.

    The lock tells other processes that the file is not abandoned.
    """
    import tempfile

    while True:
        descriptor, made = tempfile.mkstemp(SUFFIX, f".{place.name[:MAX_NAME]}.", place.parent)
        # Another process may have removed it as abandoned before it was locked.
        if try_lock(descriptor) is not False and is_named(descriptor, made):
            return descriptor, made
        os.close(descriptor)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Make errors of the operating system name the user's file, not the temporary one."""
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


def temporary_folder() -> str:
    """Return the folder for temporary files."""
    import tempfile

    return tempfile.gettempdir()


def new_hash() -> Any:
    """Return a new hash object, loading hashlib, with OpenSSL, only where one is needed."""
    import hashlib

    return hashlib.blake2b(digest_size=DIGEST_SIZE)


class Growing(FileIO):
    """An append-only file, with a digest of its contents if it has a path.

    Writes are unbuffered, so that errors are raised at once, and only once.
    """

    def __init__(self, file: str | int, mode: str, path: str | None) -> None:
        super().__init__(file, mode)
        self.path = path
        self.hash = None if path is None else new_hash()

    def add(self, contents: memoryview) -> None:
        """Write all bytes at the current position."""
        if not contents.nbytes:  # which cannot be cast
            return
        rest = contents.cast("B")
        if self.hash is not None:
            self.hash.update(rest)
        while len(rest):
            rest = rest[self.write(rest) :]

    def settle(self) -> str | None:
        """Flush the file to disk and return its digest."""
        with naming(self.path or temporary_folder()):
            os.fsync(self.fileno())
        return None if self.hash is None else self.hash.hexdigest()


def opened(path: str | None) -> Growing:
    """Create an append-only file; without a path, a temporary one."""
    if path is not None:
        return Growing(path, "w+b", path)
    import tempfile

    with naming(tempfile.gettempdir()), tempfile.TemporaryFile(buffering=0) as file:
        return Growing(os.dup(file.fileno()), "r+b", None)


def reopened(path: str, size: int, digest: str) -> Growing:
    """Open a file of a checkpoint and truncate it to the size in the checkpoint."""
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
    """Raise NoRegretError if the file's contents differ from those of the checkpoint."""
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
            " without them the run cannot be resumed",
            "remove the checkpoint and begin again",
            file=file.path,
        )


def same_file(one: str, other: str) -> bool:
    """Return whether two paths lead to the same file."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
