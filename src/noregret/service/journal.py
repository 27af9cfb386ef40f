"""The journal of a service: all acknowledged events, and the models at the last snapshot.

An event is in the journal before it is acknowledged, so that a model after a crash is that of the
last snapshot with the labels since then learned once more, in order. All events of a transaction
are one row, a block.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret.errors import NoRegretError
from noregret.service import ids
from noregret.service.acknowledged import Acknowledged
from noregret.service.blocks import (
    HEAD,
    LABELLED,
    LEARNED,
    NO_SEAL,
    PREDICTED,
    Block,
    Floats,
    Sizes,
    Stored,
    is_sound,
)
from noregret.service.database import Sqlite, database
from noregret.service.events import Event, Totals

FORMAT = "noregret.journal/3"
OLDER = ("noregret.journal/1", "noregret.journal/2")
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
-- The entries of one transaction, numbered up to ``last``.
CREATE TABLE blocks (last INTEGER PRIMARY KEY, data BLOB NOT NULL, seal BLOB NOT NULL);
-- The model of each key, '' for that without one, when ``learned`` labels had been learned in all.
CREATE TABLE models (key TEXT PRIMARY KEY, learned INTEGER NOT NULL, model BLOB NOT NULL);
-- Figures of each key at the last snapshot.
CREATE TABLE keys (
    key TEXT PRIMARY KEY, predictions INTEGER NOT NULL, labels INTEGER NOT NULL,
    loss REAL NOT NULL);
"""
# Predictions without a label that are in memory, and blocks.
MAX_WAITING, MAX_BLOCKS = 65_536, 16

# What models begin with in the journal, before a digest of 16 bytes.
SEALED = b"sealed:1"
MODEL_STARTS = len(SEALED) + 16


def model_seal(key: str, learned: int, model: bytes) -> bytes:
    """Return a digest that ties a model to its key and to the labels learned before."""
    digest = hashlib.blake2b(json.dumps([key, learned]).encode(), digest_size=16)
    digest.update(model)
    return digest.digest()


