"""From the command to the first row: the wall time of ``noregret run`` on a file of one row."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks._command import LEARN_ONLY, LEARNER, QUIET, missing, noregret_run, runs
from benchmarks._harness import Row, duration, race, skipped

PACKAGES = ("numpy",)
LIMIT = 0.3
FILES: dict[str, tuple[str, list[str]]] = {
    "csv": ("a,b,y\n0.5,0.25,1\n", ["--target", "y"]),
    "svmlight": ("1 1:0.5 2:0.25\n", []),
    "vw": ("1 | a:0.5 b:0.25\n", []),
}


def run(quick: bool) -> Iterator[Row]:
    if reason := missing():
        yield skipped("noregret run to the first row", reason)
        return
    with tempfile.TemporaryDirectory() as folder:
        for kind, (text, options) in FILES.items():
            path = Path(folder) / f"row.{kind}"
            path.write_text(text)
            command = noregret_run(path, "--format", kind, *options, *LEARNER, QUIET)
            both = runs([*command, LEARN_ONLY], command)
            learning, certified = race(*both, seconds=0 if quick else 4)
            work = f"noregret run on one row of {kind}"
            yield within_limit(f"{work}, learning only", learning)
            yield within_limit(f"{work}, with certificate", certified)


def within_limit(work: str, seconds: float) -> Row:
    return Row(work, duration(seconds), "", "", f"≤ {LIMIT:g} s", seconds <= LIMIT)
