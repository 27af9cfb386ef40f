"""A worker thread that runs jobs in order."""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

from noregret.errors import NoRegretError

Job = Callable[[], None]


class Backstage:
    """A thread that runs jobs one after the other. It ends with ``close``."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.done: SimpleQueue[BaseException | None] = SimpleQueue()
        self.waiting = 0
        self.process = os.getpid()
        self.thread = Thread(target=self.run, name="noregret", daemon=True)
        self.thread.start()

    def run(self) -> None:
        """Run the jobs; after one fails, skip the rest."""
        failure: BaseException | None = None
        while (job := self.jobs.get()) is not None:
            if failure is None:
                try:
                    job()
                except BaseException as error:  # raised again in the calling thread
                    failure = error
            self.done.put(failure)

    def add(self, job: Job) -> None:
        """Add a job to the queue."""
        self.check_process()
        self.waiting += 1
        self.jobs.put(job)

    def check_process(self) -> None:
        """Raise an error in a forked process, which does not have the thread."""
        if os.getpid() != self.process:
            raise NoRegretError(
                "the process was forked in the middle of this game, and the copy"
                " lacks the thread that keeps its books",
                "fork before the game, or when it is over",
            )

    def catch_up(self, most: int = 0) -> None:
        """Wait until at most this many jobs are left; raise the error of a failed one."""
        self.check_process()
        while self.waiting > most or (self.waiting and not self.done.empty()):
            self.waiting -= 1
            failure = self.done.get()
            if failure is not None:
                raise failure

    def close(self) -> None:
        """End the thread after its jobs."""
        if os.getpid() != self.process:
            return
        self.jobs.put(None)
        self.thread.join()
