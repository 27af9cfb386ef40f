"""Requests that arrive while others are being committed wait, and are then committed together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from noregret.service.database import Sqlite
from noregret.service.errors import ServiceError
from noregret.service.requests import Job, Reply, Request
from noregret.service.service import Service

T = TypeVar("T")
# Requests that may wait for one model.
MAX_WAITING = 20_000
Answers = list[Reply | Exception]


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
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="noregret-disk")
        self._waiting: list[tuple[Sequence[Request], asyncio.Future[Answers]]] = []
        self._count = 0
        self._busy = False
        # A database elsewhere may take its time for each statement, not for the commit alone.
        self._local = isinstance(service.journal.database, Sqlite)

    def ask(self, requests: Sequence[Request]) -> asyncio.Future[Answers]:
        """Return the replies to some requests, once they are on disk."""
        if self._count + len(requests) > MAX_WAITING:
            raise Overloaded(f"{self._count:,} requests wait already", "try again in a second")
        self._count += len(requests)
        loop = asyncio.get_running_loop()
        asked: asyncio.Future[Answers] = loop.create_future()
        self._waiting.append((requests, asked))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._begin, loop)  # after all that has arrived by now
        return asked

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Do all that waits, and let the thread wait for the disk."""
        held, self._waiting = self._waiting, []
        requests = [request for asked, _ in held for request in asked]
        self._count = 0
        try:
            jobs = self.service.begin(requests) if self._local else None
            self._disk.submit(self._commit, loop, held, requests, jobs)
        except Exception as error:
            self._answer(loop, held, [error] * len(requests))

    def _commit(
        self,
        loop: asyncio.AbstractEventLoop,
        held: list[tuple[Sequence[Request], asyncio.Future[Answers]]],
        requests: list[Request],
        jobs: list[Job] | None,
    ) -> None:
        """Wait for the disk, in a thread for that."""
        try:
            if jobs is None:
                answers = self.service.answer_many(requests)
            else:
                self.service.end(jobs)
                answers = [job.outcome for job in jobs]
        except Exception as error:
            answers = [error] * len(requests)
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._answer, loop, held, answers)

    def _answer(
        self,
        loop: asyncio.AbstractEventLoop,
        held: list[tuple[Sequence[Request], asyncio.Future[Answers]]],
        answers: Answers,
    ) -> None:
        at = 0
        for asked, told in held:
            if not told.done():  # the client may have gone
                told.set_result(answers[at : at + len(asked)])
            at += len(asked)
        self._busy = bool(self._waiting)
        if self._busy:
            loop.call_soon(self._begin, loop)

    async def do(self, act: Callable[[], T]) -> T:
        """Do something in the thread of the model."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, act)

    def close(self) -> None:
        """Finish what is under way, and close the journal."""
        self._thread.submit(self.service.close).result()
        self._thread.shutdown()
        self._disk.shutdown()

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
