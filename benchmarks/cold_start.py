"""Time for a fresh process to import noregret, against importing NumPy."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks._harness import Row, duration, longer, race, skipped

PACKAGES = ("numpy",)
NUMPY = [sys.executable, "-c", "import numpy"]


def run(quick: bool) -> Iterator[Row]:
    seconds = 0 if quick else 8
    yield compare('python -c "import noregret"', [sys.executable, "-c", "import noregret"], seconds)
    work, script = "noregret --version", Path(sys.executable).with_name("noregret")
    if importlib.util.find_spec("noregret.app.cli") is None:
        yield skipped(work, "there is no noregret.app.cli yet")
    elif not script.exists():
        yield skipped(work, f"there is no {script.name} command beside {sys.executable}")
    else:
        yield compare(work, [str(script), "--version"], seconds)


def compare(work: str, command: list[str], seconds: float) -> Row:
    ours, numpy = race(lambda: finish(command), lambda: finish(NUMPY), seconds=seconds)
    return longer(work, duration(ours), f"import numpy {duration(numpy)}", ours / numpy, at_most=2)


def finish(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)
