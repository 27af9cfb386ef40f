"""Prefetching: jobs run in other threads while the main thread learns, with results in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

from noregret.errors import NoRegretError

T = TypeVar("T")
# Worker threads, and results that may wait in the queue.
WORKERS, MAX_QUEUED_RESULTS = 2, 4
# Seconds between checks whether the results are still wanted.
POLL_SECONDS = 0.1


def in_order(
    jobs: Iterator[Callable[[], T]], wanted: Callable[[], bool] = lambda: True
) -> Generator[T, None, None]:
    """Yield the results of jobs in order, with a few jobs run in advance.

    One thread takes the jobs, which may wait for input, and others run them. An exception is raised
    at the position of its job. The iteration ends early once it is no longer ``wanted``.
    """
    process = os.getpid()
    results: Queue[Future[T] | None] = Queue(MAX_QUEUED_RESULTS)
    over = Event()
    pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="noregret")

    def hand_in(result: Future[T] | None) -> None:
        while not over.is_set():
            try:
                results.put(result, timeout=POLL_SECONDS)
            except Full:
                continue
            return

    def feed() -> None:
        try:
            for job in jobs:
                if over.is_set():
                    return
                hand_in(pool.submit(job))
            hand_in(None)
        except BaseException as error:
            failed: Future[T] = Future()
            failed.set_exception(error)
            hand_in(failed)
        finally:
            close = getattr(jobs, "close", None)
            if close is not None:  # jobs that are read ahead themselves have threads of their own
                close()

    Thread(target=feed, name="noregret-feed", daemon=True).start()
    try:
        while wanted():
            if os.getpid() != process:
                raise NoRegretError(
                    "the process was forked while this stream was being read, and the"
                    " copy lacks the threads that read it",
                    "read it again, or fork before",
                )
            try:
                result = results.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if result is None:
                return
            yield result.result()
    finally:
        if os.getpid() == process:  # a forked copy lacks the threads, and some locks stay closed
            over.set()
            pool.shutdown(wait=False, cancel_futures=True)


def ahead(things: Iterable[T], wanted: Callable[[], bool]) -> Generator[T, None, None]:
    """Yield the items of an iterable in order, computing the next one in another thread."""

    def made(thing: T) -> T:
        return thing

    return in_order((partial(made, thing) for thing in things), wanted)
