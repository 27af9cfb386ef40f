"""Echo cancellers: ours and the peers', each a function of far end, microphone and rate.

The peers get 16-bit samples in blocks of the size that suits them, through the shortest way that
their bindings have, so that what is timed is their own work.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.echo import Canceller
from noregret.echo.fixed import hindsight, together

Floats = NDArray[np.float64]
Cancel = Callable[[Floats, Floats, int], Floats]
TAIL = 0.256
# What each peer, and the reader of recordings, comes in.
SOLD = {
    "SpeexDSP": "pyaec",
    "WebRTC": "aec-audio-processing",
    "padasip": "padasip",
    "sound files": "soundfile",
}


def installed() -> tuple[str, ...]:
    """Return the packages that are there."""
    found = {each.name.lower().replace("_", "-") for each in importlib.metadata.distributions()}
    return tuple(package for package in SOLD.values() if package in found)


def missing() -> dict[str, str]:
    """Return what is not there, and the packages it comes in."""
    there = installed()
    return {name: package for name, package in SOLD.items() if package not in there}


def peers() -> dict[str, Cancel]:
    """Return the peers that are there, by name."""
    every: dict[str, tuple[str, Cancel]] = {
        "SpeexDSP, linear": ("SpeexDSP", speex),
        "SpeexDSP": ("SpeexDSP", lambda far, mic, rate: speex(far, mic, rate, suppress=True)),
        "WebRTC": ("WebRTC", webrtc),
        "padasip NLMS": ("padasip", padasip_nlms),
    }
    absent = missing()
    return {name: cancel for name, (peer, cancel) in every.items() if peer not in absent}


def noregret(far: Floats, mic: Floats, rate: int) -> Floats:
    return np.asarray(Canceller(rate, tail=TAIL).process_many(far, mic))


def noregret_linear(far: Floats, mic: Floats, rate: int) -> Floats:
    return np.asarray(Canceller(rate, tail=TAIL, suppress=False).process_many(far, mic))


def noregret_rules(far: Floats, mic: Floats, rate: int) -> Floats:
    return np.asarray(Canceller(rate, tail=TAIL, suppressor="rules").process_many(far, mic))


def noregret_denoise(far: Floats, mic: Floats, rate: int) -> Floats:
    return np.asarray(Canceller(rate, tail=TAIL, denoise=True).process_many(far, mic))


def one_filter(far: Floats, mic: Floats, rate: int) -> Floats:
    """Cancel with the best fixed filter, which only hindsight knows."""
    far, mic = together(far, mic)
    return mic - hindsight(far, mic, rate, TAIL).echo


def speex(far: Floats, mic: Floats, rate: int, suppress: bool = False) -> Floats:
    """Cancel with SpeexDSP, in blocks of 16 ms."""
    import pyaec

    block = round(0.016 * rate / 64) * 64
    played, heard = blocks(far, block), blocks(mic, block)
    out = np.empty_like(heard)
    canceller = pyaec.Aec(block, round(TAIL * rate), rate, suppress)
    at = ctypes.POINTER(ctypes.c_int16)
    for x, y, z in zip(heard, played, out, strict=True):
        pyaec.lib.AecCancelEcho(
            canceller._aec,
            x.ctypes.data_as(at),
            y.ctypes.data_as(at),
            z.ctypes.data_as(at),
            block,
        )
    return joined(out, len(mic))


def webrtc(far: Floats, mic: Floats, rate: int) -> Floats:
    """Cancel with WebRTC's third canceller, without noise suppression and gain control."""
    from aec_audio_processing import AudioProcessor

    block = rate // 100
    processor = AudioProcessor(enable_aec=True, enable_ns=False, enable_agc=False, enable_vad=False)
    processor.set_stream_format(rate, 1, rate, 1)
    processor.set_reverse_stream_format(rate, 1)
    processor.set_stream_delay(0)
    out = []
    for y, x in zip(blocks(far, block), blocks(mic, block), strict=True):
        processor.process_reverse_stream(y.tobytes())
        out.append(np.frombuffer(processor.process_stream(x.tobytes()), np.int16))
    return joined(out, len(mic))


def padasip_nlms(far: Floats, mic: Floats, rate: int, taps: int = 1024) -> Floats:
    """Cancel with padasip's NLMS, sample by sample."""
    import padasip

    nlms = padasip.filters.FilterNLMS(n=taps, mu=0.5, w="zeros")
    padded = np.concatenate([np.zeros(taps - 1), far])
    windows = np.lib.stride_tricks.sliding_window_view(padded, taps)[:, ::-1]
    out = np.empty(len(mic))
    for k in range(len(mic)):
        out[k] = mic[k] - nlms.predict(windows[k])
        nlms.adapt(mic[k], windows[k])
    return out


def blocks(x: Floats, size: int) -> NDArray[np.int16]:
    """Return 16-bit samples in blocks, silence at the end."""
    whole = np.concatenate([x, np.zeros(-len(x) % size)])
    steps = np.clip(np.rint(whole * 32768), -32768, 32767)
    return np.asarray(steps.reshape(-1, size), np.int16)


def joined(out: Any, size: int) -> Floats:
    return np.asarray(np.concatenate(list(out))[:size] / 32768.0)
