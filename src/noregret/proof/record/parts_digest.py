"""The digest of data in parts: a tree of hashes, of which every part computes its own leaf.

A part has the words of its rows (see ``recorder``), and its digest is what ``Digest`` makes of them
alone: of no features and without names. With h the 32-byte BLAKE2b, a leaf is h(0, rounds, digest
of the part); a node over several leaves is h(1, left, right), where the left node has the largest
power of two of the leaves that leaves one for the right. The digest of all data is h(2, root,
rounds, features, names), with rounds, features and names as in ``Digest``. Parts are in the order
of the data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.proof.record.digest import Digest, words_of_rows

N = TypeVar("N")
Floats = NDArray[np.float64]
PREFIX = "blake2b:"
# Parts that a certificate may have.
MAX_PARTS = 4_096
# Rows per part where nothing else determines it.
BLOCK_ROWS = 65_536


class Part(NamedTuple):
    """A part of the data: its number of rounds, and the digest of their words."""

    rounds: int
    digest: str


def reduced(items: Sequence[N], join: Callable[[N, N], N]) -> N:
    """Return all items joined, over a binary tree that depends on their number only."""
    if len(items) == 1:
        return items[0]
    half = 1 << (len(items) - 1).bit_length() - 1
    return join(reduced(items[:half], join), reduced(items[half:], join))


def root_of(parts: Sequence[Part]) -> bytes:
    """Return the root of the tree over some parts."""
    leaves = [
        hashed(b"\0", part.rounds.to_bytes(8, "little"), bytes.fromhex(part.digest[len(PREFIX) :]))
        for part in parts
    ]
    return reduced(leaves, lambda left, right: hashed(b"\1", left, right))


def digest_of(parts: Sequence[Part], features: int, names: Sequence[str]) -> str:
    """Return the digest of data in parts."""
    rounds = sum(part.rounds for part in parts)
    named = json.dumps(list(names), ensure_ascii=False, separators=(",", ":")) if names else ""
    root = root_of(parts) if parts else bytes(32)
    ends = (count.to_bytes(8, "little") for count in (rounds, features))
    return PREFIX + hashed(b"\2", root, *ends, named.encode()).hex()


def hashed(*words: bytes) -> bytes:
    """Return the hash of a message."""
    return blake2b(b"".join(words), digest_size=32).digest()


class PartsDigest:
    """A digest of data in parts, to which rows can be added.

    Parameters
    ----------
    done
        The parts that are complete.
    sizes
        The rounds of the parts that follow; further rows are one more part.
    """

    def __init__(self, done: Sequence[Part] = (), sizes: Sequence[int] = ()) -> None:
        self.done, self.sizes = list(done), list(sizes)
        self.open, self.rounds = Digest(), 0

    def update(self, words: Floats, rows: int) -> None:
        """Add whole rows."""
        while self.sizes and self.rounds + rows >= self.sizes[0]:
            count = self.sizes.pop(0) - self.rounds
            here = words_of_rows(words, count)
            self.open.update(words[:here])
            self.rounds += count
            words, rows = words[here:], rows - count
            self.done.append(self.last)
            self.open, self.rounds = Digest(), 0
        self.open.update(words)
        self.rounds += rows

    @property
    def last(self) -> Part:
        """The part that is open."""
        return Part(self.rounds, self.open.text(self.rounds, 0, ()))

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts."""
        return (*self.done, *([self.last] if self.rounds else []))

    def text(self, rounds: int, features: int, names: Sequence[str]) -> str:
        """Return the digest of all rows so far."""
        parts = self.parts
        assert rounds == sum(part.rounds for part in parts)
        return digest_of(parts, features, names)


def parts_of(digest: Digest | PartsDigest, rounds: int) -> tuple[Part, ...]:
    """Return the parts of data: those of a tree, or all rows as one."""
    if isinstance(digest, PartsDigest):
        return digest.parts
    return (Part(rounds, digest.text(rounds, 0, ())),) if rounds else ()
