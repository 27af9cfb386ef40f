"""Text, tables and dicts with vector instructions held to each level that the processor has.

The variable NOREGRET_CPU holds our loops to AVX2 or to the baseline; the peers keep all that the
processor has. The work and the peers are those of ``text_files``, ``table_files`` and
``dict_example``, which also check that both sides compute the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

from benchmarks import dict_example, table_files, text_files
from benchmarks._command import (
    LEARN_ONLY,
    LEARNER,
    QUIET,
    finish,
    missing,
    noregret_run,
    python,
    runs,
)
from benchmarks._files import (
    TABLE_ROWS,
    TEXT_ROWS,
    csv_table,
    parquet_table,
    svmlight_text,
    vw_text,
)
from benchmarks._harness import Grid, Row, duration, race, skipped, three_digits
from noregret.base.compiled.machine import LEVELS, VARIABLE, level

PACKAGES = ("vowpalwabbit", "pandas", "scikit-learn", "river")
TITLE = "Times faster than the peer, with vector instructions held to a level"


def run(quick: bool) -> Iterator[Row | Grid]:
    if reason := missing():
        yield skipped("levels of vector instructions", reason)
        return
    levels = LEVELS[: LEVELS.index(level()) + 1][::-1]
    lines = [*texts(levels, quick), *tables(levels, quick), dicts(levels, quick)]
    yield Grid(TITLE, ["peer", *levels, "target"], lines)


def texts(levels: tuple[str, ...], quick: bool) -> Iterator[tuple[str, list[str]]]:
    """Measure learning from VW text and svmlight against Vowpal Wabbit on the VW text."""
    rows = 20_000 if quick else TEXT_ROWS
    peer = [*text_files.vowpal_wabbit(vw_text(rows)), "--quiet"]
    for kind, path in (("VW", vw_text(rows)), ("svmlight", svmlight_text(rows))):
        command = [*text_files.ours(kind, path), QUIET, LEARN_ONLY]
        target = text_files.TARGETS[kind]
        yield f"{kind} text", compared("Vowpal Wabbit", peer, command, levels, target)


def tables(levels: tuple[str, ...], quick: bool) -> Iterator[tuple[str, list[str]]]:
    """Measure learning from CSV and Parquet against pandas and scikit-learn."""
    rows, rate = 20_000 if quick else TABLE_ROWS, table_files.RATE
    for kind, path in (("CSV", csv_table(rows)), ("Parquet", parquet_table(rows))):
        peer = python("-m", "benchmarks._table_peer", path, rate, table_files.CHUNK)
        options = ("--target", "y", *LEARNER, QUIET, LEARN_ONLY, "-p", f"rate={rate}")
        command = noregret_run(path, *options)
        yield kind, compared("pandas, SGDRegressor", peer, command, levels, table_files.TARGET)


def compared(
    name: str, peer: list[str], command: list[str], levels: tuple[str, ...], target: float
) -> list[str]:
    """Race a command at every level against its peer."""
    held = [partial(finish, command, **{VARIABLE: each}) for each in levels]
    theirs, *times = race(*runs(peer), *held, seconds=0)
    ratios = [f"{three_digits(theirs / mine)} ({duration(mine)})" for mine in times]
    return [f"{name} {duration(theirs)}", *ratios, f"≥ {target}"]


def dicts(levels: tuple[str, ...], quick: bool) -> tuple[str, list[str]]:
    """Measure dicts of 20 numbers against River, in a process per level."""
    command = python("-c", f"from {__name__} import time_dicts; time_dicts({quick})")
    times = [json.loads(finish(command, **{VARIABLE: each}).stdout) for each in levels]
    ratios = [f"{three_digits(theirs / mine)} ({duration(mine)})" for mine, theirs in times]
    peer = f"River {duration(min(theirs for _, theirs in times))}"
    return "dict of 20 numbers", [peer, *ratios, f"≥ {dict_example.TARGET}"]


def time_dicts(quick: bool) -> None:
    """Print our time and River's per example."""
    examples = dict_example.some_examples()
    learner, peer = dict_example.ours(), dict_example.river()
    times = race(
        lambda: dict_example.predict_and_learn(learner, examples),
        lambda: dict_example.predict_and_learn(peer, examples),
        seconds=0 if quick else 4,
    )
    print(json.dumps([each / len(examples) for each in times]))
