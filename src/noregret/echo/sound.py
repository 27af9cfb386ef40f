"""Sound files: checked once, then read piece by piece at any rate."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.numbers import count
from noregret.echo.resampling import Resampler
from noregret.errors import NoRegretError, foreign, tell

Floats = NDArray[np.float64]
# Bits per sample of integer formats.
BITS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32}
# Largest sample that counts as silence: far below a 24-bit step.
INAUDIBLE = 1e-8
# Supported rates of a recording.
MIN_FILE_RATE, MAX_FILE_RATE = 4_000, 400_000
# Sizes in a WAV header from which on they mean that the length is unknown.
OPEN_END = 0x7FFF_F000
# Samples per read when a file is checked.
PIECE = 1 << 18


@dataclass(frozen=True)
class Sound:
    """A sound file that was checked.

    Parameters
    ----------
    path
        The path.
    rate, frames, channels
        Samples per second, number of frames, number of channels.
    format, subtype
        The format in libsndfile's names, such as ``WAV`` and ``PCM_16``.
    peak
        The largest sample; full scale is 1.
    full
        Number of samples at full scale.
    """

    path: str
    rate: int
    frames: int
    channels: int
    format: str
    subtype: str
    peak: float
    full: int

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.frames / self.rate

    @property
    def silent(self) -> bool:
        """True if it is silent."""
        return self.peak < INAUDIBLE

    @property
    def gain(self) -> float:
        """Factor that scales all samples to full scale or below."""
        return 1.0 if self.peak <= 1 else 1 / self.peak


def soundfile() -> Any:
    """Return the soundfile module, or raise an error that says how to install it."""
    try:
        import soundfile as library
    except ModuleNotFoundError:
        raise NoRegretError(
            "sound files are read by soundfile, which is not installed",
            'pip install "noregret[echo]"',
        ) from None
    except OSError as error:  # it is there, libsndfile is not
        raise NoRegretError(f"soundfile cannot be used: {error}") from None
    return library


def look_over(path: str, channel: int | None = None) -> Sound:
    """Read a whole sound file once and return its properties.

    Parameters
    ----------
    path
        The path.
    channel
        The channel to read, counted from 1; None for all.

    Raises
    ------
    NoRegretError
        If it is missing, not a sound file, empty, or has samples that are not finite.
    """
    with opened(path) as file:
        if file.channels < 1 or file.samplerate < 1:
            raise NoRegretError("a sound file without channels or without a rate", file=path)
        if not MIN_FILE_RATE <= file.samplerate <= MAX_FILE_RATE:
            raise NoRegretError(
                f"{file.samplerate:,} samples per second make no sense for speech: rates"
                f" from {MIN_FILE_RATE:,} to {MAX_FILE_RATE:,} are read",
                file=path,
            )
        if channel is not None and not 1 <= channel <= file.channels:
            raise NoRegretError(
                f"there is no channel {channel}: it has {count(file.channels, 'channel')}",
                file=path,
            )
        frames, peak, full = 0, 0.0, 0
        for piece in pieces(file, channel):
            bad = np.flatnonzero(~np.isfinite(piece).all(axis=1))
            if len(bad):
                seconds = (frames + int(bad[0])) / file.samplerate
                raise NoRegretError(
                    f"a sample is not a finite number, at {seconds:.3f} s",
                    "repair the recording",
                    file=path,
                )
            frames += len(piece)
            peak = max(peak, float(np.abs(piece).max(initial=0.0)))
            full += at_full_scale(piece, file.subtype)
        if not frames:
            raise NoRegretError("there is no sound in it: the file has no samples", file=path)
        promised = max(file.frames, frames_promised(path))
        if promised > frames:
            tell(
                f"cut short: its header promises {promised / file.samplerate:.3f} s, and"
                f" {frames / file.samplerate:.3f} s are there, which are read",
                file=path,
            )
        chosen = file.channels if channel is None else 1
        return Sound(path, file.samplerate, frames, chosen, file.format, file.subtype, peak, full)


def frames_promised(path: str) -> int:
    """Return the number of frames by the header of a WAV file; 0 if unknown.

    libsndfile counts those that are in the file.
    """
    long_size = frame_size = 0
    with open(path, "rb") as file:
        form, _, kind = struct.unpack("<4sI4s", file.read(12).ljust(12))
        if form not in (b"RIFF", b"RF64") or kind != b"WAVE":
            return 0
        while len(head := file.read(8)) == 8:
            name, size = struct.unpack("<4sI", head)
            if name == b"data":
                known = size < OPEN_END or long_size > 0
                return (long_size or size) // frame_size if known and frame_size else 0
            after, body = file.tell() + size + size % 2, file.read(16).ljust(16, b"\0")
            if name == b"fmt ":
                (frame_size,) = struct.unpack_from("<H", body, 12)
            elif name == b"ds64":
                (long_size,) = struct.unpack_from("<Q", body, 8)
            file.seek(after)
    return 0


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a sound file to read."""
    library = soundfile()
    place = Path(path)
    if not place.exists():
        raise NoRegretError("there is no such file", file=path)
    if place.is_dir():
        raise NoRegretError("a folder", "name a sound file", file=path)
    if not place.is_file():
        raise NoRegretError("not a file: sound is read from files, twice", file=path)
    if not os.access(place, os.R_OK):
        raise NoRegretError("permission denied", file=path)
    if not place.stat().st_size:
        raise NoRegretError("the file is empty", file=path)
    try:
        file = library.SoundFile(name_for(path))
    except (library.LibsndfileError, TypeError, ValueError) as error:
        why = foreign(getattr(error, "error_string", error))
        raise NoRegretError(
            f"not a sound file that can be read ({why}): WAV, FLAC and OGG are", file=path
        ) from None
    with file:
        yield file


