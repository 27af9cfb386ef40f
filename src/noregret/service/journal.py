"""The journal of a service: all acknowledged events, and the models at the last snapshot.

An event is in the journal before it is acknowledged, so that a model after a crash is that of the
last snapshot with the labels since then learned once more, in order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from noregret.errors import NoRegretError
from noregret.service.database import database

FORMAT, FIRST_FORMAT = "noregret.journal/2", "noregret.journal/1"
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
-- One row per prediction that was served. y, learned and loss are there once its label is:
-- learned numbers the labels in the order in which they were learned, round those of the key's own
-- model. seal is a digest of the row and of the seal before, so that no label can be lost or
-- changed unnoticed.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time REAL NOT NULL, x TEXT NOT NULL,
    made INTEGER NOT NULL, score REAL NOT NULL, answer TEXT NOT NULL, at_once INTEGER NOT NULL,
    y TEXT, learned INTEGER UNIQUE, labelled REAL, loss REAL, seal BLOB,
    key TEXT, scores TEXT, round INTEGER);
-- The model of each key, '' for that without one, when ``learned`` labels had been learned in all.
CREATE TABLE models (key TEXT PRIMARY KEY, learned INTEGER NOT NULL, model BLOB NOT NULL);
"""
COLUMNS = (
    "seq, id, time, x, made, score, answer, at_once, y, learned, labelled, loss, seal,"
    " key, scores, round"
)
SEALED = 12  # columns that every seal covers
TEXT, WHOLE, NUMBER = str | None, int | None, float | None
KINDS = (
    int, str, float, str, int, float, str, int, TEXT, WHOLE, NUMBER, NUMBER, bytes, TEXT, TEXT,
    WHOLE,
)  # fmt: skip


class Event(NamedTuple):
    """A prediction that was served, and its label if it came.

    Parameters
    ----------
    seq, id, time
        Its number, its name, and the time of the prediction.
    x
        The example as JSON.
    made
        The number of labels that its model had learned when it predicted.
    score, answer
        The score that was served, and the prediction with its chances as JSON.
    at_once
        Whether the label came with the request.
    y, learned, labelled, loss
        The label as JSON, its number in the order of learning, its time, and the loss of the
        served score.
    seal
        A digest of all this and of the seal of the label before.
    key
        The key of its model, None for the model without one.
    scores
        The scores of the classes as JSON, if there are several.
    round
        The number of the label among those of its model.
    """

    seq: int
    id: str
    time: float
    x: str
    made: int
    score: float
    answer: str
    at_once: int
    y: str | None = None
    learned: int | None = None
    labelled: float | None = None
    loss: float | None = None
    seal: bytes = b""
    key: str | None = None
    scores: str | None = None
    round: int | None = None

    def sealed(self, before: bytes = b"") -> Event:
        """Return the event with its seal, given that of the label before if it has one."""
        digest = blake2b(before, digest_size=16)
        digest.update(as_json(self[:SEALED]).encode("utf-8", "surrogatepass"))
        if self.key is not None or self.scores is not None:
            digest.update(as_json([self.key, self.scores, self.round]).encode())
        return self._replace(seal=digest.digest())

    @property
    def delay(self) -> int:
        """The labels that its model learned between the prediction and this one."""
        return (self.round or self.learned or 0) - 1 - self.made


class Totals(NamedTuple):
    """Sums over a journal."""

    predictions: int
    labels: int
    loss: float
    late: int  # labels that came after others had been learned
    delay: int  # labels learned between a prediction and its own, in all
    time: float
    removed: int  # of the labels, those whose rows were removed
    expired: int  # predictions that were removed without a label


