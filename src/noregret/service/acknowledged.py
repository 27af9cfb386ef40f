"""The last acknowledged entry, beside SQLite's file: by it, a lost or torn log is found.

SQLite takes its write-ahead log up to the first damaged record, and what comes before is a sound
journal, only shorter. So the number and the seal of the last entry that was acknowledged are in a
file of their own while the journal is open, and after a crash.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from noregret.errors import NoRegretError

ENDING = "-acknowledged"
# The number of the last entry, the seal of its block, and a checksum of both with its bytes.
RECORD, CHECKSUM = struct.Struct("<q16sI"), 4
FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


class Acknowledged:
    """The last entry that was acknowledged.

    It is written after each commit and never synchronised: after a loss of power it may be an
    earlier entry, never a later one than the disk has.

    Parameters
    ----------
    path
        The file of the journal.
    """

    def __init__(self, path: str) -> None:
        real = os.path.realpath(path)  # beside which SQLite has its log
        self.log, self.path = Path(f"{real}-wal"), Path(f"{real}{ENDING}")
        self.entry = -1
        self._file: int | None = None

    def check(self, entry: int, seal: bytes) -> None:
        """Raise an error if entries that were acknowledged are missing in a journal.

        Parameters
        ----------
        entry
            The number of its last entry.
        seal
            The seal of the block of that.
        """
        last, sealed = self.kept()
        if last > entry:
            what = f"it ends with entry {entry:,}, but entry {last:,} was acknowledged"
        elif last == entry > 0 and sealed != seal:
            what = f"its last entry, {entry:,}, is another than the one that was acknowledged"
        else:
            return
        raise NoRegretError(
            f"{what}: its log was lost, damaged, or left out of a copy",
            (
                f"put {self.log.name} back beside it",
                f"delete {self.path.name} to go on without these entries, as from an older backup",
            ),
        )

    def begin(self, entry: int, seal: bytes) -> None:
        """Begin with the last entry of a journal, and keep the file open."""
        try:
            self._file = os.open(self.path, FLAGS, 0o666)
            self.write(entry, seal)
        except OSError as error:
            raise NoRegretError(f"{self.path} cannot be written ({error.strerror})") from None

    def kept(self) -> tuple[int, bytes]:
        """Return the number and the seal in the file; 0 if there is none, or only a part."""
        try:
            kept = self.path.read_bytes()
            entry, seal, checksum = RECORD.unpack(kept)
        except (FileNotFoundError, struct.error):
            return 0, b""
        except OSError as error:
            raise NoRegretError(f"{self.path} cannot be read ({error.strerror})") from None
        return (entry, seal) if checksum == crc32(kept[:-CHECKSUM]) else (0, b"")

    def write(self, entry: int, seal: bytes) -> None:
        """Write the last entry, which is on disk."""
        if self._file is not None and entry != self.entry:
            record = RECORD.pack(entry, seal, 0)[:-CHECKSUM]
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, record + crc32(record).to_bytes(CHECKSUM, "little"))
            self.entry = entry

    def close(self) -> None:
        """Remove the file if SQLite's log is gone: all is in the file of the journal then."""
        if self._file is not None:
            self.release()
            if not self.log.exists():
                with suppress(OSError):
                    self.path.unlink(missing_ok=True)

    def release(self) -> None:
        """Close the file, and leave it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        """Close the file of a service that was not closed, as SQLite does with its own."""
        self.release()
