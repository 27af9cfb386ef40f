"""Transforms of every length: one that is wrong anywhere leaves an echo, and finds another path."""

from __future__ import annotations

import numpy as np

from noregret.echo import Canceller
from noregret.echo.fixed import convolved
from noregret.echo.measures import erle


def test_blocks_of_every_length_learn_a_path_that_has_every_frequency() -> None:
    random = np.random.default_rng(0)
    path = np.zeros(40)
    path[[0, 3, 17, 39]] = 0.6, -0.4, 0.25, 0.1
    for rate, sizes in ((8000, range(16, 81)), (48000, (97, 256, 449, 480))):
        far = 0.25 * random.standard_normal(rate)
        mic = convolved(far, path)
        for block in sizes:
            canceller = Canceller(rate, tail=0.02, block=block, max_delay=0, suppress=False)
            canceller.process_many(far, mic)
            assert erle(mic, canceller.linear, rate, after=0.5) > 35, (rate, block)
            off = canceller.impulse_response[:, 0]
            off[: len(path)] -= path
            assert off @ off < 0.06 * path @ path, (rate, block)
