"""One raw row as ``noregret serve --raw`` takes it: ``predict_one`` + ``learn_one`` on a dict."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks._harness import Row, duration, race
from noregret import Nlms
from noregret.streams import prepared

PACKAGES = ("numpy",)
FIELDS: dict[str, Callable[[random.Random], Any]] = {
    "day": lambda draw: f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
    "remark": lambda draw: draw.choice(["warm, not late", "late", "cold and late", None]),
    "town": lambda draw: draw.choice(["Oslo", "Rome", "Rio de Janeiro"]),
    "open": lambda draw: draw.random() < 0.5,
    "size": lambda draw: draw.choice([None, draw.random(), 3]),
}
WORK = {
    "a date": ("day",),
    "free text": ("remark",),
    "a category, a boolean and a number with gaps": ("town", "open", "size"),
    "all of these": tuple(FIELDS),
}


def run(quick: bool) -> Iterator[Row]:
    draw, count, seconds = random.Random(1), 300 if quick else 3000, 0 if quick else 3
    numbers: list[dict[str, Any]] = [
        {name: draw.random() for name in "abcdefghij"} for _ in range(count)
    ]
    clock = time.process_time
    plain, raw = race(played(numbers, False), played(numbers), seconds=seconds, clock=clock)
    yield told("10 numbers", raw / count, f"not raw: {duration(plain / count)}")
    for words, names in WORK.items():
        rows = [{name: FIELDS[name](draw) for name in names} for _ in range(count)]
        (taken,) = race(played(rows), seconds=seconds, clock=clock)
        yield told(words, taken / count)


def told(words: str, seconds: float, peer: str = "") -> Row:
    return Row(f"predict + learn of a raw row: {words}", duration(seconds), peer, "")


def played(rows: list[dict[str, Any]], raw: bool = True) -> Callable[[], None]:
    def play() -> None:
        learner = Nlms()
        if raw:
            prepared(learner, text="remark", intercept=True)
        for x in rows:
            learner.predict_one(x)
            learner.learn_one(x, 1.0)

    return play