NOTHING = Totals(0, 0, 0.0, 0, 0, 0.0, 0, 0)


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
        try:
            self.begin()
            tables = self.database.tables()
            if not tables:
                self.create(SCHEMA)
                self.note("format", FORMAT)
                # Gradient descent steps by the gradients of the weights that predicted.
                self.note("late-gradients", "as served")
                self.note("predictions", "sealed")  # also without a label
                tables = self.database.tables()
            found = self.fact("format") if "facts" in tables else None
            if found == FIRST_FORMAT:
                self.upgrade()
                found = FORMAT
            self.seals_all = "facts" in tables and self.fact("predictions") is not None
            self.commit()
        except NoRegretError:
            self.close()
            raise
        except self.failures as error:
            self.close()
            what = f"not a journal, or a damaged one ({error})"
            raise NoRegretError(what, file=self.path) from None
        if found != FORMAT:
            self.close()
            raise NoRegretError("not a journal, or one of a newer version", file=self.path)

    def create(self, schema: str) -> None:
        """Create tables."""
        for name, other in self.database.types.items():
            schema = schema.replace(f" {name}", f" {other}")
        for statement in schema.split(";")[:-1]:
            self.database.run(statement)

    def upgrade(self) -> None:
        """Bring a journal of the first version to this one."""
        for column in ("key TEXT", "scores TEXT", "round INTEGER"):
            self.database.run(f"ALTER TABLE events ADD COLUMN {column}")
        self.create(SCHEMA[SCHEMA.index("-- The model of each key") :])
        last = "SELECT learned, model, seal FROM snapshots ORDER BY learned DESC LIMIT 1"
        if (row := self.database.row(last)) is not None:
            if not isinstance(row[2], bytes):
                raise NoRegretError("a damaged journal", "restore it from a backup", file=self.path)
            self.keep_model("", row[0], row[1])
            self.keep_snapshot(row[0], row[2])
        self.database.run("DROP TABLE snapshots")
        self.note("format", FORMAT)

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
        return None if row is None else (row[0], bytes(row[1]))

    def keep_model(self, key: str, learned: int, model: bytes) -> None:
        """Write the model of a key."""
        self.database.run(
            "INSERT INTO models VALUES (?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET learned = excluded.learned, model = excluded.model",
            [key, learned, model],
        )

    def snapshot(self) -> tuple[int, bytes]:
        """Return the number of labels in the models that were written, and the seal of the last."""
        found = json.loads(self.fact("snapshot") or '[0, ""]')
        return int(found[0]), bytes.fromhex(found[1])

    def keep_snapshot(self, learned: int, seal: bytes) -> None:
        """Note that all models have the labels up to this one."""
        self.note("snapshot", json.dumps([learned, seal.hex()]))

    # Events.

    def find(self, name: str) -> Event | None:
        """Return the event of an id; one without a label must be as it was served."""
        row = self.database.row(f"SELECT {COLUMNS} FROM events WHERE id = ?", [name])
        if row is None:
            return None
        event = event_of(row)
        sealed = event.seal or self.seals_all
        whole = event.sealed() == event if sealed else can_be_read(event)
        if event.y is None and not whole:
            what = f"damaged: the prediction {name!r} is not the one that was served"
            raise NoRegretError(what, "restore it from a backup", file=self.path)
        return event

    def add(self, event: Event) -> None:
        """Add a prediction, with its label if that came with it."""
        self.database.run(INSERT, event if event.seal else event.sealed())

    def add_label(self, event: Event) -> None:
        """Add the label of a prediction."""
        self.database.run(
            "UPDATE events SET y = ?, learned = ?, labelled = ?, loss = ?, seal = ?, round = ?"
            " WHERE seq = ?",
            [event.y, event.learned, event.labelled, event.loss, event.seal, event.round,
             event.seq],
        )  # fmt: skip

    def learned(self, after: int = 0, seal: bytes = b"") -> Iterator[Event]:
        """Yield the labelled events in the order in which they were learned.

        Each must have the next number and the seal that follows from the one before: ``seal`` is
        that of the label ``after``.
        """
        query = f"SELECT {COLUMNS} FROM events WHERE learned > ? ORDER BY learned"
        for number, row in enumerate(self.database.stream(query, [after]), after + 1):
            event = event_of(row)
            if event.learned != number or event.sealed(seal) != event:
                what = f"damaged: label {number:,} is not the one that was learned"
                raise NoRegretError(what, "restore it from a backup", file=self.path)
            seal = event.seal
            yield event

    def predicted(self) -> Iterator[Event]:
        """Yield the labelled events in the order in which they were predicted."""
        query = f"SELECT {COLUMNS} FROM events WHERE learned IS NOT NULL ORDER BY seq"
        return map(event_of, self.database.stream(query))

    def totals(self) -> Totals:
        """Return sums over all events, and over those that were removed."""
        row = self.database.row(
            "SELECT max(seq), count(learned), sum(loss), sum(CASE WHEN"
            " coalesce(round, learned) - 1 > made THEN 1 ELSE 0 END),"
            " sum(coalesce(round, learned) - 1 - made), max(time), max(labelled) FROM events"
        )
        numbers = [each or 0 for each in row or [None] * 7]
        if not all(isinstance(n, int | float | Decimal) and math.isfinite(n) for n in numbers):
            raise TypeError("a column of events does not hold numbers")
        seq, labels, loss, late, delay, time, labelled = numbers
        gone = self.removed()
        return Totals(
            max(int(seq), gone.predictions),
            gone.labels + labels,
            gone.loss + loss,
            gone.late + int(late),
            gone.delay + int(delay),
            max(time, labelled, gone.time),
            gone.labels,
            gone.expired,
        )

    def keys(self, most: int) -> list[dict[str, Any]]:
        """Return figures of the keys with the most predictions."""
        query = (
            "SELECT key, count(*), count(learned), coalesce(sum(loss), 0.0) FROM events"
            " WHERE key IS NOT NULL GROUP BY key ORDER BY count(*) DESC, key LIMIT ?"
        )
        return [
            {"key": key, "predictions": count, "labels": labels,
             "mean_loss": loss / labels if labels else None}
            for key, count, labels, loss in self.database.stream(query, [most])
        ]  # fmt: skip

    # Retention.

    def removed(self) -> Totals:
        """Return sums over the events that were removed."""
        found = self.fact("removed")
        return NOTHING if found is None else Totals(*json.loads(found))

    def remove(self, learned: int, before: float | None) -> None:
        """Remove labels up to a number, and predictions from before a time that have none."""
        gone = self.removed()
        row = self.database.row(
            "SELECT max(seq), max(time) FROM events WHERE learned <= ? OR"
            " (learned IS NULL AND time < ?)",
            [learned, -1.0 if before is None else before],
        )
        query = f"SELECT {COLUMNS} FROM events WHERE learned <= ? ORDER BY learned"
        labels, loss, late, delay, seal = gone.labels, gone.loss, gone.late, gone.delay, None
        for event in map(event_of, self.database.stream(query, [learned])):
            labels, loss, seal = labels + 1, loss + (event.loss or 0.0), event.seal
            late, delay = late + (event.delay > 0), delay + event.delay
        expired = self.database.row(
            "SELECT count(*) FROM events WHERE learned IS NULL AND time < ?",
            [-1.0 if before is None else before],
        )
        self.database.run(
            "DELETE FROM events WHERE learned <= ? OR (learned IS NULL AND time < ?)",
            [learned, -1.0 if before is None else before],
        )
        seq, time = row or (0, 0.0)
        found = Totals(
            max(seq or 0, gone.predictions), labels, loss, late, delay, max(time or 0.0, gone.time),
            labels, gone.expired + int((expired or [0])[0]),
        )  # fmt: skip
        self.note("removed", json.dumps(found))
        if seal is not None:
            self.note("removed-seal", seal.hex())

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction."""
        self.database.begin()

    def commit(self) -> None:
        """End a transaction: what was written is on disk."""
        self.database.commit()

    def close(self) -> None:
        """Close the journal; a transaction that was not committed is undone."""
        self.database.close()


INSERT = f"INSERT INTO events ({COLUMNS}) VALUES ({', '.join('?' * len(Event._fields))})"


def event_of(row: tuple[Any, ...]) -> Event:
    """Return an event from its row, whose columns must have the types of the schema."""
    event = Event(*row)
    if type(event.seal) is not bytes and isinstance(event.seal, memoryview | None):
        event = event._replace(seal=bytes(event.seal or b""))
    numbers = event.time, event.score, event.labelled or 0.0, event.loss or 0.0
    if not all(map(isinstance, event, KINDS)) or not all(map(math.isfinite, numbers)):
        what = f"damaged: the event {event.id!r} cannot be read"
        raise NoRegretError(what, "restore the journal from a backup")
    return event


def can_be_read(event: Event) -> bool:
    """Return whether the example and the answer are the JSON that they should be."""
    try:
        prediction, _ = json.loads(event.answer)
        return isinstance(json.loads(event.x), dict | list) and prediction is not None
    except (TypeError, ValueError):
        return False


# Made once: ``json.dumps`` makes one per call, which takes as long as the text of an example.
ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False)


def as_json(value: Any) -> str:
    """Return a value as JSON; equal values give equal text."""
    return ENCODER.encode(value)
