"""Running whole commands: ours as it is installed, and the peers'."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks._harness import Failed

ROOT = Path(__file__).parents[1]
LEARNER = ("--learner", "widrow-hoff", "--no-intercept")
QUIET, LEARN_ONLY = "--quiet", "--no-hindsight"


def missing() -> str:
    """Say why ``noregret run`` cannot be measured; nothing if it can."""
    if importlib.util.find_spec("noregret.app.cli.commands.run") is None:
        return "there is no noregret run yet"
    if not Path(noregret_run()[0]).exists():
        return f"there is no noregret command beside {sys.executable}"
    return ""


def noregret(*arguments: object) -> list[str]:
    """Return a command line of noregret."""
    return [str(Path(sys.executable).with_name("noregret")), *map(str, arguments)]


def noregret_run(*arguments: object) -> list[str]:
    """Return the command line of ``noregret run``."""
    return noregret("run", *arguments)


def python(*arguments: object) -> list[str]:
    """Return the command line of a fresh Python."""
    return [sys.executable, *map(str, arguments)]


def runs(*commands: list[str]) -> list[Callable[[], object]]:
    """Return commands as contestants of a race."""
    return [partial(finish, command) for command in commands]


def finish(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with more environment variables.

    If it fails, so does the benchmark, in the command's words.
    """
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
        env=os.environ | variables,
    )
    if done.returncode != 0:
        raise Failed(f"{' '.join(command[:3])}: {done.stderr.strip() or done.returncode}")
    return done
