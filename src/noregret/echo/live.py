"""Live: play the far end, record the microphone, and cancel the echo in real time.

Devices are accessed through ``sounddevice`` (PortAudio), the extra ``live``. The device calls a
callback for every block, which only moves samples between queues; the echo is cancelled in another
thread, so that a delay there loses no sound. So far, this is tested with a simulated device only.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import suppress as suppressed
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.echo.cancelling import check_channels, made, working_rate
from noregret.echo.sound import Reading, Sound, look_over, reading
from noregret.echo.working import Work
from noregret.echo.writing import format_for, writing
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult

Floats = NDArray[np.float64]
# Seconds to record after the end of the far-end signal.
SECONDS_AFTER_FAR_END = 1.0
# Blocks queued for playback, so that the device never waits.
MAX_QUEUED_BLOCKS = 10
# Seconds without a block after which recording stops.
MAX_WAIT_SECONDS = 5.0


def sounddevice() -> Any:
    """Return the sounddevice module, or raise an error that says how to install it."""
    try:
        import sounddevice as library
    except ModuleNotFoundError:
        raise NoRegretError(
            "sounddevice, which accesses the devices, is not installed",
            'pip install "noregret[live]"',
        ) from None
    except OSError as error:
        raise NoRegretError(
            f"sounddevice cannot be used: {error}. On Linux it needs the package libportaudio2"
        ) from None
    return library


class Microphone:
    """A device that plays the far end and records the microphone, block by block.

    Parameters
    ----------
    library
        ``sounddevice``, or a module with the same interface.
    far
        The far end.
    block
        Frames per block of the device.
    input, output
        Devices by number or name; None for the defaults.
    """

    def __init__(
        self, library: Any, far: Reading, block: int, input: str | None, output: str | None
    ) -> None:
        self.rate, self.lost = far.rate, 0
        self._far, self._block = far, block
        self._channels = far.sound.channels
        self._played: queue.SimpleQueue[Floats] = queue.SimpleQueue()
        self._heard: queue.SimpleQueue[tuple[Floats, Floats]] = queue.SimpleQueue()
        try:
            self._stream = library.Stream(
                samplerate=far.rate,
                blocksize=block,
                device=(device(input), device(output)),
                channels=(1, self._channels),
                dtype="float32",
                callback=self._turn,
            )
        except (library.PortAudioError, ValueError) as error:
            raise NoRegretError(
                f"the devices cannot be used: {error}. ‘python -m sounddevice’ lists them",
                "name others with --input and --output, or another --rate",
            ) from None

    def _turn(self, heard: Any, played: Any, frames: int, when: Any, status: Any) -> None:
        """Exchange a block with the device; this is its callback."""
        self.lost += bool(status)
        try:
            next_one = self._played.get_nowait()
        except queue.Empty:
            next_one = np.zeros((frames, self._channels))
        played[:] = next_one
        self._heard.put((next_one, np.array(heard, dtype=np.float64)))

    def record(self, seconds: float) -> Iterator[tuple[Floats, Floats]]:
        """Yield (played, heard) block by block until the end, or until Ctrl-C."""
        total = int(np.ceil(seconds * self.rate / self._block))
        for _ in range(min(total, MAX_QUEUED_BLOCKS)):
            self._played.put(self._far.read(self._block))
        with self._stream:
            for number in range(total):
                try:
                    played, heard = self._heard.get(timeout=MAX_WAIT_SECONDS)
                except queue.Empty:
                    raise NoRegretError(
                        f"the devices delivered no sound for {MAX_WAIT_SECONDS:g} seconds: are they"
                        " in use by another program?"
                    ) from None
                if number + MAX_QUEUED_BLOCKS < total:
                    self._played.put(self._far.read(self._block))
                yield played, heard[:, 0]


def device(name: str | None) -> int | str | None:
    """Return a device as a number or a name."""
    return int(name) if name is not None and name.isdecimal() else name


def cancel_live(
    far: str,
    out: str,
    *,
    tail: float = 0.256,
    suppress: bool = True,
    suppressor: str = "learned",
    denoise: bool = False,
    rate: int | None = None,
    certify: bool = True,
    input: str | None = None,
    output: str | None = None,
    library: Any = None,
) -> EchoResult:
    """Play a sound file, and write what the microphone records without its echo.

    Parameters
    ----------
    far
        The file to play.
    out
        The file to write; Ctrl-C ends the recording, and what was recorded so far is written.
    tail, suppress, suppressor, denoise, certify
        As for ``cancel_file``.
    rate
        Samples per second of the devices; by default that of the file, at most 48,000.
    input, output
        Devices by number or name.
    library
        The module for devices; by default ``sounddevice``.
    """
    library = sounddevice() if library is None else library
    played = look_over(far)
    rate = rate or min(48_000, max(8_000, played.rate))
    heard = Sound("microphone", rate, 1, 1, "WAV", "PCM_16", 1.0, 0)
    check_channels(played, heard)
    working_rate(heard, rate)
    canceller = made(
        rate,
        tail=tail,
        channels=played.channels,
        suppress=suppress,
        suppressor=suppressor,
        denoise=denoise,
        certify=certify,
    )
    kind = format_for(out, heard, rate)
    seconds = played.seconds + SECONDS_AFTER_FAR_END
    with reading(played, rate) as from_far, writing(out, rate, *kind) as to:
        microphone = Microphone(library, from_far, canceller.block, input, output)
        work = Work(canceller, played, heard, round(seconds * rate), to)
        with suppressed(KeyboardInterrupt):
            for far_block, mic_block in microphone.record(seconds):
                work.take(far_block, mic_block)
        if not work.frames:
            raise NoRegretError("nothing was recorded")
    told = (
        [f"Sound was lost {microphone.lost} times, as the devices reported."]
        if microphone.lost
        else []
    )
    return work.result(told)
