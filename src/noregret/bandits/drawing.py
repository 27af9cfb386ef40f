"""Chance: weights that never underflow, draws by them, and a generator that files can hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# No chance is smaller than e to this power, about 1e-200, over the number of arms: so that the
# estimate of a loss, which is divided by a chance, stays far from overflow.
MIN_LOG_CHANCE = -460.0
HALF = 2**64
# What sets the generators of policies apart from others of the same seed.
OWN = 0xBA2D17


def gibbs(estimates: Floats, rate: float) -> Floats:
    """Return chances in proportion to exp(−rate · estimate); positive, their sum is 1."""
    chances = estimates * -rate
    chances -= np.maximum.reduce(chances)
    np.maximum(chances, MIN_LOG_CHANCE, out=chances)
    np.exp(chances, out=chances)
    chances /= np.add.reduce(chances)
    return chances


def drawn(chances: Floats, random: np.random.Generator) -> int:
    """Draw a number by chances; one of chance 0 is never drawn."""
    arm = int(np.add.accumulate(chances).searchsorted(random.random(), "right"))
    # Rounding may leave the sum a little below 1, and the draw above it.
    return arm if arm < len(chances) else int(chances.argmax())


def leader(values: Floats, random: np.random.Generator) -> int:
    """Return the number of the largest value; of equal ones, any."""
    best = int(values.argmax())
    ties = values == values[best]
    if np.count_nonzero(ties) == 1:
        return best
    return int(random.choice(np.flatnonzero(ties)))


def new_generator(seed: int) -> np.random.Generator:
    """Return a generator of a policy's own.

    It is not the one that NumPy makes of the same seed: a simulation that draws its rewards from
    that one would draw them by the numbers that choose the arms.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(OWN,))
    return np.random.Generator(np.random.PCG64(sequence))


def generator_state(random: np.random.Generator) -> NDArray[np.uint64]:
    """Return the state of a generator as six whole numbers."""
    held = random.bit_generator.state
    state, step = held["state"]["state"], held["state"]["inc"]
    halves = [state // HALF, state % HALF, step // HALF, step % HALF]
    return np.array([*halves, held["has_uint32"], held["uinteger"]], dtype=np.uint64)


def generator_of(state: NDArray[np.uint64]) -> np.random.Generator:
    """Return the generator of a state; ValueError where it is none."""
    if state.dtype != np.uint64 or state.shape != (6,):
        raise ValueError("the generator's state should be six whole numbers")
    high, low, step_high, step_low, has_rest, rest = (int(part) for part in state)
    if step_low % 2 == 0 or has_rest > 1 or rest >= 2**32:
        raise ValueError("the generator's state is none that a generator can have")
    bits = np.random.PCG64()
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": high * HALF + low, "inc": step_high * HALF + step_low},
        "has_uint32": has_rest,
        "uinteger": rest,
    }
    return np.random.Generator(bits)
