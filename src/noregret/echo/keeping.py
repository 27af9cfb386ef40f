"""The first minutes of a canceller's signals, kept for its certificate."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]


class Kept:
    """The first samples that went through a canceller, and a digest of its inputs.

    Parameters
    ----------
    most
        Number of samples to keep; later ones are ignored.
    """

    def __init__(self, most: int) -> None:
        self.most, self.samples, self.delay = most, 0, 0
        self._pieces: list[tuple[Singles, ...]] = []
        self._digests = [hashlib.blake2b(digest_size=32) for _ in range(2)]

    def room(self, samples: int) -> int:
        """Return how many of the next samples to keep."""
        return min(samples, self.most - self.samples)

    def given(self, *signals: Singles) -> None:
        """Add the far end and the microphone, as received, to the digest."""
        for digest, signal in zip(self._digests, signals, strict=True):
            digest.update(np.ascontiguousarray(signal, dtype="<f4").tobytes())

    def add(self, said: Singles, heard: Singles, left: Singles, delay: int) -> None:
        """Keep both after the high-pass filter, the output of the linear part, and its delay."""
        self._pieces.append((said, heard, left.copy()))
        self.samples += len(heard)
        self.delay = delay

    @property
    def digest(self) -> str:
        """Digest of the signals, independent of the blocks they came in."""
        both = b"".join(digest.digest() for digest in self._digests)
        return "blake2b:" + hashlib.blake2b(both, digest_size=32).hexdigest()

    def signals(self) -> tuple[Singles, Singles, Singles]:
        """Return the far end by channel, the microphone, and the output of the linear part."""
        said, heard, left = (np.concatenate(parts) for parts in zip(*self._pieces, strict=True))
        return said, heard, left
