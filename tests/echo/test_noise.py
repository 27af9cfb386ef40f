"""The noise suppressor: less stationary noise, steady beside an echo, and the voice kept."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.echo import Canceller, demo_signals, voice
from noregret.echo.measures import near_distortion

Floats = NDArray[np.float64]
RATE = 16_000


def hiss(size: int, level: float) -> Floats:
    return level * np.random.default_rng(5).standard_normal(size)


def decibels(x: Floats) -> float:
    return float(10 * np.log10(np.mean(x**2)))


@pytest.mark.parametrize("rate", [8000, RATE, 48_000])
@pytest.mark.parametrize("suppressor", ["rules", "learned"])
def test_noise_alone_becomes_fainter(rate: int, suppressor: str) -> None:
    noise = hiss(4 * rate, 0.01)
    canceller = Canceller(rate, suppressor=suppressor, denoise=True)
    clean = canceller.process_many(np.zeros_like(noise), noise)
    seconds = [decibels(clean[k * rate : (k + 1) * rate]) for k in (2, 3)]
    assert seconds == pytest.approx([decibels(noise) - 9.5] * 2, abs=2.5)


def test_a_voice_in_noise_is_kept_and_its_pauses_become_quieter() -> None:
    near = voice(8.0, RATE, 3)
    mic = near + hiss(len(near), 0.1 * float(np.std(near)))
    pause = slice(6 * RATE, round(6.5 * RATE))
    mic[pause] -= near[pause]
    clean = Canceller(RATE, denoise=True).process_many(np.zeros_like(mic), mic)
    assert decibels(clean[pause]) < decibels(mic[pause]) - 5
    spoken = slice(2 * RATE, 6 * RATE)
    assert decibels(clean[spoken]) == pytest.approx(decibels(near[spoken]), abs=1)
    assert near_distortion(near[spoken], clean[spoken], RATE) > 10


def test_where_an_echo_was_removed_there_is_noise_as_elsewhere() -> None:
    far = voice(8.0, RATE, 1)
    far[6 * RATE :] = 0
    mic = 0.5 * np.roll(far, 400) + hiss(len(far), 0.01 * float(np.std(far)))
    clean = Canceller(RATE, denoise=True).process_many(far, mic)
    gated = Canceller(RATE).process_many(far, mic)

    def faintest(out: Floats) -> float:
        """Return the level of the faintest quarter of a second beside the echo."""
        quarters = out[3 * RATE : 6 * RATE].reshape(-1, RATE // 4)
        return min(decibels(quarter) for quarter in quarters)

    after = decibels(clean[round(7.5 * RATE) :])
    assert faintest(clean) > after - 10
    assert faintest(gated) < after - 15


def test_silence_stays_silent_and_levels_do_not_matter() -> None:
    heard = demo_signals(4.0, RATE)
    mic = heard.mic + hiss(len(heard.mic), 0.01)
    canceller = Canceller(RATE, denoise=True)
    clean = canceller.process_many(heard.far, mic)
    canceller.reset()
    fainter = canceller.process_many(heard.far, mic / 64)
    assert fainter * 64 == pytest.approx(clean, abs=1e-3)
    mic[2 * RATE : 3 * RATE] = 0
    assert not canceller.process_many(heard.far, mic)[2 * RATE : 3 * RATE].any()


@pytest.mark.parametrize("block", [64, 160])
def test_blocks_give_the_same_bits(block: int) -> None:
    heard = demo_signals(2.0, RATE)
    whole = Canceller(RATE, denoise=True, block=block).process_many(heard.far, heard.mic)
    canceller = Canceller(RATE, denoise=True, block=block)
    for k in range(len(whole) // block):
        part = slice(k * block, (k + 1) * block)
        assert np.array_equal(canceller.process(heard.far[part], heard.mic[part]), whole[part])


def test_it_needs_the_suppressor() -> None:
    with pytest.raises(ValueError, match="suppress=True"):
        Canceller(RATE, suppress=False, denoise=True)
