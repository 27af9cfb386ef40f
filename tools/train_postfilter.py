"""Train the network of the residual suppressor on made calls, and write its weights.

    python tools/train_postfilter.py

The voices are those of espeak-ng and flite for development (benchmarks/_echo_talk.py), the rooms
the simulated ones for development; no recording is trained on while NOREGRET_DATA is not set. Needs
NumPy and SciPy, and some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, lfilter

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._echo_clips import RATE, Floats  # noqa: E402
from benchmarks._echo_talk import boxes, hiss, loudness, part, voices  # noqa: E402
from noregret.echo import Canceller  # noqa: E402
from noregret.echo.canceller import RUMBLE  # noqa: E402
from noregret.echo.engine.suppressor import Suppressor  # noqa: E402
from noregret.echo.fixed import convolved  # noqa: E402
from noregret.echo.postfilter import WEIGHTS  # noqa: E402

Singles = NDArray[np.float32]
BLOCK, BANDS, RATIOS, HIDDEN = 160, 24, 6, 40
CALLS, SECONDS = 480, 10
# Steps of the training, calls per step, blocks per call and step, and the first rate.
STEPS, BATCH, LENGTH, PACE = 3000, 16, 300, 4e-3
# Weight of what is cut from the near speaker, relative to what is left of all else.
KEEP = 10.0
# The share of examples that lack all above 4 kHz, as at 8,000 samples per second, and its bands.
NARROW, NARROW_BANDS = 0.15, 20


def turns(size: int, random: np.random.Generator) -> Floats:
    """Return when someone speaks: always, never, or in turns of one to five seconds."""
    kind = random.uniform()
    if kind < 0.25:
        return np.ones(size)
    if kind < 0.37:
        return np.zeros(size)
    gate, at, on = np.zeros(size), 0, random.uniform() < 0.5
    while at < size:
        end = at + round(random.uniform(1, 5) * RATE)
        gate[at:end] = on
        at, on = end, not on
    return gate


def shelf(x: Floats, random: np.random.Generator) -> Floats:
    """Return the sound of another microphone or loudspeaker: tilted, or without the extremes."""
    x = np.asarray(lfilter([1, random.uniform(-0.7, 0.7)], [1], x))
    if random.uniform() < 0.3:
        band = [random.uniform(60, 300), random.uniform(3400, 7800)]
        x = np.asarray(lfilter(*butter(2, band, "band", fs=RATE), x))
    return x


def lengthened(path: Floats, random: np.random.Generator) -> Floats:
    """Return a response with more reverberation than the filter models."""
    time = np.arange(round(0.7 * RATE)) / RATE
    tail = random.standard_normal(len(time)) * 10 ** (-3 * time / random.uniform(0.3, 0.9))
    tail *= np.linalg.norm(path) / np.linalg.norm(tail) * 10 ** (-random.uniform(5, 20) / 20)
    tail[: len(path)] += path[: len(tail)]
    return np.asarray(tail)


def driven(far: Floats, random: np.random.Generator) -> Floats:
    """Return the sound of a loudspeaker that distorts, some by clipping."""
    drive, side = 10 ** random.uniform(-0.3, 0.8) / np.abs(far).max(), random.uniform(0, 0.3)
    played = (np.tanh(drive * far + side) - np.tanh(side)) / drive
    most = np.abs(played).max() * random.uniform(0.3, 1.0)
    return np.asarray(np.clip(played, -most, most) if random.uniform() < 0.3 else played)


def calls(count: int) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """Yield far end, microphone, and near speaker and noise in it."""
    said, rooms = voices(judging=False), boxes(judging=False)
    size = SECONDS * RATE
    for k in range(count):
        random = np.random.default_rng((3, k))
        one, other = random.choice(len(said), 2, replace=False)
        far, near = (shelf(part(said[which], size, random), random) for which in (one, other))
        far, near = far * turns(size, random), near * turns(size, random)
        (path, near_path), (moved, _) = (rooms[i] for i in random.integers(len(rooms), size=2))
        path = lengthened(path, random) if random.uniform() < 0.4 else path
        played = driven(far, random) if far.any() and random.uniform() < 0.7 else far
        echo = convolved(played, path)
        if random.uniform() < 0.25:  # someone moves about
            slow = np.sin(np.arange(size) * random.uniform(0.5, 4) / RATE) ** 2
            echo += slow * (np.roll(echo, random.integers(1, 4)) - echo)
        if random.uniform() < 0.2:
            change = round(random.uniform(0.3, 0.8) * size)
            echo[change:] = convolved(played, moved * loudness(path) / loudness(moved))[change:]
        echo = shelf(echo, random)
        late = round(random.uniform(0, 0.25) * RATE)
        echo = np.concatenate([np.zeros(late), echo])[:size]
        near = convolved(near, near_path)[:size]
        if near.any():
            near *= 10 ** (random.uniform(-12, 18) / 20) * (loud(echo) or 1) / loud(near)
        level = loud(near) or loud(echo) or 1
        noise = hiss(size, random) * level * 10 ** (-random.uniform(3, 60) / 20)
        scale = 0.3 / (loud(far) or 1)
        yield scale * far, near + echo + noise, near, noise


def loud(x: Floats) -> float:
    """Return the root mean square where there is sound; 0 for silence."""
    return loudness(x) if x.any() else 0.0


def powers(x: Floats, edges: list[int]) -> Floats:
    """Return the power of each band in each block and the one before it."""
    before = np.concatenate([np.zeros(BLOCK), x])[: len(x)].reshape(-1, BLOCK)
    frames = np.concatenate([before, x.reshape(-1, BLOCK)], axis=1)
    window = 0.5 - 0.5 * np.cos(np.pi * np.arange(2 * BLOCK) / BLOCK)
    spectra = np.abs(np.fft.rfft(frames * window)) ** 2
    sums = np.cumsum(np.pad(spectra, ((0, 0), (1, 0))), axis=1)
    return np.asarray(np.diff(sums[:, edges], axis=1))


def example(
    far: Floats, mic: Floats, near: Floats, noise: Floats
) -> tuple[Singles, Singles, Singles]:
    """Return what the network sees, what it should say, and how much that matters."""
    canceller = Canceller(RATE, block=BLOCK)
    scale = 1 / np.abs(mic).max()
    said, sound = (np.ascontiguousarray(x, np.float32) for x in (far[:, None], scale * mic))
    heard, left, out = (np.zeros(len(mic), np.float32) for _ in range(3))
    canceller._learn(said, sound, heard, left)
    seen = np.zeros((len(mic) // BLOCK, BANDS * RATIOS), np.float32)
    suppressor = Suppressor(RATE, BLOCK, np.zeros(size_of(HIDDEN), np.float32))
    suppressor.run(heard, left, out, seen)
    rumble = butter(2, RUMBLE, "high", fs=RATE)
    near, noise = (np.asarray(lfilter(*rumble, scale * x)) for x in (near, noise))
    edges = suppressor.bounds
    voice, hum, rest, echo = (
        powers(np.asarray(x, np.float64), edges) + 1e-12
        for x in (near, noise, left - near - noise, heard - left)
    )
    # Beside an echo, noise goes with it; alone, it stays.
    hidden = hum * echo / (echo + hum)
    whole = voice + hum + rest
    ideal = ((voice + hum - hidden) / whole) ** 0.25
    usual = np.quantile(powers(heard.astype(np.float64), edges).sum(axis=1), 0.9) / BANDS
    matters = np.clip((whole / usual) ** 0.25, 0.03, 2)
    return seen, np.asarray(ideal, np.float32), np.asarray(matters, np.float32)


def size_of(hidden: int) -> int:
    """Return the number of weights of a network."""
    return sum((n + 1) * m for n, m in shapes(hidden))


def shapes(hidden: int) -> tuple[tuple[int, int], ...]:
    """Return the numbers of inputs and outputs of each layer."""
    return (BANDS * RATIOS, hidden), (hidden, 3 * hidden), (hidden, 3 * hidden), (hidden, BANDS)


def layers(weights: Singles) -> list[Singles]:
    """Return views of the weights of each layer, constants in the last row."""
    found, at = [], 0
    for n, m in shapes(HIDDEN):
        found.append(weights[at : at + (n + 1) * m].reshape(n + 1, m))
        at += (n + 1) * m
    return found


def logistic(x: Singles) -> Singles:
    """Return the logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)))


