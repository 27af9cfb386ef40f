"""The models that play every event: one serves, the others, challengers, do so in shadow."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from noregret.base.model_file import dumps, loads
from noregret.errors import NoRegretError
from noregret.service.comparison import Comparison
from noregret.service.errors import Conflict, UnknownId
from noregret.service.events import Event, as_json
from noregret.service.models import Models
from noregret.service.scoring import Served, scored, taught
from noregret.service.values import as_read

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.service.journal import Journal

FIRST = "first"
# Labels learned again between transactions, after a crash.
REPLAYED = 1000
TABLES = """
CREATE TABLE changes (
    number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, time REAL NOT NULL, what TEXT NOT NULL,
    name TEXT NOT NULL, model BLOB, bound REAL);
CREATE TABLE shadows (
    seq INTEGER NOT NULL, name TEXT NOT NULL, made INTEGER NOT NULL, score REAL NOT NULL,
    scores TEXT, round INTEGER, loss REAL, note BLOB, PRIMARY KEY (seq, name));
"""
# What notes begin with, before a digest of 16 bytes.
SEALED = b"sealed:1"
SHADOW_STARTS = len(SEALED) + 16


def shadow_seal(
    seq: int, name: str, made: int, score: float, scores: str | None, note: bytes
) -> bytes:
    """Return a digest of the prediction of a challenger."""
    known = json.dumps([seq, name, made, float(score), scores]).encode()
    return hashlib.blake2b(known + b"\0" + note, digest_size=16).digest()


class Contenders:
    """The model that serves, and the challengers.

    Parameters
    ----------
    first
        The models of the first learner, which serve unless a challenger is promoted.
    as_served
        Whether gradient descent takes late gradients as they were served.
    """

    def __init__(self, first: Models, as_served: bool) -> None:
        self.journal: Journal = first.journal
        self.first, self.as_served = first, as_served
        self.models = {FIRST: first}
        self.serving = FIRST
        self.served_from = [(0, FIRST)]  # who served after which event
        self.comparisons: dict[str, Comparison] = {}
        self.changes = 0
        # The last prediction of earlier versions, whose challengers have no notes.
        plain = self.journal.fact("plain-predictions") or ""
        self.plain = int(plain) if re.fullmatch("[0-9]{1,18}", plain) else 0
        if "changes" not in self.journal.database.tables():
            return
        query = "SELECT number, seq, what, name, model, bound FROM changes ORDER BY number"
        for number, seq, what, name, model, bound in list(self.journal.database.stream(query)):
            fresh = None if model is None else loads(bytes(model), self.journal.path, first.loss)
            self._change(number, seq, what, name, fresh, bound)
        kept = json.loads(self.journal.fact("comparison") or "{}")
        self.comparisons |= {name: Comparison(*state) for name, state in kept.items()}

    def replay(self) -> None:
        """Learn the labels after the last snapshot once more."""
        journal = self.journal
        _, seal, entry = journal.snapshot()
        journal.begin()
        for event, starts, ends in journal.played(entry, seal):
            if event.key is not None:
                journal.count_key(event.key, starts, ends, event.loss)
            if not ends:
                continue
            losses = dict[str, float]()
            for name, view in self._views(event):
                if view.round is None:
                    continue
                losses[name] = view.loss
                if event.learned > self.models[name].position(event.key):
                    learner = self.models[name].to_learn(event.key)
                    taught(learner, view._replace(example=as_read(view.example)), self.as_served)
            self._compare(losses)
            if event.learned % REPLAYED == 0:
                self.trim(event.learned)
                journal.commit()
                journal.begin()
        journal.commit()

    # Events.

    def predict(
        self, seq: int, x: Any, key: str | None, waits: bool = False
    ) -> tuple[Learner, Served]:
        """Predict by all models; return the one that serves, and its prediction.

        If the example waits for its label, predictions have notes to learn it late.
        """
        champion = self.models[self.serving].get(key)
        found = scored(champion, x, waits)
        if len(self.models) == 1:
            return champion, found
        for name, models in self.models.items():
            if name == self.serving:
                continue
            learner = models.get(key)
            with suppress(NoRegretError):  # it sits this event out
                served = scored(learner, x, waits)
                scores = None if served.scores is None else as_json(served.scores)
                self.journal.database.run(
                    "INSERT INTO shadows (seq, name, made, score, scores, note)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        seq,
                        name,
                        learner.rounds,
                        served.score,
                        scores,
                        SEALED
                        + shadow_seal(seq, name, learner.rounds, served.score, scores, served.note)
                        + served.note,
                    ],
                )
        return champion, found

    def learn(self, event: Event) -> Event:
        """Learn a label by all models that predicted its event; return it with round and loss."""
        if len(self.models) == 1:
            learner = self.first.to_learn(event.key)
            event = event._replace(round=learner.rounds + 1)
            return event._replace(loss=taught(learner, event, self.as_served))
        done, losses = event, dict[str, float]()
        server = self._server(event.seq)
        for name, seen in list(self._views(event)):  # refused before any model learns
            learner = self.models[name].to_learn(event.key)
            view = seen._replace(round=learner.rounds + 1)
            try:
                losses[name] = taught(learner, view, self.as_served)
            except NoRegretError:
                if name == server:
                    raise
                continue  # the challenger sits this event out
            if name == server:
                done = view._replace(loss=losses[name])
            else:
                self.journal.database.run(
                    "UPDATE shadows SET round = ?, loss = ? WHERE seq = ? AND name = ?",
                    [view.round, losses[name], event.seq, name],
                )
        self._compare(losses)
        return done

    def _views(self, event: Event) -> Iterator[tuple[str, Event]]:
        """Yield the event as each model that predicted it saw it; the one that served it first.

        The round is None where a challenger sat it out.
        """
        yield self._server(event.seq), event
        if len(self.models) > 1:
            query = "SELECT name, made, score, scores, round, loss, note FROM shadows WHERE seq = ?"
            rows = list(self.journal.database.stream(f"{query} ORDER BY name", [event.seq]))
            for name, made, score, scores, number, loss, kept in rows:
                if name in self.models:
                    note = self._note(event.seq, name, made, score, scores, kept)
                    found = None if scores is None else json.loads(scores)
                    view = event._replace(made=made, score=score, scores=found, round=number)
                    yield name, view._replace(loss=loss, note=note)

    def _note(self, seq: int, name: str, made: Any, score: Any, scores: Any, note: Any) -> bytes:
        """Return the note of a challenger's prediction; raise NoRegretError if that was changed."""
        known = bytes(note) if isinstance(note, bytes | memoryview) else b""
        if known.startswith(SEALED):
            seal, known = known[len(SEALED) : SHADOW_STARTS], known[SHADOW_STARTS:]
            typed = isinstance(made, int) and isinstance(score, float)
            typed = typed and isinstance(scores, str | None)
            if typed and seal == shadow_seal(seq, name, made, score, scores, known):
                return known
        elif note is None and (
            seq <= self.plain or not self.models[name].fresh.engine.weighs_late
        ):  # of an earlier version
            return b""
        what = f"damaged: prediction {seq:,} of the challenger {name!r} is not as it was written"
        raise NoRegretError(what, "restore the journal from a backup", file=self.journal.path)

    def _server(self, seq: int) -> str:
        return next(name for after, name in reversed(self.served_from) if seq > after)

    def _compare(self, losses: dict[str, float]) -> None:
        if self.serving in losses:
            for name, state in self.comparisons.items():
                if name in losses:
                    self.comparisons[name] = state.after(losses[self.serving], losses[name])

    # Changes, each with a snapshot in the same transaction.

    def change(
        self, seq: int, time: float, what: str, name: str, fresh: Learner | None, bound: float
    ) -> None:
        """Check a change, write it to the journal, and make it."""
        if what == "challenge":
            if not isinstance(name, str) or not re.fullmatch(r"[\w.-]{1,64}", name):
                raise TypeError(
                    f"the name of a challenger is a word, as in 'newer-2': got {name!r}"
                )
            if name in self.models:
                raise Conflict(f"there is a model {name!r} already", "choose another name")
        elif name not in self.models:
            known = ", ".join(repr(each) for each in self.models)
            raise UnknownId(f"there is no model {name!r}: there are {known}")
        elif what == "retire" and any(name == each for _, each in self.served_from):
            raise Conflict(f"{name!r} has served: its predictions may wait for labels")
        elif what in ("promote", "rollback") and name == self.serving:
            raise Conflict(f"{name!r} serves already")
        if not self.changes:
            self.journal.create(TABLES)
        self.journal.database.run(
            "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)",
            [self.changes + 1, seq, time, what, name, None if fresh is None else dumps(fresh),
             bound],
        )  # fmt: skip
        self._change(self.changes + 1, seq, what, name, fresh, bound)

    def _change(
        self, number: int, seq: int, what: str, name: str, fresh: Learner | None, bound: float
    ) -> None:
        self.changes = number
        if what == "challenge":
            assert fresh is not None
            first = self.first
            self.models[name] = Models(fresh, first.journal, first.resident, first.loss, name)
        elif what == "retire":
            del self.models[name], self.comparisons[name]
            return
        else:
            self.serving = name
            self.served_from.append((seq, name))
            bound = next(iter(self.comparisons.values())).bound
            self.comparisons = {each: Comparison(bound) for each in self.models if each != name}
            return
        self.comparisons[name] = Comparison(bound)

    @property
    def previous(self) -> str | None:
        """The model that served before; None if it is the first."""
        return self.served_from[-2][1] if len(self.served_from) > 1 else None

    # Memory and snapshots.

    def trim(self, learned: int) -> None:
        """Leave models that were not used lately to the journal."""
        for models in self.models.values():
            models.trim(learned)

    def save(self, learned: int) -> None:
        """Write all models that changed, and the comparisons."""
        for models in self.models.values():
            models.save(learned)
        if self.changes:
            self.journal.note("comparison", json.dumps(self.comparisons))
