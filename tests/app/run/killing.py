"""A run that is killed again and again, each time in a process that ends without a last word.

``python -m tests.app.run.killing`` plays each case that comes on a line of standard input,
twice: at one go without checkpoints, and with them, from one kill to the next. Both leave their
files in the folder of the case. What one case has imported, the next need not.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from noregret.app.cli.app import run
from noregret.app.commands.run import checkpoint, runner
from noregret.app.commands.run.runner import Run
from noregret.app.commands.run.spool import Spool
from noregret.proof.game.game import Game
from noregret.proof.record.pages import Pages
from noregret.streams import open_file as opened
from noregret.streams.file_formats import parquet

OUTPUTS = {"model": "model", "certificate": "json", "predictions": "csv"}
# What is printed with --json; what it says of the run itself is another each time.
PRINTED = "printed"
# The same certificate is to come out, however slow the machine is.
runner.MIN_LOOK_BACK = runner.MIN_PATIENCE = 1e9
SEEN = "seen.json"


class Killer:
    """Ends the process at one of the calls that it watches.

    Parameters
    ----------
    at
        The number of the last call; 0 for none.
    """

    def __init__(self, at: int) -> None:
        self.at, self.calls = at, 0

    def maybe(self) -> None:
        """End the process if it is time."""
        self.calls += 1
        if self.calls == self.at:
            os._exit(9)

    def watch(self, owner: Any, name: str) -> None:
        """End the process before or after a call, perhaps."""
        before: Callable[..., Any] = getattr(owner, name)

        def watched(*args: Any, **options: Any) -> Any:
            self.maybe()
            found = before(*args, **options)
            self.maybe()
            return found

        setattr(owner, name, watched)

    def tear(self) -> None:
        """Cut the gathered bytes in the middle, perhaps."""
        before = Spool.write

        def torn(spool: Spool, contents: memoryview) -> None:
            if self.calls == self.at - 1:
                spool.file.write(contents.cast("B")[: self.at % (contents.nbytes + 1)])
            self.maybe()
            before(spool, contents)

        setattr(Spool, "write", torn)  # noqa: B010

    def everywhere(self) -> None:
        """Watch all that leaves something on disk."""
        for owner, name in (
            (Run, "take"),
            (Run, "finish"),
            (Run, "save_checkpoint"),
            (Pages, "add"),
            (checkpoint, "write"),
            (os, "replace"),
            (os, "fsync"),
            (os, "unlink"),
            (Path, "unlink"),
        ):
            self.watch(owner, name)
        self.tear()


def outputs(name: str) -> list[str]:
    """Return the options that ask for everything."""
    asked = OUTPUTS | {"report": "html"}  # without which predictions are not counted
    return [text for kind, end in asked.items() for text in (f"--{kind}", f"{name}.{end}")]


def figures(folder: Path, name: str) -> dict[str, Any]:
    """Return all that was printed of a run but when it was, how long it took and what it wrote."""
    found: dict[str, Any] = json.loads((folder / f"{name}.{PRINTED}").read_text("utf-8"))
    del found["run"]
    return found


def in_a_process(case: dict[str, Any], name: str, options: list[str], at: int) -> int:
    """Run the command in a process of its own, killed at a call; return how that ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code, killer = 70, Killer(at)
    try:
        os.dup2(os.open(case.get("stdin", os.devnull), os.O_RDONLY), 0)
        sys.stdout = open(f"{name}.{PRINTED}", "w", encoding="utf-8")  # noqa: SIM115
        opened.BLOCK, parquet.ROWS_PER_BATCH = case["block"], 64
        if "memory" in case:
            (Game.__init__.__kwdefaults__ or {})["memory"] = case["memory"]
        killer.everywhere()
        code = run(["run", *case["arguments"], "--json", *outputs(name), *options])
        sys.stdout.flush()
        Path(SEEN).write_text(json.dumps([killer.calls, list(sys.modules)]), encoding="utf-8")
    finally:
        os._exit(code)
    return code


def seen() -> int:
    """Return how many calls there were to watch, and import what was used: that saves time."""
    calls, modules = json.loads(Path(SEEN).read_text(encoding="utf-8"))
    for name in modules:
        with suppress(ImportError):
            importlib.import_module(name)
    return int(calls)


def play(case: dict[str, Any]) -> dict[str, Any]:
    """Play a case, with so many kills; return how often it was killed, and how it ended."""
    os.chdir(case["folder"])
    ended = in_a_process(case, "whole", [], 0)
    again = ["--checkpoint", "c", "--resume", "c", "--every", str(case["every"])]
    calls, kills, draw = seen(), 0, random.Random(case["seed"])
    while ended == 0:
        at = draw.randrange(1, max(6, calls // 2)) if kills < case["kills"] else 0
        ended = in_a_process(case, "killed", again, at)
        if ended != 9:
            break
        kills, ended = kills + 1, 0
    return {"kills": kills, "ended": ended}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(play(json.loads(line))), flush=True)
