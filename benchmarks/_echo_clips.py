"""Recordings with an echo: those that the folder NOREGRET_DATA holds, and some made here.

A recording is a pair of files echo/NAME_far.wav and echo/NAME_mic.wav; NAME_echo.wav beside them,
where the echo is known apart. A name says what is heard: ``real_farend…`` no near speaker,
``real_doubletalk…`` both, ``synth…`` both, mixed from parts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from noregret.echo import demo_signals, room_response, voice
from noregret.echo.fixed import convolved, together

Floats = NDArray[np.float64]
RATE = 16_000


@dataclass(frozen=True)
class Clip:
    """A recording.

    Parameters
    ----------
    name
        What it is called.
    far, mic
        What the loudspeaker played and what the microphone heard.
    near
        The near speaker as recorded by the microphone; None if that is not known.
    rate
        Samples a second.
    """

    name: str
    far: Floats
    mic: Floats
    near: Floats | None
    rate: int = RATE

    def later(self, seconds: float) -> Clip:
        """Return the same with everything reaching the microphone later."""
        silence = np.zeros(round(seconds * self.rate))
        near = None if self.near is None else np.concatenate([silence, self.near])
        far = np.concatenate([self.far, silence])
        mic = np.concatenate([silence, self.mic])
        return replace(self, far=far, mic=mic, near=near)

    def echo_alone(self) -> Clip:
        """Return the same without the near speaker."""
        assert self.near is not None
        return replace(self, mic=self.mic - self.near, near=np.zeros_like(self.near))


def recorded() -> list[Clip]:
    """Return the pairs in the folder that NOREGRET_DATA names."""
    folder = Path(os.environ.get("NOREGRET_DATA", "")) / "echo"
    return [pair(path) for path in sorted(folder.glob("*_far.wav"))]


def pair(path: Path) -> Clip:
    import soundfile

    name = path.name.removesuffix("_far.wav")

    def read(part: str) -> Floats:
        return np.asarray(soundfile.read(path.with_name(f"{name}_{part}.wav"))[0], np.float64)

    far, mic = together(read("far"), read("mic"))
    near = np.zeros_like(mic) if name.startswith("real_farend") else None
    if path.with_name(f"{name}_echo.wav").is_file():
        mic, echo = together(mic, read("echo"))
        near = mic - echo
    return Clip(name, far[: len(mic)], mic, near, soundfile.info(path).samplerate)


def drawn(seconds: float = 12.0) -> list[Clip]:
    """Return two voices in made-up rooms, some with an echo that comes late."""
    clips = []
    for seed, (delay, reverberation) in enumerate([(0.0, 0.2), (0.06, 0.3), (0.2, 0.4)]):
        made = demo_signals(seconds, seed=seed, delay=delay, reverberation=reverberation)
        name = f"room, {delay:g} s late, {reverberation:g} s long"
        clips.append(Clip(name, made.far, made.mic, made.mic - made.echo))
    return clips


def first_words(clips: list[Clip], seconds: float = 6.0) -> Iterator[Clip]:
    """Yield far ends as a room returns them, with noise 50 dB below and no near speaker."""
    size = round(seconds * RATE)
    said = [(clip.name, clip.far[:size]) for clip in clips if clip.rate == RATE]
    said += [(f"voice {seed}", voice(seconds, RATE, seed)) for seed in (11, 12)]
    for k, (name, far) in enumerate(said):
        echo = convolved(far, room_response(RATE, 0.15 + 0.05 * (k % 3), delay=0.01 + 0.02 * k))
        hiss = np.random.default_rng(k).standard_normal(len(far)) * 10**-2.5 * np.std(echo)
        yield Clip(name, far, echo + hiss, np.zeros(len(far)))


def hostile(seconds: float = 4.0) -> Iterator[Clip]:
    """Yield unwelcome cases: silence, square waves, paths that change sign, and the like."""
    said = voice(seconds, RATE, 1)
    other = voice(seconds, RATE, 2, pitch=205.0)
    time = np.arange(len(said))
    silence, late = np.zeros(len(said)), time > len(said) // 2
    square, another = (np.where(time // half % 2, 1.0, -1.0) for half in (40, 37))
    yield from (
        Clip(name, far, mic, None)
        for name, far, mic in [
            ("silence", silence, silence),
            ("no far end", silence, said),
            ("no microphone", said, silence),
            ("the far end itself", said, said),
            ("a square wave itself", square, square),
            ("two square waves", square, another),
            ("a square wave against a voice", square, said),
            ("a voice against a square wave", said, square),
            ("two voices", said, other),
            ("a path that turns around", said, np.where(late, -said, said)),
            ("a path that opens", said, np.where(late, said, 0.0)),
            ("a path that closes", said, np.where(late, 0.0, said)),
            ("a path ten times as strong", said, np.where(late, said, 0.1 * said)),
        ]
    )
