"""The made-up room: its parts add up, and the voices in it are such as speech is."""

from __future__ import annotations

import numpy as np
import pytest

from noregret.echo import demo_signals, room_response, voice
from noregret.echo.frames import active, echo_only, near_only


def test_the_microphone_hears_echo_near_voice_and_noise() -> None:
    for rate in (8000, 22050):
        heard = demo_signals(4.0, rate, seed=1, noise=1e-3)
        sizes = {len(one) for one in (heard.far, heard.mic, heard.near, heard.echo)}
        assert sizes == {4 * rate}
        rest = heard.mic - heard.near - heard.echo
        assert 0.0002 < rest.std() < 0.0011
        # By numpy's own convolution, which sums products.
        begin = np.convolve(heard.far[: rate // 4], heard.path)[: rate // 4]
        assert np.allclose(begin, heard.echo[: rate // 4], atol=1e-9)
        for signal in heard[:4]:
            assert np.isfinite(signal).all()
            assert 0.1 < np.abs(signal).max() < 1


def test_there_are_times_of_one_voice_of_the_other_and_of_both() -> None:
    for seed in range(2):
        heard = demo_signals(12.0, 16000, seed)
        far, near = active(heard.far, 16000), active(heard.near, 16000)
        both, rate = (far & near).mean(), 16000
        assert both > 0.05
        assert echo_only(heard.far, heard.mic, rate, heard.near).mean() > 0.15
        assert near_only(heard.far, heard.mic, rate, heard.near).mean() > 0.05
        assert not near[:300].any()


def test_a_seed_is_one_room_and_another_is_another() -> None:
    first, again, other = demo_signals(1.0), demo_signals(1.0), demo_signals(1.0, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(first[:5], again[:5], strict=True))
    assert not np.array_equal(first.far, other.far)


def test_a_voice_has_pitch_pauses_and_little_above_the_formants() -> None:
    for pitch in (110.0, 210.0):
        said = voice(8.0, 16000, seed=2, pitch=pitch)
        assert 0.15 < active(said, 16000, 30.0).mean() < 0.95
        spectrum = np.abs(np.fft.rfft(said)) ** 2
        frequencies = np.fft.rfftfreq(len(said), 1 / 16000)
        assert spectrum[frequencies < 4000].sum() > 0.7 * spectrum.sum()
        assert spectrum[frequencies < 50].sum() < 0.05 * spectrum.sum()
        # In the loudest tenth of a second, the autocorrelation peaks at the pitch.
        loudest = int(np.argmax(np.convolve(said**2, np.ones(1600), "valid")))
        piece = said[loudest : loudest + 1600]
        likeness = np.correlate(piece, piece, "full")[1600:]
        lags = slice(int(16000 / pitch / 1.5), int(16000 / pitch * 1.5))
        assert likeness[lags].max() > 0.4 * piece @ piece


def test_the_room_answers_after_the_way_through_the_air_and_dies_away() -> None:
    for rate in (8000, 48000):
        for lasting in (0.1, 0.3):
            response = room_response(rate, lasting, delay=0.05)
            way = np.linalg.norm(np.array([0.5, 0.4, 0.05])) / 343
            first = int(np.argmax(np.abs(response)))
            assert abs(first / rate - 0.05 - way) < 1.5 / rate
            assert np.abs(response[: first - 15]).max() < 1e-3
            # Half of the reverberation is 30 dB, roughly: rooms are not exact, walls are.
            energy = np.cumsum(response[::-1] ** 2)[::-1]
            half = energy[min(len(energy) - 1, first + round(lasting * rate / 2))] / energy[first]
            assert 1e-5 < half < 3e-2


def test_a_room_that_makes_no_sense_is_refused() -> None:
    for wrong in ({"seconds": 0.0}, {"seconds": float("nan")}, {"rate": 4000}, {"rate": 1e9}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            demo_signals(**wrong)
    for wrong in ({"reverberation": 0.0}, {"delay": -1.0}, {"noise": float("inf")}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            demo_signals(1.0, **wrong)  # type: ignore[arg-type]
