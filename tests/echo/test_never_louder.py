"""Whatever a canceller hears, it sends nothing louder, and nothing that is no number."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from noregret.echo import Canceller, demo_signals, voice
from noregret.echo.fixed import convolved
from noregret.echo.measures import excess
from tests.thorough import sized

Floats = NDArray[np.float64]
RATE = 8000


def kinds_of_sound(size: int, seed: int) -> dict[str, Floats]:
    """Sounds that were made to break things, by name."""
    random, time = np.random.default_rng(seed), np.arange(size)
    impulses = np.zeros(size)
    impulses[:: 1 + seed % 997] = 1.0
    bursts = random.standard_normal(size) * (time // 700 % 3 == 0)
    step = np.where(time < size // 2, 1e-3, 1.0)
    return {
        "noise": 0.3 * random.standard_normal(size).clip(-3, 3),
        "voice": voice(size / RATE, RATE, random)[:size],
        "square": np.where(time // (5 + seed % 90) % 2, 1.0, -1.0),
        "alternating": np.where(time % 2, 1.0, -1.0),
        "sine": 0.9 * np.sin(2 * np.pi * (100 + seed % 3500) / RATE * time),
        "impulses": impulses,
        "bursts": 0.5 * bursts.clip(-2, 2),
        "constant": np.full(size, 0.8),
        "tiny": 1e-7 * random.standard_normal(size),
        "denormal": 1e-40 * random.standard_normal(size),
        "huge": 32 * np.sign(random.standard_normal(size)),
        "rising": step * random.standard_normal(size).clip(-3, 3) / 3,
        "silence": np.zeros(size),
        "gaps": 0.3 * random.standard_normal(size).clip(-3, 3) * (time // 900 % 2),
    }


def ways_from_far(far: Floats, seed: int) -> dict[str, Floats]:
    """Return what a room, or a cable, can make of the far end."""
    random = np.random.default_rng(seed)
    half, late = len(far) // 2, seed % 3000
    path = random.standard_normal(60) * np.exp(-np.arange(60) / 15)
    delayed = np.concatenate([np.zeros(late), far])[: len(far)]
    return {
        "nothing": np.zeros_like(far),
        "the same": far,
        "its negative": -far,
        "itself, then its negative": np.where(np.arange(len(far)) < half, far, -far),
        "a path": convolved(delayed, path),
        "a path, then another": np.where(
            np.arange(len(far)) < half, convolved(far, path), convolved(delayed, -path[::-1])
        ),
        "a gain that jumps": far * np.where(np.arange(len(far)) // 1500 % 2, 1.0, 0.01),
        "clipped": (5 * far).clip(-0.2, 0.2),
        "squares of it": far * np.abs(far),
        "ahead of it": np.concatenate([far[late:], np.zeros(late)]),
    }


SETTINGS: list[dict[str, Any]] = [
    {},
    {"suppress": False},
    {"suppressor": "rules"},
    {"denoise": True},
]
SOUNDS, WAYS = sorted(kinds_of_sound(RATE, 0)), sorted(ways_from_far(np.zeros(RATE), 0))


@given(
    st.sampled_from(SOUNDS),
    st.sampled_from(SOUNDS),
    st.sampled_from(WAYS),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from(SETTINGS),
    st.integers(0, 9999),
)
def test_whatever_it_hears_it_is_never_louder_and_never_not_a_number(
    first: str, near: str, way: str, share: float, settings: dict[str, Any], seed: int
) -> None:
    far = kinds_of_sound(RATE, seed)[first]
    mic = ways_from_far(far, seed)[way] + share * kinds_of_sound(RATE, seed + 1)[near]
    mic = mic.clip(-32, 32)
    canceller = Canceller(RATE, tail=0.05, max_delay=0.2, **settings)
    sent = canceller.process_many(far, mic)
    for out in (sent, canceller.linear):
        assert np.isfinite(out).all()
        assert excess(mic, out, RATE) < 1
    assert np.isfinite(canceller.impulse_response).all()
    # And it is not broken for good: what it then hears alone is left as it is.
    alone = kinds_of_sound(RATE, seed)["voice"]
    after = canceller.process_many(np.zeros(RATE), alone)
    assert np.isfinite(after).all()
    assert excess(alone, after, RATE) < 1


def louder_by(mic: Floats, out: Floats, rate: int) -> float:
    """The most decibels by which 100 ms are louder, whichever sample they begin at."""
    size = round(0.1 * rate)
    before, after = (np.convolve(x**2, np.full(size, 1 / size), "valid") for x in (mic, out))
    return float(10 * np.log10(np.maximum(after, 1e-10) / np.maximum(before, 1e-10)).max())


def test_no_100_ms_are_louder_whichever_sample_they_begin_at() -> None:
    for rate in sized((11025,), full=(8000, 11025, 16000)):
        heard = demo_signals(4.0, rate, seed=1)
        half = len(heard.mic) // 2
        changed = np.concatenate([heard.mic[:half], -0.3 * np.roll(heard.mic, 300)[half:]])
        flipped = np.concatenate([heard.far[:half], -heard.far[half:]])
        square = np.sign(np.sin(0.05 * np.arange(len(heard.far))))
        for far, mic in (
            (heard.far, heard.mic),
            (heard.far, changed),
            (flipped, heard.mic),
            (heard.mic, heard.mic),
            (np.zeros(len(square)), heard.mic),
            (square, square),
            (square, heard.mic),
            (heard.far, square),
        ):
            canceller = Canceller(rate)
            for out in (canceller.process_many(far, mic), canceller.linear):
                assert louder_by(mic, out, rate) < 1


def test_the_promise_holds_for_what_nobody_hears() -> None:
    heard = demo_signals(1.0, RATE, seed=1)
    for size in (1e-12, 1e-22, 1e-30, 1e-38, 1e-42):
        canceller = Canceller(RATE, tail=0.03, certify=True)
        sent = canceller.process_many(30 * heard.far, size * heard.mic)
        promise = canceller.certificate().theorem
        assert promise is not None
        assert promise.holds, size
        assert np.isfinite(sent).all()


def test_a_microphone_that_is_switched_off_is_silent_at_once() -> None:
    for rate in (8000, 16000, 44100):
        heard = demo_signals(1.0, rate, seed=1)
        mic = heard.mic * (np.arange(rate) / rate % 0.2 < 0.1)
        assert not Canceller(rate).process_many(heard.far, mic)[mic == 0].any(), rate
