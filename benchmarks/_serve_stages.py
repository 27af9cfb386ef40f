"""The processor time of each stage of a batch in ``noregret serve``, without HTTP.

    python -m benchmarks._serve_stages

Transactions of 32 batches of 100 lines, as clients of ``serve`` send them; each stage is timed for
a whole transaction, and the best of all counts. The ids of every few transactions are sorted and
written together: that stage is a mean.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import noregret as nr
from noregret.app.commands.serve.answers import encode
from noregret.service import Service
from noregret.service.blocks import seal_of
from noregret.service.line_shapes import LineReader
from noregret.service.requests import LearnedPlain

TRANSACTIONS, BATCHES, LINES = 120, 32, 100


def body(draw: random.Random, first: int) -> bytes:
    """Return a batch as the script for ``wrk`` makes it."""
    numbers = [f"{draw.random():.3f}" for _ in range(7 * LINES)]
    return "\n".join(
        f'{{"id": "n0-0x55d0c8f0a2b0-{first + k}", "x": {{"a": {a}, "b": {b}, "c": 1, "d": {d},'
        f' "e": 0.5, "f": {f}, "g": 0.1, "h": 2, "i": {i}, "j": 1}}, "y": {y}}}'
        for k, (a, b, d, f, i, y) in enumerate(zip(*[iter(numbers)] * 6, strict=False))
        if k < LINES
    ).encode()


class Clock:
    """Times stages."""

    def __init__(self) -> None:
        self.found: dict[str, list[float]] = defaultdict(list)
        self.last = time.process_time()

    def __call__(self, stage: str) -> None:
        now = time.process_time()
        self.found[stage].append(now - self.last)
        self.last = time.process_time()


def main() -> None:
    """Print the stages."""
    draw, clock, reader = random.Random(1), Clock(), LineReader("y")
    with tempfile.TemporaryDirectory() as folder:
        service = Service(nr.Nlms(), Path(folder, "bench.db"))
        journal, play = service.journal, service.play
        for turn in range(TRANSACTIONS):
            bodies = [body(draw, (turn * BATCHES + k) * LINES) for k in range(BATCHES)]
            clock("making the lines")
            lines = [reader.read(each, LINES) for each in bodies]
            clock("read the lines, hash the ids")
            journal.begin()
            answers = [each for one in lines if one is not None for each in play.learn_plain(one)]
            clock("look the ids up, predict, learn, add to the journal")
            data, _ = journal.block.packed(journal.totals)
            clock("pack and seal the block")
            seal_of(data)
            clock("of these, the seal")
            fold, journal.ids.fold = journal.ids.fold, lambda last: None  # type: ignore[method-assign]
            journal.flush()
            clock("pack and seal the block once more, and insert it")
            journal.ids.fold = fold  # type: ignore[method-assign]
            fold(journal.written)
            clock("write ids, every few transactions (mean)")
            journal.commit()
            clock("commit")
            for each in answers:
                if isinstance(each, LearnedPlain):
                    each.lines.replies(encode(each.predictions.tolist()), each.first)
            clock("replies")
        service.close()
    for stage, times in clock.found.items():
        best, mean = (1e6 * found / (BATCHES * LINES) for found in (min(times), fmean(times)))
        print(f"{stage:52} best {best:.3f}  mean {mean:.3f} µs per example")


if __name__ == "__main__":
    main()
