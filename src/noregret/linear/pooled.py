"""Learners of many keys as states in a pool: just the numbers of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine import block_rows
from noregret.linear.engine.entry import Entry
from noregret.linear.engine.state_pool import StatePool
from noregret.linear.learner import Learner
from noregret.linear.spill_file import SpillFile

if TYPE_CHECKING:
    from noregret.linear.keyed_rows import Key

# Bytes of a state from which on it takes less time to sort rows than to copy states for each.
MIN_SORTED_BYTES = 1_024
# Estimated bytes of a key besides its state: its text, and its places in dicts.
BYTES_PER_KEY = 250
# Estimated bytes of a learner besides its numbers, of each of its features, and of each array.
BYTES, BYTES_PER_FEATURE, BYTES_PER_ARRAY = 2_500, 200, 400


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
        self.spilled = SpillFile()  # states of keys without a slot
        self.free: list[int] = []
        self.used: NDArray[np.int64] = np.zeros(0, np.int64)  # when each slot was last used
        self.clock = 0
        self.version = 0  # changes when a key leaves

    @property
    def size(self) -> int:
        """The estimated bytes in memory of all keys."""
        keys, spilled = len(self.slots), len(self.spilled.places)
        states = keys * self.pool.bytes_per_state + self.pool.bytes_owned
        return states + (keys + spilled) * BYTES_PER_KEY

    @property
    def size_per_key(self) -> int:
        """The estimated bytes of a key in memory."""
        more = self.pool.bytes_owned // max(1, len(self.slots))
        return self.pool.bytes_per_state + BYTES_PER_KEY + more

    def add(self, keys: Sequence[Key]) -> list[int]:
        """Give slots to keys without one, and return them; new keys have untrained learners."""
        old = [self.free.pop() for _ in range(min(len(self.free), len(keys)))]
        more = len(keys) - len(old)
        first = self.pool.add(more)
        slots = [*old, *range(first, first + more)]
        self.slots.update(zip(keys, slots, strict=True))
        self.used = np.append(self.used, np.zeros(more, np.int64))
        self.used[slots] = self.clock
        if self.spilled.places:
            for key, slot in zip(keys, slots, strict=True):
                if key in self.spilled.places:
                    self.pool.put(slot, self.spilled.read(key))
                    self.spilled.remove(key)
        return slots

    def holds(self, key: Key) -> bool:
        """Return whether a key has a state, perhaps of an untrained learner."""
        return key in self.slots or key in self.spilled.places

    def keys(self) -> list[Key]:
        """Return all keys that have a state."""
        return [*self.slots, *self.spilled.places]

    def __contains__(self, key: object) -> bool:
        if key in self.spilled.places:
            return True
        slot = self.slots.get(key)  # type: ignore[call-overload]
        return slot is not None and self.loaded(slot).rounds > 0

    def loaded(self, slot: int) -> Learner:
        """Return the learner of a slot, until the next call."""
        self.pool.load(slot)
        return self.learner

    def state_of(self, key: Key) -> Learner:
        """Return the learner of a key, until the next call."""
        slot = self.slots.get(key)
        if slot is not None:
            return self.loaded(slot)
        if not self.free:
            self.free.append(self.pool.add(1))
            self.used = np.append(self.used, 0)
        slot = self.free[-1]
        self.pool.put(slot, self.spilled.read(key))
        learner = self.loaded(slot)
        self.pool.clear(slot)
        return learner

    def spill(self, keys: Iterable[Key]) -> None:
        """Write the states of keys to the file, and forget those that are untrained."""
        rounds, losses = self.pool.figures()
        for key in keys:
            slot = self.slots[key]
            if rounds[slot]:
                raw = self.pool.raw(slot)
                self.spilled.put(key, raw, int(rounds[slot]), float(losses[slot]))
            self.remove(key)

    def remove(self, key: Key) -> None:
        """Forget a key, or only its slot if its state is in the file."""
        slot = self.slots.pop(key, None)
        if slot is None:
            self.spilled.remove(key)
            return
        self.pool.clear(slot)
        self.free.append(slot)
        self.version += 1

    def figures(self) -> tuple[list[Key], list[int], list[float]]:
        """Return the keys, the rounds and the losses of the learners that have learned."""
        at = np.fromiter(self.slots.values(), np.int64, len(self.slots))
        rounds, losses = (each[at] for each in self.pool.figures())
        learned, spilled = rounds > 0, self.spilled.places
        keys = [*compress(self.slots, learned.tolist()), *spilled]
        counts = rounds[learned].tolist() + [place.rounds for place in spilled.values()]
        totals = losses[learned].tolist() + [place.total_loss for place in spilled.values()]
        return keys, counts, totals

    def learners(self, keys: Iterable[Key] | None = None) -> Iterator[tuple[Key, Learner]]:
        """Yield keys, by default all, with their learners, each until the next one."""
        for key in self.keys() if keys is None else keys:
            learner = self.state_of(key)
            if learner.rounds:
                yield key, learner

    def oldest(self, count: int) -> list[Key]:
        """Return up to so many keys in memory, least recently used, none of the part at hand."""
        keys = list(self.slots)
        used = self.used[[self.slots[key] for key in keys]]
        old = np.argsort(used, kind="stable")[:count]
        return [keys[at] for at in old[used[old] < self.clock].tolist()]

    def touch(self, slots: NDArray[np.int64]) -> None:
        """Begin a part of the rows; note that these slots are used in it."""
        self.clock += 1
        self.used[slots[slots >= 0]] = self.clock

    def touch_again(self, slots: list[int]) -> None:
        """Note that more slots are used in the part at hand."""
        self.used[slots] = self.clock

    def play(
        self,
        slots: NDArray[np.int64],
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        out: NDArray[np.float64],
        order: NDArray[np.int64],
        first: int,
    ) -> tuple[int, int, float, int]:
        """Play rows with the learners of their slots, as ``StatePool.play`` does."""
        return self.pool.play(slots, X, y, out, order, first)

    def order_of(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the order to play rows in: slot by slot, if copies of states take long."""
        if self.pool.bytes_per_state < MIN_SORTED_BYTES:
            return np.arange(len(slots))
        return np.argsort(slots, kind="stable")


def is_poolable(learner: Learner) -> bool:
    """Return whether all that rounds change of a learner are numbers of its engine."""
    engine: Any = learner.engine
    plain = type(learner._entry) is Entry and type(learner).get_state is Learner.get_state
    return plain and bool(engine.FLAT) and not type(engine).__dictoffset__


def bytes_of(learner: Learner) -> int:
    """Estimate the memory that a learner takes."""
    arrays, _, names = learner.get_state()
    numbers = 0
    for array in map(np.ravel, arrays.values()):  # zeros at the end may not be allocated yet
        used = np.flatnonzero(array)
        numbers += array.itemsize * (int(used[-1]) + 1 if len(used) else 0)
    return BYTES + BYTES_PER_FEATURE * len(names) + BYTES_PER_ARRAY * len(arrays) + numbers
