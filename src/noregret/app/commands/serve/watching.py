"""The figures of a server over time, and their stream of server-sent events for the dashboard."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from starlette.responses import StreamingResponse

from noregret.app.commands.serve.desk import Desk
from noregret.app.commands.serve.insight import Insight
from noregret.service.events import Totals

# Seconds between samples, and the number of samples that are kept: at most twenty minutes.
PERIOD, MAX_SAMPLES = 1.0, 1200
# Transactions to take earlier samples from, when a server starts.
MAX_EARLIER = 20_000
# Keys in the table, and samples between two counts of them and of what else takes its time.
MAX_KEYS, KEYS_EVERY = 20, 10
# Dashboards that may be open at the same time.
MAX_WATCHERS = 50
FIGURES = ("predictions", "labels", "pending", "loss", "late_labels", "delay", "mistakes")
encode = msgspec.json.Encoder().encode


class Watch:
    """Samples of the figures of one model, and who waits for the next.

    Parameters
    ----------
    desk
        The model.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.samples: deque[list[float]] = deque(maxlen=MAX_SAMPLES)
        self.now: dict[str, Any] = {}
        self.news = asyncio.Event()
        self.keys: list[dict[str, Any]] = []
        self.insight = Insight(desk)
        self.count = self.watchers = 0
        self.ended = False

    async def recall(self) -> None:
        """Take samples of the time before the server started, from the journal."""
        service = self.desk.service
        seconds = PERIOD * MAX_SAMPLES
        found = await self.desk.do(lambda: service.recent(seconds, MAX_EARLIER))
        self.samples.extendleft(reversed(earlier(found)))

    async def sample(self) -> None:
        """Take a sample, and wake up those who wait."""
        service = self.desk.service
        found = await self.desk.do(service.metrics)
        due = self.count % KEYS_EVERY == 0
        if self.watched and (due or not self.keys):  # the first key is shown at once
            self.keys = await self.desk.do(lambda: service.keys(MAX_KEYS))
        if self.watched and due:
            await self.insight.refresh()
        self.count += self.watched
        figures = (float(found.get(name, math.nan)) for name in FIGURES)
        self.samples.append([time.time(), *figures])
        self.now = found | {
            "learner": repr(service.models.fresh),
            "stopped": service.stopped,
            "serving": service.challengers.serving,
            "challengers": await self.desk.do(service.challengers.comparison),
            "keys": self.keys,
            "waiting": await self.desk.do(service.waiting) if self.watched else None,
            "loss_name": service.fresh.engine.loss.name,
            **self.insight.now,
        }
        news, self.news = self.news, asyncio.Event()
        news.set()

    def end(self) -> None:
        """End all streams."""
        self.ended = True
        self.news.set()

    @property
    def watched(self) -> bool:
        """True if a dashboard is open."""
        return self.watchers > 0

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield all samples, then each new one, as server-sent events."""
        self.watchers += 1
        self.count = 0
        try:
            yield event({"samples": list(self.samples), "now": self.now})
            while not self.ended:
                await self.news.wait()
                yield event({"samples": list(self.samples)[-1:], "now": self.now})
        finally:
            self.watchers -= 1


class Watching:
    """The watches of all models.

    Parameters
    ----------
    desks
        The models by name.
    """

    def __init__(self, desks: Mapping[str, Desk]) -> None:
        self.watches = {name: Watch(desk) for name, desk in desks.items()}
        self.task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Take samples until ``stop``."""
        self.task = asyncio.create_task(self._run())

    def end(self) -> None:
        """End all streams, so that the server need not wait for dashboards."""
        for watch in self.watches.values():
            watch.end()

    async def stop(self) -> None:
        """Take no more samples."""
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError):
                await self.task

    async def _run(self) -> None:
        for watch in self.watches.values():
            await watch.recall()
        while True:
            for watch in self.watches.values():
                with suppress(RuntimeError):  # its thread has ended
                    await watch.sample()
            await asyncio.sleep(PERIOD)

    def response(self, name: str) -> StreamingResponse | None:
        """Return the stream of a model; None if too many watch already."""
        if sum(watch.watchers for watch in self.watches.values()) >= MAX_WATCHERS:
            return None
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self.watches[name].stream()
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


def earlier(found: Sequence[Totals]) -> list[list[float]]:
    """Return samples from the totals of a journal: the last of each period."""
    samples: list[list[float]] = []
    for end in found:
        if samples and end.time // PERIOD == samples[-1][0] // PERIOD:
            samples.pop()
        pending = end.predictions - end.labels
        sample = end.time, end.predictions, end.labels, pending, end.loss, end.late, end.delay
        samples.append([*map(float, sample), math.nan])
    return samples


def event(value: Any) -> bytes:
    """Return a server-sent event."""
    return b"data: " + encode(value) + b"\n\n"
