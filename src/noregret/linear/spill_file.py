"""Byte strings of keys in a temporary file, for learners that do not fit into memory."""

from __future__ import annotations

import os
import tempfile
import weakref
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.linear.keyed_rows import Key


class Place(NamedTuple):
    """Where the bytes of a key are, and what is known of its learner without reading them."""

    start: int
    length: int
    checksum: int
    rounds: int
    total_loss: float


class SpillFile:
    """Byte strings by key in a file without a name, which goes with the process."""

    def __init__(self) -> None:
        self.places: dict[Key, Place] = {}
        self._free: dict[int, list[int]] = {}  # where bytes of a length can be written again
        self._end = 0
        self._file: Any = None
        self._pid = 0

    def _at(self, start: int) -> Any:
        """Return the file, at a position."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            self._pid = os.getpid()
            weakref.finalize(self, self._file.close)
        elif self._pid != os.getpid():
            raise NoRegretError(
                "the process was forked, and learners of this one wait in a file of its parent",
                "give memory for all of them, or fork before learning",
            )
        self._file.seek(start)
        return self._file

    def put(self, key: Key, contents: bytes, rounds: int, total_loss: float) -> None:
        """Write the bytes of a key that has none here."""
        length, done = len(contents), 0
        free = self._free.get(length)
        start = free[-1] if free else self._end
        try:
            file = self._at(start)
            while done < length:
                done += file.write(memoryview(contents)[done:])
        except OSError as error:
            raise NoRegretError(
                f"cannot write learners to a temporary file in {tempfile.gettempdir()}: {error}",
                "free space there, or set TMPDIR to another folder",
            ) from None
        if free:
            free.pop()
        self._end = max(self._end, start + length)
        place = Place(start, length, zlib.adler32(contents), rounds, total_loss)
        self.places[key] = place

    def read(self, key: Key) -> bytes:
        """Return the bytes of a key."""
        place = self.places[key]
        contents: bytes = self._at(place.start).read(place.length)
        if zlib.adler32(contents) != place.checksum:
            raise NoRegretError(f"the learner of {key!r} is damaged in the temporary file")
        return contents

    def remove(self, key: Key) -> None:
        """Forget the bytes of a key."""
        place = self.places.pop(key)
        self._free.setdefault(place.length, []).append(place.start)
