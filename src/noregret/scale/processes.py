"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from noregret.checks import whole
from noregret.scale.give_back import carried_out
from noregret.scale.pool import PATIENCE, Pool, WorkerLost

T = TypeVar("T")
R = TypeVar("R")
# Processes that one machine may start, each of which takes 100 MB or more.
MAX_WORKERS = 256
# Seconds between checks that the process that has started a worker still runs.
PARENT_SECONDS = 1.0
# Processes per worker, with those whose tasks hang.
MAX_SPARE = 2


class Worker:
    """A process that does one task at a time.

    A ``forked`` one has all that was imported before; others import it again.
    """

    def __init__(self, forked: bool = False) -> None:
        context: Any = multiprocessing.get_context("fork" if forked else "spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(other,), daemon=True)
        with without_interrupts():
            self.process.start()
        other.close()
        self.task: int | None = None
        self.hired = False

    def kill(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Processes(Pool):
    """Worker processes on this machine.

    Parameters
    ----------
    workers
        How many; by default as many as there are processors.
    patience
        As in ``Pool``.
    forked
        Whether to start all workers now, by copying this process, which takes milliseconds. It is
        not done in a process that has several threads: its copy might wait for ever for a lock
        that one of them holds.

    Examples
    --------
    >>> from noregret.scale import Processes
    >>> import math
    >>> with Processes(2) as pool:
    ...     list(pool.map(math.sqrt, [1, 4, 9]))
    [1.0, 2.0, 3.0]
    """

    def __init__(
        self, workers: int | None = None, patience: float = PATIENCE, forked: bool = False
    ) -> None:
        count = processors() if workers is None else whole("workers", workers)
        if count > MAX_WORKERS:
            raise ValueError(f"workers must be at most {MAX_WORKERS}: got {count}")
        super().__init__(count, patience)
        self.numbers = itertools.count()
        self.found: list[Worker] = []
        self.results: dict[int, tuple[bool, Any]] = {}
        if forked and thread_count() == 1:
            self.found += [Worker(forked=True) for _ in range(count)]

    def submit(self, function: Callable[[T], R], task: T) -> int:
        """Start a task on an idle worker, a new one if there is none."""
        number = next(self.numbers)
        while True:
            worker = self.idle()
            try:
                worker.pipe.send((number, function, task))
            except OSError:  # it has ended since
                self.remove(worker)
                continue
            worker.task = number
            return number

    def idle(self) -> Worker:
        """Return a worker without a task, a new one if there is none."""
        free = [each for each in self.found if not each.hired]
        worker = next((each for each in free if each.task is None), None)
        if worker is None:
            assert len(free) <= MAX_SPARE * self.workers, "workers are not used again"
            worker = Worker()
            self.found.append(worker)
        return worker

    def hire(self) -> Worker:
        """Take an idle worker for tasks that are sent to it alone."""
        worker = self.idle()
        worker.hired = True
        return worker

    def submit_to(self, worker: Worker, function: Callable[[T], R], task: T) -> int:
        """Start a task on a hired worker."""
        number = next(self.numbers)
        try:
            worker.pipe.send((number, function, task))
            worker.task = number
        except OSError:  # it has ended since
            self.dismiss(worker)
            self.results[number] = False, WorkerLost(f"process {worker.process.pid}")
        return number

    def dismiss(self, worker: Worker) -> None:
        """End a hired worker."""
        if worker in self.found:
            self.remove(worker)

    def wait(self, handles: Sequence[int], seconds: float) -> list[int]:
        """Return the tasks that have ended."""
        if ended := [number for number in handles if number in self.results]:
            return ended
        busy = {worker.pipe: worker for worker in self.found if worker.task is not None}
        for pipe in wait(list(busy), seconds):
            assert isinstance(pipe, Connection)
            worker = busy[pipe]
            try:
                number, *result = pipe.recv()
                self.results[number] = tuple(result)
                worker.task = None
            except (EOFError, OSError):
                assert worker.task is not None
                self.remove(worker)
                lost = WorkerLost(f"process {worker.process.pid}, exit {worker.process.exitcode}")
                self.results[worker.task] = False, lost
        return [number for number in handles if number in self.results]

    def result(self, handle: int) -> Any:
        """Return a result, or raise its error."""
        fine, result = self.results[handle]
        if fine:
            return result
        raise result

    def give_up(self, handle: int) -> None:
        """End the process that does a task."""
        self.results.pop(handle, None)
        for worker in self.found:
            if worker.task == handle:
                self.remove(worker)
                return

    def forget(self, handle: int) -> None:
        """Free the result of a task."""
        self.results.pop(handle, None)

    def remove(self, worker: Worker) -> None:
        """End a worker."""
        self.found.remove(worker)
        worker.kill()

    def close(self) -> None:
        """End all workers."""
        while self.found:
            self.remove(self.found[-1])


def thread_count() -> int | None:
    """Return the number of threads of this process, those of libraries too; None if unknown."""
    with contextlib.suppress(OSError):
        return len(os.listdir("/proc/self/task"))
    return None


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Make processes that are started here ignore Ctrl-C, which is for the one that waits."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def work(pipe: Connection) -> None:
    """Do tasks until the other end of the pipe is closed, or the process that holds it has ended.

    Other workers may have copies of that end, so that it is not closed with the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    while True:
        try:
            number, function, task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            result = True, carried_out(function, task)
        except Exception as error:
            result = False, error.with_traceback(None)
        with contextlib.suppress(OSError):
            pipe.send((number, *result))


def end_with_parent() -> None:
    """End this process when the one that started it has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        while os.getppid() == parent.pid and parent.is_alive():
            parent.join(PARENT_SECONDS)
        os._exit(1)
