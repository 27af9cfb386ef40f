"""One learner per key, in bounded memory."""

from __future__ import annotations

import math
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss, PythonLoss
from noregret.base.model_file import dumps, loads
from noregret.base.model_table import ModelTable, Row
from noregret.checks import whole
from noregret.errors import NoRegretError
from noregret.linear.inputs import row_count
from noregret.linear.keyed_rows import (
    Key,
    key_of,
    rows_by_key,
    taken,
    twins,
    without_column,
    worst_first,
)
from noregret.linear.learner import Learner
from noregret.linear.pooled import Pooled, bytes_of, is_poolable

if TYPE_CHECKING:
    from noregret.proof.game.group_game import GroupGame

# Bytes for learners held in memory at the same time.
MEMORY = 1 << 30
# Learners that are measured to find out how many fit, the calls between two measurements, and how
# many times as many learners there may be by then.
MEASURED, BETWEEN, GROWTH = 20, 4_096, 8
# One in so many learners goes to the file when there are too many.
SHARE = 16
# The fewest rows to play at a time when memory is short.
FEWEST_ROWS = 16


class Record(NamedTuple):
    """The record of one key: the examples learned, and the loss of their predictions."""

    key: Key
    rounds: int
    total_loss: float

    @property
    def mean_loss(self) -> float:
        """The loss per round."""
        return self.total_loss / self.rounds if self.rounds else 0.0


