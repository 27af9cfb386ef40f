"""The figures of cancelled echoes: their definitions, from independent computations."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from noregret.echo import cancel_file, demo_signals, fixed, frames, measures, write_sound
from tests.thorough import draws

Floats = NDArray[np.float64]
RATE = 8000


def noise(seed: int, seconds: float = 2.0) -> Floats:
    return np.random.default_rng(seed).standard_normal(round(seconds * RATE)) * 0.1


def turns(sound: Floats, *spoken: tuple[float, float]) -> Floats:
    """Return a sound, silent but for some turns given in seconds."""
    kept = np.zeros_like(sound)
    for start, end in spoken:
        part = slice(round(start * RATE), round(end * RATE))
        kept[part] = sound[part]
    return kept


@draws(20)
@given(st.floats(0.02, 10.0), st.floats(0.0, 1.5), st.floats(0.1, 2.0))
def test_a_gain_is_told_alike_by_every_figure(gain: float, after: float, loudness: float) -> None:
    mic = noise(1) * loudness
    every = np.ones(len(mic) // 80, dtype=bool)
    told = -20 * math.log10(gain)
    assert measures.erle(mic, gain * mic, RATE, after) == pytest.approx(told, abs=1e-6)
    assert measures.erle_in(mic, gain * mic, RATE, every) == pytest.approx(told, abs=1e-6)
    assert measures.near_change(mic, gain * mic, RATE, every) == pytest.approx(-told, abs=1e-6)
    assert measures.first_second(mic, mic, gain * mic, RATE) == pytest.approx(told, abs=1e-6)
    assert measures.excess(mic, gain * mic, RATE) == pytest.approx(-told, abs=1e-6)
    assert measures.erle_over_time(mic, gain * mic, RATE)[1] == pytest.approx(told, abs=1e-6)


def test_the_erle_over_time_is_that_of_each_window() -> None:
    mic, clean = noise(1), noise(2) * np.linspace(2, 0.1, 2 * RATE)
    times, reached = measures.erle_over_time(mic, clean, RATE, window=0.1)
    for k in (9, 50, 199):
        end = round(times[k] * RATE)
        window = slice(end - RATE // 10, end)
        expected = 10 * np.log10((mic[window] ** 2).sum() / (clean[window] ** 2).sum())
        assert reached[k] == pytest.approx(expected, abs=1e-9)
    assert measures.excess(mic, clean, RATE) == pytest.approx(-reached[9:].min())


def test_silence_and_recordings_too_short_give_no_infinity() -> None:
    silence, mic = np.zeros(RATE), noise(1, 1.0)
    assert measures.erle(silence, silence, RATE, 0.0) == 0
    assert measures.excess(silence, silence, RATE) == 0
    assert 60 < measures.erle(mic, silence, RATE, 0.0) < 100
    assert measures.excess(silence, mic, RATE) > 60
    assert math.isnan(measures.erle(mic, mic, RATE, 3.0))
    assert math.isnan(measures.erle_in(mic, mic, RATE, np.zeros(100, dtype=bool)))
    assert math.isnan(measures.excess(mic[:100], mic[:100], RATE))
    assert math.isnan(measures.first_second(silence, mic, mic, RATE))
    assert measures.seconds_to(10, silence, mic, mic, RATE) == math.inf
    assert not frames.active(silence, RATE).any()
    assert not frames.echo_only(silence, mic, RATE).any()
    assert measures.near_distortion(silence, mic, RATE) < -60
    assert (fixed.hindsight(silence, mic, RATE).echo == 0).all()


def test_signals_are_cut_to_the_shortest() -> None:
    mic = noise(1)
    longer = np.concatenate([0.1 * mic, np.ones(999)])
    assert measures.erle(mic, longer, RATE, 0.5) == pytest.approx(20)
    assert measures.near_distortion(mic, longer, RATE) > 50


def test_pauses_of_the_far_end_do_not_count_towards_the_first_second() -> None:
    far = turns(noise(1, 4.0), (0.5, 1.0), (2.0, 3.5))
    clean = np.where(np.arange(len(far)) < 2.2 * RATE, far, 0.1 * far)
    assert measures.first_second(far, far, clean, RATE) == pytest.approx(20, abs=0.1)
    assert measures.seconds_to(10, far, far, clean, RATE) == pytest.approx(0.9, abs=0.05)


@draws(10)
@given(st.integers(-50, 150), st.floats(0.1, 3.0), st.floats(0.0, 30.0))
def test_the_sdr_ignores_gain_delay_and_filter_and_counts_the_rest(
    delay: int, gain: float, decibels: float
) -> None:
    near, echo = turns(noise(3, 4.0), (0.1, 3.9)), turns(noise(4, 4.0), (0.1, 3.9))
    coloured = fixed.convolved(near, np.array([1.0, -0.9]))
    echo *= np.std(coloured) / np.std(echo) * 10 ** (-decibels / 20)
    clean = gain * (np.roll(coloured, delay) + echo)
    assert measures.near_distortion(near, clean, RATE) == pytest.approx(decibels, abs=0.2)


def test_least_squares_are_those_of_a_dense_solver() -> None:
    x, y = noise(5, 0.1), noise(6, 0.1)
    size, taps = len(x), 40
    table = np.array([np.concatenate([np.zeros(k), x, np.zeros(taps - k)]) for k in range(taps)]).T
    told = np.concatenate([y, np.zeros(taps)])
    expected = np.linalg.lstsq(table, told, rcond=None)[0]
    found = fixed.least_squares(x, y, taps)
    assert found == pytest.approx(expected, abs=1e-6)
    assert fixed.convolved(x, found) == pytest.approx(np.convolve(x, found)[:size])


@draws(10)
@given(st.integers(0, 4000), st.sampled_from([-1.0, 0.2, 1.0]))
def test_hindsight_finds_the_delay_and_leaves_only_the_noise(delay: int, sign: float) -> None:
    far, hiss = noise(7, 4.0), noise(8, 4.0)
    far[-5000:] = 0
    echo = sign * np.concatenate([np.zeros(delay), far])[: len(far)]
    mic = echo + 0.1 * abs(sign) * hiss
    assert fixed.best_delay(far, mic, RATE) == delay
    found = fixed.hindsight(far, mic, RATE, tail=0.064)
    assert found.delay <= delay < found.delay + len(found.taps)
    assert measures.erle(mic, mic - found.echo, RATE, 0.0) == pytest.approx(20, abs=0.7)


def test_who_is_heard_is_told_from_the_voices_or_from_the_far_end_alone() -> None:
    far = turns(noise(9, 6.0), (0.0, 4.0))
    echo = np.concatenate([np.zeros(200), far])[: len(far)]
    near = turns(noise(10, 6.0), (3.0, 6.0))
    mic = echo + near
    seconds = frames.FRAME * np.arange(1, 601)
    alone = (seconds < 2.9) | ((seconds > 4.5) & (seconds < 5.9))
    for voice in (near, None):
        echoes = frames.echo_only(far, mic, RATE, voice)
        own = frames.near_only(far, mic, RATE, voice)
        assert not (echoes & own).any()
        assert (echoes == (seconds < 2.9))[alone].mean() > 0.98
        assert (own == (seconds > 4.5))[alone].mean() > 0.98
        assert not echoes[(seconds > 3.1) & (seconds < 3.9)].any()
        assert not own[(seconds > 3.1) & (seconds < 3.9)].any()


def test_an_echo_before_the_far_end_is_told_with_what_to_cut(tmp_path: Path) -> None:
    heard = demo_signals(4.0, 8000, delay=0.02)
    early = 1600
    for cut in (0, early):
        paths = [str(tmp_path / f"{name}.wav") for name in ("far", "mic", "clean")]
        write_sound(paths[0], heard.far[: len(heard.far) - cut], 8000)
        write_sound(paths[1], heard.mic[cut:], 8000)
        found = cancel_file(*paths, certify=False)
        told = [note for note in found.notes if "before the far end" in note]
        assert bool(told) == bool(cut)
    lag = int(np.abs(heard.path).argmax())
    expected = (early - lag) / 8000
    assert fixed.ahead(heard.far[:-early], heard.mic[early:], 8000) == pytest.approx(
        expected, abs=2e-3
    )
    assert fixed.ahead(heard.far, heard.mic, 8000) == 0
    assert fixed.ahead(heard.far, heard.near, 8000) == 0
