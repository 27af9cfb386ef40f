"""Kill runs at random moments, let them go on, and compare them with runs that were left alone.

    python tools/kill_runs.py --kills 100 --folder /tmp/killed

Four formats take turns: CSV, JSON lines, Parquet, svmlight. Each is killed with SIGKILL after a
random time, as often as its turn asks for, and goes on from its checkpoint. Then its predictions,
model, certificate and all figures of --json but times are compared with those of the same run
without checkpoints, byte by byte. What differs is printed, and the exit code is 1. A hundred kills
take about a minute of CPU time.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noregret.app.cli.app import run

# Where a run notes what it imported.
IMPORTED = "imported"
FILES = {"model": "model", "certificate": "json", "predictions": "csv"}
# Kills in one run, before it may end.
KILLS_PER_RUN = 5


def table(rows: int) -> pd.DataFrame:
    """Return numbers, names, gaps between them, and an outcome."""
    draw = np.random.default_rng(7)
    x = draw.normal(size=(rows, 6)).round(4)
    city = draw.choice(["Oslo", "Rome", "Paris", "Lima"], rows)
    y = (x @ np.linspace(-1, 1, 6) + (city == "Rome") + draw.normal(0, 0.3, rows)).round(4)
    return pd.DataFrame(x, columns=[f"x{k}" for k in range(6)]).assign(city=city, y=y)


def write_svmlight(rows: int, path: Path) -> None:
    """Write sparse rows."""
    draw = np.random.default_rng(8)
    with path.open("w", encoding="ascii") as file:
        for _ in range(rows):
            at = np.unique(draw.integers(1, 300, 8))
            values = draw.normal(size=len(at)).round(3)
            shown = " ".join(f"{i}:{v}" for i, v in zip(at, values, strict=True))
            file.write(f"{1 if values.sum() > 0 else -1} {shown}\n")


FORMATS: dict[str, tuple[Callable[[int, Path], Any], list[str]]] = {
    "csv": (lambda rows, path: table(rows).to_csv(path, index=False), ["--target", "y"]),
    "jsonl": (
        lambda rows, path: table(rows).to_json(path, orient="records", lines=True),
        ["--target", "y", "--scale", "max", "--learner", "nlms"],
    ),
    "parquet": (
        lambda rows, path: table(rows).to_parquet(path, row_group_size=7_001),
        ["--target", "y", "--drop", "city", "--learner", "widrow-hoff", "-p", "rate=0.01"],
    ),
    "svm": (write_svmlight, ["--learner", "logistic", "--scale", "unit"]),
}


def command(kind: str, name: str, more: list[str]) -> list[str]:
    """Return the command line of a run that writes everything."""
    asked = [
        t for k, end in (FILES | {"report": "html"}).items() for t in (f"--{k}", f"{name}.{end}")
    ]
    return ["run", f"d.{kind}", *FORMATS[kind][1], "--json", *asked, *more]


def finished(folder: Path, line: list[str], name: str, seconds: float | None) -> bool:
    """Run a command line in a folder; kill it after so many seconds, and tell whether it ended.

    In a process that begins with what the first of them imported: else most of the time, and of the
    kills, would be spent on that.
    """
    child = os.fork()
    if not child:
        code = 70
        try:
            os.chdir(folder)
            with Path(f"{name}.printed").open("w", encoding="utf-8") as sys.stdout:
                code = run(line)
            Path(IMPORTED).write_text("\n".join(sys.modules), "utf-8")
        finally:
            os._exit(code)
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(child, 0 if deadline is None else os.WNOHANG)
        if ended:
            break
        if deadline is not None and time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            deadline = None
        time.sleep(0.002)
    if os.WIFSIGNALED(status):
        return False
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"failed: {' '.join(line)}")
    return True


def import_all(folder: Path) -> None:
    """Import what a run has imported."""
    for name in (folder / IMPORTED).read_text("utf-8").split("\n"):
        with suppress(ImportError):
            importlib.import_module(name)


def figures(folder: Path, name: str) -> dict[str, Any]:
    """Return what was printed of a run, but for what it says of itself."""
    found: dict[str, Any] = json.loads((folder / f"{name}.printed").read_text("utf-8"))
    del found["run"]
    return found


def differences(folder: Path) -> list[str]:
    """Return in what the killed run differs from the whole one."""
    odd = [
        end
        for end in FILES.values()
        if (folder / f"whole.{end}").read_bytes() != (folder / f"killed.{end}").read_bytes()
    ]
    whole, killed = figures(folder, "whole"), figures(folder, "killed")
    odd += [f"--json: {key}" for key in whole if whole[key] != killed[key]]
    left = [path.name for path in folder.iterdir() if path.name.startswith((".", "kept"))]
    return odd + [f"left behind: {name}" for name in left]


def main() -> None:
    """Kill runs, and tell what came of it."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--kills", type=int, default=100)
    asked.add_argument("--rows", type=int, default=60_000)
    asked.add_argument("--folder", type=Path, required=True)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    draw, kills, runs, odd = random.Random(given.seed), 0, 0, 0
    spent: dict[str, float] = {}
    for kind, (write, _) in FORMATS.items():
        folder = given.folder / kind
        folder.mkdir(parents=True)
        write(given.rows, folder / f"d.{kind}")
        finished(folder, command(kind, "whole", []), "whole", None)
        import_all(folder)
        began = time.monotonic()
        finished(folder, command(kind, "whole", []), "whole", None)
        spent[kind] = time.monotonic() - began
    again = ["--checkpoint", "kept", "--resume", "kept", "--every", "5000"]
    while kills < given.kills:
        kind = list(FORMATS)[runs % len(FORMATS)]
        folder, mine = given.folder / kind, 0
        line = command(kind, "killed", again)
        while True:
            may_end = mine == KILLS_PER_RUN or kills == given.kills
            seconds = None if may_end else draw.uniform(0.2, 1.0) * spent[kind]
            if finished(folder, line, "killed", seconds):
                break
            mine, kills = mine + 1, kills + 1
        runs += 1
        found = differences(folder)
        odd += bool(found)
        print(f"{kind}, {mine} kills: {', '.join(found) or 'the same'}", flush=True)
    print(f"{kills} kills in {runs} runs of {len(FORMATS)} formats: {odd} runs differ")
    raise SystemExit(1 if odd else 0)


if __name__ == "__main__":
    main()
