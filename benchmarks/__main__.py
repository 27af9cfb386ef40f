"""Run every benchmark, or those named; print one table of ratios and write it to results.md."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import pkgutil
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks._compare import TURNS, compare
from benchmarks._harness import Disagreement, Failed, Grid, Row, skipped
from benchmarks._results import updated

RESULTS = Path(__file__).with_name("results.md")
COLUMNS = ("work", "noregret", "peer", "ratio", "target", "reached")
# Measured last: losses, which do not depend on what else the machine does.
LAST = ("shards", "mixing_quality", "classes", "classes_trees", "quality", "quality_heldout")


def main() -> None:
    known = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_"]
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    options.add_argument("--quick", action="store_true", help="small sizes: does it run at all?")
    options.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="all but this one"
    )
    options.add_argument(
        "--update", action="store_true", help=f"replace the rows of those named in {RESULTS.name}"
    )
    options.add_argument(
        "--compare", metavar="REV", help="this tree against a revision of it, without peers"
    )
    options.add_argument(
        "--turns", type=int, default=TURNS, metavar="N", help="turns of --compare (%(default)s)"
    )
    given = options.parse_args()
    if given.compare:
        try:
            sys.exit(0 if compare(given.compare, given.turns) else 1)
        except Failed as failure:
            options.error(str(failure))
    for name in [*given.names, *given.without]:
        if name not in known:
            options.error(f"unknown benchmark {name!r}: choose from {', '.join(known)}")

    start = time.perf_counter()
    names = [name for name in given.names or known if name not in given.without]
    names.sort(key=lambda name: LAST.index(name) if name in LAST else -1)
    found = measure(names, given.quick)
    found.facts = [
        *machine(found.packages),
        f"measured in {time.perf_counter() - start:.0f} s",
    ]
    if given.without:
        found.facts.append(f"without {', '.join(given.without)}")
    show(found)
    if given.update and given.names and not given.quick and not found.wrong:
        fact = f"measured again ({', '.join(names)}): {'; '.join(machine(found.packages))}"
        page = RESULTS.read_text(encoding="utf-8")
        RESULTS.write_text(updated(page, map(cells, found.rows), fact), encoding="utf-8")
        print(f"Written to {RESULTS}.")
    elif given.names or given.quick:
        print(f"Only a full run is written to {RESULTS.name}, or rows with --update.")
    else:
        RESULTS.write_text(markdown(found), encoding="utf-8")
        print(f"Written to {RESULTS}.")
    sys.exit(1 if found.wrong else 0)


@dataclass
class Findings:
    """The findings of the benchmarks; ``wrong`` if the results of one of them disagree."""

    rows: list[Row] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    packages: set[str] = field(default_factory=lambda: {"noregret", "numpy"})
    facts: list[str] = field(default_factory=list)
    wrong: bool = False


def measure(names: list[str], quick: bool) -> Findings:
    found = Findings()
    with Console(stderr=True).status("") as status:
        for place, name in enumerate(names, start=1):
            status.update(f"{name} ({place} of {len(names)})")
            try:
                module = importlib.import_module(f"benchmarks.{name}")
            except ModuleNotFoundError as missing:
                found.rows.append(skipped(name, f"{missing.name} is not installed"))
                continue
            found.packages.update(module.PACKAGES)
            try:
                for result in module.run(quick):
                    if isinstance(result, Grid):
                        found.grids.append(result)
                    else:  # small sizes say nothing about a target
                        found.rows.append(replace(result, reached=None) if quick else result)
            except Disagreement as apart:
                found.rows.append(Row(name, "wrong", str(apart), "", "the same numbers", False))
                found.wrong = True
            except Failed as failure:
                found.rows.append(Row(name, "failed", one_line(failure), "", "to end well", False))
                found.wrong = True
    return found


def one_line(failure: Exception) -> str:
    """Return a message as one line of a table."""
    return " ".join(str(failure).replace("|", "/").split())[:200]


def machine(packages: Iterable[str]) -> list[str]:
    """Say what the figures were measured on and with."""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in sorted(packages)]
    return [
        f"{processor()}, {platform.system()}",
        f"{platform.python_implementation()} {platform.python_version()}",
        ", ".join(versions),
        commit(),
    ]


def commit() -> str:
    """Return the commit of the files that are measured."""
    folder = Path(__file__).parent
    told = [["rev-parse", "--short", "HEAD"], ["status", "--porcelain"]]
    try:
        found, changed = (
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
            for words in told
        )
    except (OSError, subprocess.CalledProcessError):
        return "no commit: not in a git repository"
    return f"commit {found.stdout.strip()}{', with changes' if changed.stdout.strip() else ''}"


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def verdict(row: Row) -> str:
    return "" if row.reached is None else "yes" if row.reached else "NO"


def cells(row: Row) -> tuple[str, ...]:
    return row.work, row.ours, row.peer, row.ratio, row.target, verdict(row)


def summary(rows: list[Row]) -> str:
    judged = [row for row in rows if row.reached is not None]
    if not judged:
        return "No targets were judged."
    return f"{sum(bool(row.reached) for row in judged)} of {len(judged)} targets reached."


def show(found: Findings) -> None:
    """Print the tables; where the output is not a terminal, as wide as they need to be."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(*COLUMNS, title="noregret and its peers")
    for row in found.rows:
        style = {True: "green", False: "bold red", None: ""}[row.reached]
        table.add_row(*cells(row), style=style)
    console.print(table)
    for grid in found.grids:
        table = Table("", *grid.columns, title=grid.title)
        for name, figures in grid.rows:
            table.add_row(name, *figures)
        console.print(table)
    for line in [*found.facts, summary(found.rows)]:
        console.print(line, highlight=False)


def markdown(found: Findings) -> str:
    """Write the tables as a page."""
    lines = [
        "# noregret and its peers",
        "",
        "Written by `python -m benchmarks`; benchmarks/README.md explains each row.",
        "",
        *[f"- {fact}" for fact in found.facts],
        "",
        *markdown_table(COLUMNS, [cells(row) for row in found.rows]),
        "",
        summary(found.rows),
    ]
    for grid in found.grids:
        table = markdown_table(["", *grid.columns], [(name, *cost) for name, cost in grid.rows])
        lines += ["", f"## {grid.title}", "", *table]
    return "\n".join(lines) + "\n"


def markdown_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    headings = list(headings)
    lines = [headings, ["---"] * len(headings), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    main()
