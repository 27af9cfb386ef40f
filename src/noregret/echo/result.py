"""The result of an echo cancellation: figures, curves and notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.display import as_text
from noregret.echo.frames import FRAME, Frames, lasting, loud, trailing
from noregret.echo.measures import decibels, ratio

if TYPE_CHECKING:
    from noregret.echo.sound import Sound
    from noregret.echo.spectrum import Spectrogram
    from noregret.proof.certificates.certificate import Certificate

Floats = NDArray[np.float64]
# Seconds at the start that do not count, as the canceller is still learning.
LEARNING = 3.0
# Fewest seconds of echo to measure.
MIN_ECHO_SECONDS = 1.0
# Seconds in which an echo decays after the far end falls silent.
DECAY_SECONDS = 0.3
# Seconds over which the curves average.
WINDOW = 0.2


@dataclass(frozen=True)
class Levels:
    """Mean squares of all inputs and outputs in frames of 10 ms.

    ``alone`` are the frames at the beginning with echo and without near-end speech.
    """

    far: Floats
    mic: Floats
    linear: Floats
    clean: Floats
    alone: Frames

    @property
    def echo(self) -> Frames:
        """The frames in which there may be echo: the far end is active, or just was."""
        return lasting(loud(self.far), DECAY_SECONDS)

    @property
    def told_apart(self) -> bool:
        """True if there is enough echo without near-end speech to measure."""
        return bool(self.alone.sum() > MIN_ECHO_SECONDS / FRAME)

    def erle(self, left: Floats, *, alone: bool = False) -> float | None:
        """Return the mean echo reduction in decibels, after the time for learning if possible.

        It is taken over all frames that may have echo, in which near-end speech lowers it, or over
        those with echo ``alone``. None if there are none.
        """
        start = round(LEARNING / FRAME)
        frames = np.zeros(len(self.mic), dtype=bool)
        chosen = (self.alone if alone else self.echo)[: len(frames)]
        frames[: len(chosen)] = chosen
        if frames[start:].sum() > MIN_ECHO_SECONDS / FRAME:
            frames[:start] = False
        if not frames.any() or not self.mic[frames].any():
            return None
        return ratio(self.mic[frames], left[frames])

    def erle_over_time(self, left: Floats) -> Floats:
        """Return the echo reduction over a moving window; NaN where there is no echo."""
        before = trailing(self.mic, WINDOW)
        found = decibels(before, trailing(left, WINDOW))
        return np.where(self.echo & loud(before), found, np.nan)

    @property
    def times(self) -> Floats:
        """The end of each frame, in seconds."""
        return np.asarray(FRAME * np.arange(1, len(self.mic) + 1))


class Reduction(NamedTuple):
    """Echo reduction in decibels: overall, and in frames with echo alone if these are known."""

    overall: float
    alone: float | None

    @property
    def best_known(self) -> float:
        """The reduction without near-end speech, or overall if that is not known."""
        return self.overall if self.alone is None else self.alone


@dataclass(frozen=True)
class Known:
    """Measures that need the near-end signal, as in the demo: SDR in decibels."""

    before: float
    after: float
    near_change: float


@dataclass(frozen=True, repr=False)
class EchoResult:
    """A recording without its echo.

    Parameters
    ----------
    far, mic
        The files that were read.
    rate, block, tail, suppress, suppressor, denoise
        Samples per second, samples per block, seconds of echo, whether the suppressor was on,
        which, and whether it reduced noise.
    delay
        Estimated delay of the echo in seconds; None without evidence.
    levels
        Levels of all signals.
    response
        The learned impulse response, one column per channel.
    before, after
        Spectrograms of the microphone and of the output.
    heard
        The first seconds of both, to listen to in the report.
    certificate, uncertified
        The certificate of the linear part, or the reason why there is none.
    spent
        Processing time in seconds.
    notes
        Notes for the user.
    """

    kind: ClassVar[str] = "echo"
    far: Sound
    mic: Sound
    rate: int
    frames: int
    block: int
    tail: float
    suppress: bool
    suppressor: str
    denoise: bool
    delay: float | None
    levels: Levels
    response: Floats
    before: Spectrogram
    after: Spectrogram
    heard: tuple[NDArray[np.int16], NDArray[np.int16]]
    certificate: Certificate | None
    uncertified: str
    spent: float
    notes: tuple[str, ...] = ()
    known: Known | None = None
    outputs: dict[str, str] = field(default_factory=dict)
    command: str = ""
    started: str = ""
    version: str = ""

    @property
    def seconds(self) -> float:
        """Duration of the recording in seconds."""
        return self.frames / self.rate

    def erle(self, *, linear: bool = False) -> Reduction | None:
        """Return the echo reduction of the output, or of the linear part alone."""
        levels = self.levels
        left = levels.linear if linear else levels.clean
        overall = levels.erle(left)
        if overall is None:
            return None
        return Reduction(overall, levels.erle(left, alone=True) if levels.told_apart else None)

    @property
    def speed(self) -> float:
        """Seconds of sound per second of processing."""
        return self.seconds / max(self.spent, 1e-9)

    def _repr_html_(self) -> str:
        return as_text("echo card", self)

    def __repr__(self) -> str:
        return f"<EchoResult of {self.mic.path!r}: {self.seconds:.1f} s, far end {self.far.path!r}>"
