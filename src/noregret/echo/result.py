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
# Seconds that a canceller may take to learn before it is judged, where there are more.
LEARNING = 3.0
# Seconds of echo that are enough to judge by.
MIN_ECHO_SECONDS = 1.0
# Seconds in which an echo dies away after the far end is silent.
DYING = 0.3
# Seconds that a point of the curves looks back.
WINDOW = 0.2


@dataclass(frozen=True)
class Levels:
    """Mean squares in frames of 10 ms of all that went in and came out.

    ``alone`` are the frames at the beginning with echo and without near-end speech.
    """

    far: Floats
    mic: Floats
    linear: Floats
    clean: Floats
    alone: Frames

    @property
    def echo(self) -> Frames:
        """The frames in which an echo may be heard: the far end speaks, or just did."""
        return lasting(loud(self.far), DYING)

    @property
    def told_apart(self) -> bool:
        """True if there is enough echo without near-end speech to measure."""
        return bool(self.alone.sum() > MIN_ECHO_SECONDS / FRAME)

    def erle(self, left: Floats, *, alone: bool = False) -> float | None:
        """Return the mean echo reduction in decibels, after the time for learning if there is any.

        Of all frames in which an echo may be heard, where the near end lowers the figure, or of
        those in which it is heard ``alone``. None where there are none.
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
        """Return the echo reduction over the last moments, NaN where there is no echo to hear."""
        before = trailing(self.mic, WINDOW)
        found = decibels(before, trailing(left, WINDOW))
        return np.where(self.echo & loud(before), found, np.nan)

    @property
    def times(self) -> Floats:
        """The end of each frame, in seconds."""
        return np.asarray(FRAME * np.arange(1, len(self.mic) + 1))


class Reduction(NamedTuple):
    """By how many decibels an echo is reduced: in all, and where it is heard alone if known."""

    overall: float
    alone: float | None

    @property
    def best_known(self) -> float:
        """The figure that the near end does not lower, where there is one."""
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
    rate, block, tail, suppress
        Samples a second, samples in a block, seconds of echo, and whether the suppressor was on.
    delay
        Seconds by which the echo is late, as it was found; None where there was no evidence.
    levels
        How loud everything was.
    response
        The learned impulse response, one column a channel.
    before, after
        Spectra of the microphone and of what was written.
    heard
        The beginnings of both, to be listened to.
    certificate, uncertified
        What is proven of the linear part, or why nothing is.
    spent
        Seconds that the cancelling took.
    notes
        What someone should know.
    """

    kind: ClassVar[str] = "echo"
    far: Sound
    mic: Sound
    rate: int
    frames: int
    block: int
    tail: float
    suppress: bool
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
        """Return the echo reduction of all that was done, or of the linear part alone."""
        levels = self.levels
        left = levels.linear if linear else levels.clean
        overall = levels.erle(left)
        if overall is None:
            return None
        return Reduction(overall, levels.erle(left, alone=True) if levels.told_apart else None)

    @property
    def speed(self) -> float:
        """Seconds of sound in a second of work."""
        return self.seconds / max(self.spent, 1e-9)

    def _repr_html_(self) -> str:
        return as_text("echo card", self)

    def __repr__(self) -> str:
        return f"<EchoResult of {self.mic.path!r}: {self.seconds:.1f} s, far end {self.far.path!r}>"
