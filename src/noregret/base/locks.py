"""File locks that are released when their process ends, however it ends.

The lock file ``.NAME.lock.noregret`` lies next to the file that it protects and names the process
that holds it. Lock files and temporary files of a killed process are no longer locked: the next
write to the same folder removes them.
"""

from __future__ import annotations

import os
import stat
import time
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from noregret.base.platform_files import is_own, open_unlinked, try_lock
from noregret.errors import NoRegretError

# The suffix of files that may be removed when no process has locked them.
SUFFIX = ".noregret"
# Bytes of a file name, which leaves room for prefix and suffix.
MAX_NAME = 200
# Attempts to get a lock, and seconds between them: a process that cleans up holds it for a moment.
ATTEMPTS, RETRY_SECONDS = 5, 0.02

_searched: set[tuple[int, str]] = set()


def is_named(descriptor: int, path: str) -> bool:
    """Return whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


class Lock:
    """A lock on a path, until it is released or the process ends.

    Parameters
    ----------
    path
        The file to protect; it need not exist.

    Raises
    ------
    NoRegretError
        If another process has the lock.
    """

    def __init__(self, path: str) -> None:
        place = Path(os.path.realpath(path))
        self.path = path
        self.file = str(place.with_name(f".{place.name[:MAX_NAME]}.lock{SUFFIX}"))
        remove_abandoned(place.parent)
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(RETRY_SECONDS)
            if (descriptor := self.attempt()) is not None:
                break
        else:
            raise NoRegretError(
                f"in use by another run ({self.holder()})",
                "wait until that has ended, or name another file",
                file=path,
            )
        self.descriptor = descriptor
        self.release = weakref.finalize(self, release, self.file, descriptor)
        try:
            os.truncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        except OSError as error:  # such as a full disk: name the user's file
            self.release()
            raise type(error)(error.errno, os.strerror(error.errno or 0), path) from error

    def attempt(self) -> int | None:
        """Return the lock file, open and locked, or None."""
        try:
            descriptor = open_unlinked(self.file, create=True)
        except OSError as error:
            raise NoRegretError(
                f"its lock file {self.file} cannot be opened: {error.strerror}", file=self.path
            ) from None
        # A run that has just ended may have removed it between the two steps.
        if try_lock(descriptor) is not False and is_named(descriptor, self.file):
            return descriptor
        os.close(descriptor)
        return None

    def holder(self) -> str:
        """Return a description of the process that has the lock."""
        with suppress(OSError, ValueError):
            return f"process {int(Path(self.file).read_text('ascii'))}"
        return "its process is not known"


def release(file: str, descriptor: int) -> None:
    """Remove a lock file while it is locked, then release it."""
    with suppress(OSError):
        if is_named(descriptor, file):
            os.unlink(file)
    os.close(descriptor)


class Locks:
    """Locks on several paths, all of them or none."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.held: list[Lock] = []
        try:
            for path in {os.path.realpath(path): path for path in paths}.values():
                self.held.append(Lock(path))
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release all locks."""
        while self.held:
            self.held.pop().release()


def remove_abandoned(folder: Path) -> None:
    """Remove files left in a folder by killed processes of this user, once per process."""
    key = (os.getpid(), str(folder))
    if key in _searched:
        return
    _searched.add(key)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(SUFFIX):
                with suppress(OSError):
                    remove_if_abandoned(entry.path)


def remove_if_abandoned(path: str) -> None:
    """Remove a file unless a process has locked it."""
    descriptor = open_unlinked(path)
    try:
        kind = os.fstat(descriptor)
        if stat.S_ISREG(kind.st_mode) and is_own(kind) and try_lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)
