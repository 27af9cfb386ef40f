"""Files that are written whole, and files that outlive the process that writes them."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from noregret.errors import NoRegretError


def write_whole(path: str | Path, contents: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    with beside(path) as place, open(place, "wb") as file:
        file.write(contents)


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
    descriptor, made = tempfile.mkstemp(prefix=f".{place.name[:200]}.", dir=place.parent)
    try:
        yield made
        os.fsync(descriptor)
        mode = place.stat().st_mode if place.exists() else 0o666 & ~_umask()
        os.chmod(made, mode)
        os.replace(made, place)
    except BaseException:
        os.unlink(made)
        raise
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def opened(path: str | None) -> FileIO:
    """Open a new file to add to; without a path, one that is gone with the process.

    Nothing waits in a buffer: what cannot be written is told at once, and only once.
    """
    if path is None:
        descriptor, made = tempfile.mkstemp(prefix="noregret-")
        os.unlink(made)
        return FileIO(descriptor, "r+b")
    return FileIO(path, "w+b")


def reopened(path: str, size: int) -> FileIO:
    """Open a file that belongs to a checkpoint; what it holds beyond a size is forgotten."""
    try:
        file = FileIO(path, "r+b")
    except FileNotFoundError:
        raise NoRegretError(f"{path}: missing: it belongs to the checkpoint") from None
    if os.fstat(file.fileno()).st_size < size:
        file.close()
        raise NoRegretError(f"{path}: shorter than when the checkpoint was made")
    file.truncate(size)
    file.seek(size)
    return file


def add(file: FileIO, contents: memoryview) -> None:
    """Write all of it where the file is at."""
    rest = contents.cast("B")
    while len(rest):
        rest = rest[file.write(rest) :]


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file, by links of any kind."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
