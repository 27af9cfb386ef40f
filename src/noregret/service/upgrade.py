"""Journals of earlier versions, which had a row per event, brought to this one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from noregret.errors import NoRegretError
from noregret.service import ids
from noregret.service.blocks import NO_SEAL
from noregret.service.events import Event, Totals, as_json

if TYPE_CHECKING:
    from noregret.service.journal import Journal

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
# Events of a block.
BLOCK = 1000


class Old(NamedTuple):
    """A row of an earlier version."""

    seq: int
    id: str
    time: float
    x: str
    made: int
    score: float
    answer: str
    at_once: int
    y: str | None
    learned: int | None
    labelled: float | None
    loss: float | None
    seal: bytes
    key: str | None
    scores: str | None
    round: int | None

    def sealed(self, before: bytes = b"") -> bytes:
        """Return the seal, given that of the label before if it has one."""
        digest = blake2b(before, digest_size=16)
        digest.update(as_json(self[:SEALED]).encode("utf-8", "surrogatepass"))
        if self.key is not None or self.scores is not None:
            digest.update(as_json([self.key, self.scores, self.round]).encode())
        return digest.digest()

    @property
    def number(self) -> int:
        """The number of the label among those of its model."""
        return self.round or self.learned or 0


def upgrade(journal: Journal, first: bool) -> None:
    """Bring a journal of an earlier version to this one, in the open transaction."""
    from noregret.service.journal import FORMAT, SCHEMA

    base = journal.database
    missing = {"blocks", "keys", "ids"} | ({"models"} if first else set())
    for statement in (SCHEMA + ids.SCHEMA).split(";")[:-1]:
        if any(f"TABLE {name} " in statement for name in missing):
            journal.create(f"{statement};")
    if first:
        for column in ("key TEXT", "scores TEXT", "round INTEGER"):
            base.run(f"ALTER TABLE events ADD COLUMN {column}")
        last = "SELECT learned, model, seal FROM snapshots ORDER BY learned DESC LIMIT 1"
        if (row := base.row(last)) is not None:
            if not isinstance(row[2], bytes):
                raise NoRegretError("a damaged journal", "restore it from a backup")
            journal.keep_model("", row[0], row[1])
            journal.note("snapshot", json.dumps([row[0], row[2].hex()]))
        base.run("DROP TABLE snapshots")
    kept = json.loads(journal.fact("snapshot") or '[0, ""]')
    gone = json.loads(journal.fact("removed") or "[0, 0, 0.0, 0, 0, 0.0, 0, 0]")
    predictions, labels, loss, late, delay, time, _, expired = gone
    begin = Totals(predictions + labels, predictions, labels, loss, late, delay, time)
    journal.note("removed", json.dumps([expired, begin, NO_SEAL.hex()]))
    journal._open()
    copy(journal, begin, int(kept[0]))
    if int(kept[0]) > journal.labels:
        raise NoRegretError("damaged: labels that its models have learned are missing")
    if not labels:
        base.run("DELETE FROM facts WHERE name = 'removed'")
    base.run("DROP TABLE events")
    journal.note("format", FORMAT)


def copy(journal: Journal, begin: Totals, snapshot: int) -> None:
    """Write all events as blocks, and the snapshot after its last label."""
    entries: dict[int, int] = {}  # of predictions that wait, by seq
    at_snapshot = snapshot == begin.labels
    if at_snapshot:
        journal.keep_snapshot()
    for old, starts, ends in in_order(journal, begin.labels):
        request: dict[str, Any] = {"id": old.id}
        if starts:
            request["x"] = json.loads(old.x)
        if ends:
            request["y"] = json.loads(old.y or "")
        if starts and old.key is not None:
            request["key"] = old.key
        if old.key is not None:
            journal.count_key(old.key, starts, ends, (old.loss or 0.0) if ends else 0.0)
        asked, now = as_json(request).encode(), (old.labelled if ends else old.time) or old.time
        gap = starts and old.seq != journal.seq + 1  # of rows that were removed
        if now > journal.time or gap or len(journal.block) >= BLOCK:
            journal.flush()
        if starts:
            journal.seq = old.seq - 1
        journal.time = max(journal.time, now)
        event = event_of(old, journal)
        extra = as_json([event.prediction, event.chances, event.scores]).encode()
        if starts and ends:
            journal.add_learned(old.id, old.made, old.score, old.loss or 0.0, asked, extra)
        elif starts:
            journal.add_prediction(event, asked, extra)
            entries[old.seq] = event.entry
        else:
            journal.add_label(event._replace(entry=entries.pop(old.seq)), asked)
        if ends and journal.labels == snapshot:
            journal.keep_snapshot()
    journal.flush()


def event_of(old: Old, journal: Journal) -> Event:
    """Return an event from its row."""
    prediction, chances = json.loads(old.answer)
    scores = None if old.scores is None else json.loads(old.scores)
    return Event(
        old.seq, journal.entry + 1, old.id, old.time, json.loads(old.x), old.made, old.score,
        prediction, chances, bool(old.at_once), old.key, scores,
        None if old.y is None else json.loads(old.y), old.learned or 0, old.labelled or 0.0,
        old.loss or 0.0, old.number,
    )  # fmt: skip


def in_order(journal: Journal, removed: int) -> Iterator[tuple[Old, bool, bool]]:
    """Yield the rows in the order of time: whether each is predicted, and labelled."""
    base = journal.database
    rounds = dict[str | None, int](
        base.stream("SELECT key, min(coalesce(round, learned)) - 1 FROM events"
                    " WHERE learned IS NOT NULL GROUP BY key")
    )  # fmt: skip
    seal = bytes.fromhex(journal.fact("removed-seal") or "")
    labels = list(labelled(journal, removed, seal))[::-1]
    query = f"SELECT {COLUMNS} FROM events ORDER BY seq"
    sealed = journal.fact("predictions") is not None
    seen: set[int] = set()
    for old in map(row_of, list(base.stream(query))):
        if old.y is None and (old.seal or sealed) and old.sealed() != old.seal:
            raise damaged(f"the prediction {old.id!r} is not the one that was served")
        while labels and (
            old.made > rounds.get(old.key, old.made) or (old.at_once and labels[-1].seq != old.seq)
        ):
            label = labels.pop()
            if label.seq not in seen:
                raise damaged(f"label {label.learned} came before its prediction")
            rounds[label.key] = label.number
            yield label, False, True
        if old.at_once:
            if not labels:
                raise damaged(f"the label of {old.id!r} is missing")
            labels.pop()
            rounds[old.key] = old.number
            yield old, True, True
        else:
            seen.add(old.seq)
            yield old, True, False
    while labels:
        yield labels.pop(), False, True


def labelled(journal: Journal, after: int, seal: bytes) -> Iterator[Old]:
    """Yield the labelled rows in the order in which they were learned; each has its seal."""
    query = f"SELECT {COLUMNS} FROM events WHERE learned > ? ORDER BY learned"
    for number, row in enumerate(journal.database.stream(query, [after]), after + 1):
        old = row_of(row)
        if old.learned != number or old.sealed(seal) != old.seal:
            raise damaged(f"label {number:,} is not the one that was learned")
        seal = old.seal
        yield old


def row_of(row: tuple[Any, ...]) -> Old:
    """Return a row, whose columns must have the types of the schema."""
    old = Old(*row)
    if type(old.seal) is not bytes and isinstance(old.seal, memoryview | None):
        old = old._replace(seal=bytes(old.seal or b""))
    numbers = old.time, old.score, old.labelled or 0.0, old.loss or 0.0
    if not all(map(isinstance, old, KINDS)) or not all(map(math.isfinite, numbers)):
        raise damaged(f"the event {old.id!r} cannot be read")
    return old


def damaged(what: str) -> NoRegretError:
    """Return the error of a row that is not as it was written."""
    return NoRegretError(f"damaged: {what}", "restore it from a backup")
