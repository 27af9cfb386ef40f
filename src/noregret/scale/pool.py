"""Workers that run pure functions: results in order, tasks repeated when a worker is lost."""

from __future__ import annotations

import math
import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self, TypeVar

from noregret.errors import NoRegretError

T = TypeVar("T")
R = TypeVar("R")
# Workers that a task may lose before it counts as the cause.
MAX_LOSSES = 5
# A task that runs this many times as long as the median one, and these seconds, is started again.
SLOW, PATIENCE = 4.0, 60.0
# Seconds between checks for slow tasks, and for Ctrl-C.
POLL_SECONDS = 0.2


class WorkerLost(Exception):
    """Raised for a task whose worker has ended before it."""


class Pool(ABC):
    """Workers. Close it, or use it in a ``with`` statement.

    Parameters
    ----------
    workers
        The number of tasks that run at the same time.
    patience
        Seconds after which a task is started a second time, if it also takes four times as long as
        the median one: its worker may hang. The first result counts.
    """

    def __init__(self, workers: int, patience: float = PATIENCE) -> None:
        self.workers, self.patience = workers, patience

    # Implemented by each kind of workers.

    @abstractmethod
    def submit(self, function: Callable[[T], R], task: T) -> Any:
        """Start a task on an idle worker, and return a handle."""

    @abstractmethod
    def wait(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        """Return the handles that have ended, after waiting for one at most so long."""

    @abstractmethod
    def result(self, handle: Any) -> Any:
        """Return the result of a task that has ended; raise its error, or ``WorkerLost``."""

    @abstractmethod
    def give_up(self, handle: Any) -> None:
        """Stop a task whose result is no longer wanted."""

    def forget(self, handle: Any) -> None:
        """Free the result of a task."""
        return

    @abstractmethod
    def hire(self) -> Any:
        """Start a worker that keeps data between tasks, and return it."""

    @abstractmethod
    def submit_to(self, worker: Any, function: Callable[[T], R], task: T) -> Any:
        """Start a task on a hired worker that is idle, and return a handle."""

    @abstractmethod
    def dismiss(self, worker: Any) -> None:
        """End a hired worker, whatever it does."""

    @abstractmethod
    def close(self) -> None:
        """Stop all workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    # The work.

    def map(
        self,
        function: Callable[[T], R],
        tasks: Sequence[T],
        wanted: Callable[[], bool] = lambda: True,
    ) -> Iterator[R]:
        """Yield the results of a function for all tasks, in order.

        The function must be importable and pure: a task may run more than once. If a task fails,
        its error is raised at its place.

        Parameters
        ----------
        function, tasks
            What to compute, and for what.
        wanted
            Asked now and then; if it returns False, the iteration ends early.
        """
        work = Progress(self, function, tasks)
        try:
            for number in range(len(tasks)):
                while number not in work.ended:
                    if not wanted():
                        return
                    work.advance()
                yield work.take(number)
        finally:
            work.stop()


class Progress:
    """The tasks of one ``map``: those that run, those that wait, those that have ended."""

    def __init__(self, pool: Pool, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        self.pool, self.function, self.tasks = pool, function, tasks
        self.running: dict[Any, tuple[int, float]] = {}  # handles: the task, and its start
        self.left = list(reversed(range(len(tasks))))
        self.ended: dict[int, Any] = {}  # handles
        self.done: set[int] = set()
        self.losses = dict.fromkeys(self.left, 0)
        self.twice: set[int] = set()
        self.spent: list[float] = []

    def advance(self) -> None:
        """Start tasks as far as there are workers, and wait for some to end."""
        while self.left and len(self.running) < self.pool.workers + len(self.twice):
            self.start(self.left.pop())
        for handle in self.pool.wait(list(self.running), POLL_SECONDS):
            number, began = self.running.pop(handle)
            if number in self.done:
                continue
            try:
                self.pool.result(handle)
            except WorkerLost as lost:
                self.repeat(number, lost)
                continue
            except Exception:
                pass  # it is raised when the task's turn comes
            self.spent.append(time.monotonic() - began)
            self.done.add(number)
            self.ended[number] = handle
            self.drop_others(number)
        self.repeat_slow()

    def start(self, number: int) -> None:
        """Start a task."""
        handle = self.pool.submit(self.function, self.tasks[number])
        self.running[handle] = number, time.monotonic()

    def repeat(self, number: int, lost: WorkerLost) -> None:
        """Start the task of a lost worker again, unless it has lost too many."""
        self.losses[number] += 1
        if any(other == number for other, _ in self.running.values()):
            return
        if self.losses[number] > MAX_LOSSES:
            raise NoRegretError(
                f"{self.losses[number]} workers ended during the same task"
                f"{name_of(self.tasks[number])}: {lost}",
                (
                    "look above and in the system's log for the reason, such as no memory",
                    'in a script, start workers under ‘if __name__ == "__main__":’',
                ),
            )
        self.left.append(number)

    def repeat_slow(self) -> None:
        """Start a task that hangs a second time, once no other is left to start."""
        if self.left or not self.running:
            return
        usual = statistics.median(self.spent) if self.spent else math.inf
        limit = max(self.pool.patience, SLOW * usual if self.spent else 0.0)
        now = time.monotonic()
        for number, began in list(self.running.values()):
            if now - began > limit and number not in self.twice:
                self.twice.add(number)
                self.start(number)

    def drop_others(self, number: int) -> None:
        """Stop other attempts at a task that has ended."""
        for handle, (other, _) in list(self.running.items()):
            if other == number:
                del self.running[handle]
                self.pool.give_up(handle)

    def take(self, number: int) -> Any:
        """Return the result of a task, or raise its error."""
        handle = self.ended.pop(number)
        try:
            return self.pool.result(handle)
        finally:
            self.pool.forget(handle)

    def stop(self) -> None:
        """Stop what still runs."""
        for handle in self.running:
            self.pool.give_up(handle)
        self.running.clear()


def name_of(task: Any) -> str:
    """Return the name of a task for messages, in parentheses; empty if it has none."""
    parts = (task,) if is_named(task) or not isinstance(task, tuple) else task
    named = ", ".join(str(part) for part in parts if is_named(part))
    return f" ({named})" if named else ""


def is_named(task: Any) -> bool:
    """Return whether the class of a task, one of ours, puts it in words."""
    kind = type(task)
    return kind.__module__.startswith("noregret.") and "__str__" in vars(kind)


def pool_of(workers: int | None, cluster: str | None) -> Pool:
    """Return the workers that a command asks for: processes, or those of a Ray cluster."""
    if cluster is not None:
        from noregret.scale.ray_cluster import RayCluster

        return RayCluster(cluster, workers)
    from noregret.scale.processes import Processes

    return Processes(workers, forked=True)
