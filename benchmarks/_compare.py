"""Processor time row by row, of this tree and of another revision, and the ratios.

Both are built alike into temporary environments, which share the packages of this one, and run
``_own_rows.py`` in turn. The best time of each row counts.
"""

from __future__ import annotations

import json
import sys
import sysconfig
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks._command import ROOT, finish
from benchmarks._harness import duration

TURNS = 6
MAX_RATIO = 1.1


def compare(revision: str, turns: int = TURNS) -> bool:
    """Print the table; return False if a row has become slower by more than a tenth."""
    console = Console(width=None if sys.stdout.isatty() else 100)
    with tempfile.TemporaryDirectory() as made, console.status("") as status:
        folder = Path(made)
        status.update(f"building {revision}")
        before = build(checked_out(revision, folder / "sources"), folder / "before")
        status.update("building this tree")
        after = build(ROOT, folder / "after")
        times: dict[Path, dict[str, float]] = {before: {}, after: {}}
        for turn in range(turns):
            status.update(f"turn {turn + 1} of {turns}")
            for python in (before, after) if turn % 2 else (after, before):
                note(python, times[python])
    table = Table("work", revision, "this tree", "ratio", title="processor time")
    slower: list[str] = []
    for name, old in times[before].items():
        new = times[after][name]
        if new > MAX_RATIO * old:
            slower.append(name)
        style = "bold red" if name in slower else ""
        table.add_row(name, duration(old), duration(new), f"{new / old:.2f}", style=style)
    console.print(table)
    if slower:
        console.print(f"Slower than {MAX_RATIO} times {revision}: {'; '.join(slower)}.")
    else:
        console.print(f"No row takes more than {MAX_RATIO} times as long as at {revision}.")
    return not slower


def checked_out(revision: str, folder: Path) -> Path:
    """Write the files of a revision into a folder."""
    commit = finish(["git", "rev-parse", "--verify", f"{revision}^{{commit}}"]).stdout.strip()
    finish(["git", "clone", "--quiet", "--no-checkout", str(ROOT), str(folder)])
    finish(["git", "-C", str(folder), "checkout", "--quiet", commit])
    return folder


def build(sources: Path, folder: Path) -> Path:
    """Build and install sources into an environment of their own; return its Python."""
    finish([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    packages = Path(finish([str(python), "-c", PACKAGES]).stdout.strip())
    (packages / "shared.pth").write_text(sysconfig.get_paths()["purelib"])
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    finish([*pip, "--ignore-installed", str(sources)])
    return python


PACKAGES = "import sysconfig; print(sysconfig.get_paths()['purelib'])"


def note(python: Path, best: dict[str, float]) -> None:
    """Run all rows in an environment, and note those that are better than before."""
    for line in finish([str(python), "-m", "benchmarks._own_rows"]).stdout.splitlines():
        name, seconds = json.loads(line)
        best[name] = min(seconds, best.get(name, seconds))