def loss_and_slope(
    weights: Singles, x: Singles, ideal: Singles, matters: Singles
) -> tuple[float, Singles]:
    """Return the mean error of the square roots of gains, and its derivative by the weights."""
    slope = np.zeros_like(weights)
    (w1, wi, ws, wo), (d1, di, ds, do) = layers(weights), layers(slope)
    h, (length, batch, _) = HIDDEN, x.shape
    first = np.tanh(x @ w1[:-1] + w1[-1])
    of_input = first @ wi[:-1] + wi[-1]
    states = np.zeros((length + 1, batch, h), np.float32)
    gates, candidates, of_state = (np.empty((length, batch, n), np.float32) for n in (2 * h, h, h))
    for t in range(length):
        product = states[t] @ ws[:-1] + ws[-1]
        gates[t] = logistic(of_input[t, :, : 2 * h] + product[:, : 2 * h])
        of_state[t] = product[:, 2 * h :]
        candidates[t] = np.tanh(of_input[t, :, 2 * h :] + gates[t, :, h:] * of_state[t])
        states[t + 1] = candidates[t] + gates[t, :, :h] * (states[t] - candidates[t])
    gain = logistic(states[1:] @ wo[:-1] + wo[-1])
    root = np.sqrt(gain)
    error = root - ideal
    weight = matters * np.where(error < 0, KEEP * ideal**2 + 1 - ideal**2, 1) / matters.sum()
    back = weight * error * root * (1 - gain)  # by the sums before the logistic function
    do[:-1] = np.tensordot(states[1:], back, axes=((0, 1), (0, 1)))
    do[-1] = back.sum(axis=(0, 1))
    into = back @ wo[:-1].T
    by_input, by_state = (np.empty((length, batch, 3 * h), np.float32) for _ in range(2))
    later = np.zeros((batch, h), np.float32)
    for t in range(length - 1, -1, -1):
        later = later + into[t]
        update, reset, candidate = gates[t, :, :h], gates[t, :, h:], candidates[t]
        inner = later * (1 - update) * (1 - candidate**2)
        by_input[t, :, :h] = later * (states[t] - candidate) * update * (1 - update)
        by_input[t, :, h : 2 * h] = inner * of_state[t] * reset * (1 - reset)
        by_input[t, :, 2 * h :] = inner
        by_state[t] = by_input[t]
        by_state[t, :, 2 * h :] *= reset
        later = later * update + by_state[t] @ ws[:-1].T
    for change, seen, by in ((ds, states[:-1], by_state), (di, first, by_input)):
        change[:-1] = np.tensordot(seen, by, axes=((0, 1), (0, 1)))
        change[-1] = by.sum(axis=(0, 1))
    inner = (by_input @ wi[:-1].T) * (1 - first**2)
    d1[:-1] = np.tensordot(x, inner, axes=((0, 1), (0, 1)))
    d1[-1] = inner.sum(axis=(0, 1))
    return float(np.sum(weight * error**2)), slope


