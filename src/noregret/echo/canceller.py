"""The canceller: estimate the echo, subtract it, and suppress the residual.

    far end ──┬──────────────────────┐
              │ delay, path learned  │
    mic ──────┴── − echo ── residual suppressor ── guard ── out

The path from the loudspeaker to the microphone is partitioned into blocks. Every frequency bin of
every block has its own Kalman filter, whose step is large while its weight is uncertain and small
while the error is noise or near-end speech (``engine/path.pyx``); ``engine/delay.pyx`` estimates
the delay. The suppressor estimates how much echo the filter leaves (``engine/suppressor.pyx``). A
guard keeps the output at most 0.8 dB above the microphone signal, block by block.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.base.compiled.machine import Inside
from noregret.checks import not_negative, one_of, positive, truth
from noregret.echo.engine.path import Path
from noregret.echo.engine.suppressor import Guard, Suppressor
from noregret.echo.keeping import Kept
from noregret.echo.postfilter import weights
from noregret.errors import NoRegretError
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
# Supported rates, in samples per second.
MIN_RATE, MAX_RATE = 8_000, 48_000
# The longest and the shortest block in seconds.
MAX_BLOCK_SECONDS, MIN_BLOCK_SECONDS = 0.01, 0.002
# Fewest blocks of a path, which begins some blocks before the echo.
MIN_PARTS = 8
# The longest tail in seconds, and the largest number of channels.
MAX_TAIL_SECONDS, MAX_CHANNELS = 4.0, 8
# Cutoff of the high-pass filter in hertz; below it there is rumble and no speech.
RUMBLE = 80.0
# The largest sample, as a multiple of full scale.
MAX_SAMPLE = 32.0
# Most seconds of the signals to keep for a certificate.
MAX_KEPT_SECONDS = 300.0
# Full scale of 16-bit integers.
FULL_SCALE_16_BIT = 32768.0
# What may remove the residual.
SUPPRESSORS = ("learned", "rules")


class Canceller:
    """Removes the echo of a loudspeaker from a microphone signal, block by block.

    Parameters
    ----------
    rate
        Samples per second, from 8,000 to 48,000.
    tail
        Length of the modelled echo in seconds, from just before it begins: that of the room's
        impulse response, at least 80 ms (with blocks of 10 ms).
    channels
        Channels of the far end: 1, or 2 for stereo (up to 8).
    suppress
        If True, attenuate the residual of the linear part while there is no near-end speech.
    suppressor
        How: ``"learned"``, a small network and rules together, or by ``"rules"`` alone.
    denoise
        If True, reduce stationary noise too, by 12 dB; it stays steady beside an echo as well.
    block
        Samples per block, from 2 to 10 ms; by default the largest size up to 10 ms with a fast
        transform. There is no latency beyond the block.
    max_delay
        Longest delay between the far end and its echo, in seconds.
    certify
        If True, keep the signals for ``certificate``.

    Examples
    --------
    >>> from noregret.echo import Canceller, demo_signals
    >>> heard = demo_signals(4.0)
    >>> canceller = Canceller(heard.rate)
    >>> sent = []
    >>> for start in range(0, len(heard.mic), canceller.block):
    ...     block = slice(start, start + canceller.block)
    ...     sent.append(canceller.process(heard.far[block], heard.mic[block]))
    >>> sum(map(len, sent)) == len(heard.mic)
    True
    """

    name = "canceller"
    family = "echo"
    theorems = (
        Theorem(
            "never-louder",
            "loss",
            r"\sum_t e_t^2 \le \sum_t m_t^2",
            "energy left <= energy heard",
            (),
            bound=lambda evidence: evidence.energy_heard,
        ),
    )
    latency = 0

    def __init__(
        self,
        rate: int = 16_000,
        *,
        tail: float = 0.256,
        channels: int = 1,
        suppress: bool = True,
        suppressor: str = "learned",
        denoise: bool = False,
        block: int | None = None,
        max_delay: float = 0.5,
        certify: bool = False,
    ) -> None:
        self.rate = whole("rate", rate, MIN_RATE, MAX_RATE, "samples per second")
        self.tail = positive("tail", tail)
        self.max_delay = not_negative("max_delay", max_delay)
        self.channels = whole("channels", channels, 1, MAX_CHANNELS, "channels of the far end")
        self.suppress, self.certify = truth("suppress", suppress), truth("certify", certify)
        self.suppressor = one_of("suppressor", suppressor, SUPPRESSORS)
        self.denoise = truth("denoise", denoise)
        if denoise and not suppress:
            raise ValueError("denoise is done by the suppressor: set suppress=True")
        least, most = math.ceil(MIN_BLOCK_SECONDS * rate), math.floor(MAX_BLOCK_SECONDS * rate)
        self.block = (
            smooth(most) if block is None else whole("block", block, least, most, "samples")
        )
        if not tail <= MAX_TAIL_SECONDS:
            raise ValueError(f"tail must be at most {MAX_TAIL_SECONDS:g} seconds: got {tail!r}")
        if self.max_delay > MAX_TAIL_SECONDS:
            raise ValueError(
                f"max_delay must be at most {MAX_TAIL_SECONDS:g} seconds: got {max_delay!r}"
            )
        self._free = Lock()
        self.reset()

    def reset(self) -> None:
        """Reset to the initial state."""
        with Inside():
            self._take()
            try:
                self._begin()
            finally:
                self._free.release()

    def _begin(self) -> None:
        """Create all parts."""
        seconds = self.block / self.rate
        parts = max(MIN_PARTS, math.ceil(self.tail / seconds - 1e-9))
        lags = math.ceil(self.max_delay / seconds) + 1
        self._path = Path(self.rate, self.block, parts, self.channels, lags, RUMBLE)
        learned = weights() if self.suppressor == "learned" else None
        self._suppressor = Suppressor(self.rate, self.block, learned, self.denoise)
        self._guard, self._linear_guard = (Guard(self.rate, self.block) for _ in range(2))
        most = math.floor(MAX_KEPT_SECONDS / seconds) * self.block
        self.kept = Kept(most if self.certify else 0)
        self._linear: Singles = np.zeros(0, np.float32)

    def process(self, far: ArrayLike, mic: ArrayLike) -> NDArray[Any]:
        """Return a block of the microphone without the echo of the far end.

        Parameters
        ----------
        far
            The far end: ``block`` samples, or ``block`` rows of ``channels`` samples.
        mic
            The microphone signal of the same time: ``block`` samples. Both are floats with full
            scale 1, or 16-bit integers.

        Returns
        -------
        ndarray
            ``block`` samples of the type of ``mic``.
        """
        heard = signal("mic", mic)
        said = self._far(far)
        if not len(said) == len(heard) == self.block:
            name, array = ("mic", heard) if len(said) == self.block else ("far", said)
            raise ValueError(
                f"{name} has {len(array):,} samples: a block has {self.block:,} (process_many"
                " takes recordings of any length)"
            )
        return self._played(said, heard, np.asarray(mic).dtype)

    def process_many(self, far: ArrayLike, mic: ArrayLike) -> NDArray[Any]:
        """Return a whole recording without the echo: the same samples as block by block.

        A shorter far end is padded with silence, a longer one is cut, and a last partial block is
        padded with silence.
        """
        heard = signal("mic", mic)
        said = self._far(far)[: len(heard)]
        length = -(-len(heard) // self.block) * self.block
        out = self._played(
            np.pad(said, ((0, length - len(said)), (0, 0))),
            np.pad(heard, (0, length - len(heard))),
            np.asarray(mic).dtype,
        )
        self._linear = self._linear[: len(heard)]
        return out[: len(heard)]

    def _far(self, far: ArrayLike) -> Singles:
        """Return the far end as rows of its channels."""
        said = signal("far", far, self.channels)
        return said[:, None] if said.ndim == 1 else said

    def _played(self, far: Singles, mic: Singles, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the output of whole blocks, in the type of the microphone."""
        with Inside():  # a fork waits until the lock is free: the copy has no thread to release it
            self._take()
            try:
                return self._heard(far, mic, dtype)
            finally:
                self._free.release()

    def _take(self) -> None:
        """Raise an error if another thread uses the canceller."""
        if not self._free.acquire(blocking=False):
            raise NoRegretError("another thread is playing in this canceller", "give each its own")

    def _heard(self, far: Singles, mic: Singles, dtype: np.dtype[Any]) -> NDArray[Any]:
        heard, left, out = (np.empty_like(mic) for _ in range(3))
        self._learn(np.ascontiguousarray(far), mic, heard, left)
        if self.suppress:
            self._suppressor.run(heard, left, out)
        else:
            out[:] = left
        self._guard.run(mic, out)
        if self.suppress:
            self._linear_guard.run(mic, left)
            self._linear = left
        else:
            self._linear = out.copy()
        return as_type(out, dtype)

    def _learn(self, far: Singles, mic: Singles, heard: Singles, left: Singles) -> None:
        """Run the linear part on whole blocks; keep the first ones for a certificate."""
        room = self.kept.room(len(mic))
        if room:
            said = np.empty_like(far[:room])
            self._path.run(far[:room], mic[:room], heard[:room], left[:room], said)
            self.kept.given(far[:room], mic[:room])
            self.kept.add(said, heard[:room], left[:room], self._begins)
        if room < len(mic):
            self._path.run(far[room:], mic[room:], heard[room:], left[room:])

    @property
    def linear(self) -> Floats:
        """What the linear part alone would have sent, of the samples processed last."""
        return self._linear.astype(np.float64)

    @property
    def delay(self) -> float | None:
        """The delay of the echo in seconds, in whole blocks; None until there is evidence."""
        found = self._path.delay_found
        return None if found < 0 else found * self.block / self.rate

    @property
    def impulse_response(self) -> Floats:
        """The learned path from the far end to the microphone with its delay, by channel."""
        silence = np.zeros((self.path_delay, self.channels))
        return np.concatenate([silence, self._path.response().astype(np.float64)])

    @property
    def path_delay(self) -> int:
        """Samples before the modelled part of the path."""
        return self._path.delay * self.block

    @property
    def _begins(self) -> int:
        """Samples before the echo begins, as far as known."""
        return max(self.path_delay, (self._path.delay_found - 2) * self.block)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters."""
        return {
            "rate": self.rate,
            "tail": self.tail,
            "channels": self.channels,
            "suppress": self.suppress,
            "suppressor": self.suppressor,
            "denoise": self.denoise,
            "block": self.block,
            "max_delay": self.max_delay,
        }

    def certificate(self) -> Certificate:
        """Compare the linear part with the best fixed filter in hindsight.

        The canceller must have been made with ``certify=True``; it then keeps the signals of up to
        five minutes. See ``noregret.echo.certifying``.
        """
        from noregret.echo.certifying import CancellerGame

        return CancellerGame(self).certificate()

    def __repr__(self) -> str:
        return f"Canceller({', '.join(f'{key}={value!r}' for key, value in self.params.items())})"


def whole(name: str, value: Any, least: int, most: int, what: str) -> int:
    """Return a whole number; raise an error if it is outside its limits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number of {what}: got {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least:,} to {most:,} {what}: got {value!r}")
    return int(value)


