"""The workers of a Ray cluster."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from noregret.errors import NoRegretError, Use, WrongUsage, foreign
from noregret.scale.give_back import carried_out
from noregret.scale.pool import PATIENCE, Pool, WorkerLost

T = TypeVar("T")
R = TypeVar("R")
# What to do where Ray does not start.
NOT_STARTED = (
    "try again when the machine is less busy",
    Use("workers", 2, "share the work among processes of this machine: {}"),
)
# Seconds within which the machine of an address answers.
CONNECT_SECONDS = 10.0


class RayCluster(Pool):
    """The workers of a Ray cluster; needs ``noregret[ray]``.

    Parameters
    ----------
    address
        ``local`` starts a cluster on this machine, ``auto`` is the one that this machine belongs
        to, ``ray://host:port`` another one.
    workers
        Tasks at the same time; by default as many as the cluster has processors.
    patience
        As in ``Pool``.
    """

    def __init__(
        self, address: str = "local", workers: int | None = None, patience: float = PATIENCE
    ) -> None:
        try:
            import ray
        except ModuleNotFoundError:
            cure = "install it: pip install 'noregret[ray]'"
            raise WrongUsage("a cluster needs Ray, which is not installed", cure) from None
        self.ray: Any = ray
        self.started = not self.ray.is_initialized()
        if self.started:
            check_answers(address)
            try:
                self.ray.init(address, log_to_driver=False, logging_level="error")
            except (ConnectionError, ValueError) as error:
                what = f"no Ray cluster answers at {address!r}: {foreign(error)}"
                raise WrongUsage(what, "‘local’ starts one on this machine") from None
            except Exception as error:  # Ray raises it bare, as if it has no time to start
                with contextlib.suppress(Exception):
                    self.ray.shutdown()
                raise NoRegretError(f"Ray did not start: {foreign(error)}", NOT_STARTED) from None
        count = workers or int(self.ray.cluster_resources().get("CPU", 1))
        super().__init__(count, patience)
        self.remote = self.ray.remote(max_retries=0)(call)
        self.actor = self.ray.remote(scheduling_strategy="SPREAD")(Actor)

    def submit(self, function: Callable[[T], R], task: T) -> Any:
        """Start a task."""
        return self.remote.remote(function, task)

    def wait(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        """Return the tasks that have ended."""
        if not handles:
            return []
        done, _ = self.ray.wait(list(handles), num_returns=1, timeout=seconds)
        return list(done)

    def result(self, handle: Any) -> Any:
        """Return a result, or raise its error."""
        try:
            fine, result = self.ray.get(handle)
        except self.ray.exceptions.RayError as error:
            raise WorkerLost(foreign(error)) from None
        if fine:
            return result
        raise result

    def give_up(self, handle: Any) -> None:
        """Stop a task, as far as Ray can."""
        with contextlib.suppress(Exception):
            self.ray.cancel(handle, force=True)

    def hire(self) -> Any:
        """Start an actor."""
        return self.actor.remote()

    def submit_to(self, worker: Any, function: Callable[[T], R], task: T) -> Any:
        """Start a task on an actor."""
        return worker.call.remote(function, task)

    def dismiss(self, worker: Any) -> None:
        """End an actor."""
        with contextlib.suppress(Exception):
            self.ray.kill(worker)

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        if self.started:
            self.ray.shutdown()


def check_answers(address: str) -> None:
    """Refuse the address of a machine on which nothing answers, for which Ray waits minutes."""
    host, _, port = address.removeprefix("ray://").partition("/")[0].rpartition(":")
    if not host or not port.isdigit() or int(port) >= 2**16:
        return  # another kind of address, or none, as Ray will tell
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        what = f"no Ray cluster answers at {address!r}: {error.strerror or error}"
        raise WrongUsage(what, "‘local’ starts one on this machine") from None


def call(function: Callable[[Any], Any], task: Any) -> tuple[bool, Any]:
    """Return the result of a task, or its error."""
    try:
        return True, carried_out(function, task)
    except Exception as error:
        return False, error.with_traceback(None)


class Actor:
    """A worker that keeps data between tasks."""

    def call(self, function: Callable[[Any], Any], task: Any) -> tuple[bool, Any]:
        """Return the result of a task, or its error."""
        return call(function, task)
