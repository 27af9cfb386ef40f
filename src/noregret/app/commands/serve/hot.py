"""Predictions and labels, without a route, a task or a future each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException

from noregret import service as served
from noregret.app.commands.serve.answers import (
    JSON,
    NDJSON,
    PROBLEM,
    Told,
    TooLarge,
    encode,
    encode_lines,
    headers_of,
    problem_of,
    status_of,
)
from noregret.app.commands.serve.bodies import (
    MAX_BATCH,
    MAX_BODY,
    MAX_LINES,
    attempted,
    lines_of,
    request_of,
)
from noregret.app.commands.serve.desk import Answers, Desk
from noregret.app.commands.serve.keys import LABEL, PREDICT, Keys
from noregret.service.line_shapes import LineReader
from noregret.service.requests import Learned, LearnedPlain
from noregret.service.wire import told

SCOPES = {"predict": (PREDICT,), "label": (LABEL,), "learn": (PREDICT, LABEL)}
HEADERS = {kind: (b"content-type", kind.encode()) for kind in (JSON, NDJSON, PROBLEM)}
Header = tuple[bytes, bytes]
# Receives the status, the headers and the body of an answer.
Tell = Callable[[int, list[Header], bytes], None]
Route = tuple[str, str]
logger = logging.getLogger("uvicorn.error")


class Hot:
    """Answers predictions and labels.

    Parameters
    ----------
    desks
        The models by name.
    keys
        Who may do what.
    targets
        The name of the outcome in exported rows, by model.
    """

    def __init__(self, desks: Mapping[str, Desk], keys: Keys, targets: Mapping[str, str]) -> None:
        self.desks, self.keys, self.targets = desks, keys, targets
        self.counts: dict[tuple[str, int], int] = {}  # by action and status
        self.readers = {name: LineReader(targets.get(name, "y")) for name in desks}
        self.routes: dict[str, Route] = {
            f"/models/{name}/{action}": (name, action) for name in desks for action in SCOPES
        }

    def is_batch(self, kind: bytes) -> bool:
        """Return whether a body of some media type is a batch; refuse other types."""
        if kind == b"application/json":
            return False
        media = kind.decode("latin-1").partition(";")[0].strip().lower()
        if media not in (JSON, NDJSON):
            what = f"the body is {media}: send {JSON}, or {NDJSON} for many rows"
            raise HTTPException(415, what)
        return media == NDJSON

    def admitted(self, route: Route, headers: Mapping[bytes, bytes]) -> int:
        """Return how many bytes the body may have, or raise an error: before the body is read."""
        if self.keys.guarded:
            given = headers.get(b"authorization", b"").decode("latin-1")
            self.keys.check(given, route[0], *SCOPES[route[1]])
        batch = self.is_batch(headers.get(b"content-type", b"application/json"))
        most = MAX_BATCH if batch else MAX_BODY
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > most:
            raise too_large(int(length), most)
        return most

    def answer(self, route: Route, headers: Mapping[bytes, bytes], body: bytes, tell: Tell) -> None:
        """Answer a request that was admitted; ``tell`` is called once it is on disk."""
        model, action = route
        try:
            desk, target = self.desks[model], self.targets.get(model, "y")
            if self.is_batch(headers.get(b"content-type", b"application/json")):
                plain, play = None, desk.service.play
                if action == "learn" and play.takes_plain:
                    plain = self.readers[model].read(body, MAX_LINES)
                if plain is not None:
                    self.charge(headers, plain.count)
                    learn = partial(play.learn_plain, plain)
                    desk.put((learn,), lambda answers: self.tell_lines(answers, tell), plain.count)
                    return
                lines = self.lines_of(headers, body)
                self.batch(desk, action, lines, target, tell)
            else:
                request = request_of(action, body, target)
                desk.put((request,), lambda answers: self.tell_one(action, answers, tell))
        except Exception as error:
            tell(*self.failed(action, error))

    def tell_one(self, action: str, answers: Answers, tell: Tell) -> None:
        """Tell the answer to one request."""
        (answer,) = answers
        if isinstance(answer, Exception):
            tell(*self.failed(action, answer))
            return
        counted = action, 200
        self.counts[counted] = self.counts.get(counted, 0) + 1
        tell(200, [HEADERS[JSON]], encode(told(answer)))

    def lines_of(self, headers: Mapping[bytes, bytes], body: bytes) -> list[bytes]:
        """Return the lines of a batch, and count them for the rate of its key."""
        lines = [line for line in body.splitlines() if line.strip()]
        if len(lines) > MAX_LINES:
            raise TooLarge(f"{len(lines):,} lines", f"send at most {MAX_LINES:,} at once")
        self.charge(headers, len(lines))
        return lines

    def charge(self, headers: Mapping[bytes, bytes], lines: int) -> None:
        """Count the lines of a batch, which was counted as one request, for the rate of its key."""
        self.keys.charge(headers.get(b"authorization", b"").decode("latin-1"), lines - 1)

    def batch(self, desk: Desk, action: str, lines: list[bytes], target: str, tell: Tell) -> None:
        """Answer many requests, a line each, all in one transaction."""
        if action == "learn" and (found := lines_of(lines, target)) is not None:
            play = partial(desk.service.play.learn_lines, found)
            desk.put((play,), lambda answers: self.tell_lines(answers, tell), len(lines))
            return
        parsed = [attempted(action, line, target) for line in lines]
        asked = [each for each in parsed if type(each) is served.Request]

        def tell_all(answers: Answers) -> None:
            found, shown, good = iter(answers), [], 0
            for each in parsed:
                answer = next(found) if type(each) is served.Request else each
                if type(answer) is served.Reply:
                    good += 1
                    shown.append(told(answer))
                else:
                    assert isinstance(answer, Exception)
                    self.count(action, status_of(answer))
                    shown.append(problem_of(answer))
            if good:
                self.count(action, 200, good)
            tell(200, [HEADERS[NDJSON]], encode_lines(shown))

        if asked:
            desk.put(asked, tell_all, len(asked))
        else:
            tell_all([])

    def tell_lines(self, answers: list[Any], tell: Tell) -> None:
        """Tell the answers to lines that were learned."""
        (given,) = answers
        if isinstance(given, Exception):
            tell(*self.failed("learn", given))
            return
        parts = list[bytes]()
        for each in given:
            if type(each) is LearnedPlain:
                parts.append(each.lines.replies(encode(each.predictions.tolist()), each.first))
                self.count("learn", 200, len(each.predictions))
            elif type(each) is Learned:
                numbers = range(each.first, each.first + len(each.ids))
                parts.append(encode_lines([*map(Told, each.ids, each.predictions, numbers)]))
                self.count("learn", 200, len(each.ids))
            elif type(each) is served.Reply:
                parts.append(encode_lines([told(each)]))
                self.count("learn", 200)
            else:
                parts.append(encode_lines([problem_of(each)]))
                self.count("learn", status_of(each))
        tell(200, [HEADERS[NDJSON]], b"".join(parts))

    def failed(self, action: str, error: Exception) -> tuple[int, list[Header], bytes]:
        """Return the answer to a request that failed, and count it."""
        status = status_of(error)
        self.count(action, status)
        if status == 500:
            logger.error("%s", action, exc_info=error)
        more = [
            (name.lower().encode(), value.encode()) for name, value in headers_of(error, status)
        ]
        return status, [HEADERS[PROBLEM], *more], encode(problem_of(error))

    def count(self, action: str, status: int, answers: int = 1) -> None:
        """Count answers by their status."""
        key = action, status
        self.counts[key] = self.counts.get(key, 0) + answers


def too_large(size: int, most: int) -> TooLarge:
    """Return the error of a body that is too long."""
    return TooLarge(f"a body of {size:,} bytes or more", f"send at most {most:,}")