def smooth(most: int) -> int:
    """Return the largest number up to a limit whose prime factors are 2, 3 and 5."""
    for number in range(most, 1, -1):
        rest = number
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return number
    return most


def signal(name: str, values: ArrayLike, channels: int = 1) -> Singles:
    """Return samples as float32 with full scale 1; raise an error if they are invalid."""
    array = np.asarray(values)
    if array.dtype == np.int16:
        array = array.astype(np.float32) / np.float32(FULL_SCALE_16_BIT)
    elif array.dtype not in (np.float64, np.float32):
        raise TypeError(
            f"{name} must be an array of float32, float64 or int16: got {array.dtype} (scale"
            " others to -1..1 as floats)"
        )
    rows = array.ndim == 2 and array.shape[1] == channels and name == "far"
    if not rows and (array.ndim != 1 or channels > 1):
        shapes = "(samples,)" if channels == 1 else f"(samples, {channels})"
        raise ValueError(f"{name} must be of shape {shapes}: got {array.shape}")
    if not np.abs(array).max(initial=0.0) <= MAX_SAMPLE:
        at = np.argwhere(~(np.abs(array) <= MAX_SAMPLE))[0]
        raise ValueError(
            f"{name}, sample {at[0] + 1:,}: {array[tuple(at)]!r} is no sample: full scale is 1,"
            f" and at most {MAX_SAMPLE:g} is taken"
        )
    return np.ascontiguousarray(array, dtype=np.float32)


def as_type(out: Singles, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return samples in another type; integers are rounded and clipped to full scale."""
    if dtype == np.int16:
        rounded = np.clip(
            np.rint(out * FULL_SCALE_16_BIT), -FULL_SCALE_16_BIT, FULL_SCALE_16_BIT - 1
        )
        return np.asarray(rounded, dtype=np.int16)
    return np.asarray(out, dtype=dtype)