class Groups:
    """One learner per key, such as a shop, a sensor or a user.

    A key is a string or an integer, or a tuple of several; it gets a learner of its own with its
    first example. Only the most recently used learners are in memory: others go to a temporary
    file, and return from it bit for bit when their key comes again. Calls from several threads
    wait for each other.

    Parameters
    ----------
    learner
        An untrained learner, which every key starts with a copy of.
    resident
        The number of learners to hold in memory; by default as many as fit into ``memory``.
    memory
        Bytes for learners in memory, estimated from some of them.

    Examples
    --------
    >>> import noregret
    >>> shops = noregret.Groups(noregret.Nlms())
    >>> for _ in range(50):
    ...     shops.learn_one("Oslo", {"sun": 1.0}, 2.0)
    ...     shops.learn_one("Rome", {"sun": 1.0}, 5.0)
    >>> [round(shops.predict_one(city, {"sun": 1.0}), 2) for city in ("Oslo", "Rome")]
    [2.0, 5.0]
    >>> sorted(shops), shops.rounds
    (['Oslo', 'Rome'], 100)
    """

    def __init__(
        self, learner: Learner, *, resident: int | None = None, memory: int = MEMORY
    ) -> None:
        if not isinstance(learner, Learner):
            raise TypeError(f"Groups takes a learner, such as Auto(): got {learner!r}")
        if learner.rounds:
            raise ValueError("the learner has learned already: give an untrained one (clone())")
        self.learner = learner.clone()
        self.resident = None if resident is None else whole("resident", resident)
        self.memory = whole("memory", memory)
        self._room = self.resident or MEASURED
        self._unmeasured = 0  # calls since learners were measured
        self._own: set[Key] = set()  # keys whose learners in the file are of this process
        # Files have no code, so a loss that is written in Python is handed on.
        self._loss = next((p for p in learner.params.values() if isinstance(p, PythonLoss)), None)
        self._live: OrderedDict[Key, Learner] = OrderedDict()
        self._parked: ModelTable | None = None
        self._pooled: Pooled | None = None  # learners as states, of keys that only tables have had
        # Turns raw rows into examples, for all keys.
        self._prepare: Any = self.learner._entry.prepare
        self._lock = threading.RLock()

    # One example.

    def predict_one(self, key: Key, x: Any) -> Any:
        """Predict the outcome of an example; of an unknown key as an untrained learner would."""
        with self._lock:
            return self._known(key).predict_one(x)

    def predict_proba_one(self, key: Key, x: Any) -> dict[Any, float]:
        """Return the probability of each label, for learners that have them."""
        with self._lock:
            return self._known(key).predict_proba_one(x)

    def learn_one(self, key: Key, x: Any, y: Any) -> None:
        """Learn the outcome of an example."""
        with self._lock:
            learner = self._fetched(key)
            if learner is None:
                key = self._named(key)
                learner = self._fetched(key)
            if learner is not None:
                learner.learn_one(x, y)
                return
            learner = self._new()
            learner.learn_one(x, y)
            self.keep(key, learner)

    # Many examples.

    def predict_many(self, X: Any, keys: Any) -> NDArray[Any]:
        """Predict the outcome of every row.

        Parameters
        ----------
        X
            Rows, as ``predict_many`` of a learner takes them.
        keys
            The key of each row; for a data frame, the name of the column that has them, or a
            tuple of such names. These are then not features.
        """
        X, keys = self._apart(X, keys)
        found: NDArray[Any] | None = None
        with self._lock:
            for key, rows in rows_by_key(keys):
                part = np.asarray(self._known(key).predict_many(taken(X, rows)))
                found = np.empty(len(keys), part.dtype) if found is None else found
                found[rows] = part
        return np.empty(0) if found is None else found

    def learn_many(self, X: Any, y: Any, keys: Any) -> None:
        """Learn many examples: key by key in order of appearance, the rows of each in order.

        If a row is refused, the error's ``row`` counts from 1. Keys that first appear before its
        key have learned all their rows, its own key those before it, and others none.

        Parameters
        ----------
        X, keys
            As in ``predict_many``.
        y
            One outcome per row.
        """
        X, keys = self._apart(X, keys)
        y = np.asarray(y)
        if len(y) != len(keys):
            raise ValueError(f"{len(keys)} rows, but {len(y)} outcomes")
        with self._lock:
            for key, rows in rows_by_key(keys):
                with self.using(key) as learner:
                    before = learner.rounds
                    try:
                        learner.learn_many(taken(X, rows), y[rows])
                    except NoRegretError as error:
                        row = int(rows[min(learner.rounds - before, len(rows) - 1)])
                        raise error.at(row=row + 1) from None

    def _apart(self, X: Any, keys: Any) -> tuple[Any, list[Key]]:
        """Return the rows without the keys, and the keys."""
        framed = hasattr(X, "columns") or hasattr(X, "column_names")
        if isinstance(keys, str):
            if not framed:
                raise TypeError("a column of keys needs a data frame: give one key per row")
            X, keys = without_column(X, keys)
        elif framed and isinstance(keys, tuple) and all(isinstance(name, str) for name in keys):
            columns = []
            for name in keys:
                X, values = without_column(X, name)
                columns.append(values)
            keys = list(zip(*columns, strict=True))
        keys = [key_of(key) for key in (keys.tolist() if hasattr(keys, "tolist") else keys)]
        if row_count(X) != len(keys):
            raise ValueError(f"{row_count(X)} rows, but {len(keys)} keys")
        return X, keys

    # The learners.

    @contextmanager
    def using(self, key: Key) -> Iterator[Learner]:
        """Lock, and give the learner of a key to learn with; a new one is kept if it learns."""
        with self._lock:
            key = self._named(key)
            learner = self.fetch(key)
            try:
                yield learner
            finally:
                self.keep(key, learner)

    def fetch(self, key: Key) -> Learner:
        """Return the learner of a key to learn with and to ``keep``, a new one for a new key."""
        found = self._fetched(key)
        return self._new() if found is None else found

    def __getitem__(self, key: Key) -> Learner:
        """Return a copy of the learner of a key, or raise KeyError."""
        with self._lock:
            if key not in self:
                raise KeyError(key)
            found: Learner = loads(dumps(self._known(key)), repr(key), self._loss)
            return found

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return self._has(self._named(key))

    def _has(self, key: Key) -> bool:
        """Return whether there is a learner of just this key."""
        tiers = self._live, self._pooled, self._parked
        return any(tier is not None and key in tier for tier in tiers)

    def _named(self, key: Any) -> Key:
        """Return a key as its learner has it: files may have text for a number, or the reverse."""
        found = key_of(key)
        if not self._has(found):
            for other in twins(found):
                if self._has(other):
                    return other
        return found

    def __iter__(self) -> Iterator[Key]:
        return (record.key for record in self.records())

    def __len__(self) -> int:
        return len(self.records())

    @property
    def rounds(self) -> int:
        """The number of examples learned."""
        return sum(record.rounds for record in self.records())

    @property
    def total_loss(self) -> float:
        """The sum of the losses of all rounds, each predicted before it was learned."""
        return math.fsum(record.total_loss for record in self.records())

    def records(self) -> list[Record]:
        """Return the record of every key, those with the largest mean loss first."""
        return list(map(Record, *self.figures()))

    def figures(self) -> tuple[list[Key], list[int], list[float]]:
        """Return the keys, rounds and losses of the records, in their order."""
        with self._lock:
            keys, rounds, losses = self._figures()
        return worst_first(keys, rounds, losses)

    def _figures(self) -> tuple[list[Key], list[int], list[float]]:
        """Return the keys, rounds and losses of all learners."""
        pooled = ([], [], []) if self._pooled is None else self._pooled.figures()
        if self._parked is None and not self._live:
            return pooled
        found = {} if self._parked is None else {row[0]: row for row in self._parked.records()}
        for row in zip(*pooled, strict=True):
            found[row[0]] = row
        for key, learner in self._live.items():
            found[key] = key, learner.rounds, learner.total_loss
        keys, rounds, losses = zip(*found.values(), strict=True) if found else ((), (), ())
        return list(keys), list(rounds), list(losses)

    def _known(self, key: Key) -> Learner:
        """Return the learner of a key; for an unknown one the untrained learner."""
        found = self._fetched(key)
        found = self._fetched(self._named(key)) if found is None else found
        if found is None:
            self._check_kind(key)
        return self.learner if found is None else found

    def _check_kind(self, key: Key) -> None:
        """Raise an error for a key that cannot be one of these."""
        pooled = () if self._pooled is None else self._pooled.keys()
        tiers = self._live, pooled, self._parked or ()
        first = next((key for tier in tiers for key in islice(tier, 1)), None)
        if first is not None and isinstance(first, tuple) != isinstance(key, tuple):
            raise TypeError(f"keys are of another kind here, such as {first!r}: got {key!r}")

    def _fetched(self, key: Key) -> Learner | None:
        """Return the learner of a key, from the file if need be; None for an unknown key."""
        if type(key) is not str and type(key) is not int:
            key = key_of(key)
        learner = self._live.get(key)
        if learner is not None:
            self._live.move_to_end(key)
            return learner
        if self._pooled is not None and self._pooled.holds(key):
            return self._unpool(self._pooled, key)
        contents = None if self._parked is None else self._parked.get(key)
        if contents is None:
            return None
        own = key in self._own
        found: Learner = loads(contents, str(self._table().path), self._loss, own=own)
        found._entry.prepare = self._prepare
        self.keep(key, found)
        return found

    def _unpool(self, pooled: Pooled, key: Key) -> Learner | None:
        """Return the learner of a key in the pool, as an object; None if it is untrained."""
        state = pooled.state_of(key).get_state()
        pooled.remove(key)
        learner = self._new()
        if not state[1]["rounds"]:
            return None
        learner.set_state(*state)
        self.keep(key, learner)
        return learner

    def pooled(self, names: list[str]) -> Pooled | None:
        """Return the pool of learners that know these features; None if there can be none."""
        if self.resident is not None or self._loss is not None or not is_poolable(self.learner):
            return None
        if names != sorted(names):  # as learners number them
            return None
        if self._pooled is None or (self._pooled.names != names and not self._pooled.keys()):
            self._pooled = Pooled(self.learner.clone(), names)
        return self._pooled if self._pooled.names == names else None

    def pool_slots(
        self, pooled: Pooled, keys: list[Key], used: NDArray[np.int64] | None = None
    ) -> list[int]:
        """Return the slot of each key in the pool, −2 for learners that are objects.

        New keys join it. If it takes too much memory, states of keys least recently used go to
        its file.

        Parameters
        ----------
        pooled
            The pool.
        keys
            Keys, each once.
        used
            Slots of other keys that are to stay.
        """
        with self._lock:
            pooled.touch(np.zeros(0, np.int64) if used is None else used)
            slots = list(map(pooled.slots.get, keys))
            pooled.touch_again([slot for slot in slots if slot is not None])
            if not self._live and self._parked is None and slots.count(None) == len(slots):
                self._make_room(pooled, len(keys))
                return pooled.add(keys)
            new = [key for key, slot in zip(keys, slots, strict=True) if slot is None]
            if self._live or self._parked is not None:
                new = [key for key in new if pooled.holds(key) or key not in self]
            self._make_room(pooled, len(new))
            added = dict(zip(new, pooled.add(new), strict=True))
            return [
                added.get(key, -2) if slot is None else slot
                for key, slot in zip(keys, slots, strict=True)
            ]

    @property
    def part_rows(self) -> int:
        """The number of rows to play at a time, whose keys fit into memory together."""
        if self._pooled is None:
            return sys.maxsize
        return max(FEWEST_ROWS, self.memory // self._pooled.size_per_key // 2)

    def _make_room(self, pooled: Pooled, more: int) -> None:
        """Spill the states of a pool that would take too much memory with some more keys."""
        each = pooled.size_per_key
        excess = pooled.size + more * each - self.memory
        if excess > 0:
            count = max(-(-excess // each), len(pooled.slots) // SHARE)
            pooled.spill(pooled.oldest(count))

    def _new(self) -> Learner:
        """Return an untrained learner for a new key."""
        learner = self.learner.clone()
        learner._entry.prepare = self._prepare
        return learner

    def held(self, key: Key) -> Learner | None:
        """Return the learner of a key if it is in memory; it stays there until ``fetch``."""
        learner = self._live.get(key)
        if learner is not None:
            self._unmeasured += 1
            self._live.move_to_end(key)
        return learner

    def keep(self, key: Key, learner: Learner) -> None:
        """Hold a learner in memory, if it has learned anything."""
        if not learner.rounds:
            return
        self._live[key_of(key)] = learner
        self._unmeasured += 1
        full = len(self._live) > self._room
        if self.resident is None and (full or self._unmeasured >= BETWEEN):
            self._measure()
        if len(self._live) > self._room:
            self._park(self._room - self._room // SHARE)

    def _measure(self) -> None:
        """Estimate how many learners fit into memory, from some of them."""
        ends = self._live.values(), reversed(self._live.values())
        sizes = [bytes_of(each) for end in ends for each in islice(end, MEASURED // 2)]
        fit = int(self.memory / (sum(sizes) / len(sizes)))
        # They are measured again when there are several times as many.
        self._room = max(1, min(fit, GROWTH * max(len(self._live), MEASURED)))
        self._unmeasured = 0

    def _park(self, resident: int) -> None:
        """Move the least recently used learners to the file until few enough are in memory."""
        parked = list(islice(self._live.items(), len(self._live) - resident))
        self._table().put(self._rows(parked))
        for key, _ in parked:
            del self._live[key]

    def _rows(self, learners: Iterable[tuple[Key, Learner]]) -> Iterator[Row]:
        """Yield what the file holds of some learners."""
        for key, learner in learners:
            yield key, learner.rounds, learner.total_loss, bare(learner)
            self._own.add(key)

    def _put_all(self) -> ModelTable:
        """Write all learners in memory to the file, which is returned."""
        table = self._table()
        table.put(self._rows(self._live.items()))
        if self._pooled is not None:
            table.put(self._rows(self._pooled.learners()))
        return table

    def _table(self) -> ModelTable:
        """Return the file of learners that are not in memory."""
        if self._parked is None:
            self._parked = ModelTable()
        return self._parked

    def add_file(self, path: str | Path) -> None:
        """Add the learners in a file of other keys, which ``save`` has written."""
        with self._lock:
            self._table().take(path)

    def merge(self, other: Groups) -> Groups:
        """Add the learners of other keys, from another process or machine; return these groups.

        The other groups do not change. Nothing is added if both have a learner of the same key:
        each has learned from a part of its rows only, and two do not make one of all rows.

        Parameters
        ----------
        other
            Groups with the same learner and parameters, whose rows are prepared in the same way.

        Examples
        --------
        >>> from noregret import Groups, Nlms
        >>> north, south = Groups(Nlms()), Groups(Nlms())
        >>> north.learn_one("Oslo", {"sun": 1.0}, 2.0)
        >>> south.learn_one("Rome", {"sun": 1.0}, 5.0)
        >>> sorted(north.merge(south))
        ['Oslo', 'Rome']
        """
        if not isinstance(other, Groups):
            raise TypeError(f"groups merge with groups: got {other!r}")
        first, second = sorted((self, other), key=id)
        with first._lock, second._lock:
            if dumps(self.learner) != dumps(other.learner):
                raise ValueError(
                    f"groups merge if they have the same learner and prepare rows in the same way:"
                    f" {self.learner!r} and {other.learner!r} differ in one of these"
                )
            for key in other:
                if self._has(self._named(key)):
                    raise NoRegretError(
                        f"both groups have a learner of {key!r}, each of some of its rows",
                        "share out rows by key, so that one of them has all rows of a key",
                    )
                self._check_kind(key)
            for rows in other._put_all().parts():
                self._table().put(rows)
            self._own |= other._own
        return self

    def _new_game(self, **options: Any) -> GroupGame:
        """Return a game for these learners; the options are those of ``noregret.play``."""
        from noregret.proof.game.group_game import GroupGame

        return GroupGame(self, **options)

    # Files.

    def save(self, path: str | Path, stream: Any = None) -> None:
        """Write all learners to one file, atomically.

        Parameters
        ----------
        path
            The file.
        stream
            How raw rows become examples, as ``Reading.kept_with_model`` returns it; by default
            as the file says from which the groups were loaded.
        """
        with self._lock:
            table = self._put_all()
            table.note(learner=dumps(self.learner, stream))
            table.copy_to(path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        resident: int | None = None,
        memory: int = MEMORY,
        loss: Loss | None = None,
    ) -> Groups:
        """Read what ``save`` has written; learners are fetched when their key comes.

        Parameters
        ----------
        path
            The file.
        resident, memory
            As in ``Groups``.
        loss
            The loss, if it is written in Python: files have no code.
        """
        table = ModelTable(path)
        learner = loads(table.fact("learner") or b"", str(path), loss)
        prepare, learner._entry.prepare = learner._entry.prepare, None
        groups = cls(learner, resident=resident, memory=memory)
        groups._parked, groups._prepare = table, prepare
        groups.learner._entry.prepare = groups._prepare
        return groups

    def __repr__(self) -> str:
        bound = f"memory={self.memory}" if self.resident is None else f"resident={self.resident}"
        return f"Groups({self.learner!r}, {bound})"


def bare(learner: Learner) -> bytes:
    """Return the model file of a learner without its preparation, which all keys share."""
    prepare, learner._entry.prepare = learner._entry.prepare, None
    try:
        return dumps(learner)
    finally:
        learner._entry.prepare = prepare
