"""Files that are written whole, and files that outlive the process that writes them."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from noregret.errors import NoRegretError


def write_whole(path: str | Path, contents: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    with beside(path) as place, open(place, "wb") as file:
        file.write(contents)


@contextmanager
def beside(path: str | Path) -> Iterator[str]:
    """Have a file to write to, which takes the place of another when it is complete."""
    place = Path(path)
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


def reopened(path: str, size: int) -> IO[bytes]:
    """Open a file that belongs to a checkpoint; what it holds beyond a size is forgotten."""
    try:
        file = open(path, "r+b")  # noqa: SIM115
    except FileNotFoundError:
        raise NoRegretError(f"{path}: missing: it belongs to the checkpoint") from None
    if os.fstat(file.fileno()).st_size < size:
        file.close()
        raise NoRegretError(f"{path}: shorter than when the checkpoint was made")
    file.truncate(size)
    file.seek(size)
    return file
