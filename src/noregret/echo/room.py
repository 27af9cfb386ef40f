"""A room to try things in: two voices, a loudspeaker, a microphone, and the echo between them.

The path from loudspeaker to microphone is that of a box: every wall is a mirror, every image of
the loudspeaker in it is heard later and fainter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.checks import not_negative, positive, whole
from noregret.echo.fixed import convolved
from noregret.echo.speaking import voice

Floats = NDArray[np.float64]
# Metres a second.
SOUND = 343.0
# Length, width and height of the room, and the positions in it, in metres.
ROOM = (4.6, 3.7, 2.6)
LOUDSPEAKER = (2.1, 1.5, 0.9)
MICROPHONE = (2.6, 1.9, 0.85)
SPEAKER = (3.0, 2.1, 1.1)
# Samples of the pulse that an image is drawn with.
PULSE = 24
# When each of the two speaks, as shares of the whole: alone, both, the other alone, both, alone.
FAR_SPEAKS = ((0.0, 0.5), (0.68, 1.0))
NEAR_SPEAKS = ((0.38, 0.82),)


class Signals(NamedTuple):
    """The signals of a simulated room.

    Parameters
    ----------
    far
        What the loudspeaker plays.
    mic
        What the microphone hears: the echo, the near speaker, and a little noise.
    near
        The near speaker alone, at the microphone.
    echo
        The echo alone, at the microphone.
    path
        The impulse response from loudspeaker to microphone, its delay included.
    rate
        Samples a second.
    """

    far: Floats
    mic: Floats
    near: Floats
    echo: Floats
    path: Floats
    rate: int


def demo_signals(
    seconds: float = 12.0,
    rate: int = 16_000,
    seed: int = 0,
    *,
    delay: float = 0.06,
    reverberation: float = 0.25,
    noise: float = 3e-4,
) -> Signals:
    """Return two voices in a room with an echo, each signal known apart.

    First the far speaker speaks alone, then both, then the near one alone, then both once more.

    Parameters
    ----------
    seconds
        How long they speak.
    rate
        Samples a second, from 8,000 to 48,000.
    seed
        The same seed gives the same signals.
    delay
        Seconds that the echo is late besides its way through the air, as devices make it.
    reverberation
        Seconds in which a sound in the room dies away, by 60 dB.
    noise
        The root mean square of the noise in the microphone.

    Examples
    --------
    >>> from noregret.echo import demo_signals
    >>> heard = demo_signals(2.0, seed=3)
    >>> heard.mic.shape, heard.rate
    ((32000,), 16000)
    >>> bool(abs(heard.mic - heard.near - heard.echo).max() < 0.01)
    True
    """
    positive("seconds", seconds, below=3600.0)
    if not 8000 <= whole("rate", rate) <= 48_000:
        raise ValueError(f"rate must be from 8,000 to 48,000 samples a second: got {rate!r}")
    not_negative("noise", noise)
    random = np.random.default_rng(seed)
    size = round(seconds * rate)
    far = gated(voice(seconds, rate, random, pitch=118.0), FAR_SPEAKS, rate)
    spoken = gated(voice(seconds, rate, random, pitch=205.0), NEAR_SPEAKS, rate)
    path = 0.9 * room_response(rate, reverberation, delay=delay)
    echo = convolved(far, path)
    near = 0.9 * convolved(spoken, room_response(rate, reverberation, source=SPEAKER))
    mic = near + echo + noise * random.standard_normal(size)
    most = float(max(np.abs(mic).max(initial=0.0), np.abs(far).max(initial=0.0)))
    gain = min(1.0, 0.95 / most) if most else 1.0
    return Signals(far, gain * mic, gain * near, gain * echo, gain * path, rate)


def gated(said: Floats, turns: tuple[tuple[float, float], ...], rate: int) -> Floats:
    """Return a voice that is heard in its turns only."""
    gate = np.zeros(len(said))
    for begin, end in turns:
        gate[round(begin * len(said)) : round(end * len(said))] = 1.0
    ramp = max(1, round(0.03 * rate))
    smooth = np.convolve(gate, np.hanning(ramp + 2)[1:-1] / np.hanning(ramp + 2).sum(), "same")
    return said * (smooth if len(smooth) == len(said) else gate)


def room_response(
    rate: int,
    reverberation: float = 0.25,
    *,
    delay: float = 0.0,
    source: tuple[float, float, float] = LOUDSPEAKER,
    microphone: tuple[float, float, float] = MICROPHONE,
    room: tuple[float, float, float] = ROOM,
) -> Floats:
    """Return the impulse response of a box-shaped room, by images of the source in its walls.

    Parameters
    ----------
    rate
        Samples a second.
    reverberation
        Seconds in which a sound dies away by 60 dB.
    delay
        Seconds that everything is late, besides.
    source, microphone, room
        Places in metres from one corner, and the room's size.

    Returns
    -------
    ndarray
        Samples from the moment a sound leaves the source; the loudest is 1.

    Examples
    --------
    >>> response = room_response(8000, 0.1)
    >>> int(abs(response).argmax()), float(abs(response).max())  # half a metre and more of air
    (15, 1.0)
    """
    positive("reverberation", reverberation, below=3.0)
    not_negative("delay", delay)
    lasting = min(reverberation, 0.6)
    distances, strengths = images(lasting, reverberation, source, microphone, room)
    at = distances / SOUND * rate + delay * rate
    response = np.zeros(round((lasting + delay) * rate) + PULSE)
    first = np.floor(at).astype(np.int64) - PULSE // 2 + 1
    for k in range(PULSE):
        place = first + k
        offset = place - at
        pulse = np.sinc(offset) * np.cos(np.pi * offset / (PULSE + 2)) ** 2
        inside = (place >= 0) & (place < len(response))
        response += np.bincount(place[inside], (strengths * pulse)[inside], minlength=len(response))
    fade = round(0.02 * rate)
    response[len(response) - fade :] *= np.linspace(1.0, 0.0, fade)
    return np.asarray(response / np.abs(response).max())


def images(
    lasting: float,
    reverberation: float,
    source: tuple[float, float, float],
    microphone: tuple[float, float, float],
    room: tuple[float, float, float],
) -> tuple[Floats, Floats]:
    """Return how far away each image of the source is, and how loud."""
    offsets, bounces = [], []
    for from_, to, side in zip(source, microphone, room, strict=True):
        reach = int(np.ceil(lasting * SOUND / (2 * side))) + 1
        n = np.arange(-reach, reach + 1)
        straight, mirrored = 2 * n * side + from_ - to, 2 * n * side - from_ - to
        offsets.append(np.concatenate((straight, mirrored)))
        bounces.append(np.concatenate((2 * np.abs(n), np.abs(2 * n - 1))))
    x, y, z = np.meshgrid(*offsets, indexing="ij")
    met = sum(np.meshgrid(*bounces, indexing="ij"))
    distances = np.sqrt(x**2 + y**2 + z**2).ravel()
    kept = distances < lasting * SOUND
    distances, met = distances[kept], np.ravel(met)[kept]
    # How much of a sound a wall gives back, by Eyring's formula for the time it takes to die.
    length, width, height = room
    surface = 2 * (length * width + length * height + width * height)
    given_back = np.exp(-0.161 * length * width * height / (surface * reverberation))
    # Beyond the first few walls furniture makes signs as by chance; that no mean is left, too.
    signs = np.where(met > 1, np.random.default_rng(0).choice((-1.0, 1.0), len(met)), 1.0)
    return distances, signs * np.sqrt(given_back) ** met / np.maximum(distances, 0.1)
