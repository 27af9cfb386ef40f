"""A simulated room: two voices, a loudspeaker, a microphone, and the echo between them.

The impulse response is that of a box-shaped room by the image method: walls are mirrors, and every
image of the loudspeaker arrives later and fainter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.checks import not_negative, positive, whole
from noregret.echo.fixed import convolved
from noregret.echo.speaking import voice

Floats = NDArray[np.float64]
# Speed of sound in metres per second.
SOUND_SPEED = 343.0
# Length, width and height of the room, and the positions in it, in metres.
ROOM = (4.6, 3.7, 2.6)
LOUDSPEAKER = (2.1, 1.5, 0.9)
MICROPHONE = (2.6, 1.9, 0.85)
SPEAKER = (3.0, 2.1, 1.1)
# Samples per pulse of an image.
PULSE = 24
# When each of the two speaks, as shares of the duration: far, both, near, both, far.
FAR_SPEAKS = ((0.0, 0.5), (0.68, 1.0))
NEAR_SPEAKS = ((0.38, 0.82),)


class Signals(NamedTuple):
    """The signals of a simulated room.

    Parameters
    ----------
    far
        What the loudspeaker plays.
    mic
        The microphone signal: echo, near speaker and a little noise.
    near
        The near speaker alone, at the microphone.
    echo
        The echo alone, at the microphone.
    path
        The impulse response from loudspeaker to microphone, its delay included.
    rate
        Samples per second.
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
    """Return two voices in a room with an echo, as separate signals.

    First the far speaker speaks alone, then both, then the near one, then both, then the far one.

    Parameters
    ----------
    seconds
        Duration.
    rate
        Samples per second, from 8,000 to 48,000.
    seed
        The same seed gives the same signals.
    delay
        Delay of the devices in seconds, in addition to that of the air.
    reverberation
        Seconds in which a sound decays by 60 dB.
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
        raise ValueError(f"rate must be from 8,000 to 48,000 samples per second: got {rate!r}")
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
    """Return a voice that is silent outside its turns."""
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
        Samples per second.
    reverberation
        Seconds in which a sound decays by 60 dB.
    delay
        Additional delay in seconds.
    source, microphone, room
        Positions in metres from one corner, and the size of the room.

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
    at = distances / SOUND_SPEED * rate + delay * rate
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
    """Return the distance and the strength of each image of the source."""
    offsets, bounces = [], []
    for from_, to, side in zip(source, microphone, room, strict=True):
        reach = int(np.ceil(lasting * SOUND_SPEED / (2 * side))) + 1
        n = np.arange(-reach, reach + 1)
        straight, mirrored = 2 * n * side + from_ - to, 2 * n * side - from_ - to
        offsets.append(np.concatenate((straight, mirrored)))
        bounces.append(np.concatenate((2 * np.abs(n), np.abs(2 * n - 1))))
    x, y, z = np.meshgrid(*offsets, indexing="ij")
    met = sum(np.meshgrid(*bounces, indexing="ij"))
    distances = np.sqrt(x**2 + y**2 + z**2).ravel()
    kept = distances < lasting * SOUND_SPEED
    distances, met = distances[kept], np.ravel(met)[kept]
    # The reflection of the walls, by Eyring's formula for the reverberation time.
    length, width, height = room
    surface = 2 * (length * width + length * height + width * height)
    reflection = np.exp(-0.161 * length * width * height / (surface * reverberation))
    # After the first reflection, signs are random, as if scattered by furniture, so the response
    # has no constant component.
    signs = np.where(met > 1, np.random.default_rng(0).choice((-1.0, 1.0), len(met)), 1.0)
    return distances, signs * np.sqrt(reflection) ** met / np.maximum(distances, 0.1)
