"""Made double talk: many voices in many rooms, with the near speaker known apart.

Voices come from what NOREGRET_DATA names (speech/*.wav, one file a voice, and the parts of the
mixed recordings), and from the speech synthesisers espeak-ng and flite where they are installed;
without any of them, from ``noregret.echo.voice``.
Half of the voices and rooms are for development, the others for judging only: no setting is chosen
by them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks._echo_clips import RATE, Clip, Floats
from noregret.echo import room_response, voice
from noregret.echo.fixed import convolved

# Seconds of each voice, and rooms in each half.
VOICE_SECONDS, ROOMS = 40.0, 20
TEXT = (
    "Good morning. I have moved our meeting to Thursday, because two of us are on a train then."
    " Could you send the figures for the last quarter before noon? The printer on the third floor"
    " is out of paper again. We measured the room twice, and the window is wider than the shelf."
    " Yes, that was my question. Please wait a moment while I look for the file."
    " It takes eleven minutes by bus, or half an hour on foot if the bridge is closed."
    " She thought the yellow one was nicer, but he bought six of the small blue boxes."
    " No, not this week: perhaps in the first days of June. Thank you, I can hear you well now."
)
# Voices of espeak-ng: accents, and the variants for development and for judging.
ACCENTS = (
    "en-us",
    "en-gb",
    "en-029",
    "en-gb-scotland",
    "en-gb-x-rp",
    "de",
    "fr",
    "it",
    "pl",
    "pt-br",
)
VARIANTS = (("m1", "m3", "m7", "f2", "f4"), ("m2", "m4", "m5", "f1", "f3", "f5"))
ESPEAK_VOICES = 24
FLITE = (("awb", "slt"), ("rms", "kal16"))
# Noises: the exponent of their spectrum's fall with frequency.
NOISES = (0.0, 0.5, 1.0)


def double_talk(
    count: int = 100, *, judging: bool = False, noise: tuple[float, float] = (20, 60)
) -> list[Clip]:
    """Return clips of 4 to 8 seconds in which both talk.

    The far end talks throughout, the near end from a random moment in the first third, 10 dB
    fainter than its echo to 15 dB louder, with noise some decibels below it. In four of ten the
    loudspeaker distorts lightly.
    """
    return list(talk(count, judging, noise))


def talk(count: int, judging: bool, below: tuple[float, float]) -> Iterator[Clip]:
    said, rooms = voices(judging), list(boxes(judging))
    for k in range(count):
        random = np.random.default_rng((k, judging))
        size = round(random.uniform(4, 8) * RATE)
        one, other = random.choice(len(said), 2, replace=False)
        far, near = (part(said[which], size, random) for which in (one, other))
        begin = round(random.uniform(0, size / 3))
        near[:begin] = 0
        echo_path, near_path = rooms[random.integers(len(rooms))]
        late = round(random.uniform(0, 0.15) * RATE)
        played = distorted(far, random) if k % 5 in (1, 3) else far
        echo = np.concatenate([np.zeros(late), convolved(played, echo_path)])[:size]
        near = convolved(near, near_path)[:size]
        echo *= loudness(near) / loudness(echo) * 10 ** (-random.uniform(-10, 15) / 20)
        noise = hiss(size, random) * loudness(near) * 10 ** (-random.uniform(*below) / 20)
        mic = near + echo + noise
        gain = random.uniform(0.1, 0.9) / np.abs(mic).max()
        name = f"talk {'judged ' if judging else ''}{k}"
        yield Clip(name, far, gain * mic, gain * near)


def part(said: Floats, size: int, random: np.random.Generator) -> Floats:
    start = random.integers(max(1, len(said) - size))
    return np.resize(said[start : start + size], size).copy()


def hiss(size: int, random: np.random.Generator) -> Floats:
    """Return noise of root mean square 1, flat or falling with frequency."""
    spectrum = np.fft.rfft(random.standard_normal(size))
    spectrum /= np.arange(1, len(spectrum) + 1) ** random.choice(NOISES)
    noise = np.fft.irfft(spectrum, size)
    return np.asarray(noise / np.std(noise))


def loudness(x: Floats) -> float:
    """Return the root mean square where there is sound."""
    there = np.abs(x) > 0.01 * np.abs(x).max()
    return float(np.sqrt(np.mean(x[there] ** 2)))


def distorted(x: Floats, random: np.random.Generator) -> Floats:
    """Return what a small loudspeaker makes of it: rounded peaks, one side more than the other."""
    drive = random.uniform(0.5, 2.0) / np.abs(x).max()
    return np.asarray((np.tanh(drive * x + 0.1) - np.tanh(0.1)) / drive)


@cache
def boxes(judging: bool) -> tuple[tuple[Floats, Floats], ...]:
    """Return the impulse responses of rooms: from the loudspeaker, and from the near speaker."""
    made = []
    for k in range(ROOMS):
        random = np.random.default_rng((99, k, judging))
        room = random.uniform((2.5, 2.2, 2.2), (6.5, 5.0, 3.2))
        long = random.uniform(0.12, 0.4)
        mic = 0.5 * room + random.uniform(-0.4, 0.4, 3)
        place: dict[str, Any] = {"microphone": tuple(mic), "room": tuple(room)}
        loudspeaker = tuple(mic + random.uniform(0.1, 0.4, 3))
        speaker = tuple(mic + random.uniform(-0.7, -0.2, 3))
        made.append(
            (
                room_response(RATE, long, source=loudspeaker, **place),
                room_response(RATE, long, source=speaker, **place),
            )
        )
    return tuple(made)


@cache
def voices(judging: bool) -> tuple[Floats, ...]:
    """Return the voices of one half, each of some dozens of seconds."""
    folder = Path(os.environ.get("NOREGRET_DATA", "?"))
    files = [*folder.glob("speech/*.wav"), *folder.glob("echo/synth_*_[fn]*.wav")]
    recorded = [read(path) for path in sorted(files)][judging::2]
    asked = [*espeak(judging), *(["flite", "-voice", name, "-t", TEXT] for name in FLITE[judging])]
    spoken = [
        said for command in asked if shutil.which(command[0]) and len(said := synthesised(command))
    ]
    seeds = () if recorded or spoken else range(judging, 12, 2)
    made = [voice(VOICE_SECONDS, RATE, seed) for seed in seeds]
    return tuple(recorded + spoken + made)


def read(path: Path) -> Floats:
    import soundfile

    said, rate = soundfile.read(path, frames=round(4 * VOICE_SECONDS * 48_000), always_2d=True)
    return at_rate(said[:, 0], rate)[: round(4 * VOICE_SECONDS * RATE)]


def at_rate(said: Floats, rate: int) -> Floats:
    from scipy.signal import resample_poly

    return said if rate == RATE else np.asarray(resample_poly(said, RATE, rate))


def espeak(judging: bool) -> Iterator[list[str]]:
    """Yield commands for voices of several accents, speeds and pitches."""
    random = np.random.default_rng((7, judging))
    for k in range(ESPEAK_VOICES):
        variant = VARIANTS[judging][k % len(VARIANTS[judging])]
        voice = f"{ACCENTS[k % len(ACCENTS)]}+{variant}"
        speed, pitch = random.integers(130, 220), random.integers(25, 75)
        yield ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), TEXT]


def synthesised(command: list[str]) -> Floats:
    """Return a text read by a synthesiser; nothing if it lacks the voice."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "said.wav"
        file = ["-o" if command[0] == "flite" else "-w", str(out)]
        ended = subprocess.run([*command, *file], capture_output=True, check=False)
        return read(out) if ended.returncode == 0 and out.is_file() else np.zeros(0)
