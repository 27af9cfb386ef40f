"""No result depends on how loud either recording is, nor on faint noise before a call."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.echo import Canceller, demo_signals, room_response, voice
from noregret.echo.fixed import convolved
from noregret.echo.measures import near_distortion

Floats = NDArray[np.float64]
RATE = 8000


def call(seed: int, echo: float, delay: float = 0.05) -> tuple[Floats, Floats]:
    """Return a voice, and its echo as loud as that factor of it, with noise 50 dB below."""
    far = voice(4.0, RATE, seed)
    heard = convolved(far, room_response(RATE, 0.15, delay=delay))
    heard *= echo * np.std(far) / np.std(heard)
    noise = np.random.default_rng(seed).standard_normal(len(far))
    return far, heard + 10**-2.5 * np.std(heard) * noise


def reduction(far: Floats, mic: Floats, after: float = 1.5) -> tuple[float, float]:
    """Return the energy taken out in decibels, by all parts and by the linear one."""
    canceller = Canceller(RATE)
    clean = canceller.process_many(far, mic)
    start = round(after * RATE)
    before = np.sum(mic[start:] ** 2)
    after_all, linear = (np.sum(out[start:] ** 2) for out in (clean, canceller.linear))
    return float(10 * np.log10(before / after_all)), float(10 * np.log10(before / linear))


@pytest.mark.parametrize(("seed", "echo"), [(1, 1.0), (2, 10 ** (-38 / 20))])
def test_scaling_either_recording_changes_nothing_but_the_scale(seed: int, echo: float) -> None:
    far, mic = call(seed, echo)
    expected = reduction(far, mic)
    assert min(expected) > 20
    for played, heard in ((-40, 0), (0, -40), (20, -20), (-26, 20)):
        far_gain, mic_gain = 10 ** (played / 20), 10 ** (heard / 20)
        assert reduction(far_gain * far, mic_gain * mic) == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize("level", [-70, -60, -50])
def test_faint_noise_before_a_call_does_no_lasting_harm(level: float) -> None:
    far, mic = call(3, 0.3)
    random = np.random.default_rng(0)
    expected = reduction(far, mic)
    for room in (-80, -50):
        noise = random.standard_normal((2, RATE // 2)) * 10 ** (np.array([[level], [room]]) / 20)
        played, heard = np.concatenate([noise, np.stack([far, mic])], axis=1)
        found = reduction(played, heard, after=2.0)
        assert found[1] > expected[1] - 4
        assert found[0] > 25


def test_a_microphone_that_was_muted_at_first_is_learned() -> None:
    far, mic = call(4, 0.3)
    expected = reduction(far, mic)
    mic[: RATE // 2] = 0
    assert reduction(far, mic, after=2.0)[1] > expected[1] - 4


def test_the_suppressor_leaves_the_near_speaker_while_both_talk() -> None:
    for seed in (0, 1):
        heard = demo_signals(8.0, RATE, seed)
        canceller = Canceller(RATE)
        clean = canceller.process_many(heard.far, heard.mic)
        both = slice(round(0.38 * 8 * RATE), round(0.5 * 8 * RATE))  # as room.py has it
        near, mic = heard.near[both], heard.mic[both]
        outputs = (mic, canceller.linear[both], clean[both])
        before, linear, after = (near_distortion(near, out, RATE) for out in outputs)
        assert linear > before + 5
        assert after > linear - 1
