"""Run samples through a canceller into a file, and collect the result."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret._version import __version__
from noregret.echo.fixed import ahead
from noregret.echo.frames import FRAME, Frames, echo_only, frame_powers
from noregret.echo.result import EchoResult, Levels
from noregret.echo.spectrum import Spectrogram
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.echo.canceller import Canceller
    from noregret.echo.sound import Sound
    from noregret.echo.writing import Writing
    from noregret.proof.certificates.certificate import Certificate

Floats = NDArray[np.float64]
Shorts = NDArray[np.int16]
# Seconds at the start that are kept for the report, and to detect near-end speech.
KEPT_SECONDS, ACTIVITY_SECONDS = 30.0, 120.0


class Work:
    """A cancellation in progress.

    Parameters
    ----------
    canceller
        The canceller.
    far, mic
        The files of the samples.
    frames
        Largest number of frames to come.
    out
        The file to write.
    """

    def __init__(
        self, canceller: Canceller, far: Sound, mic: Sound, frames: int, out: Writing
    ) -> None:
        self.canceller, self.far, self.mic, self.out = canceller, far, mic, out
        self.frames, self.spent = 0, 0.0
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self._before = Spectrogram(frames, canceller.rate)
        self._after = Spectrogram(frames, canceller.rate)
        self._powers = [np.empty((4, 0))]
        self._early: list[NDArray[np.float32]] = []
        self._heard: tuple[list[Shorts], list[Shorts]] = ([], [])
        self._rest = np.empty((4, 0))

    def take(self, far: Floats, mic: Floats) -> None:
        """Process some frames, whole blocks except at the end, and write the output."""
        silent = self.far.silent or self.mic.silent
        heard = np.zeros_like(mic) if self.mic.silent else mic  # inaudible samples count as silence
        began = time.perf_counter()
        try:
            clean = self.canceller.process_many(far[:, 0] if far.shape[1] == 1 else far, heard)
        except ValueError as error:  # the files changed since they were checked
            raise NoRegretError(str(error)) from None
        self.spent += time.perf_counter() - began
        linear = self.canceller.linear
        if silent and not self.canceller.denoise:  # no sample may differ
            clean = linear = mic
        if not np.isfinite(clean).all():
            raise NoRegretError("the canceller lost its way: please report it, with the files")
        self.out.write(clean / self.mic.gain)
        self._before.add(mic)
        self._after.add(clean)
        self._note(far.mean(axis=1), mic, linear, clean)
        if self.frames < ACTIVITY_SECONDS * self.canceller.rate:
            self._early.append(np.stack((far.mean(axis=1), mic)).astype(np.float32))
        if self.frames < KEPT_SECONDS * self.canceller.rate:
            for kept, signal in zip(self._heard, (mic, clean), strict=True):
                kept.append(np.rint(32767 * np.clip(signal, -1, 1)).astype(np.int16))
        self.frames += len(mic)

    def _note(self, *signals: Floats) -> None:
        """Add the level of each signal in whole frames."""
        rate = self.canceller.rate
        together = np.concatenate((self._rest, np.stack(signals)), axis=1)
        length = max(1, round(FRAME * rate))
        whole = together.shape[1] // length * length
        self._rest = together[:, whole:]
        self._powers.append(np.stack([frame_powers(one[:whole], rate) for one in together]))

    def _alone(self) -> Frames:
        """Return the early frames with echo alone, as far as can be detected."""
        far, mic = np.concatenate(self._early, axis=1).astype(np.float64)
        if self.far.silent or not mic.any() or len(mic) < self.canceller.rate:
            return np.zeros(0, dtype=bool)
        try:
            return echo_only(far, mic, self.canceller.rate)
        except np.linalg.LinAlgError:  # a far end that does not determine a filter
            return np.zeros(0, dtype=bool)

    def ahead(self) -> float:
        """Return by how many seconds the microphone is ahead of the far end; 0 if it is not."""
        size = round(KEPT_SECONDS * self.canceller.rate)
        far, mic = np.concatenate(self._early, axis=1)[:, :size].astype(np.float64)
        return ahead(far, mic, self.canceller.rate)

    def result(self, notes: list[str]) -> EchoResult:
        """Return the result after the last frame."""
        self._before.end()
        self._after.end()
        canceller = self.canceller
        certificate, uncertified = certified(canceller)
        far, mic, linear, clean = np.concatenate(self._powers, axis=1)
        return EchoResult(
            far=self.far,
            mic=self.mic,
            rate=canceller.rate,
            frames=self.frames,
            block=canceller.block,
            tail=canceller.tail,
            suppress=canceller.suppress,
            suppressor=canceller.suppressor,
            denoise=canceller.denoise,
            delay=canceller.delay,
            levels=Levels(far, mic, linear, clean, self._alone()),
            response=np.asarray(canceller.impulse_response, dtype=np.float64),
            before=self._before,
            after=self._after,
            heard=(np.concatenate(self._heard[0]), np.concatenate(self._heard[1])),
            certificate=certificate,
            uncertified=uncertified,
            spent=self.spent,
            notes=tuple(notes),
            outputs={"clean": self.out.path},
            started=self.started,
            version=__version__,
        )


def certified(canceller: Canceller) -> tuple[Certificate | None, str]:
    """Return the certificate of the linear part, or why there is none."""
    if not canceller.certify:
        return None, "the comparison with hindsight was not asked for (--no-hindsight)"
    try:
        return canceller.certificate(), ""
    except (NoRegretError, NotImplementedError, ValueError, MemoryError) as error:
        return None, str(error) or "no certificate can be made of this recording"
