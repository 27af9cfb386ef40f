"""Operating system calls that differ between platforms.

All other modules read at an offset, lock, poll and open descriptors through these functions. The
branches for Windows are untested.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

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
    """Open a file to read its bytes and return the descriptor."""
    return os.open(path, os.O_RDONLY | BINARY)


def open_unlinked(path: str, *, create: bool = False) -> int:
    """Open a file to read and write, refusing symbolic links, and return the descriptor."""
    created = os.O_CREAT if create else 0
    return os.open(path, os.O_RDWR | created | BINARY | NO_LINKS, 0o644)


def read_at(descriptor: int, place: int, size: int) -> bytes:
    """Read bytes at an offset, fewer only at the end of the file; its position stays."""
    parts = []
    while size > 0 and (part := _read_some_at(descriptor, size, place)):
        parts.append(part)
        size, place = size - len(part), place + len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _seek_and_read(descriptor: int, size: int, place: int) -> bytes:
    """Emulate ``os.pread``; safe only against other calls of this function."""
    with _seeking:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, place, os.SEEK_SET)
            return os.read(descriptor, size)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)


_read_some_at = getattr(os, "pread", _seek_and_read)


def enlarge_pipe(descriptor: int, size: int) -> None:
    """Enlarge the buffer of a pipe, if the system allows it, so that reads return more."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)


def is_ready(descriptor: int) -> bool:
    """Return whether a pipe or device can be read without waiting; False if unknown."""
    if sys.platform == "win32":  # polls only sockets
        return False
    return bool(select.select([descriptor], [], [], 0)[0])


def is_own(state: os.stat_result) -> bool:
    """Return whether this user owns a file; True on platforms without owners."""
    return not hasattr(os, "geteuid") or state.st_uid == os.geteuid()


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file; return False if another process has the lock, None if unsupported."""
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
