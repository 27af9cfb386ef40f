"""Learners of many keys as states in a pool: a few hundred bytes each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine import block_rows
from noregret.linear.engine.entry import Entry
from noregret.linear.engine.state_pool import StatePool
from noregret.linear.learner import Learner

if TYPE_CHECKING:
    from noregret.linear.keyed_rows import Key

# Estimated bytes of a key besides its state: its text, and its places in dicts.
BYTES_PER_KEY = 250


class Pooled:
    """The learners of keys that all have the same features.

    Parameters
    ----------
    learner
        An untrained learner, whose engine is ``FLAT``; it plays all states.
    names
        The names of the features.
    """

    def __init__(self, learner: Learner, names: Sequence[str]) -> None:
        self.learner, self.names = learner, list(names)
        block_rows.admit_names(learner._entry, self.names)
        self.pool = StatePool(learner._entry)
        self.slots: dict[Key, int] = {}
        self.free: list[int] = []
        self.used: NDArray[np.int64] = np.zeros(0, np.int64)  # when each slot was last used
        self.clock = 0
        self.version = 0  # changes when a key leaves

    @property
    def size(self) -> int:
        """The estimated bytes of all keys."""
        return len(self.slots) * (self.pool.bytes_per_state + BYTES_PER_KEY)

    def add(self, keys: Sequence[Key]) -> list[int]:
        """Add untrained learners of new keys; return their slots."""
        old = [self.free.pop() for _ in range(min(len(self.free), len(keys)))]
        more = len(keys) - len(old)
        first = self.pool.add(more)
        slots = [*old, *range(first, first + more)]
        self.slots.update(zip(keys, slots, strict=True))
        self.used = np.append(self.used, np.zeros(more, np.int64))
        return slots

    def __contains__(self, key: object) -> bool:
        slot = self.slots.get(key)  # type: ignore[call-overload]
        return slot is not None and self.loaded(slot).rounds > 0

    def loaded(self, slot: int) -> Learner:
        """Return the learner of a slot, until the next call."""
        self.pool.load(slot)
        return self.learner

    def remove(self, key: Key) -> None:
        """Forget a key."""
        slot = self.slots.pop(key)
        self.pool.clear(slot)
        self.free.append(slot)
        self.version += 1

    def records(self) -> Iterator[tuple[Key, int, float]]:
        """Yield the key, the rounds and the loss of each learner that has learned."""
        rounds, losses = (each.tolist() for each in self.pool.figures())
        for key, slot in self.slots.items():
            if rounds[slot]:
                yield key, rounds[slot], losses[slot]

    def learners(self, keys: Iterable[Key] | None = None) -> Iterator[tuple[Key, Learner]]:
        """Yield keys, by default all, with their learners, each until the next one."""
        for key in list(self.slots) if keys is None else keys:
            learner = self.loaded(self.slots[key])
            if learner.rounds:
                yield key, learner

    def oldest(self, share: int) -> list[Key]:
        """Return the keys least recently used, one in ``share`` of all."""
        keys = list(self.slots)
        used = self.used[[self.slots[key] for key in keys]]
        count = max(1, len(keys) // share)
        return [keys[at] for at in np.argpartition(used, count - 1)[:count].tolist()]

    def play(
        self,
        slots: NDArray[np.int64],
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        out: NDArray[np.float64],
        first: int,
    ) -> tuple[int, int, float, int]:
        """Play rows with the learners of their slots, as ``StatePool.play`` does."""
        self.clock += 1
        self.used[slots[slots >= 0]] = self.clock
        return self.pool.play(slots, X, y, out, first)


def is_poolable(learner: Learner) -> bool:
    """Return whether all that rounds change of a learner are numbers of its engine."""
    engine: Any = learner.engine
    plain = type(learner._entry) is Entry and type(learner).get_state is Learner.get_state
    return plain and bool(engine.FLAT) and not type(engine).__dictoffset__
