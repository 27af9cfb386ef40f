"""Requests that arrive while others are being committed wait, and are then committed together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from noregret.service.database import Sqlite
from noregret.service.errors import ServiceError
from noregret.service.requests import Job, Reply, Request
from noregret.service.service import Service

T = TypeVar("T")
# Requests that may wait for one model.
MAX_WAITING = 20_000
# Seconds to wait for as many calls as the last transaction had.
MAX_WAIT = 0.001
Answers = list[Reply | Exception]
Tell = Callable[[Answers], None]
Asks = Request | Callable[[], Any]
Asked = tuple[Sequence[Asks], Tell]
Begun = tuple[asyncio.AbstractEventLoop, list[Asked], list[Asks], list[Job] | None]
logger = logging.getLogger("uvicorn.error")


class Overloaded(ServiceError):
    """Raised if too many requests wait."""

    status = 503


class Desk:
    """The requests of one model: a thread of its own answers all that wait in one transaction.

    Parameters
    ----------
    service
        The model and its journal.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        # Questions wait until the disk has what is under way, so that they need another thread.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="noregret-serve")
        self._reports = ThreadPoolExecutor(1, thread_name_prefix="noregret-report")
        self._disk = Thread(target=self._commit_all, name="noregret-disk", daemon=True)
        self._begun: SimpleQueue[Begun | None] = SimpleQueue()
        self._waiting: list[Asked] = []
        self._count = 0
        self._busy = False
        self._has_told = False  # in the log that the service stopped
        self._last = 1  # calls of ``put`` in the last transaction
        self._timer: asyncio.TimerHandle | None = None
        # A database elsewhere may take its time for each statement, not for the commit alone.
        self._local = isinstance(service.journal.database, Sqlite)
        self._disk.start()

    def put(self, requests: Sequence[Asks], tell: Tell, count: int = 1) -> None:
        """Do some requests, and call ``tell`` with the replies once they are on disk.

        Parameters
        ----------
        requests
            Requests, or calls for the open transaction.
        tell
            Takes the replies.
        count
            The number of examples.
        """
        if self._count + count > MAX_WAITING:
            raise Overloaded(f"{self._count:,} requests wait already", "try again in a second")
        self._count += count
        self._waiting.append((requests, tell))
        if not self._busy:
            self._schedule(asyncio.get_running_loop())

    def ask(self, requests: Sequence[Request]) -> asyncio.Future[Answers]:
        """Return the replies to some requests, once they are on disk."""
        asked: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()

        def tell(answers: Answers) -> None:
            if not asked.done():  # the client may have gone
                asked.set_result(answers)

        self.put(requests, tell, len(requests))
        return asked

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin the next transaction when as many calls wait as the last had, or a little later.

        Clients that wait for their answers come back together: one commit is enough for them.
        """
        if len(self._waiting) >= self._last:
            self._busy = True
            if self._timer is not None:
                self._timer.cancel()
            loop.call_soon(self._begin, loop)  # after all that has arrived by now
        elif self._timer is None:
            self._timer = loop.call_later(MAX_WAIT, self._begin, loop)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Do all that waits, and let the thread wait for the disk."""
        self._busy, self._timer = True, None
        held, self._waiting = self._waiting, []
        self._last = len(held)
        requests = [request for asked, _ in held for request in asked]
        self._count = 0
        try:
            jobs = self.service.commits.begin(requests) if self._local else None
            self._begun.put((loop, held, requests, jobs))
        except Exception as error:
            self._answer(loop, held, [error] * len(requests))

    def _commit_all(self) -> None:
        """Wait for the disk, in a thread for that."""
        while (begun := self._begun.get()) is not None:
            loop, held, requests, jobs = begun
            try:
                if jobs is None:
                    answers = self.service.answer_many(requests)
                else:
                    self.service.commits.end(jobs)
                    answers = [job.outcome for job in jobs]
            except Exception as error:
                answers = [error] * len(requests)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._answer, loop, held, answers)

    def _answer(self, loop: asyncio.AbstractEventLoop, held: list[Asked], answers: Answers) -> None:
        at = 0
        for asked, tell in held:
            try:
                tell(answers[at : at + len(asked)])
            except Exception:
                logger.exception("an answer could not be sent")
            at += len(asked)
        self._tell_if_stopped()
        self._busy = False
        if self._waiting:
            self._schedule(loop)

    def _tell_if_stopped(self) -> None:
        """Log once that the journal failed, after which nothing is answered."""
        why = self.service.stopped
        if why is not None and not self._has_told:
            self._has_told = True
            where, words = self.service.journal.path, " ".join(why.split())
            logger.error(f"{where}: {words}; status 503 until the server is started again")

    async def do(self, act: Callable[[], T]) -> T:
        """Do something in the thread of the model."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, act)

    async def report(self, act: Callable[[], T]) -> T:
        """Do something that takes long, and lets requests be answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._reports, act)

    def close(self) -> None:
        """Finish what is under way, and close the journal."""
        self._tell_if_stopped()
        self._has_told = True
        self._thread.submit(self.service.close).result()
        self._thread.shutdown()
        self._reports.shutdown(cancel_futures=True)
        self._begun.put(None)
        self._disk.join()

    def facts(self) -> dict[str, Any]:
        """Return what anyone may know of the model."""
        service = self.service
        return {
            "learner": service.models.fresh.name,
            "parameters": {n: shown(value) for n, value in service.models.fresh.params.items()},
            "rounds": service.labels,
            "pending": service.pending,
        }


def shown(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
