"""Workers that are none: tasks run in this process, in any order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from noregret.scale.pool import Pool


class Inline(Pool):
    """Run tasks here, the newest first, through pickles as other processes would."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.waiting: dict[int, tuple[Callable[[Any], Any], bytes]] = {}
        self.results: dict[int, tuple[bool, Any]] = {}
        self.started = 0

    def submit(self, function: Callable[[Any], Any], task: Any) -> int:
        self.started += 1
        self.waiting[self.started] = function, pickle.dumps(task)
        return self.started

    def wait(self, handles: Sequence[int], seconds: float) -> list[int]:
        number, (function, task) = self.waiting.popitem()
        try:
            self.results[number] = True, pickle.loads(pickle.dumps(function(pickle.loads(task))))
        except Exception as error:
            self.results[number] = False, error
        return [number]

    def result(self, handle: int) -> Any:
        fine, result = self.results[handle]
        if fine:
            return result
        raise result

    def give_up(self, handle: int) -> None:
        self.waiting.pop(handle, None)

    def hire(self) -> object:
        return object()

    def submit_to(self, worker: object, function: Callable[[Any], Any], task: Any) -> int:
        return self.submit(function, task)

    def dismiss(self, worker: object) -> None:
        pass

    def close(self) -> None:
        self.waiting.clear()
