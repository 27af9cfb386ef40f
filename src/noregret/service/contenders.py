"""The models that play every event: one serves, the others, challengers, do so in shadow."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from noregret.base.model_file import dumps, loads
from noregret.errors import BadExample, NoRegretError
from noregret.service.comparison import Comparison
from noregret.service.errors import Conflict, UnknownId
from noregret.service.events import Event, as_json
from noregret.service.mixture import Mixture, Played
from noregret.service.models import Models
from noregret.service.scoring import Served, scored, taught
from noregret.service.values import as_read

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.service.journal import Journal

FIRST = "first"
# What the label of a challenger's prediction adds to it.
LABEL = ("round", "loss")
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
# What notes begin with, before a digest of 16 bytes; the first kind is of earlier versions, and
# leaves out the label.
SEALED, SEALED_WITH_LABEL = b"sealed:1", b"sealed:2"
SHADOW_STARTS = len(SEALED) + 16


def shadow_seal(known: tuple[Any, ...], note: bytes) -> bytes:
    """Return a digest of what is known of the prediction of a challenger, and of its note."""
    text = json.dumps(known).encode()
    return hashlib.blake2b(text + b"\0" + note, digest_size=16).digest()


def sealed(known: tuple[Any, ...], note: bytes) -> bytes:
    """Return a note as the journal keeps it."""
    return SEALED_WITH_LABEL + shadow_seal(known, note) + note


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
        self.mixtures: dict[str, Mixture] = {}  # which are among the models too
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
        if self.changes:  # of refused requests, which earlier versions left
            journal.database.run("DELETE FROM shadows WHERE seq > ?", [journal.seq])
        for event, starts, ends in journal.played(entry, seal):
            if event.key is not None:
                journal.count_key(event.key, starts, ends, event.loss)
            if not ends:
                continue
            losses = dict[str, float]()
            views = list(self._views(event))
            for name, view in views:
                if view.round is None:
                    continue
                losses[name] = view.loss
                if event.learned > self.models[name].position(event.key):
                    self._teach(name, view._replace(example=as_read(view.example)), views)
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
        if len(self.models) == 1:
            champion = self.first.get(key)
            return champion, scored(champion, x, waits)
        said: dict[str, tuple[Any, Served]] = {}
        # If the one that serves refuses the example, nothing is written.
        plain = [name for name in self.models if name not in self.mixtures]
        for name in sorted(plain, key=lambda each: each != self.serving):
            learner = self.models[name].get(key)
            try:
                said[name] = learner, scored(learner, x, waits)
            except NoRegretError:  # it sits this event out
                if name == self.serving or (name == plain[-1] and not said):
                    raise
        scores = {name: served.score for name, (_, served) in said.items()}
        model = self.first.get(key)
        for name, mixture in self.mixtures.items():
            master: Any = self.models[name].get(key)
            said[name] = master, mixture.served(master, scores, model)
        for name, (learner, served) in said.items():
            if name == self.serving:
                continue
            texts = None if served.scores is None else as_json(served.scores)
            known = seq, name, learner.rounds, float(served.score), texts
            self.journal.database.run(
                "INSERT INTO shadows (seq, name, made, score, scores, note)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [*known, sealed((*known, None, None), served.note)],
            )
        return said[self.serving]

    def learn(self, event: Event) -> Event:
        """Learn a label by all models that predicted its event; return it with round and loss."""
        if len(self.models) == 1:
            learner = self.first.to_learn(event.key)
            event = event._replace(round=learner.rounds + 1)
            return event._replace(loss=taught(learner, event, self.as_served))
        done, losses = event, dict[str, float]()
        server = self._server(event.seq)
        views = list(self._views(event))
        views.sort(key=lambda each: each[0] in self.mixtures)
        for name, seen in views:  # the server first, or the members of the mixture that serves
            learner = self.models[name].to_learn(event.key)
            view = seen._replace(round=learner.rounds + 1)
            try:
                losses[name] = self._teach(name, view, views)
            except NoRegretError as error:
                bad = isinstance(error, BadExample) and not losses
                if name == server or (bad and server in self.mixtures):
                    raise  # before any model has learned
                continue  # the challenger sits this event out
            if name == server:
                done = view._replace(loss=losses[name])
            else:
                scores = None if seen.scores is None else as_json(seen.scores)
                known = event.seq, name, seen.made, seen.score, scores, view.round, losses[name]
                self.journal.database.run(
                    "UPDATE shadows SET round = ?, loss = ?, note = ? WHERE seq = ? AND name = ?",
                    [view.round, losses[name], sealed(known, seen.note), event.seq, name],
                )
        self._compare(losses)
        return done

    def _teach(self, name: str, view: Event, views: list[tuple[str, Event]]) -> float:
        """Let a model learn an event as it saw it; return the loss of its prediction."""
        learner: Any = self.models[name].to_learn(view.key)
        if name in self.mixtures:
            scores = {each: seen.score for each, seen in views}
            return self.mixtures[name].taught(learner, scores, view)
        return taught(learner, view, self.as_served)

    def played(self, name: str, key: str | None, journal: Journal) -> Iterator[Played]:
        """Yield the rounds of a mixture in the order in which it learned them."""
        mixture = self.mixtures[name]
        for event, _, ends in journal.played():
            if not ends or event.key != key:
                continue
            views = list(self._views(event, journal))
            scores = {each: seen.score for each, seen in views}
            view = dict(views).get(name)
            if view is not None and view.round is not None:
                said = mixture.forecasts(scores)
                yield Played(said, mixture.outcome(event), view.loss, view.delay > 0)

    def _views(self, event: Event, journal: Journal | None = None) -> Iterator[tuple[str, Event]]:
        """Yield the event as each model that predicted it saw it; the one that served it first.

        The round is None where a challenger sat it out.
        """
        yield self._server(event.seq), event
        if len(self.models) > 1:
            query = "SELECT name, made, score, scores, round, loss, note FROM shadows WHERE seq = ?"
            database = (journal or self.journal).database
            for name, made, score, scores, number, loss, kept in database.fetch(
                f"{query} ORDER BY name", [event.seq]
            ):
                if name in self.models:
                    note = self._note((event.seq, name, made, score, scores, number, loss), kept)
                    found = None if scores is None else json.loads(scores)
                    view = event._replace(made=made, score=score, scores=found, round=number)
                    yield name, view._replace(loss=loss, note=note)

    def _note(self, known: tuple[Any, ...], kept: Any) -> bytes:
        """Return the note of a challenger's prediction; raise NoRegretError if that was changed.

        What is known are its columns: ``seq``, ``name``, ``made`` and so on.
        """
        seq, name, *rest = known
        note = bytes(kept) if isinstance(kept, bytes | memoryview) else b""
        if note.startswith((SEALED, SEALED_WITH_LABEL)):
            typed = all(map(isinstance, rest, (int, float, str | None, int | None, float | None)))
            seal, found = note[len(SEALED) : SHADOW_STARTS], note[SHADOW_STARTS:]
            whole = known if note.startswith(SEALED_WITH_LABEL) else known[: -len(LABEL)]
            if typed and seal == shadow_seal(whole, found):
                return found
        elif kept is None and (
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

    def change(self, seq: int, time: float, what: str, name: str, fresh: Any, bound: float) -> None:
        """Check a change, write it to the journal, and make it."""
        if what in ("challenge", "mix"):
            if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name):
                raise TypeError(
                    f"the name of a challenger is a word, as in 'newer-2': got {name!r}"
                )
            if name in self.models:
                raise Conflict(f"there is a model {name!r} already", "choose another name")
        elif name not in self.models:
            known = ", ".join(repr(each) for each in self.models)
            raise UnknownId(f"there is no model {name!r}: there are {known}")
        elif what == "retire" and (
            of := [each for each, mixture in self.mixtures.items() if name in mixture.members]
        ):
            raise Conflict(f"{name!r} is a member of {of[0]!r}", "retire that first")
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
        self, number: int, seq: int, what: str, name: str, fresh: Any, bound: float
    ) -> None:
        self.changes = number
        if what in ("challenge", "mix"):
            first = self.first
            if what == "mix":
                members = [each for each in self.models if each not in self.mixtures]
                self.mixtures[name] = Mixture(members, first.fresh)
            self.models[name] = Models(fresh, first.journal, first.resident, first.loss, name)
        elif what == "retire":
            del self.models[name], self.comparisons[name]
            self.mixtures.pop(name, None)
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

    def drop(self, seq: int) -> None:
        """Remove what challengers predicted for a request that is refused, in the transaction."""
        if len(self.models) > 1:
            self.journal.database.run("DELETE FROM shadows WHERE seq = ?", [seq])

    def forget(self, predictions: int, expired: int) -> None:
        """Remove what challengers predicted, where the journal keeps it no longer.

        Parameters
        ----------
        predictions
            Up to this number, those with a label are removed.
        expired
            Up to this number, no label can come any more.
        """
        if self.changes:
            query = "DELETE FROM shadows WHERE seq <= ? AND (round IS NOT NULL OR seq <= ?)"
            self.journal.database.run(query, [predictions, expired])

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
