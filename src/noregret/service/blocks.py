"""Blocks of a journal: the entries of one transaction, as bytes with a seal.

An entry is a prediction, a prediction with its label, or the label of an earlier prediction. A
block has the numbers of its entries in columns, then the requests as JSON, then what else was
answered, as JSON too, with the note of a prediction after a zero byte. The seal is a digest of the
block, which has that of the block before: none can be changed or lost unnoticed.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import accumulate
from struct import Struct, calcsize, error, unpack_from
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.service.events import NOTE, Event, Totals

PREDICTED, LEARNED, LABELLED = range(3)
SEAL = 16
BYTES = bytes | memoryview
Floats = NDArray[np.float64]
Sizes = NDArray[np.uint32]
# The seal of the block before, the number of entries, and the totals after them.
HEAD = Struct(f"<{SEAL}sq qqqdqqd")
NO_SEAL = bytes(SEAL)
# What the request of each kind of entry has.
NEEDED = ({"id", "x"}, {"id", "x", "y"}, {"id", "y"})


class Block:
    """Entries that are not written yet.

    Parameters
    ----------
    seal
        The seal of the block before.
    start
        The totals before the first entry.
    """

    def __init__(self, seal: bytes, start: Totals) -> None:
        self.seal, self.start = seal, start
        self.kinds = bytearray()
        self.made, self.rounds, self.targets = array("q"), array("q"), array("q")
        self.scores, self.losses = array("d"), array("d")
        # Requests and extras may be several in one piece: their sizes tell them apart.
        self.requests: list[bytes] = []
        self.extras: list[bytes] = []
        self.request_sizes, self.extra_sizes = array("I"), array("I")

    def __len__(self) -> int:
        return len(self.kinds)

    def add(
        self, kind: int, made: int, score: float, round: int, loss: float, target: int,
        request: bytes, extra: bytes,
    ) -> None:  # fmt: skip
        """Add an entry."""
        self.kinds.append(kind)
        self.made.append(made)
        self.scores.append(score)
        self.rounds.append(round)
        self.losses.append(loss)
        self.targets.append(target)
        self.requests.append(request)
        self.extras.append(extra)
        self.request_sizes.append(len(request))
        self.extra_sizes.append(len(extra))

    def add_learned(
        self, made: int, scores: Floats, losses: Floats, requests: bytes, sizes: Sizes
    ) -> None:
        """Add predictions with their labels, of one model in the order of its rounds.

        Parameters
        ----------
        made
            The number of labels that the model had learned before.
        scores, losses
            What it predicted, and the losses.
        requests, sizes
            The requests one behind the other, and the bytes of each.
        """
        count = len(scores)
        rounds = np.arange(made, made + count + 1)
        self.kinds += bytes((LEARNED,)) * count
        self.made.frombytes(rounds[:-1].tobytes())
        self.scores.frombytes(scores.tobytes())
        self.rounds.frombytes(rounds[1:].tobytes())
        self.losses.frombytes(losses.tobytes())
        self.targets.frombytes(bytes(8 * count))
        self.requests.append(requests)
        self.request_sizes.frombytes(sizes.tobytes())
        self.extra_sizes.frombytes(bytes(4 * count))

    def packed(self, end: Totals) -> tuple[bytes, bytes]:
        """Return the bytes and their seal, given the totals after the last entry."""
        n = len(self.kinds)
        data = b"".join((
            HEAD.pack(self.seal, n, *end),
            self.made, self.scores, self.rounds, self.losses, self.targets,
            self.request_sizes, self.extra_sizes, self.kinds,
            *self.requests,
            *self.extras,
        ))  # fmt: skip
        return data, seal_of(data)


def columns(count: int) -> str:
    """Return the format of the columns of a block."""
    return f"<{count}q{count}d{count}q{count}d{count}q{count}I{count}I{count}B"


def seal_of(data: bytes) -> bytes:
    """Return the seal of a block."""
    return blake2b(data, digest_size=SEAL).digest()


class Stored:
    """A block that was written.

    Parameters
    ----------
    last
        The number of its last entry.
    data, seal
        Its bytes, and their seal.
    """

    def __init__(self, last: Any, data: Any, seal: Any) -> None:
        self.last = last
        if not isinstance(data, BYTES) or not isinstance(seal, BYTES):
            raise self.damaged()
        self.data, self.seal = bytes(data), bytes(seal)
        try:
            self.before, n, *end = HEAD.unpack_from(self.data)
            self.end = Totals(*end)
            found = unpack_from(columns(n), self.data, HEAD.size)
        except (error, ValueError, OverflowError, MemoryError):
            raise self.damaged() from None
        if seal_of(self.data) != self.seal or self.end.entry != last or not n:
            raise self.damaged()
        self.made, self.scores, self.rounds, self.losses, self.targets = (
            found[k * n : (k + 1) * n] for k in range(5)
        )
        start = HEAD.size + calcsize(columns(n))
        self.ends = list(accumulate((*found[5 * n : 7 * n],), initial=start))
        self.kinds = found[7 * n :]
        if max(self.kinds) > LABELLED:
            raise self.damaged()
        self.first = last - n + 1
        labels = sum(kind != PREDICTED for kind in self.kinds)
        predictions = sum(kind != LABELLED for kind in self.kinds)
        self.labels = list(accumulate((kind != PREDICTED for kind in self.kinds),
                                      initial=self.end.labels - labels))  # fmt: skip
        self.seqs = list(accumulate((kind != LABELLED for kind in self.kinds),
                                    initial=self.end.predictions - predictions))  # fmt: skip

    def __len__(self) -> int:
        return len(self.kinds)

    def damaged(self) -> NoRegretError:
        """Return the error of a block that is not as it was written."""
        what = f"damaged: entries up to {self.last!r:.20} are not those that were written"
        return NoRegretError(what, "restore the journal from a backup")

    def request(self, at: int) -> dict[str, Any]:
        """Return the request of an entry."""
        try:
            found: dict[str, Any] = json.loads(self.data[self.ends[at] : self.ends[at + 1]])
        except (ValueError, RecursionError):
            raise self.damaged() from None
        needed = NEEDED[self.kinds[at]]
        if not isinstance(found, dict) or not found.keys() >= needed:
            raise self.damaged()
        return found

    def event(self, at: int) -> Event:
        """Return a prediction, with its label if that came with it."""
        asked, kind, score = self.request(at), self.kinds[at], self.scores[at]
        prediction, chances, scores, note = score, None, None, b""
        n = len(self.kinds)
        if extra := self.data[self.ends[n + at] : self.ends[n + at + 1]]:
            answer, _, note = extra.partition(NOTE)
            if answer:
                try:
                    prediction, chances, scores = json.loads(answer)
                except (ValueError, TypeError, RecursionError):
                    raise self.damaged() from None
        event = Event(
            self.seqs[at + 1], self.first + at, asked["id"], self.end.time, asked["x"],
            self.made[at], score, prediction, chances, kind == LEARNED, asked.get("key"), scores,
            note=note,
        )  # fmt: skip
        return event if kind == PREDICTED else self.labelled(event, at, asked)

    def labelled(self, event: Event, at: int, asked: dict[str, Any]) -> Event:
        """Return an event with the label of an entry."""
        return event._replace(
            outcome=asked["y"], learned=self.labels[at + 1], labelled=self.end.time,
            loss=self.losses[at], round=self.rounds[at],
        )  # fmt: skip

    def events(self, find: Callable[[int], Event]) -> Iterator[tuple[Event, bool, bool]]:
        """Yield all entries in order: the event, whether it is predicted, whether labelled.

        Parameters
        ----------
        find
            Returns the prediction of an entry, for its label.
        """
        for at, kind in enumerate(self.kinds):
            if kind == LABELLED:
                yield self.labelled(find(self.targets[at]), at, self.request(at)), False, True
            else:
                yield self.event(at), True, kind == LEARNED

    def kept(self, at: int) -> tuple[int, bytes, bytes]:
        """Return a block with one entry, the number of that, and the seal."""
        block = Block(NO_SEAL, Totals())
        n = len(self.kinds)
        block.add(
            self.kinds[at], self.made[at], self.scores[at], self.rounds[at], self.losses[at],
            self.targets[at], self.data[self.ends[at] : self.ends[at + 1]],
            self.data[self.ends[n + at] : self.ends[n + at + 1]],
        )  # fmt: skip
        end = Totals(self.first + at, self.seqs[at + 1], self.labels[at + 1], time=self.end.time)
        data, seal = block.packed(end)
        return end.entry, data, seal


def is_sound(end: Totals) -> bool:
    """Return whether totals can be those of a journal."""
    return min(end.entry, end.predictions, end.labels) >= 0 and math.isfinite(end.loss + end.time)