def draw(
    examples: list[tuple[Singles, Singles, Singles]], random: np.random.Generator
) -> tuple[Singles, ...]:
    """Return some blocks of some calls, time first; a quarter from the beginning of a call."""
    chosen = []
    for k in random.integers(len(examples), size=BATCH):
        begin = random.integers(len(examples[k][0]) - LENGTH) if random.uniform() < 0.75 else 0
        seen, ideal, matters = (
            each[begin : begin + LENGTH].astype(np.float32) for each in examples[k]
        )
        if begin:
            matters[:20] = 0
        if random.uniform() < NARROW:
            seen.reshape(LENGTH, RATIOS, BANDS)[:, :, NARROW_BANDS:] = 0
            matters[:, NARROW_BANDS:] = 0
        chosen.append((seen, ideal, matters))
    return tuple(np.stack(each, axis=1) for each in zip(*chosen, strict=True))


def train(examples: list[tuple[Singles, Singles, Singles]]) -> Singles:
    """Return the weights, by Adam with a falling rate."""
    random = np.random.default_rng(0)
    weights = np.zeros(size_of(HIDDEN), np.float32)
    for layer in layers(weights):
        layer[:-1] = random.standard_normal(layer[:-1].shape) / np.sqrt(len(layer))
    mean, square, shown = np.zeros_like(weights), np.zeros_like(weights), 0.0
    for step in range(STEPS):
        loss, slope = loss_and_slope(weights, *draw(examples, random))
        slope *= min(1.0, 1 / (1e-12 + float(np.linalg.norm(slope))))
        mean += 0.1 * (slope - mean)
        square += 0.005 * (slope**2 - square)
        size = PACE * (0.02 + 0.98 * np.cos(0.5 * np.pi * step / STEPS) ** 2)
        unbiased = mean / (1 - 0.9 ** (step + 1)), square / (1 - 0.995 ** (step + 1))
        weights -= np.float32(size) * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        shown += 0.02 * (loss - shown) if step else loss
        if step % 100 == 0:
            print(f"step {step:,}: loss {shown:.5f}", flush=True)
    return weights


def main() -> None:
    """Make the examples, train, and write the weights in half precision."""
    examples: list[Any] = []
    for call in calls(CALLS):
        seen, ideal, matters = example(*call)
        examples.append((seen.astype(np.float16), ideal.astype(np.float16), matters))
        if len(examples) % 100 == 0:
            print(f"{len(examples)} calls", flush=True)
    np.save(WEIGHTS, train(examples).astype(np.float16))


if __name__ == "__main__":
    main()
