"""Write sound files, complete or not at all, without loss that the format can avoid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import beside
from noregret.base.numbers import megabytes
from noregret.echo.sound import BITS, Sound, name_for, soundfile
from noregret.errors import NoRegretError, WrongUsage, foreign

Floats = NDArray[np.float64]
# Formats by file extension.
FORMATS = {
    ".wav": "WAV",
    ".flac": "FLAC",
    ".ogg": "OGG",
    ".oga": "OGG",
    ".aiff": "AIFF",
    ".aif": "AIFF",
    ".au": "AU",
    ".caf": "CAF",
    ".w64": "W64",
    ".rf64": "RF64",
}
# Bytes that fit into a file with 32-bit sizes.
FOUR_GIGABYTES = 2**32 - 2**16
LIMITED = ("WAV", "AIFF", "AU")


def format_for(path: str, like: Sound, rate: int) -> tuple[str, str]:
    """Return the format and subtype of a file to write: those of another file if possible."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        raise WrongUsage(f"end its name with one of {known}, to say what to write", file=path)
    library, kind = soundfile(), FORMATS[ending]
    subtype = like.subtype
    if not library.check_format(kind, subtype):
        wide = BITS.get(subtype, 24) > 16  # more than 16 bits, or floats
        better = "PCM_24" if wide and library.check_format(kind, "PCM_24") else ""
        subtype = better or library.default_subtype(kind)
    size = -(-like.frames * rate // like.rate) * (BITS.get(subtype, 64) // 8)
    if kind in LIMITED and size > FOUR_GIGABYTES:
        raise NoRegretError(
            f"{megabytes(size)} do not fit into a {kind} file",
            "name it .w64 or .flac",
            file=path,
        )
    return kind, subtype


class Writing:
    """A sound file being written.

    ``beyond`` counts the samples that were clipped to full scale.
    """

    def __init__(self, path: str, file: Any) -> None:
        self.path, self.beyond, self.frames = path, 0, 0
        self._file = file
        self._bits = BITS.get(file.subtype)
        self._cut = file.subtype not in ("FLOAT", "DOUBLE")

    def write(self, samples: Floats) -> None:
        """Write samples with full scale 1."""
        if self._cut:
            self.beyond += int(np.count_nonzero(np.abs(samples) > 1))
            samples = np.clip(samples, -1.0, 1.0)
        if self._bits is not None:
            steps = 2.0 ** (self._bits - 1)
            whole = np.clip(np.rint(samples * steps), -steps, steps - 1).astype(np.int64)
            self._put((whole << (32 - self._bits)).astype(np.int32))
        else:
            self._put(samples)

    def _put(self, samples: NDArray[Any]) -> None:
        library = soundfile()
        try:
            self._file.write(samples)
        except (library.LibsndfileError, AssertionError) as error:
            why = foreign(getattr(error, "error_string", "not all of it"))
            raise NoRegretError(
                f"could not be written ({why}): is the disk full?", file=self.path
            ) from None
        self.frames += len(samples)


@contextmanager
def writing(path: str, rate: int, format: str, subtype: str) -> Iterator[Writing]:
    """Open a mono sound file for writing; it appears complete or not at all."""
    library = soundfile()
    with beside(path) as place:
        try:
            file = library.SoundFile(name_for(place), "w", rate, 1, subtype, format=format)
        except (library.LibsndfileError, TypeError, ValueError) as error:
            raise NoRegretError(
                f"{format} files of {rate:,} samples per second cannot be written ({error})",
                file=path,
            ) from None
        with file:
            made = Writing(path, file)
            yield made
        # The end is written on close, which does not report errors.
        if library.info(name_for(place)).frames != made.frames:
            raise NoRegretError("could not be written to its end: is the disk full?", file=path)


def write_sound(path: str | Path, samples: Floats, rate: int) -> None:
    """Write samples as a WAV file of 16 bits.

    Parameters
    ----------
    path
        The file, written completely or not at all.
    samples
        One channel with full scale 1; larger samples are clipped.
    rate
        Samples per second.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> place = f"{mkdtemp()}/tone.wav"
    >>> write_sound(place, 0.5 * np.sin(0.1 * np.arange(8000)), 8000)
    >>> from noregret.echo.sound import look_over
    >>> look_over(place).seconds
    1.0
    """
    with writing(str(path), rate, "WAV", "PCM_16") as file:
        file.write(samples)


def as_flac(samples: NDArray[np.int16], rate: int) -> bytes:
    """Return samples as the contents of a FLAC file."""
    file = BytesIO()
    soundfile().write(file, samples, rate, format="FLAC", subtype="PCM_16")
    return file.getvalue()
