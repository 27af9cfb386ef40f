"""A learner that predicts and learns for a program, and loses nothing that it acknowledged."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from noregret.base.atomic_files import write_pieces
from noregret.base.model_file import dumps, loads
from noregret.checks import positive, whole
from noregret.errors import NoRegretError
from noregret.linear.class_learner import ClassLearner
from noregret.linear.learner import Learner
from noregret.service.errors import (
    Conflict,
    Expired,
    NotCertified,
    ServiceError,
    Stopped,
    UnknownId,
)
from noregret.service.journal import Event, Journal, as_json
from noregret.service.requests import Job, Reply, Request, answer_of
from noregret.service.values import (
    example_of,
    fields_of,
    mixed_fields,
    name_of,
    outcome_text,
    plain,
    text_of,
    written,
)

if TYPE_CHECKING:
    from noregret.base.compiled.losses import Loss
    from noregret.proof.certificates.certificate import Certificate

SNAPSHOT_EVERY = 10_000
Clock = Callable[[], float]
REFUSALS = ("invalid", "conflict", "unknown", "expired")
WAIT = "labels must be learned before the next prediction is made, so that none comes late"


class Service:
    """A learner with a journal.

    Each request is written to the journal, in one transaction with all others that wait at the same
    time, before it is answered. After a crash the model is the same to the last bit: the last
    snapshot, with the labels since then learned again in order. Calls may come from any thread.

    Parameters
    ----------
    learner
        An untrained learner; None to continue with the one in the store.
    store
        The file of the journal, an SQLite database. It is created if it does not exist.
    ttl
        Seconds within which a label must come; None for no limit. It is not kept in the store.
    snapshot_every
        Labels between snapshots of the model.
    loss
        The loss, if the learner in the store has one that is written in Python.
    clock
        Returns the time in seconds. A clock that goes backwards counts as standing still.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import WidrowHoff
    >>> from noregret.service import Service
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "shop.db"
    >>> with Service(WidrowHoff(rate=0.5), store) as service:
    ...     answer = service.predict({"sun": 1.0}, id="monday")
    ...     _ = service.label("monday", 3.0)
    ...     service.predict({"sun": 1.0}, id="tuesday").prediction
    1.5
    >>> with Service(None, store) as service:
    ...     service.metrics()["pending"], service.label("tuesday", 2.0).prediction
    (1, 1.5)
    """

    def __init__(
        self,
        learner: Learner | None,
        store: str | Path,
        *,
        ttl: float | None = None,
        snapshot_every: int = SNAPSHOT_EVERY,
        loss: Loss | None = None,
        clock: Clock = time.time,
    ) -> None:
        if learner is not None:
            check_learner(learner)
        self.ttl = None if ttl is None else positive("ttl", ttl)
        self.snapshot_every = whole("snapshot_every", snapshot_every)
        self._clock, self._process = clock, os.getpid()
        if learner is None and not Path(store).exists():
            raise ServiceError("there is no journal", "give a learner to begin one", file=store)
        self.journal = Journal(store)
        try:
            self.learner = self._restored(learner, loss)
            totals = self.journal.totals()
        except (sqlite3.Error, TypeError, ValueError) as error:
            self.journal.close()
            if isinstance(error, NoRegretError):
                raise
            raise ServiceError(f"a damaged journal ({error})", file=store) from None
        except BaseException:
            self.journal.close()
            raise
        self._seq, self._time = totals.predictions, totals.time
        self.labels, self.loss = totals.labels, totals.loss
        self.late, self.delay = totals.late, totals.delay
        self.refused = dict.fromkeys(REFUSALS, 0)
        self.repeated = 0
        self._stopped: str | None = None
        self._gate, self._turn = threading.Lock(), threading.Lock()
        self._queue: list[Job] = []

    def _restored(self, given: Learner | None, loss: Loss | None) -> Learner:
        """Return the model as the journal left it."""
        found, path = self.journal.snapshot(), self.journal.path
        if found is None:
            if given is None:
                raise ServiceError("there is no model in it yet", "give a learner", file=path)
            self.journal.begin()
            self.journal.keep_snapshot(0, dumps(given.clone()), b"")
            self.journal.commit()
            self._seal = b""
            return given.clone()
        if given is not None:
            loss = next((p for p in given.params.values() if is_python_loss(p)), loss)
        learner: Learner = loads(found[1], path, loss)
        if given is not None and repr(given) != repr(learner):
            raise ServiceError(
                f"it has the model {learner!r}, not {given!r}",
                "use another store, or name no learner to resume",
                file=path,
            )
        self._seal = found[2]
        for event in self.journal.learned(after=found[0], seal=self._seal):
            learner.learn_one(example_of(event.x), json.loads(event.y or "null"))
            self._seal = event.seal
        return learner

    # Requests.

    def predict(self, x: Any, id: str | None = None) -> Reply:
        """Predict the outcome of an example, and wait for its label.

        Before its first label, a classifier of two classes replies −1 or 1; afterwards, labels as
        they are given: False or True, 0 or 1, −1 or 1.

        Parameters
        ----------
        x
            The example: a dict of names to values, or a list of numbers.
        id
            Its name, for the label and for repeated requests; one is made up if it is not given.

        Raises
        ------
        Conflict
            If the id was used for another example.
        """
        return self._submit(lambda: self._predict(x, id))

    def label(self, id: str, y: Any) -> Reply:
        """Learn the outcome of an example that was predicted, and return that prediction.

        Raises
        ------
        UnknownId
            If nothing was predicted by that name.
        Expired
            If it comes after the time to live.
        Conflict
            If another label came before.
        """
        return self._submit(lambda: self._label(id, y))

    def learn(self, x: Any, y: Any, id: str | None = None) -> Reply:
        """Predict the outcome of an example, then learn it."""
        return self._submit(lambda: self._learn(x, y, id))

    def answer_many(self, requests: Iterable[Request]) -> list[Reply | Exception]:
        """Do requests in order, all in one transaction; a refused one is replied to with its error.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from noregret import WidrowHoff
        >>> from noregret.service import Request, Service
        >>> store = pathlib.Path(tempfile.mkdtemp()) / "shop.db"
        >>> with Service(WidrowHoff(rate=0.5), store) as service:
        ...     predicted, refused = service.answer_many(
        ...         [Request("predict", "monday", {"sun": 1.0}), Request("label", "sunday", y=2.0)]
        ...     )
        >>> predicted.prediction, refused.status
        (0.0, 404)
        """
        jobs = [Job(partial(self._act, request)) for request in requests]
        self._submit_all(jobs)
        return [job.outcome for job in jobs]

    def _act(self, request: Request) -> Reply:
        if request.action == "predict":
            return self._predict(request.x, request.id)
        if request.action == "label":
            return self._label(request.id, request.y)
        if request.action == "learn":
            return self._learn(request.x, request.y, request.id)
        raise ValueError(f"the action is predict, label or learn: got {request.action!r}")

    def _submit(self, act: Callable[[], Reply]) -> Reply:
        """Do a request together with all that wait now, and commit once."""
        job = Job(act)
        self._submit_all([job])
        if isinstance(job.outcome, Exception):
            raise job.outcome
        return job.outcome

    def _submit_all(self, jobs: list[Job]) -> None:
        if os.getpid() != self._process:
            raise Stopped("a service cannot be used in a forked process", "make one there")
        with self._gate:
            self._queue += jobs
        with self._turn:
            if not all(job.done for job in jobs):
                self._work()

    def _work(self) -> None:
        """Do all requests that wait, and commit them."""
        with self._gate:
            jobs, self._queue = self._queue, []
        try:
            if self._stopped is not None:
                raise Stopped(self._stopped)
            before = self.labels
            self.journal.begin()
            for job in jobs:
                self._do(job)
            if self.labels // self.snapshot_every > before // self.snapshot_every:
                self.journal.keep_snapshot(self.labels, dumps(self.learner), self._seal)
            self.journal.commit()
        except BaseException as error:
            # The model may be ahead of the journal now: nothing may be answered from it.
            if self._stopped is None:
                self._stopped = f"the journal could not be written ({error}): open it again"
                self.journal.close()
            for job in jobs:
                job.error = Stopped(self._stopped, file=self.journal.path)
            if not isinstance(error, sqlite3.Error | NoRegretError | OSError):
                raise
        finally:
            for job in jobs:
                job.done = True

    def _do(self, job: Job) -> None:
        try:
            job.answer = job.act()
        except sqlite3.Error:
            raise
        except ServiceError as error:
            job.error = error
        except (NoRegretError, TypeError, ValueError) as error:
            self.refused["invalid"] += 1
            job.error = error

    # What they do.

    def _predict(self, x: Any, id: str | None) -> Reply:
        text, name = text_of(x), name_of(id)
        if id is not None and (known := self.journal.find(name)) is not None:
            return self._repeated(known, known.x == text and not known.at_once)
        event = self._scored(text, name)
        self.journal.add(event)
        self._seq = event.seq
        return answer_of(event)

    def _label(self, id: str | None, y: Any) -> Reply:
        if id is None:
            raise TypeError("a label needs the id of its prediction")
        name, text = name_of(id), outcome_text(y)
        event = self.journal.find(name)
        if event is None:
            cure = "predict with this id first, or send the example with its label"
            self._refuse("unknown", UnknownId(f"no prediction has the id {name!r}", cure))
            raise AssertionError
        if event.y is not None:
            if event.y != text:
                what = f"{name!r} was labelled {event.y}, not {text}"
                self._refuse("conflict", Conflict(what))
            return self._repeated(event)
        now = self._now()
        if self.ttl is not None and now > event.time + self.ttl:
            what = f"the label of {name!r} came {now - event.time:.6g} s after its prediction"
            self._refuse("expired", Expired(f"{what}: the time to live is {self.ttl:g} s"))
        self.journal.add_label(self._taught(event, text, now))
        return answer_of(event)

    def _learn(self, x: Any, y: Any, id: str | None) -> Reply:
        text, label, name = text_of(x), outcome_text(y), name_of(id)
        if id is not None and (known := self.journal.find(name)) is not None:
            same = known.x == text and known.at_once == 1 and known.y == label
            return self._repeated(known, same)
        event = self._scored(text, name)
        self.journal.add(self._taught(event._replace(at_once=1), label, event.time))
        self._seq = event.seq
        return answer_of(event)

    def _scored(self, text: str, name: str) -> Event:
        """Predict an example, from the text that a restart would read."""
        x = example_of(text)
        score, prediction = self.learner.decision_one(x), self.learner.predict_one(x)
        chances = None
        if self.learner.engine.loss.name == "logistic":
            chances = list(self.learner.predict_proba_one(x).items())
        answer = as_json([plain(prediction), chances])
        return Event(self._seq + 1, name, self._now(), text, self.labels, score, answer, 0)

    def _taught(self, event: Event, label: str, now: float) -> Event:
        """Learn the label of an event, and return it with the label."""
        y = json.loads(label)
        self.learner.learn_one(example_of(event.x), y)
        loss = self.learner.engine.loss
        outcome = (1.0 if y > 0 else -1.0) if loss.labels else float(y)
        paid = float(loss.value(event.score, outcome))
        self.labels += 1
        self.loss += paid
        self.late += self.labels - 1 > event.made
        self.delay += self.labels - 1 - event.made
        taught = event._replace(y=label, learned=self.labels, labelled=now, loss=paid)
        taught = taught.sealed(self._seal)
        self._seal = taught.seal
        return taught

    def _repeated(self, event: Event, same: bool = True) -> Reply:
        """Return the stored answer; refuse a request that is not the same."""
        if not same:
            self._refuse("conflict", Conflict(f"id {event.id!r} was used for another request"))
        self.repeated += 1
        return answer_of(event)

    def _refuse(self, why: str, error: ServiceError) -> None:
        self.refused[why] += 1
        raise error

    def _now(self) -> float:
        self._time = max(self._time, self._clock())
        return self._time

    # Results.

    @property
    def pending(self) -> int:
        """The number of predictions whose label has not come."""
        return self._seq - self.labels

    @property
    def stopped(self) -> str | None:
        """The reason why it answers nothing any more; None if it does."""
        return self._stopped

    def metrics(self) -> dict[str, Any]:
        """Return counts and losses so far; the loss is that of the predictions as served."""
        with self._turn:
            found: dict[str, Any] = {
                "predictions": self._seq,
                "labels": self.labels,
                "pending": self.pending,
                "loss": self.loss,
                "mean_loss": self.loss / self.labels if self.labels else None,
                "late_labels": self.late,
                "delay": self.delay,
                "repeated": self.repeated,
                "refused": dict(self.refused),
            }
        if self.learner.engine.loss.name == "square" and self.labels:
            found["rmse"] = math.sqrt(found["mean_loss"])
        return found

    def certificate(self, **options: Any) -> Certificate:
        """Return a certificate of what was served, from the rows in the journal.

        The options are those of ``Game.certificate``. Theorems are about labels that are learned
        before the next prediction: if one came later, there is no certificate.
        """
        from noregret.proof.game.game import play

        with self._turn:
            if self._stopped is not None:
                raise Stopped(self._stopped)
            if not self.labels:
                raise NotCertified("no label came yet: there is nothing to certify")
            if self.late:
                what = f"{self.late:,} of {self.labels:,} labels came after others were learned"
                raise NotCertified(f"{what}: no certificate covers that yet", WAIT)
            pairs = [(fields_of(e.x), json.loads(e.y or "")) for e in self.journal.learned()]
        return play(self.learner.clone(), pairs).certificate(**options)

    def export(self, path: str | Path, target: str = "y") -> None:
        """Write the labelled examples as JSON lines, in the order in which they were learned.

        ``noregret verify CERTIFICATE path --target y`` checks the certificate with them. Text that
        is empty, or in a field that also holds numbers, is written as its feature, ``"name=text":
        1``; the fields of lists are numbered from 0.
        """
        with self._turn:
            write_pieces(path, self.exported(target))

    def exported(self, target: str = "y") -> Iterator[bytes]:
        """Yield the lines of ``export``; nothing may be answered meanwhile."""
        mixed = mixed_fields(event.x for event in self.journal.learned())
        for event in self.journal.learned():
            named = written(event.x, mixed)
            if target in named:
                what = f"there is a feature called {target!r}"
                raise NoRegretError(what, "choose another name for the target")
            yield (as_json(named | {target: json.loads(event.y or "")}) + "\n").encode()

    # The end.

    def close(self) -> None:
        """Write a snapshot and close the journal."""
        with self._turn:
            if self._stopped is None:
                self._stopped = "the service is closed"
                with suppress(sqlite3.Error):  # without it the next start learns more again
                    self.journal.begin()
                    self.journal.keep_snapshot(self.labels, dumps(self.learner), self._seal)
                    self.journal.commit()
                self.journal.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Service({self.learner!r}, {self.journal.path!r})"


def check_learner(learner: Any) -> None:
    """Refuse what cannot be served."""
    if not isinstance(learner, Learner):
        raise TypeError(f"a service takes a learner, such as Auto(): got {learner!r}")
    if isinstance(learner, ClassLearner):
        raise TypeError(f"{learner.name} has several classes, which a service cannot serve yet")
    if learner.rounds:
        raise ValueError("the learner has learned already: give an untrained one (clone())")


def is_python_loss(value: Any) -> bool:
    """Return whether a parameter is a loss written in Python."""
    from noregret.base.compiled.losses import PythonLoss

    return isinstance(value, PythonLoss)
