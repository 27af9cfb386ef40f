"""Workers that keep their part of the data between tasks, and read it again if they are lost."""

from __future__ import annotations

import secrets
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from noregret.errors import NoRegretError
from noregret.scale.pool import MAX_LOSSES, POLL_SECONDS, SLOW, Pool, WorkerLost

# Workers that may be replaced for the same question because they do not answer.
MAX_DELAYS = 3
_KEPT: dict[str, Any] = {}  # in a worker: what it keeps, by names of the driver


class Keepers:
    """One worker for each part of the data.

    What a worker returns must be a pure function of its part and the question, so that another
    worker can take its place. One that takes longer than the pool's ``patience``, and four times as
    long as the median one, is replaced, three times at most; each time the time allowed doubles.

    Parameters
    ----------
    pool
        Where the workers are.
    make
        Returns what a worker keeps, given its part; importable and pure.
    parts
        The parts.
    """

    def __init__(self, pool: Pool, make: Callable[[Any], Any], parts: Sequence[Any]) -> None:
        self.pool, self.make, self.parts = pool, make, parts
        self.workers: list[Any] = [None] * len(parts)
        self.names = [""] * len(parts)

    def ask(self, function: Callable[[Any, Any], Any], questions: dict[int, Any]) -> dict[int, Any]:
        """Return ``function(kept, question)`` of the parts that are asked, by their numbers."""
        asking = Asking(self, function, questions)
        try:
            asking.run()
        except BaseException:
            for number in {number for number, *_ in asking.running.values()}:
                self.replace(number)  # its answer is no longer wanted
            raise
        return {number: asking.answers[number] for number in questions}

    def replace(self, number: int) -> None:
        """End a worker; the next question to it starts another."""
        worker, self.workers[number] = self.workers[number], None
        _KEPT.pop(self.names[number], None)  # if the workers are none
        if worker is not None:
            self.pool.dismiss(worker)

    def close(self) -> None:
        """End all workers."""
        for number in range(len(self.workers)):
            self.replace(number)


class Asking:
    """The questions of one pass: those that run, and the answers."""

    def __init__(
        self, keepers: Keepers, function: Callable[[Any, Any], Any], questions: dict[int, Any]
    ) -> None:
        self.keepers, self.pool = keepers, keepers.pool
        self.function, self.questions = function, questions
        # Handles: the part, when the task was started, and whether it is the question.
        self.running: dict[Any, tuple[int, float, bool]] = {}
        self.losses, self.delays = dict.fromkeys(questions, 0), dict.fromkeys(questions, 0)
        self.spent: dict[bool, list[float]] = {False: [], True: []}
        self.answers: dict[int, Any] = {}

    def run(self) -> None:
        """Ask, and wait for all answers; raise the error of the first part that has one."""
        failed: dict[int, Exception] = {}
        for number in self.questions:
            self.start(number)
        while self.running:
            for handle in self.pool.wait(list(self.running), POLL_SECONDS):
                number, began, asked = self.running.pop(handle)
                try:
                    answer = self.pool.result(handle)
                except WorkerLost as lost:
                    self.lose(number, lost)
                    continue
                except Exception as error:
                    failed[number] = error
                    continue
                finally:
                    self.pool.forget(handle)
                self.spent[asked].append(time.monotonic() - began)
                if asked:
                    self.answers[number] = answer
                else:
                    self.submit(number, use, self.function, self.questions[number])
            self.replace_slow()
        if failed:
            raise failed[min(failed)]

    def start(self, number: int) -> None:
        """Ask a worker, after it has read its part if it is new."""
        keepers = self.keepers
        if keepers.workers[number] is not None:
            self.submit(number, use, self.function, self.questions[number])
            return
        keepers.workers[number] = self.pool.hire()
        keepers.names[number] = secrets.token_hex(8)
        self.submit(number, keep, keepers.make, keepers.parts[number])

    def submit(self, number: int, task: Callable[[Any], Any], *about: Any) -> None:
        """Start a task on the worker of a part."""
        keepers = self.keepers
        told = (keepers.names[number], *about)
        handle = self.pool.submit_to(keepers.workers[number], task, told)
        self.running[handle] = number, time.monotonic(), task is use

    def lose(self, number: int, lost: WorkerLost) -> None:
        """Ask another worker in place of a lost one, unless too many were lost."""
        self.losses[number] += 1
        self.keepers.replace(number)
        if self.losses[number] > MAX_LOSSES:
            raise NoRegretError(
                f"{self.losses[number]} workers ended with the same rows: {lost}",
                (
                    "look above and in the system's log for the reason, such as no memory",
                    'in a script, start workers under ‘if __name__ == "__main__":’',
                ),
            )
        self.start(number)

    def replace_slow(self) -> None:
        """Ask another worker in place of one that hangs."""
        now = time.monotonic()
        for handle, (number, began, asked) in list(self.running.items()):
            usual = statistics.median(self.spent[asked]) if self.spent[asked] else 0.0
            limit = max(self.pool.patience, SLOW * usual) * 2 ** self.delays[number]
            if now - began > limit:
                if self.delays[number] == MAX_DELAYS:
                    raise NoRegretError(
                        f"no worker has answered for {limit:.0f} seconds, the last of"
                        f" {MAX_DELAYS + 1} for the same rows",
                        "look whether the cluster has machines left; Pool has patience=SECONDS",
                    )
                self.delays[number] += 1
                del self.running[handle]
                self.keepers.replace(number)
                self.start(number)


def keep(task: tuple[str, Callable[[Any], Any], Any]) -> None:
    """Read a part and keep it, in a worker."""
    name, make, part = task
    _KEPT[name] = make(part)


def use(task: tuple[str, Callable[[Any, Any], Any], Any]) -> Any:
    """Answer a question about what is kept, in a worker."""
    name, function, question = task
    return function(_KEPT[name], question)
