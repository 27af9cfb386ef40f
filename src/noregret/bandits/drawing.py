"""Random draws: probabilities that never underflow, and a generator that files can hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# The smallest logarithm of a probability, about 1e-200, before division by the number of arms.
# Estimated losses are divided by a probability, and must stay far from overflow.
MIN_LOG_CHANCE = -460.0
HALF = 2**64
# Distinguishes the generators of policies from others with the same seed.
SPAWN_KEY = 0xBA2D17


def gibbs(estimates: Floats, rate: float) -> Floats:
    """Return probabilities proportional to exp(−rate · estimate), all positive."""
    chances = estimates * -rate
    chances -= np.maximum.reduce(chances)
    np.maximum(chances, MIN_LOG_CHANCE, out=chances)
    np.exp(chances, out=chances)
    chances /= np.add.reduce(chances)
    return chances


def drawn(chances: Floats, random: np.random.Generator) -> int:
    """Draw an index by probabilities; one of probability 0 is never drawn."""
    arm = int(np.add.accumulate(chances).searchsorted(random.random(), "right"))
    # Rounding may leave the sum slightly below 1 and the draw above it.
    return arm if arm < len(chances) else int(chances.argmax())


def leader(values: Floats, random: np.random.Generator) -> int:
    """Return the index of the largest value; ties are broken at random."""
    best = int(values.argmax())
    ties = values == values[best]
    if np.count_nonzero(ties) == 1:
        return best
    return int(random.choice(np.flatnonzero(ties)))


def new_generator(seed: int) -> np.random.Generator:
    """Return the generator of a policy.

    It differs from the generator that NumPy makes from the same seed: a simulation that draws its
    rewards with that one would otherwise use the same random numbers that choose the arms.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(SPAWN_KEY,))
    return np.random.Generator(np.random.PCG64(sequence))


def generator_state(random: np.random.Generator) -> NDArray[np.uint64]:
    """Return the state of a generator as six integers."""
    held = random.bit_generator.state
    state, step = held["state"]["state"], held["state"]["inc"]
    halves = [state // HALF, state % HALF, step // HALF, step % HALF]
    return np.array([*halves, held["has_uint32"], held["uinteger"]], dtype=np.uint64)


def generator_of(state: NDArray[np.uint64]) -> np.random.Generator:
    """Return the generator with a state; raise ValueError if it is invalid."""
    if state.dtype != np.uint64 or state.shape != (6,):
        raise ValueError("the generator's state should be six integers")
    high, low, step_high, step_low, has_rest, rest = (int(part) for part in state)
    if step_low % 2 == 0 or has_rest > 1 or rest >= 2**32:
        raise ValueError("the generator's state is impossible")
    bits = np.random.PCG64()
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": high * HALF + low, "inc": step_high * HALF + step_low},
        "has_uint32": has_rest,
        "uinteger": rest,
    }
    return np.random.Generator(bits)
