"""The canceller takes blocks or recordings, refuses what is neither, and cancels echoes."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from noregret.echo import Canceller, demo_signals, room_response, voice
from noregret.echo.fixed import convolved
from noregret.echo.frames import near_only
from noregret.echo.measures import erle, excess, near_change, near_distortion
from noregret.errors import NoRegretError
from tests.thorough import sized

Floats = NDArray[np.float64]
RATE = 8000
TYPES: tuple[Any, ...] = (np.float32, np.float64, np.int16)
# Rates, and numbers of samples in a block from 2 to 10 ms: primes, powers of two, and all between.
BLOCKS = (
    (8000, (16, 17, 61, 64, 79, None)),
    (11025, (23, 97, 110, None)),
    (16000, (32, 113, 160)),
    (22050, (45, 211, None)),
    (44100, (89, 256, 441)),
    (48000, (96, 479, None)),
)


def in_blocks(canceller: Canceller, far: Any, mic: Any) -> tuple[Any, Floats]:
    """Return the output and the linear part, whole blocks one by one."""
    size, sent, linear = canceller.block, [], []
    for start in range(0, len(mic) - size + 1, size):
        sent.append(canceller.process(far[start : start + size], mic[start : start + size]))
        linear.append(canceller.linear)
    return np.concatenate(sent), np.concatenate(linear)


def as_type(values: Floats, dtype: Any) -> Any:
    return np.rint(values * 32767).astype(dtype) if dtype is np.int16 else values.astype(dtype)


def echo_of(far: Floats, path: Floats, noise: float = 1e-4, seed: int = 0) -> Floats:
    return convolved(far, path) + noise * np.random.default_rng(seed).standard_normal(len(far))


def test_blocks_one_by_one_and_a_whole_recording_give_the_same_bits() -> None:
    random = np.random.default_rng(0)
    case = 0
    for rate, sizes in BLOCKS:
        for block in sizes:
            dtype, channels, tail = TYPES[case % 3], 1 + case % 2, (0.001, 0.03, 0.5)[case // 2 % 3]
            case += 1
            length = round(0.15 * rate)
            far = as_type(0.2 * random.standard_normal((length + 7, channels)), dtype)
            mic = as_type(
                0.5 * far[:length, 0] / (32767 if dtype is np.int16 else 1)
                + 0.01 * random.standard_normal(length),
                dtype,
            )
            params: dict[str, Any] = {"tail": tail, "channels": channels, "block": block}
            one = Canceller(rate, **params, max_delay=0.05)
            two = Canceller(rate, **params, max_delay=0.05)
            if block is None:
                assert 0.9 * rate / 100 <= one.block <= rate / 100
            fars = (far[:, 0] if channels == 1 else far, far)
            sent, linear = in_blocks(one, fars[0], mic)
            whole = two.process_many(fars[1], mic)
            assert sent.dtype == whole.dtype == dtype
            assert whole.shape == mic.shape
            assert np.array_equal(sent, whole[: len(sent)])
            assert np.array_equal(linear, two.linear[: len(sent)])
            assert np.isfinite(two.linear).all()
            # In pieces of whole blocks, too.
            one.reset()
            cut = 7 * one.block
            pieces = [one.process_many(far[s], mic[s]) for s in (slice(cut), slice(cut, None))]
            assert np.array_equal(np.concatenate(pieces), whole)


def test_a_far_end_of_another_length_is_filled_with_silence_or_cut() -> None:
    random = np.random.default_rng(1)
    far, mic = 0.1 * random.standard_normal((2, 3000))
    expected = Canceller(RATE).process_many(np.concatenate([far, np.zeros(2000)]), np.tile(mic, 2))
    found = Canceller(RATE).process_many(far, np.tile(mic, 2))
    assert np.array_equal(expected[:6000], found)
    expected = Canceller(RATE).process_many(far[:1000], mic[:1000])
    assert np.array_equal(expected, Canceller(RATE).process_many(far, mic[:1000]))
    assert len(Canceller(RATE).process_many(far, mic[:0])) == 0
    assert len(Canceller(RATE).process_many(far[:0], mic[:100])) == 100


def test_what_is_no_block_of_sound_is_refused_and_leaves_everything_as_it_was() -> None:
    random = np.random.default_rng(2)
    for channels in (1, 2):
        canceller, twin = (Canceller(RATE, channels=channels, certify=True) for _ in range(2))
        n = canceller.block
        far, mic = 0.1 * random.standard_normal((n, channels)), 0.1 * random.standard_normal(n)

        def spoilt(values: Floats, value: float) -> Floats:
            changed = values.copy()
            changed[-3] = value
            return changed

        wrong: list[tuple[Any, Any, type[Exception], str]] = [
            (far, mic[:-1], ValueError, r"mic has 79 samples: a block has 80"),
            (far[:-1], mic, ValueError, r"far has 79 samples: a block has 80"),
            (far, np.tile(mic, 2), ValueError, r"mic has 160 samples"),
            (far, mic[:0], ValueError, "mic has 0 samples"),
            (far, mic[:, None], ValueError, r"mic must be of shape \(samples,\): got \(80, 1\)"),
            (np.tile(far, 3), mic, ValueError, "far must be of shape .*samples.*: got"),
            (far[:, :, None], mic, ValueError, "far must be of shape"),
            (far, spoilt(mic, np.nan), ValueError, "mic, sample 78: .*nan.* is no sample"),
            (far, spoilt(mic, np.inf), ValueError, "mic, sample 78: .*inf.* is no sample"),
            (spoilt(far, -np.inf), mic, ValueError, "far, sample 78: .*-inf.* is no sample"),
            (far, spoilt(mic, 33.0), ValueError, "at most 32 is taken"),
            (spoilt(far, -1e30), mic, ValueError, "at most 32 is taken"),
            (far, mic.astype(np.int32), TypeError, "mic must be an array of .*: got int32"),
            (far.astype(complex), mic, TypeError, "far must be an array of .*: got complex128"),
            (far.astype(np.float16), mic, TypeError, "far must be an array of .*: got float16"),
            (far > 0, mic, TypeError, "far must be an array of .*: got bool"),
            (far, ["a"] * n, TypeError, "mic must be an array of"),
            (None, mic, TypeError, "far must be an array of"),
            (far, object(), TypeError, "mic must be an array of"),
            (far, np.float64(0.1), ValueError, r"mic must be of shape .*: got \(\)"),
        ]
        for _ in range(3):
            for bad_far, bad_mic, error, words in wrong:
                with pytest.raises(error, match=words):
                    canceller.process(bad_far, bad_mic)
                if "samples: a block" not in words and "samples" not in words[-12:]:
                    with pytest.raises(error, match=words):
                        canceller.process_many(bad_far, bad_mic)
            assert np.array_equal(canceller.process(far, mic), twin.process(far, mic))
        assert canceller.kept.digest == twin.kept.digest


def test_a_canceller_that_cannot_be_is_refused_by_the_name_of_what_is_wrong() -> None:
    wrong: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"rate": 7999}, ValueError),
        ({"rate": 48001}, ValueError),
        ({"rate": 16000.0}, TypeError),
        ({"rate": True}, TypeError),
        ({"rate": "16000"}, TypeError),
        ({"tail": 0}, ValueError),
        ({"tail": -1.0}, ValueError),
        ({"tail": 4.1}, ValueError),
        ({"tail": np.nan}, ValueError),
        ({"tail": np.inf}, ValueError),
        ({"tail": "long"}, TypeError),
        ({"channels": 0}, ValueError),
        ({"channels": 9}, ValueError),
        ({"channels": 1.5}, TypeError),
        ({"block": 31}, ValueError),
        ({"block": 161}, ValueError),
        ({"block": 80.0}, TypeError),
        ({"max_delay": -0.1}, ValueError),
        ({"max_delay": np.nan}, ValueError),
        ({"max_delay": 5}, ValueError),
        ({"suppress": "yes"}, TypeError),
        ({"certify": 1.5}, TypeError),
    ]
    for params, error in wrong:
        with pytest.raises((error, ValueError), match=next(iter(params))):
            Canceller(**params)
    rate: Any = np.int64(11025)
    odd = Canceller(rate, tail=1e-9, max_delay=0, channels=8)
    assert len(odd.process_many(np.zeros((300, 8)), np.zeros(300))) == 300
    assert odd.impulse_response.shape == (8 * odd.block, 8)
    assert "Canceller(rate=11025, tail=1e-09, channels=8" in repr(odd)


def test_reset_is_new() -> None:
    heard = demo_signals(2.0, RATE, seed=1)
    canceller = Canceller(RATE, certify=True)
    first = canceller.process_many(heard.far, heard.mic)
    state = canceller.delay, canceller.impulse_response, canceller.kept.digest
    assert state[0] is not None
    canceller.reset()
    assert canceller.delay is None
    assert not canceller.impulse_response.any()
    assert len(canceller.linear) == 0
    assert np.array_equal(first, canceller.process_many(heard.far, heard.mic))
    assert state[0] == canceller.delay
    assert np.array_equal(state[1], canceller.impulse_response)
    assert state[2] == canceller.kept.digest


def test_silence_stays_silent_and_without_a_far_end_the_microphone_is_all_there_is() -> None:
    heard = demo_signals(3.0, RATE, seed=2)
    silence = np.zeros(len(heard.far))
    for suppress in (True, False):
        canceller = Canceller(RATE, suppress=suppress)
        assert not canceller.process_many(silence, silence).any()
        assert canceller.delay is None
        assert not Canceller(RATE, suppress=suppress).process_many(heard.far, silence).any()
        canceller.reset()
        found = canceller.process_many(silence, heard.mic)
        high_pass = signal.butter(2, 80, "highpass", fs=RATE)
        expected = signal.lfilter(*high_pass, heard.mic)
        # But for a few blocks that the high-pass makes louder, which the guard turns down.
        assert (np.abs(found - expected) < 1e-6).mean() > 0.99
        assert canceller.delay is None
        assert not canceller.impulse_response.any()
        # After an echo was learned, both silent again: at once.
        canceller.process_many(heard.far, heard.mic)
        assert not canceller.process_many(silence, silence)[RATE // 100 :].any()


def test_echoes_of_a_room_are_found_learned_and_cancelled_at_any_delay() -> None:
    for rate, delay in ((8000, 0.0), (16000, 0.1), (8000, 0.3), (11025, 0.48), (48000, 0.05)):
        far = voice(5.0, rate, np.random.default_rng(0), pitch=120.0)
        path = 0.5 * room_response(rate, 0.15, delay=delay)
        mic = echo_of(far, path)
        canceller = Canceller(rate)
        sent = canceller.process_many(far, mic)
        assert erle(mic, canceller.linear, rate) > 20, (rate, delay)
        assert erle(mic, sent, rate) > 20, (rate, delay)
        direct = int(np.abs(path).argmax()) / rate
        assert canceller.delay is not None
        assert abs(canceller.delay - direct) <= 2 * canceller.block / rate + 1e-9
        assert np.abs(canceller.impulse_response[:, 0]).argmax() / rate == pytest.approx(
            direct, abs=2 / rate
        )


def test_the_learned_response_is_the_rooms() -> None:
    random = np.random.default_rng(3)
    paths = [
        0.5 * room_response(RATE, 0.12, delay=0.05),
        0.4 * room_response(RATE, 0.12, delay=0.05, source=(1.0, 2.0, 1.0)),
    ]
    for channels in (1, 2):
        far = 0.2 * random.standard_normal((5 * RATE, channels))
        mic = sum(convolved(far[:, c], paths[c]) for c in range(channels))
        canceller = Canceller(RATE, channels=channels)
        canceller.process_many(far, mic)
        for c in range(channels):
            learned, path = canceller.impulse_response[:, c], paths[c]
            size = max(len(learned), len(path))
            off = np.pad(learned, (0, size - len(learned))) - np.pad(path, (0, size - len(path)))
            assert off @ off < 0.03 * path @ path, channels


def test_another_path_is_learned_within_two_seconds() -> None:
    far = voice(8.0, RATE, np.random.default_rng(1), pitch=120.0)
    before = 0.5 * room_response(RATE, 0.15, delay=0.1)
    half = 4 * RATE
    for after in (
        -0.5 * before,
        0.4 * room_response(RATE, 0.2, delay=0.1, source=(1.0, 2.0, 1.0)),
        0.5 * room_response(RATE, 0.15, delay=0.25),
        0.5 * room_response(RATE, 0.15, delay=0.45),
    ):
        mic = np.concatenate([echo_of(far, before)[:half], echo_of(far, after)[half:]])
        canceller = Canceller(RATE)
        canceller.process_many(far, mic)
        assert erle(mic[half:], canceller.linear[half:], RATE, after=2.0) > 10
        assert canceller.delay == pytest.approx(np.abs(after).argmax() / RATE, abs=0.025)


def test_the_near_voice_is_kept_alone_and_when_both_talk() -> None:
    for seed in range(2):
        heard = demo_signals(10.0, RATE, seed)
        canceller = Canceller(RATE)
        sent = canceller.process_many(heard.far, heard.mic)
        alone = near_only(heard.far, heard.mic, RATE, heard.near)
        assert abs(near_change(heard.mic, sent, RATE, alone)) < 1
        before = near_distortion(heard.near, heard.mic, RATE)
        assert near_distortion(heard.near, sent, RATE) > before + 8
        assert excess(heard.mic, sent, RATE) < 1


def test_one_thread_at_a_time() -> None:
    canceller, signal = Canceller(RATE), np.zeros(60 * RATE)
    refused: list[NoRegretError] = []

    def play() -> None:
        for _ in range(sized(5, full=20)):
            try:
                canceller.process_many(signal, signal)
            except NoRegretError as error:
                refused.append(error)

    threads = [Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused
    assert "another thread" in str(refused[0])
    canceller.reset()
    assert not canceller.process_many(signal, signal).any()