class Journal:
    """A journal, which no other process may use at the same time.

    Parameters
    ----------
    store
        A file of SQLite's, which is created if it does not exist, or the address of a PostgreSQL
        database.
    """

    def __init__(self, store: str | Path) -> None:
        self.database = database(store)
        self.path, self.failures = self.database.name, self.database.failures
        local = isinstance(self.database, Sqlite)
        self.acknowledged = Acknowledged(self.path) if local else None
        try:
            self.begin()
            tables = self.database.tables()
            if not tables:
                self.create(SCHEMA + ids.SCHEMA)
                self.note("format", FORMAT)
                # Gradient descent steps by the gradients of the weights that predicted.
                self.note("late-gradients", "as served")
                tables = self.database.tables()
            found = self.fact("format") if "facts" in tables else None
            if found in OLDER:
                from noregret.service.upgrade import upgrade

                upgrade(self, found == OLDER[0])
            elif found != FORMAT:
                raise NoRegretError("not a journal, or one of a newer version")
            self._open()
            if self.fact("plain-predictions") is None:
                # Later ones have notes, by which members are weighted if the label comes late.
                self.note("plain-predictions", str(self.seq))
                if "shadows" in tables:
                    self.create("ALTER TABLE shadows ADD COLUMN note BLOB;")
            self.commit()
            if self.acknowledged is not None:
                self.acknowledged.begin(self.entry, self.seal)
        except NoRegretError as error:
            self.close()
            raise error.at(file=self.path) from None
        except self.failures as error:
            self.close()
            what = f"not a journal, or a damaged one ({error})"
            raise NoRegretError(what, file=self.path) from None

    def _open(self) -> None:
        """Read what is needed in memory."""
        self.blocks: OrderedDict[int, Stored] = OrderedDict()
        self.waiting: dict[str, Event] = {}
        self.figures: dict[str, list[Any]] = {}  # of keys, since the last snapshot
        row = self.database.row("SELECT last, data, seal FROM blocks ORDER BY last DESC LIMIT 1")
        end, seal = self.removed()[1:]
        if row is not None:
            stored = Stored(*row)
            if stored.last > end.entry:
                end, seal = stored.end, stored.seal
        if not is_sound(end):
            raise NoRegretError("damaged: its totals are not numbers", "restore it from a backup")
        self.restart(end, seal)
        if self.acknowledged is not None:
            self.acknowledged.check(self.entry, self.seal)
        self.ids = ids.Ids(self.database)
        query = "SELECT last, data, seal FROM blocks WHERE last > ? ORDER BY last"
        for row in self.database.stream(query, [self.ids.last]):
            block = Stored(*row)
            for at in range(len(block)):
                self.ids.add(block.request(at)["id"], block.first + at)

    def restart(self, end: Totals, seal: bytes) -> None:
        """Go on after some totals and a seal."""
        self.entry, self.seq, self.labels, self.loss, self.late, self.delay, self.time = end
        self.written, self.seal = self.entry, seal
        self.block = Block(seal, end)

    def create(self, schema: str) -> None:
        """Create tables."""
        for name, other in self.database.types.items():
            schema = schema.replace(f" {name}", f" {other}")
        for statement in schema.split(";")[:-1]:
            self.database.run(statement)

    # Facts, models and the snapshot.

    def fact(self, name: str) -> str | None:
        """Return a fact about the whole journal; None if it is not there."""
        row = self.database.row("SELECT value FROM facts WHERE name = ?", [name])
        return None if row is None else row[0]

    def note(self, name: str, value: str) -> None:
        """Write down a fact."""
        self.database.run("DELETE FROM facts WHERE name = ?", [name])
        self.database.run("INSERT INTO facts VALUES (?, ?)", [name, value])

    def model(self, key: str) -> tuple[int, bytes] | None:
        """Return the model of a key, after the number of labels learned when it was written."""
        row = self.database.row("SELECT learned, model FROM models WHERE key = ?", [key])
        if row is None:
            return None
        learned, model = row[0], bytes(row[1])
        if not model.startswith(SEALED):  # as versions before 3 wrote it
            return learned, model
        seal, model = model[len(SEALED) : MODEL_STARTS], model[MODEL_STARTS:]
        if seal != model_seal(key, learned, model):
            raise ValueError(f"the model of {key!r} is damaged" if key else "the model is damaged")
        return learned, model

    def keep_model(self, key: str, learned: int, model: bytes) -> None:
        """Write the model of a key."""
        self.database.run(
            "INSERT INTO models VALUES (?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET learned = excluded.learned, model = excluded.model",
            [key, learned, SEALED + model_seal(key, learned, model) + model],
        )

    def snapshot(self) -> tuple[int, bytes, int]:
        """Return the labels in the models that were written, the seal, and the last entry."""
        labels, seal, entry = json.loads(self.fact("snapshot") or f'[0, "{NO_SEAL.hex()}", 0]')
        return int(labels), bytes.fromhex(seal), int(entry)

    def keep_snapshot(self) -> None:
        """Note that all models have all labels so far, and write the figures of keys."""
        self.flush()
        self.note("snapshot", json.dumps([self.labels, self.seal.hex(), self.entry]))
        for key, (predictions, labels, loss) in self.figures.items():
            self.database.run(
                "INSERT INTO keys VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
                " predictions = keys.predictions + excluded.predictions,"
                " labels = keys.labels + excluded.labels, loss = keys.loss + excluded.loss",
                [key, predictions, labels, loss],
            )
        self.figures = {}

    def count_key(self, key: str, predictions: int, labels: int, loss: float) -> None:
        """Count predictions and labels of a key."""
        found = self.figures.setdefault(key, [0, 0, 0.0])
        found[0] += predictions
        found[1] += labels
        found[2] += loss

    def keys(self, most: int) -> list[dict[str, Any]]:
        """Return figures of the keys with the most predictions."""
        query = "SELECT key, predictions, labels, loss FROM keys ORDER BY predictions DESC, key"
        found = {
            key: [predictions, labels, loss]
            for key, predictions, labels, loss in self.database.stream(
                f"{query} LIMIT ?", [most + len(self.figures)]
            )
        }
        for key, more in self.figures.items():
            found[key] = [a + b for a, b in zip(found.get(key, (0, 0, 0.0)), more, strict=True)]
        ordered = sorted(found.items(), key=lambda each: (-each[1][0], each[0]))
        return [
            {"key": key, "predictions": count, "labels": labels,
             "mean_loss": loss / labels if labels else None}
            for key, (count, labels, loss) in ordered[:most]
        ]  # fmt: skip

    # Entries.

    def add_prediction(self, event: Event, request: bytes, extra: bytes) -> None:
        """Add a prediction that waits for its label."""
        self.block.add(PREDICTED, event.made, event.score, 0, 0.0, 0, request, extra)
        self.entry, self.seq = event.entry, event.seq
        self.ids.add(event.id, event.entry)
        waiting = self.waiting
        waiting[event.id] = event
        if len(waiting) > MAX_WAITING:
            del waiting[next(iter(waiting))]

    def add_learned(
        self, id: str, made: int, score: float, loss: float, request: bytes, extra: bytes
    ) -> None:
        """Add a prediction with its label."""
        self.block.add(LEARNED, made, score, made + 1, loss, 0, request, extra)
        self.entry += 1
        self.seq += 1
        self.labels += 1
        self.loss += loss
        self.ids.add(id, self.entry)

    def add_all_learned(
        self,
        digests: ids.Digests,
        made: int,
        scores: Floats,
        losses: Floats,
        requests: bytes,
        sizes: Sizes,
    ) -> None:
        """Add predictions with their labels, as ``Block.add_learned`` does, and their new ids."""
        count = len(digests)
        self.block.add_learned(made, scores, losses, requests, sizes)
        self.ids.add_new(digests, self.entry + 1)
        self.entry += count
        self.seq += count
        self.labels += count
        total = self.loss
        for loss in losses.tolist():  # one by one: the same sum as of single requests
            total += loss
        self.loss = total

    def add_label(self, event: Event, request: bytes) -> None:
        """Add the label of a prediction."""
        self.block.add(LABELLED, 0, 0.0, event.round, event.loss, event.entry, request, b"")
        self.entry += 1
        self.labels += 1
        self.loss += event.loss
        self.late += event.delay > 0
        self.delay += event.delay
        self.ids.add(event.id, self.entry)
        self.waiting.pop(event.id, None)

    @property
    def totals(self) -> Totals:
        """The totals so far."""
        return Totals(
            self.entry, self.seq, self.labels, self.loss, self.late, self.delay, self.time
        )

    def flush(self) -> None:
        """Write the entries that are not in the database, in the open transaction."""
        if not len(self.block):
            return
        end = self.totals
        data, self.seal = self.block.packed(end)
        self.database.run("INSERT INTO blocks VALUES (?, ?, ?)", [end.entry, data, self.seal])
        self.written = end.entry
        self.block = Block(self.seal, end)
        self.ids.fold(end.entry)

    def find(self, name: str) -> Event | None:
        """Return the event of an id."""
        found = self.waiting.get(name)
        if found is not None:
            return found
        for entry in self.ids.find(name):
            block = self.block_of(entry)
            if block is None or block.request(at := entry - block.first)["id"] != name:
                continue  # it was removed, or another id has the same digest
            if block.kinds[at] != LABELLED:
                found = block.event(at)
            elif found is not None and block.targets[at] == found.entry:
                found = block.labelled(found, at, block.request(at))
        return found

    def block_of(self, entry: int) -> Stored | None:
        """Return the block of an entry, None if it was removed."""
        if entry > self.written:
            self.flush()
        for block in self.blocks.values():
            if block.first <= entry <= block.last:
                return block
        query = "SELECT last, data, seal FROM blocks WHERE last >= ? ORDER BY last LIMIT 1"
        row = self.database.row(query, [entry])
        if row is None:
            return None
        block = Stored(*row)
        if block.first > entry:
            return None
        self.blocks[block.last] = block
        if len(self.blocks) > MAX_BLOCKS:
            self.blocks.popitem(last=False)
        return block

    def stored(self, after: int = 0, seal: bytes | None = None) -> Iterator[Stored]:
        """Yield the blocks after an entry; each must follow the one before, that with a seal."""
        query = "SELECT last, data, seal FROM blocks WHERE last > ? ORDER BY last"
        removed = self.removed()[1].entry
        for row in self.database.stream(query, [max(after, removed)]):
            block = Stored(*row)
            follows = seal is None or (block.before == seal and block.first == after + 1)
            if not follows:
                raise block.damaged()
            seal, after = block.seal, block.last
            yield block

    def recent(self, since: float, most: int) -> list[Totals]:
        """Return the totals after each of the last transactions, in order.

        Parameters
        ----------
        since
            The time of the first one.
        most
            The number of transactions.
        """
        query = "SELECT substr(data, 1, ?) FROM blocks WHERE last > ? ORDER BY last DESC LIMIT ?"
        found = list[Totals]()
        for (head,) in self.database.stream(query, [HEAD.size, self.removed()[1].entry, most]):
            end = Totals(*HEAD.unpack(bytes(head))[2:])
            if end.time < since:
                break
            found.append(end)
        return found[::-1]

    def played(
        self, after: int = 0, seal: bytes | None = None
    ) -> Iterator[tuple[Event, bool, bool]]:
        """Yield the events after an entry in order, whether each is predicted, and labelled."""
        if seal is None:
            _, end, seal = self.removed()
            after = max(after, end.entry)
        waiting: dict[int, Event] = {}

        def find(entry: int) -> Event:
            event = waiting.pop(entry, None)
            if event is None:
                block = self.block_of(entry)
                if block is None:
                    what = f"damaged: entry {entry:,}, which has a label, is missing"
                    raise NoRegretError(what, "restore the journal from a backup")
                event = block.event(entry - block.first)
            return event

        for block in self.stored(after, seal):
            after = block.last
            for event, starts, ends in block.events(find):
                if not ends:
                    waiting[event.entry] = event
                    if len(waiting) > MAX_WAITING:
                        del waiting[next(iter(waiting))]
                yield event, starts, ends
        if after != self.written:
            raise NoRegretError("damaged: entries are missing", "restore it from a backup")

    def learned(self) -> Iterator[Event]:
        """Yield the labelled events in the order in which they were learned."""
        return (event for event, _, ends in self.played() if ends)

    # Retention.

    def removed(self) -> tuple[int, Totals, bytes]:
        """Return what was removed: predictions without a label, and the totals and seal after."""
        found = self.fact("removed")
        if found is None:
            return 0, Totals(), NO_SEAL
        expired, end, seal = json.loads(found)
        return expired, Totals(*end), bytes.fromhex(seal)

    def remove(self, learned: int, before: float | None) -> int:
        """Remove labels up to a number, and predictions from before a time that have none.

        Return the number of the last prediction, among those of removed labels, that is from before
        that time.
        """
        expired, end, seal = self.removed()
        last_expired, before_labels = 0, end.labels
        labelled: set[int] = set()
        old: list[int] = []
        for block in self.stored(end.entry):
            if block.end.labels > learned:
                break
            labelled |= {t for t, kind in zip(block.targets, block.kinds, strict=True)
                         if kind == LABELLED}  # fmt: skip
            old.append(block.last)
            end, seal = block.end, block.seal
        if end.labels == before_labels:  # predictions alone: certificates may still need them
            return 0
        query = "SELECT last, data, seal FROM blocks WHERE last = ?"
        for (last,) in list(
            self.database.stream("SELECT last FROM blocks WHERE last <= ?", [end.entry])
        ):
            row = self.database.row(query, [last])
            block = Stored(*(row or ()))
            waits = [
                at for at, kind in enumerate(block.kinds)
                if kind == PREDICTED and block.first + at not in labelled
            ]  # fmt: skip
            if before is not None and block.end.time < before:
                labelled_since = [at for at in waits if self._has_label(block, at)]
                expired += len(waits) - len(labelled_since)
                waits, last_expired = labelled_since, max(last_expired, block.seqs[-1])
            if len(waits) == len(block) == 1 and last not in old:
                continue
            self.database.run("DELETE FROM blocks WHERE last = ?", [last])
            for at in waits:
                self.database.run("INSERT INTO blocks VALUES (?, ?, ?)", block.kept(at))
        self.blocks.clear()
        if before is not None:
            self.waiting = {n: each for n, each in self.waiting.items() if each.time >= before}
        self.note("removed", json.dumps([expired, end, seal.hex()]))
        oldest = self.database.row("SELECT min(last) FROM blocks")
        self.ids.forget(self.written if not oldest or oldest[0] is None else oldest[0])
        return last_expired

    def _has_label(self, block: Stored, at: int) -> bool:
        """Return whether a prediction has a label, which may be in a block that is retained."""
        found = self.find(block.request(at)["id"])
        return found is not None and found.entry == block.first + at and found.learned > 0

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction."""
        self.database.begin()

    def commit(self) -> None:
        """End a transaction: what was written is on disk."""
        self.database.commit()
        if self.acknowledged is not None:
            self.acknowledged.write(self.written, self.seal)

    def close(self) -> None:
        """Close the journal; a transaction that was not committed is undone."""
        self.database.close()
        if self.acknowledged is not None:
            self.acknowledged.close()
