"""Peak memory of ``noregret run`` on a file of 1 GB, and whether it stays flat.

The peak is the system's own count. Flat means that the second half of the run took little more than
the first, without its beginning; a certificate is made at the end, so that counts too.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._command import LEARN_ONLY, LEARNER, QUIET, missing, noregret_run
from benchmarks._files import csv_table, repeated, svmlight_text, temporary_folder, vw_text
from benchmarks._harness import Failed, Row, skipped

PACKAGES = ("numpy",)
LIMIT_MB, FLAT = 300, 0.1
WARM_UP = 0.1
STATUS = Path("/proc/self/status")
KINDS: dict[str, tuple[Callable[..., Path], list[str]]] = {
    "vw": (vw_text, []),
    "svmlight": (svmlight_text, []),
    "csv": (csv_table, ["--target", "y"]),
}


def run(quick: bool) -> Iterator[Row]:
    reason = missing()
    if not STATUS.exists():
        reason = "memory is read from /proc, which this system lacks"
    if reason:
        yield skipped("memory of noregret run", reason)
        return
    for kind, (text, options) in KINDS.items():
        path = text(20_000) if quick else text()
        with temporary_folder() as folder:
            size = 20_000_000 if quick else 1_000_000_000
            large = repeated(path, size, header=kind == "csv", into=Path(folder) / f"large.{kind}")
            command = noregret_run(large, "--format", kind, *options, *LEARNER, QUIET)
            work = f"memory of noregret run, {large.stat().st_size / 1e9:.2g} GB of {kind}"
            yield judged(f"{work}, learning only", watch([*command, LEARN_ONLY]))
            if kind == "csv":  # of sparse text, the search for the best in hindsight takes minutes
                yield judged(f"{work}, with certificate", watch(command))


@dataclass
class Watched:
    """A sample of the memory of a process in MB: when, and the peak so far."""

    seconds: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    peak: float = 0.0

    def look(self, status: Path, seconds: float) -> None:
        """Take down what the process holds now; nothing if it is over."""
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            return
        if "VmRSS" in lines:
            self.seconds.append(seconds)
            self.held.append(int(lines["VmRSS"].split()[0]) / 1024)
            self.peak = max(self.peak, int(lines["VmHWM"].split()[0]) / 1024)

    def most(self, begin: float, end: float) -> float:
        """Return the most that was held in a part of the run, given in fractions of its time."""
        over = self.seconds[-1]
        moments = zip(self.seconds, self.held, strict=True)
        return max((mb for s, mb in moments if begin * over <= s <= end * over), default=0.0)


def watch(command: list[str]) -> Watched:
    """Run a command and measure its memory a hundred times per second."""
    seen, start = Watched(), time.perf_counter()
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said) as process,
    ):
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            seen.look(status, time.perf_counter() - start)
            time.sleep(0.01)
        if process.returncode != 0:
            said.seek(0)
            raise Failed(f"{' '.join(command[:2])}: {said.read().decode(errors='replace')}")
    return seen


def judged(work: str, seen: Watched) -> Row:
    first, second = seen.most(WARM_UP, 0.5), seen.most(0.5, 1.0)
    return Row(
        work,
        f"peak {seen.peak:.0f} MB",
        f"first half {first:.0f} MB, second {second:.0f} MB",
        f"{second / first - 1:+.1%}" if first else "",
        f"< {LIMIT_MB} MB, ≤ +{FLAT:.0%}",
        seen.peak < LIMIT_MB and second <= (1 + FLAT) * first,
    )