def name_for(path: str) -> str | bytes:
    """Return a path for libsndfile: as bytes if it is not valid text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def pieces(file: Any, channel: int | None = None) -> Iterator[Floats]:
    """Yield the frames of an open file."""
    size = max(1, PIECE // file.channels)
    while len(piece := frames_of(file, size, channel)):
        yield piece


def frames_of(file: Any, size: int, channel: int | None = None) -> Floats:
    """Return the next frames of an open file, with full scale 1; fewer only at the end.

    Integer formats are read as integers, so that nothing is lost.
    """
    library = soundfile()
    try:
        if file.subtype in BITS:
            found = file.read(size, dtype="int32", always_2d=True) / 2.0**31
        else:
            found = file.read(size, dtype="float64", always_2d=True)
    except library.LibsndfileError as error:
        path, why = os.fsdecode(file.name), error.error_string
        raise NoRegretError(
            f"damaged: it could not be read to its end ({why})", file=path
        ) from None
    frames: Floats = found if channel is None else found[:, channel - 1 : channel]
    return frames


def at_full_scale(piece: Floats, subtype: str) -> int:
    """Return the number of samples at full scale of the format."""
    step = 2.0 ** (1 - BITS.get(subtype, 16))
    sizes = np.abs(piece)
    return int(np.count_nonzero((sizes >= 1 - step) & (sizes <= 1)))


class Reading:
    """The frames of a sound file at a rate, scaled to full scale or below; silence after its end.

    Parameters
    ----------
    sound
        The file's properties.
    file
        The open file.
    rate
        Frames per second to return.
    channel
        The channel to read, counted from 1; None for all.
    """

    def __init__(self, sound: Sound, file: Any, rate: int, channel: int | None = None) -> None:
        self.sound, self.rate = sound, rate
        self._file, self._channel = file, channel
        self._resampler = (
            None
            if rate == sound.rate
            else Resampler(self._frames, sound.channels, sound.rate, rate)
        )

    @property
    def frames(self) -> int:
        """Number of frames at this rate, rounded up."""
        return -(-self.sound.frames * self.rate // self.sound.rate)

    def _frames(self, size: int) -> Floats:
        return frames_of(self._file, size, self._channel) * self.sound.gain

    def read(self, size: int) -> Floats:
        """Return the next frames."""
        if self._resampler is not None:
            return self._resampler.read(size)
        found = self._frames(size)
        silence = np.zeros((size - len(found), self.sound.channels))
        return np.concatenate((found, silence)) if len(silence) else found


@contextmanager
def reading(sound: Sound, rate: int, channel: int | None = None) -> Iterator[Reading]:
    """Open a sound file to be read at a rate."""
    with opened(sound.path) as file:
        yield Reading(sound, file, rate, channel)
