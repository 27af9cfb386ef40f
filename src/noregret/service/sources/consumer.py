"""A service that is fed by a message broker."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from noregret.errors import NoRegretError
from noregret.service.errors import Stopped, UnknownId
from noregret.service.requests import Request
from noregret.service.service import Service
from noregret.service.sources.messages import refusal, reply_body, request_of
from noregret.service.sources.source import Disconnected, Message, source_of

# Seconds to wait for messages, between attempts with a label whose prediction has not come, and
# between attempts to connect, at first and at most.
WAIT, RETRY, FIRST_PAUSE, MAX_PAUSE = 0.5, 1.0, 0.05, 5.0
# Labels that wait for their predictions, and finished messages that are recognised if they are
# delivered again, in batches; refused messages that are named.
MAX_EARLY_BATCHES, FINISHED_BATCHES, MAX_NAMED = 10, 10, 100


class Early(NamedTuple):
    """A label whose prediction has not come yet."""

    message: Message
    request: Request
    next_try: float
    until: float


class Consumer:
    """Answers the messages of a broker by a service, each exactly once.

    A batch of messages is answered in one transaction. Then predictions and refused messages are
    published, if the address says where, and only then the batch is acknowledged: what is
    interrupted is delivered and answered again, and the service recognises it by its id. A lost
    connection is made again. A label that comes before its prediction waits for it.

    Parameters
    ----------
    service
        The service.
    address
        ``SCHEME://HOST:PORT/TOPIC[,TOPIC…]`` with the parameters ``output`` (a topic for
        predictions), ``dead`` (a topic for refused messages), ``group``, ``batch`` and
        ``patience`` (seconds that a label waits for its prediction).
    target
        The name of the outcome, which no feature may have.
    tell
        Called with a line of text if the connection is lost or made again.
    """

    def __init__(
        self,
        service: Service,
        address: str,
        target: str = "y",
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.service, self.target, self.tell = service, target, tell
        self.source, self.address = source_of(address)
        self.counts = dict.fromkeys(("received", "answered", "refused", "early", "lost"), 0)
        self.refused: deque[tuple[str, str, str]] = deque(maxlen=MAX_NAMED)
        self.connected = False
        self.error: BaseException | None = None
        self._early: dict[str, Early] = {}
        self._finished: OrderedDict[str, None] = OrderedDict()  # positions, the oldest first
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    # One batch.

    def step(self, seconds: float = WAIT) -> int:
        """Answer the messages that are there, or come within some seconds; return their number.

        Raises
        ------
        Disconnected
            If the broker cannot be reached. Nothing is lost.
        Stopped
            If the service is.
        """
        if not self.connected:
            self._early.clear()  # they will be delivered again
            self._finished.clear()
            self.source.open()
            self.connected = True
        try:
            if self._early:
                seconds = min(seconds, RETRY)
            return self._answer(self.source.receive(self.address.batch, seconds))
        except Disconnected:
            self.connected = False
            raise

    def _answer(self, received: list[Message]) -> int:
        now, asked = time.monotonic(), list[tuple[Message, Request]]()
        refused: list[tuple[Message, Exception]] = []
        done = list[Message]()
        for message in received:
            if message.position in self._finished:  # delivered again before that was known
                done.append(message)
                continue
            if (held := self._early.get(message.position)) is not None:  # delivered again
                self._early[message.position] = held._replace(message=message)
                continue
            self.counts["received"] += 1
            try:
                asked.append((message, request_of(message, self.target)))
            except NoRegretError as error:
                refused.append((message, error))
        predicted = {request.id for _, request in asked if request.action != "label"}
        asked += self._due(predicted, now)
        replies = self.service.answer_many([request for _, request in asked]) if asked else []
        repeated, outputs = len(done), list[tuple[str, bytes]]()
        for (message, request), reply in zip(asked, replies, strict=True):
            if isinstance(reply, Stopped):
                raise reply
            if isinstance(reply, UnknownId) and self._hold(message, request, now):
                continue
            self._early.pop(message.position, None)
            if isinstance(reply, Exception):
                refused.append((message, reply))
                continue
            done.append(message)
            if request.action != "label":
                outputs.append((f"{self.address.group}:{reply.id}", reply_body(reply)))
        self._publish(outputs, refused)
        if done or refused:
            self._finish([*done, *(message for message, _ in refused)])
        self.counts["answered"] += len(done) - repeated
        return len(received)

    def _finish(self, messages: list[Message]) -> None:
        """Acknowledge messages, and remember them for a while."""
        self.source.finish(messages)
        self._finished.update(dict.fromkeys(message.position for message in messages))
        while len(self._finished) > FINISHED_BATCHES * self.address.batch:
            self._finished.popitem(last=False)

    def _due(self, predicted: set[str | None], now: float) -> list[tuple[Message, Request]]:
        """Return the early labels to try now."""
        return [
            (each.message, each.request)
            for each in self._early.values()
            if now >= each.next_try or each.request.id in predicted
        ]

    def _hold(self, message: Message, request: Request, now: float) -> bool:
        """Let a label wait for its prediction; return False if it has waited long enough."""
        held = self._early.get(message.position)
        if held is None:
            if len(self._early) >= MAX_EARLY_BATCHES * self.address.batch:
                return False
            self.counts["early"] += 1
            held = Early(message, request, now, now + self.address.patience)
        self._early[message.position] = held._replace(next_try=now + RETRY)
        return now < held.until

    def _publish(
        self, outputs: list[tuple[str, bytes]], refused: list[tuple[Message, Exception]]
    ) -> None:
        """Publish predictions and refused messages."""
        if outputs and self.address.output is not None:
            self.source.send(self.address.output, outputs)
        if refused and self.address.dead is not None:
            self.source.send(
                self.address.dead,
                [
                    (f"{self.address.group}:{message.position}", refusal(message, error))
                    for message, error in refused
                ],
            )
        for message, error in refused:
            self.counts["refused"] += 1
            self.refused.append((message.topic, message.position, str(error)))

    # Many.

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Answer messages until ``stop`` is called or a condition holds; reconnect as needed."""
        pause, down = FIRST_PAUSE, False
        while not self._ended.is_set() and not until():
            try:
                self.step()
                if down:
                    self.tell(f"{self.address.shown}: connected again")
                pause, down = FIRST_PAUSE, False
            except Disconnected as error:
                if not down:
                    self.counts["lost"] += 1
                    self.tell(f"{self.address.shown}: {error}: will try again")
                down = True
                self._ended.wait(pause)
                pause = min(2 * pause, MAX_PAUSE)

    def start(self) -> Consumer:
        """Run in a thread of its own, until ``stop``."""
        self._thread = threading.Thread(target=self._run, name="noregret-source", daemon=True)
        self._thread.start()
        return self

    def _run(self) -> None:
        try:
            self.run()
        except BaseException as error:
            self.error = error
            if not self._ended.is_set():
                self.tell(f"{self.address.shown}: stopped: {error}")
            if not isinstance(error, NoRegretError):
                raise
        finally:
            self.source.close()
            self.connected = False

    def stop(self, wait: bool = True) -> None:
        """End the thread, or ``run``, after the batch under way."""
        self._ended.set()
        if wait and self._thread is not None:
            self._thread.join()

    def metrics(self) -> dict[str, Any]:
        """Return counts of messages, and whether it is connected."""
        return {
            **self.counts,
            "waiting": len(self._early),
            "connected": self.connected,
            "refusals": list(self.refused),
        }

    def __enter__(self) -> Consumer:
        return self.start()

    def __exit__(self, *details: object) -> None:
        self.stop()
