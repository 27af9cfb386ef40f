"""A learner that predicts and learns for a program, and loses nothing that it acknowledged."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from noregret.base.atomic_files import write_pieces
from noregret.checks import positive, whole
from noregret.errors import NoRegretError
from noregret.linear.learner import Learner
from noregret.service import certifying
from noregret.service.challengers import Challengers
from noregret.service.commits import Asked, Commits
from noregret.service.database import is_address
from noregret.service.errors import NotCertified, ServiceError, Stopped, UnknownId
from noregret.service.events import Totals
from noregret.service.journal import Journal
from noregret.service.models import Models
from noregret.service.opening import restored, time_to_live
from noregret.service.past import Past
from noregret.service.playing import Play
from noregret.service.requests import Reply, Request
from noregret.service.scoring import check_learner
from noregret.streams.addresses import shown

if TYPE_CHECKING:
    from noregret.base.compiled.losses import Loss
    from noregret.proof.certificates.certificate import Certificate

SNAPSHOT_EVERY = 10_000
# Models of keys held in memory at the same time.
RESIDENT = 10_000
T = TypeVar("T")
Clock = Callable[[], float]


class Service:
    """A learner with a journal.

    Each request is written to the journal, in one transaction with all others that wait at the same
    time, before it is answered. After a crash the model is the same to the last bit: the last
    snapshot, with the labels since then learned again in order. Calls may come from any thread.

    Parameters
    ----------
    learner
        A learner, untrained or trained; None to continue with the one in the store. With a
        trained one, the models of all keys start from it.
    store
        The file of the journal, an SQLite database, which is created if it does not exist; or the
        address of a PostgreSQL database, ``postgresql://user@host/database#schema``.
    ttl
        Seconds within which a label must come, ``inf`` for no limit; None for that in the store,
        which keeps the one given last.
    snapshot_every
        Labels between snapshots of the models.
    retain
        The number of labels to keep at least; older ones are removed at snapshots, and with a
        ``ttl`` also predictions whose label can no longer come. None to keep all: certificates
        need them.
    resident
        The number of models to hold in memory, if there is one per key.
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
        retain: int | None = None,
        resident: int = RESIDENT,
        loss: Loss | None = None,
        clock: Clock = time.time,
    ) -> None:
        if learner is not None:
            check_learner(learner)
        if ttl is not None and ttl != math.inf:
            positive("ttl", ttl)
        self.snapshot_every = whole("snapshot_every", snapshot_every)
        self.retain = None if retain is None else whole("retain", retain)
        resident = whole("resident", resident)
        if learner is None and not is_address(store) and not Path(store).exists():
            raise ServiceError("there is no journal", "give a learner to begin one", file=store)
        self.journal = Journal(store)
        try:
            self.contenders = restored(self.journal, learner, resident, loss)
        except BaseException as error:
            self.journal.close()
            damaged = isinstance(error, (*self.journal.failures, KeyError, TypeError, ValueError))
            if isinstance(error, NoRegretError) or not damaged:
                raise
            raise ServiceError(f"a damaged journal ({error})", file=shown(store)) from None
        self._expired, gone, _ = self.journal.removed()
        self.removed = gone.labels
        self.ttl = time_to_live(self.journal, ttl)
        self.play = Play(self.journal, self.contenders, self.ttl, clock)
        self.commits = Commits(self.play, self._write, self._is_due)

    @property
    def start(self) -> Learner | None:
        """A copy of the trained model that the journal began with; None if it was untrained.

        ``verify`` takes it, or its file, as ``start``.
        """
        return self.fresh.copy() if self.fresh.rounds else None

    @property
    def learner(self) -> Learner:
        """The model without a key."""
        return self.models.get(None)

    @property
    def fresh(self) -> Learner:
        """The learner that the journal began with: all models take the same rows and labels."""
        return self.contenders.first.fresh

    @property
    def models(self) -> Models:
        """The models that serve, by key."""
        return self.contenders.models[self.contenders.serving]

    @property
    def labels(self) -> int:
        """The number of labels learned."""
        return self.journal.labels

    @property
    def loss(self) -> float:
        """The loss of the predictions as served."""
        return self.journal.loss

    @property
    def late(self) -> int:
        """The number of labels that came after others had been learned."""
        return self.journal.late

    @property
    def delay(self) -> int:
        """The labels learned between each prediction and its own, in all."""
        return self.journal.delay

    # Requests.

    def predict(self, x: Any, id: str | None = None, key: str | None = None) -> Reply:
        """Predict the outcome of an example, and wait for its label.

        Before its first label, a classifier replies None, as it knows no class; afterwards, labels
        as they are given: for two classes False or True, 0 or 1, −1 or 1.

        Parameters
        ----------
        x
            The example: a dict of names to values, or a list of numbers.
        id
            Its name, for the label and for repeated requests; one is made up if it is not given.
        key
            The key of the model, such as a shop or a user: each key has a model of its own.

        Raises
        ------
        Conflict
            If the id was used for another example.
        """
        return self.submit(Request("predict", id, x, None, key))

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
        return self.submit(Request("label", id, None, y))

    def learn(self, x: Any, y: Any, id: str | None = None, key: str | None = None) -> Reply:
        """Predict the outcome of an example, then learn it."""
        return self.submit(Request("learn", id, x, y, key))

    def answer_many(self, requests: Iterable[Asked]) -> list[Reply | Exception]:
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
        return self.commits.answer_many(requests)

    def submit(self, request: Request | Callable[[], Reply]) -> Reply:
        """Do a request together with all that wait now, and commit once.

        It may also be a call for the open transaction, which returns the reply.
        """
        (found,) = self.commits.answer_many([request])
        if isinstance(found, Exception):
            raise found
        return found

    def change(self, what: str, name: str, fresh: Any, bound: float) -> None:
        """Change which models play, and write a snapshot, in the open transaction."""
        self.contenders.change(self.journal.seq, self.play.tick(), what, name, fresh, bound)
        self._snapshot()

    def undisturbed(self, ask: Callable[[], T]) -> T:
        """Return the result of a question that is asked while nothing is answered."""
        with self.commits.turn:
            return ask()

    def _write(self, before: int) -> None:
        """Write what was done, in the open transaction, given the labels before it."""
        if self._is_due(before):
            self._snapshot()
        self.contenders.trim(self.labels)
        self.journal.flush()

    def _is_due(self, before: int) -> bool:
        """Return whether a snapshot is due, given the labels before the open transaction."""
        return self.labels // self.snapshot_every > before // self.snapshot_every

    def _snapshot(self) -> None:
        """Write all models, and remove what need not be retained, in the open transaction."""
        self.contenders.save(self.labels)
        self.journal.keep_snapshot()
        if self.retain is not None and self.labels - self.retain > self.removed:
            before = None if self.ttl is None else self.play.tick() - self.ttl
            last_expired = self.journal.remove(self.labels - self.retain, before)
            self._expired, gone, _ = self.journal.removed()
            self.removed = gone.labels
            self.contenders.forget(gone.predictions, last_expired)

    @property
    def challengers(self) -> Challengers:
        """Other learners that play every event in shadow, and which of all models serves."""
        return Challengers(self)

    # Results.

    @property
    def pending(self) -> int:
        """The number of predictions whose label has not come."""
        return self.journal.seq - self.labels - self._expired

    @property
    def stopped(self) -> str | None:
        """The reason why it answers nothing any more; None if it does."""
        return self.commits.stopped

    def metrics(self) -> dict[str, Any]:
        """Return counts and losses so far; the loss is that of the predictions as served.

        Refused and repeated requests, and mistakes, are counted since it was opened.
        """
        with self.commits.turn:
            found: dict[str, Any] = {
                "predictions": self.journal.seq,
                "labels": self.labels,
                "pending": self.pending,
                "loss": self.loss,
                "mean_loss": self.loss / self.labels if self.labels else None,
                "late_labels": self.late,
                "delay": self.delay,
                "repeated": self.play.repeated,
                "refused": dict(self.play.refused),
            }
        if self.play.of_labels:
            found["mistakes"] = self.play.mistakes
        if self.fresh.engine.loss.name == "square" and self.labels:
            found["rmse"] = math.sqrt(found["mean_loss"])
        return found

    def certificate(
        self, *, key: str | None = None, of: str | None = None, **options: Any
    ) -> Certificate:
        """Return a certificate of what was served, from the rows in the journal.

        Requests are answered meanwhile; it covers the labels that had come when it was asked for.
        If labels came late, the loss is still that of the predictions as served. Gradient descent
        has a bound then too (theorem ``delayed-gradient``); for other learners the certificate
        states the regret, and claims no bound.

        Parameters
        ----------
        key
            The key of the model, None for that without one.
        of
            The name of a mixture (``challengers.mix``): the certificate is then about all rounds
            that it has played since it was added, whether or not it served.
        **options
            As in ``Game.certificate``.
        """
        with self._past(of) as past:
            if of is None:
                return certifying.certified(self.fresh, past, key, options)
            mixture, master = self.contenders.mixtures[of], self.contenders.models[of].fresh
            played = self.contenders.played(of, key, past)
            untrained: Any = master.clone()
            return mixture.certificate(untrained, played, **options)

    @contextmanager
    def _past(self, of: str | None = None) -> Iterator[Past]:
        """Give all labels so far to read, while others come."""
        with self.commits.turn:
            self._check_complete(of)
            past = Past(self.journal, self.commits.turn)
        try:
            yield past
        except Exception:
            if self.removed or self.stopped is not None:  # meanwhile
                self._check_complete(of)
            raise

    def _check_complete(self, of: str | None = None) -> None:
        """Raise an error if the journal is closed, or does not have all rows."""
        if self.stopped is not None:
            raise Stopped(self.stopped)
        if self.removed:
            what = f"the first {self.removed:,} labels were removed from the journal (retain)"
            raise NotCertified(f"{what}: a certificate needs all of them")
        if of is not None:
            if of not in self.contenders.mixtures:
                raise UnknownId(f"there is no mixture {of!r}", "POST challengers makes one")
        elif self.contenders.previous is not None:
            cure = f"a mixture has one: of={next(iter(self.contenders.mixtures), 'NAME')}"
            raise NotCertified(
                "several models served (promote): no certificate covers them all", cure
            )

    def export(
        self,
        path: str | Path,
        target: str = "y",
        key: str | None = None,
        of: str | None = None,
    ) -> None:
        """Write the labelled examples as JSON lines, in the order in which they were learned.

        ``noregret verify CERTIFICATE path --target y`` checks the certificate with them. Text that
        is empty, or in a field that also holds numbers, is written as its feature, ``"name=text":
        1``; the fields of lists are numbered from 0. If labels came late, a prediction has a line
        with its ``id`` and its features, and its label another with the ``id``, in the order of
        time; ``noregret run --id id`` reads such files too.

        With the name of a mixture (``of``), the lines are the forecasts of its members.
        """
        write_pieces(path, self.exported(target, key, of))

    def exported(
        self, target: str = "y", key: str | None = None, of: str | None = None
    ) -> Iterator[bytes]:
        """Yield the lines of ``export``."""
        with self._past(of) as past:
            if of is None:
                yield from certifying.exported(self.fresh, past, key, target)
            else:
                played = self.contenders.played(of, key, past)
                yield from self.contenders.mixtures[of].lines(played, target)

    def outcomes(
        self, *, key: str | None = None, of: str | None = None
    ) -> Iterator[tuple[Any, float]]:
        """Yield the label and the loss of every prediction with a label, in the order of learning.

        Parameters
        ----------
        key, of
            As for ``certificate``.
        """
        with self._past(of) as past:
            if of is None:
                for event in certifying.labelled(past, key):
                    yield event.outcome, float(event.loss or 0.0)
            else:
                for _, outcome, loss, *_ in self.contenders.played(of, key, past):
                    yield outcome, float(loss or 0.0)

    def waiting(self) -> tuple[float, float] | None:
        """Return how many seconds the oldest label has been pending, and the middle one.

        None if none is known: of predictions before the start, and of all but the last 65,536, it
        is not.
        """
        with self.commits.turn:
            events = list(self.journal.waiting.values())
            now = max(self.play.clock(), self.journal.time)
        if not events:
            return None
        return now - events[0].time, now - events[len(events) // 2].time

    def keys(self, most: int = 100) -> list[dict[str, Any]]:
        """Return figures of the keys with the most predictions."""
        with self.commits.turn:
            return [] if self.stopped is not None else self.journal.keys(most)

    def recent(self, seconds: float, most: int) -> list[Totals]:
        """Return the totals after each of the last transactions, at most some seconds old."""
        with self.commits.turn:
            since = self.play.clock() - seconds
            return [] if self.stopped is not None else self.journal.recent(since, most)

    # The end.

    def close(self) -> None:
        """Write a snapshot and close the journal."""
        with self.commits.turn:
            if self.stopped is None:
                self.commits.stopped, self.play.now = "the service is closed", None
                with suppress(*self.journal.failures):  # else the next start learns more again
                    self.journal.begin()
                    self._snapshot()
                    self.journal.commit()
                self.journal.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Service({self.models.fresh!r}, {self.journal.path!r})"
