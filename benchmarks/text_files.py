"""Learning from a large text file, the whole command: VW text and svmlight, against Vowpal Wabbit.

Both make one pass of plain gradient descent on the square loss at a constant rate, without a
constant feature, and count the loss of each prediction before learning from it. Vowpal Wabbit
steps along the whole slope, Widrow and Hoff along half of it: its rate is half of ours. It keeps
weights by hash; 22 bits, as fast for it as the usual 18, leave few features sharing one, so that
both learn the same. It does not read svmlight: there it reads the same rows as VW text.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import vowpalwabbit  # noqa: F401  (it runs in processes of its own, but must be there)

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
from benchmarks._files import TEXT_ROWS, read, svmlight_text, vw_text
from benchmarks._harness import (
    Disagreement,
    Grid,
    Row,
    duration,
    faster,
    of_its_speed,
    race,
    skipped,
    speed,
)
from noregret import WidrowHoff
from noregret.linear.engine.block_rows import play_rows
from noregret.streams.parsing.text import parse_svmlight, resolve_vw, scan_vw
from noregret.streams.parsing.vocabulary import Vocabulary
from noregret.streams.source import Source

PACKAGES = ("vowpalwabbit",)
RATE = 0.1
TARGETS = {"VW": 4, "svmlight": 6}
ALIKE = 0.02  # of the loss: what sharing weights and single precision cost the peer


def run(quick: bool) -> Iterator[Row | Grid]:
    if reason := missing():
        yield skipped("text files", reason)
        return
    rows = 20_000 if quick else TEXT_ROWS
    texts = {"VW": vw_text(rows), "svmlight": svmlight_text(rows)}
    peer = vowpal_wabbit(texts["VW"])
    expected = peer_loss(peer)
    for kind, path in texts.items():
        must_be_alike(our_loss(ours(kind, path)), expected, f"mean loss on {kind} text")

    commands = [[*peer, "--quiet"]]
    commands += [[*ours(kind, path), QUIET, LEARN_ONLY] for kind, path in texts.items()]
    reads = [partial(read, path) for path in texts.values()]
    theirs, *times = race(*runs(*commands), *reads, seconds=0)
    for k, (kind, path) in enumerate(texts.items()):
        size = path.stat().st_size
        learning, reading = times[k], times[len(texts) + k]
        work = f"{size / 1e6:.0f} MB of {kind} text, whole command"
        same = "" if kind == "VW" else ", the same rows as VW text"
        beside = f"Vowpal Wabbit{same} {duration(theirs)}"
        figure = f"{duration(learning)}, {speed(size / learning)}"
        yield faster(f"{work}, learning only", figure, beside, theirs / learning, TARGETS[kind])
        if kind == "svmlight":
            certified = once([*ours(kind, path), QUIET])
            figure = f"{duration(certified)}, {speed(size / certified)}"
            yield faster(f"{work}, with certificate, once", figure, beside, theirs / certified)
        yield Row(
            f"{work}, learning only, against reading",
            speed(size / learning),
            f"plain read {speed(size / reading)}",
            of_its_speed(reading / learning),
        )
    some = 20_000 if quick else 200_000
    yield stages({"VW": vw_text(some), "svmlight": svmlight_text(some)})


def stages(texts: dict[str, Path]) -> Grid:
    """Measure the processor time of each stage, one after the other in one thread.

    The scan looks up names known from earlier blocks, and sorts their rows; only new names are left
    for later. svmlight has positions instead of names.
    """
    table = {kind: [duration(s) for s in stage_times(kind, path)] for kind, path in texts.items()}
    title = "Processor time per MB of text"
    return Grid(title, ["read", "scan", "new names", "play"], list(table.items()))


def stage_times(kind: str, path: Path) -> list[float]:
    """Return the seconds per MB of each stage, the best of several runs."""
    best = np.full(4, np.inf)
    for _ in range(5):
        vocabulary, learner = Vocabulary(), WidrowHoff(rate=RATE)
        spent = np.zeros(4)
        clock = [time.process_time()]

        def done(stage: int, spent: np.ndarray = spent, clock: list[float] = clock) -> None:
            clock.append(time.process_time())
            spent[stage] += clock[-1] - clock[-2]

        for piece in Source([str(path)]).pieces():
            text = piece.text()
            done(0)
            if kind == "VW":
                scanned = scan_vw(text, 1, False, known=vocabulary.known)
                done(1)
                rows = resolve_vw(scanned, vocabulary)
            else:
                rows = parse_svmlight(text, 1, False)
                done(1)
            done(2)
            names = vocabulary.names if kind == "VW" else None
            parts = (rows.starts, rows.indices, rows.data, rows.outcomes)
            play_rows(learner._entry, *parts, names=names)
            done(3)
        best = np.minimum(best, spent)
    return [float(seconds) for seconds in best / (path.stat().st_size / 1e6)]


def once(command: list[str]) -> float:
    """Time a command once: the search for the best in hindsight takes longer than learning."""
    start = time.perf_counter()
    finish(command)
    return time.perf_counter() - start


def ours(kind: str, path: Path) -> list[str]:
    return noregret_run(path, "--format", kind.lower(), *LEARNER, "-p", f"rate={RATE}")


def vowpal_wabbit(path: Path) -> list[str]:
    plain = ["--sgd", "--power_t", "0", "-l", str(RATE / 2), "--loss_function", "squared"]
    unbounded = ["--min_prediction", "-1000", "--max_prediction", "1000"]
    return python("-m", "vowpalwabbit", "-d", path, *plain, *unbounded, "--noconstant", "-b", "22")


def peer_loss(command: list[str]) -> float:
    """Return the mean loss that Vowpal Wabbit reports when it is not told to be quiet."""
    said = finish(command).stderr
    found = re.search(r"^average loss = (\S+)", said, re.MULTILINE)
    if found is None:
        raise Disagreement(f"Vowpal Wabbit reports no loss: {said[-200:]}")
    return float(found[1])


def our_loss(command: list[str]) -> float:
    told = json.loads(finish([*command, LEARN_ONLY, "--json"]).stdout)
    return float(told["loss"]["mean"])


def must_be_alike(ours: float, peer: float, what: str) -> None:
    if not abs(ours - peer) <= ALIKE * peer:
        raise Disagreement(f"{what}: ours {ours:.6g}, the peer's {peer:.6g}: not the same work")
