"""The journal of a service in SQLite: all acknowledged events, and snapshots of the model.

An event is in the journal before it is acknowledged, so that the model after a crash is the last
snapshot with the labels since then learned once more, in order.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from noregret.errors import NoRegretError

FORMAT = "noregret.journal/1"
APPLICATION = 0x6E6F726A
SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- One row per prediction that was served. y, learned and loss are there once its label is:
-- learned numbers the labels in the order in which the model learned them. seal is a digest of the
-- row and of the seal before, so that no label can be lost or changed unnoticed.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time REAL NOT NULL, x TEXT NOT NULL,
    made INTEGER NOT NULL, score REAL NOT NULL, answer TEXT NOT NULL, at_once INTEGER NOT NULL,
    y TEXT, learned INTEGER UNIQUE, labelled REAL, loss REAL, seal BLOB);
CREATE TABLE snapshots (learned INTEGER PRIMARY KEY, model BLOB NOT NULL, seal BLOB NOT NULL);
"""
COLUMNS = "seq, id, time, x, made, score, answer, at_once, y, learned, labelled, loss, seal"
KEPT_SNAPSHOTS = 2


class Event(NamedTuple):
    """A prediction that was served, and its label if it came.

    Parameters
    ----------
    seq, id, time
        Its number, its name, and the time of the prediction.
    x
        The example as JSON.
    made
        The number of labels that the model had learned when it predicted.
    score, answer
        The score that was served, and the prediction with its chances as JSON.
    at_once
        Whether the label came with the request.
    y, learned, labelled, loss
        The label as JSON, its number in the order of learning, its time, and the loss of the
        served score.
    seal
        A digest of all this and of the seal of the label before.
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

    def sealed(self, before: bytes) -> Event:
        """Return the event with its seal, given that of the label before."""
        digest = blake2b(before, digest_size=16)
        digest.update(as_json(self[: len(self) - 1]).encode("utf-8", "surrogatepass"))
        return self._replace(seal=digest.digest())


class Totals(NamedTuple):
    """Sums over a journal."""

    predictions: int
    labels: int
    loss: float
    late: int  # labels that came after others had been learned
    delay: int  # labels learned between a prediction and its own, in all
    time: float


class Journal:
    """A journal in a file, which no other process may use at the same time.

    Parameters
    ----------
    path
        The file, which is created if it does not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = os.fspath(path)
        folder = Path(self.path).resolve().parent
        if not folder.is_dir():
            raise NoRegretError(f"there is no folder {folder}", file=path)
        if Path(self.path).is_dir():
            raise NoRegretError("a folder, not a journal", file=path)
        self.rows = sqlite3.connect(
            self.path, timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            self.rows.execute("PRAGMA locking_mode = EXCLUSIVE")
            self.rows.execute("PRAGMA journal_mode = WAL")
            self.rows.execute("PRAGMA synchronous = FULL")
            self.rows.execute("BEGIN EXCLUSIVE")
            if not self.rows.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in SCHEMA.split(";")[:-1]:
                    self.rows.execute(statement)
                self.note("format", FORMAT)
            self.rows.execute("COMMIT")
            found = self.fact("format")
        except sqlite3.Error as error:
            self.rows.close()
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                what = "in use by another service"
                raise NoRegretError(what, "stop that one first", file=path) from None
            raise NoRegretError(f"not a journal, or a damaged one ({error})", file=path) from None
        if found != FORMAT:
            self.rows.close()
            raise NoRegretError("not a journal, or one of a newer version", file=path)

    # Facts and snapshots.

    def fact(self, name: str) -> Any:
        """Return a fact about the whole journal; None if it is not there."""
        row = self.rows.execute("SELECT value FROM facts WHERE name = ?", [name]).fetchone()
        return None if row is None else row[0]

    def note(self, name: str, value: Any) -> None:
        """Write down a fact."""
        self.rows.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [name, value])

    def snapshot(self) -> tuple[int, bytes, bytes] | None:
        """Return the last snapshot: the number of labels learned, the model, and the last seal."""
        query = "SELECT learned, model, seal FROM snapshots ORDER BY learned DESC LIMIT 1"
        found: tuple[int, bytes, bytes] | None = self.rows.execute(query).fetchone()
        return found

    def keep_snapshot(self, learned: int, model: bytes, seal: bytes) -> None:
        """Add a snapshot, and drop old ones."""
        row = [learned, model, seal]
        self.rows.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", row)
        keep = "SELECT learned FROM snapshots ORDER BY learned DESC LIMIT ?"
        self.rows.execute(f"DELETE FROM snapshots WHERE learned NOT IN ({keep})", [KEPT_SNAPSHOTS])

    # Events.

    def find(self, name: str) -> Event | None:
        """Return the event of an id."""
        row = self.rows.execute(f"SELECT {COLUMNS} FROM events WHERE id = ?", [name]).fetchone()
        return None if row is None else Event(*row)

    def add(self, event: Event) -> None:
        """Add a prediction, with its label if that came with it."""
        marks = ", ".join("?" * len(event))
        self.rows.execute(f"INSERT INTO events ({COLUMNS}) VALUES ({marks})", event)

    def add_label(self, event: Event) -> None:
        """Add the label of a prediction."""
        self.rows.execute(
            "UPDATE events SET y = ?, learned = ?, labelled = ?, loss = ?, seal = ? WHERE seq = ?",
            [event.y, event.learned, event.labelled, event.loss, event.seal, event.seq],
        )

    def learned(self, after: int = 0, seal: bytes = b"") -> Iterator[Event]:
        """Yield the labelled events in the order in which they were learned.

        Each must have the next number and the seal that follows from the one before: ``seal`` is
        that of the label ``after``.
        """
        query = f"SELECT {COLUMNS} FROM events WHERE learned > ? ORDER BY learned"
        for number, row in enumerate(self.rows.execute(query, [after]), after + 1):
            event = Event(*row)
            if event.learned != number or event.sealed(seal) != event:
                what = f"damaged: label {number:,} is not the one that was learned"
                raise NoRegretError(what, "restore it from a backup", file=self.path)
            seal = event.seal
            yield event

    def totals(self) -> Totals:
        """Return sums over all events."""
        row = self.rows.execute(
            "SELECT coalesce(max(seq), 0), count(learned), coalesce(sum(loss), 0.0),"
            " coalesce(sum(learned - 1 > made), 0), coalesce(sum(learned - 1 - made), 0),"
            " max(coalesce(max(time), 0.0), coalesce(max(labelled), 0.0)) FROM events"
        ).fetchone()
        return Totals(*row)

    # Transactions.

    def begin(self) -> None:
        """Begin a transaction."""
        self.rows.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End a transaction: what was written is on disk."""
        self.rows.execute("COMMIT")

    def close(self) -> None:
        """Close the file; a transaction that was not committed is undone."""
        self.rows.close()


def as_json(value: Any) -> str:
    """Return a value as JSON; equal values give equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
