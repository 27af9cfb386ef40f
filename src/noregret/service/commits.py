"""Requests of any thread, done in order; all that wait at the same time share a transaction."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from noregret.errors import NoRegretError
from noregret.service.errors import ServiceError, Stopped
from noregret.service.playing import Play
from noregret.service.requests import Job, Reply, Request

Asked = Request | Callable[[], Any]


class Commits:
    """Transactions of requests. One that fails is the last: the models may be ahead of the journal.

    Parameters
    ----------
    play
        Does a request.
    write
        Writes what was done, given the number of labels before the transaction.
    is_long
        Returns whether that takes long, given the same.
    """

    def __init__(
        self, play: Play, write: Callable[[int], None], is_long: Callable[[int], bool]
    ) -> None:
        self.play, self.journal, self.write, self.is_long = play, play.journal, write, is_long
        self.stopped: str | None = None  # why nothing is done any more
        self.turn = threading.Lock()  # held by the thread that uses the journal
        self._gate = threading.Lock()
        self._queue: list[Job] = []
        self._process = os.getpid()
        self._before, self._written = 0, True  # labels before the open transaction

    def answer_many(self, requests: Iterable[Asked]) -> list[Reply | Exception]:
        """Do requests in order, together with all that wait now, and return the replies."""
        jobs = [Job(request) for request in requests]
        self._check_process()
        with self._gate:
            self._queue += jobs
        with self.turn:
            if not all(job.done for job in jobs):
                self._work()
        return [job.outcome for job in jobs]

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise Stopped("a service cannot be used in a forked process", "make one there")

    def _work(self) -> None:
        """Do all requests that wait, and commit them."""
        with self._gate:
            jobs, self._queue = self._queue, []
        try:
            self._play(jobs)
            self.write(self._before)
            self.journal.commit()
        except BaseException as error:
            self._fail(jobs, error)
        finally:
            for job in jobs:
                job.done = True

    def begin(self, requests: Iterable[Asked]) -> list[Job] | None:
        """Do requests without the commit, which ``end`` waits for; None if other threads ask.

        A server does the first in its own thread, and waits for the disk in another. ``end`` must
        be called next, from any thread.
        """
        if os.getpid() != self._process or not self.turn.acquire(blocking=False):
            return None
        jobs = [Job(request) for request in requests]
        try:
            self._play(jobs)
            self._written = not self.is_long(self._before)  # else ``end`` writes
            if self._written:
                self.write(self._before)
        except BaseException as error:
            try:
                self._fail(jobs, error)
            except BaseException:
                self.turn.release()
                raise
        return jobs

    def end(self, jobs: list[Job]) -> None:
        """Commit what ``begin`` has done; the jobs have their outcomes then."""
        try:
            if self.stopped is None:
                if not self._written:
                    self.write(self._before)
                self.journal.commit()
        except BaseException as error:
            self._fail(jobs, error)
        finally:
            self.turn.release()

    def _play(self, jobs: list[Job]) -> None:
        """Do requests in a transaction that is left open."""
        if self.stopped is not None:
            raise Stopped(self.stopped)
        self._before, self.play.now = self.journal.labels, None
        self.journal.begin()
        act, failures = self.play.act, self.journal.failures
        for job in jobs:
            request = job.request
            try:
                job.answer = act(request) if type(request) is Request else request()  # type: ignore[operator]
            except failures:
                raise
            except ServiceError as error:
                job.error = error
            except (NoRegretError, TypeError, ValueError) as error:
                self.play.refused["invalid"] += 1
                job.error = error

    def _fail(self, jobs: list[Job], error: BaseException) -> None:
        """Stop: the model may be ahead of the journal now, so nothing may be answered from it."""
        if self.stopped is None:
            self.stopped = f"the journal could not be written ({error}): open it again"
            self.journal.close()
        for job in jobs:
            job.error = Stopped(self.stopped, file=self.journal.path)
        if not isinstance(error, (*self.journal.failures, NoRegretError, OSError)):
            raise error
