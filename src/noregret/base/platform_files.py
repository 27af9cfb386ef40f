"""Calls to the operating system that differ between platforms, in one place.

Every other module that reads at a place, locks, polls or opens a descriptor calls these functions.
The branches for Windows are untested: they are there so that only this module has to be right.
"""

from __future__ import annotations

import os
import sys
import threading

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl
    import select

# Flags that not every platform has. Without O_BINARY, Windows translates line ends.
BINARY = getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

_seeking = threading.Lock()


def open_to_read(path: str) -> int:
    """Return a descriptor of a file, to read its bytes as they are."""
    return os.open(path, os.O_RDONLY | BINARY)


def open_unlinked(path: str, *, create: bool = False) -> int:
    """Return a descriptor of a file to read and write, refusing symbolic links."""
    created = os.O_CREAT if create else 0
    return os.open(path, os.O_RDWR | created | BINARY | NO_LINKS, 0o644)


def read_at(descriptor: int, place: int, size: int) -> bytes:
    """Return bytes of a file, fewer only at its end; its position stays."""
    parts = []
    while size > 0 and (part := _read_some_at(descriptor, size, place)):
        parts.append(part)
        size, place = size - len(part), place + len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _seek_and_read(descriptor: int, size: int, place: int) -> bytes:
    """Read as ``os.pread`` does, safe against other calls of this function only."""
    with _seeking:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, place, os.SEEK_SET)
            return os.read(descriptor, size)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)


_read_some_at = getattr(os, "pread", _seek_and_read)


def is_ready(descriptor: int) -> bool:
    """Tell whether a pipe or device can be read without waiting; False where that is unknown."""
    if sys.platform == "win32":  # it can poll sockets alone
        return False
    return bool(select.select([descriptor], [], [], 0)[0])


def is_own(state: os.stat_result) -> bool:
    """Tell whether this user owns a file; every file where files have no owners."""
    return not hasattr(os, "geteuid") or state.st_uid == os.geteuid()


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file; return False where another process has, None where there are no locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # such as a network folder without locks
        return None
    return True
