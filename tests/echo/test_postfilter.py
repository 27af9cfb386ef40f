"""The residual suppressor's network: its arithmetic, and blocks of any size."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.echo import Canceller, demo_signals, room_response, voice
from noregret.echo.engine.suppressor import Suppressor
from noregret.echo.fixed import convolved
from noregret.echo.measures import near_distortion
from noregret.echo.postfilter import weights

Floats = NDArray[np.float64]
RATE, BLOCK = 16_000, 160
BANDS, RATIOS, HIDDEN = 24, 6, 40


def logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))


def answers(seen: Floats) -> Floats:
    """Return what the network says, by the definition of a gated recurrent unit."""
    every, at, layers = weights().astype(np.float64), 0, []
    for n, m in (
        (BANDS * RATIOS, HIDDEN),
        (HIDDEN, 3 * HIDDEN),
        (HIDDEN, 3 * HIDDEN),
        (HIDDEN, BANDS),
    ):
        layers.append((every[at : at + n * m].reshape(n, m), every[at + n * m : at + n * m + m]))
        at += n * m + m
    assert at == len(every)
    (w, b), (wi, bi), (ws, bs), (wo, bo) = layers
    state, said = np.zeros(HIDDEN), []
    for row in seen:
        of_input = np.tanh(row @ w + b) @ wi + bi
        of_state = state @ ws + bs
        update, reset = np.split(logistic(of_input + of_state)[: 2 * HIDDEN], 2)
        candidate = np.tanh(of_input[2 * HIDDEN :] + reset * of_state[2 * HIDDEN :])
        state = update * state + (1 - update) * candidate
        said.append(logistic(state @ wo + bo))
    return np.array(said)


def test_the_network_is_a_gated_recurrent_unit() -> None:
    heard = demo_signals(3.0, RATE)
    mic = heard.mic.astype(np.float32)
    left = (heard.mic - 0.9 * heard.echo).astype(np.float32)
    size = len(mic) // BLOCK
    seen = np.zeros((size, BANDS * RATIOS), np.float32)
    out = np.zeros_like(mic)
    suppressor = Suppressor(RATE, BLOCK, weights())
    suppressor.run(mic, left, out, seen)
    assert len(np.unique(seen)) > 10_000
    assert suppressor.answer == pytest.approx(answers(seen.astype(np.float64))[-1], abs=1e-4)


def test_what_is_no_network_is_refused() -> None:
    for count in (0, 1, len(weights()) - 1, len(weights()) + 1):
        with pytest.raises(ValueError, match="weights"):
            Suppressor(RATE, BLOCK, np.zeros(count, np.float32))


@pytest.mark.parametrize(
    ("rate", "block"),
    [(8000, None), (16_000, 32), (16_000, 64), (16_000, 150), (44_100, None), (48_000, 96)],
)
def test_every_rate_and_block_size_removes_the_echo_and_keeps_the_near_voice(
    rate: int, block: int | None
) -> None:
    heard = demo_signals(8.0, rate)
    canceller = Canceller(rate, block=block)
    clean = canceller.process_many(heard.far, heard.mic)
    alone, near = (slice(round(a * rate), round(b * rate)) for a, b in ((2.0, 2.9), (4.2, 5.2)))
    energy = [np.sum(out[alone] ** 2) for out in (canceller.linear, clean)]
    assert energy[1] < 0.6 * energy[0]
    kept = np.sum(clean[near] ** 2) / np.sum(heard.near[near] ** 2)
    assert abs(10 * np.log10(kept)) < 0.5
    linear, after = (near_distortion(heard.near, out, rate) for out in (canceller.linear, clean))
    assert after > linear - 1.5


def test_levels_do_not_matter_and_blocks_give_the_same_bits() -> None:
    heard = demo_signals(5.0, RATE)
    whole = Canceller(RATE).process_many(heard.far, heard.mic)
    canceller = Canceller(RATE)
    size = canceller.block
    for k in range(len(whole) // size):
        part = slice(k * size, (k + 1) * size)
        assert np.array_equal(canceller.process(heard.far[part], heard.mic[part]), whole[part])
    canceller.reset()
    fainter = canceller.process_many(heard.far, heard.mic / 64)
    assert fainter * 64 == pytest.approx(whole, abs=1e-3)


def test_two_channels_of_the_far_end() -> None:
    heard = demo_signals(8.0, RATE)
    far = np.stack([heard.far, np.random.default_rng(0).normal(0, 0.01, len(heard.far))], axis=1)
    canceller = Canceller(RATE, channels=2)
    clean = canceller.process_many(far, heard.mic)
    alone = slice(2 * RATE, round(2.9 * RATE))
    assert np.sum(clean[alone] ** 2) < 0.6 * np.sum(canceller.linear[alone] ** 2)


def test_the_network_is_the_default_and_others_are_refused() -> None:
    assert Canceller(RATE).params["suppressor"] == "learned"
    with pytest.raises(ValueError, match="suppressor"):
        Canceller(RATE, suppressor="none")


@pytest.mark.parametrize("fainter", [0.0, 8.0])
def test_a_near_voice_that_talks_against_the_echo_from_the_start_is_kept(fainter: float) -> None:
    for seed in (0, 1):
        far, near = voice(8.0, RATE, seed), voice(8.0, RATE, 100 + seed, pitch=205.0)
        near[: RATE // 2] = 0
        near = convolved(near, room_response(RATE, 0.2, source=(3.0, 2.1, 1.1)))
        echo = convolved(far, room_response(RATE, 0.3, delay=0.03))
        echo *= np.std(near) / np.std(echo) * 10 ** (fainter / 20)
        canceller = Canceller(RATE)
        clean = canceller.process_many(far, 0.2 * (near + echo))
        linear, after = (near_distortion(near, out, RATE) for out in (canceller.linear, clean))
        assert after > linear - 0.5


def test_when_the_near_voice_has_been_silent_the_residual_is_suppressed_again() -> None:
    far, near = voice(12.0, RATE, 4), voice(12.0, RATE, 104, pitch=205.0)
    near[4 * RATE :] = 0
    echo = convolved(np.tanh(3 * far) / 3, room_response(RATE, 0.3, delay=0.03))
    canceller = Canceller(RATE)
    clean = canceller.process_many(far, 0.5 * (near + echo))
    ratio = [
        np.sum(clean[k * RATE : (k + 2) * RATE] ** 2)
        / np.sum(canceller.linear[k * RATE : (k + 2) * RATE] ** 2)
        for k in (2, 9)
    ]
    assert ratio[0] > 0.9
    assert ratio[1] < 0.3
