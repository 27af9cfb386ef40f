"""Gigabytes of Parquet with the columns of Criteo's clicks, on several workers.

``python -m benchmarks._criteo FOLDER 10`` writes 10 GB of generated rows to a folder, or uses those
that are there: a label, 13 integers with gaps, 26 columns of hashes, up to ten million different
ones in a column, whose frequencies fall off as Zipf's law says. Then, on a quarter of the files and
on all:

1. ``fit``: ``scale.fit`` fits ridge regression to the integers, with a certificate;
2. ``certified``: ``noregret run --group C1 --workers 2`` has a learner of them for each value of a
   column, with a certificate, whose rows go to a temporary file as well;
3. ``key``: the same without a certificate;
4. ``hashed``: with learners of all columns, which takes far longer.

``--work`` chooses among them, and ``--shares`` the shares of the files. With ``--distinct N``, only
N files are generated, and the others are copies of these. It prints the time, the loss and the most
memory that any worker took, which is not to grow with the rows. It is no part of the other
benchmarks, as it takes minutes and the disk.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGERS, HASHES = 13, 26
# Different values of each column of hashes.
VALUES = np.geomspace(10, 1e7, HASHES).astype(np.int64)[
    np.random.default_rng(1).permutation(HASHES)
]
GROUP_ROWS, FILE_ROWS = 1 << 17, 1 << 20
PAIRS = np.array([f"{byte:02x}" for byte in range(256)], dtype="S2")
KEY, *OTHERS = (f"C{k}" for k in range(1, HASHES + 1))
READING: dict[str, Any] = {"missing": "indicator", "drop": (KEY, *OTHERS)}
PENALTY = 1.0
PLAIN = ("--learner", "vaw", "--task", "numbers", "--drop", ",".join(OTHERS))
HASHED = ("--learner", "adagrad", "-p", "loss=logistic", "-p", "rate=0.05", "--hash", "18")
COMMAND = "from noregret.app.cli import script; script()"


def write(folder: Path, size: float, distinct: int) -> list[Path]:
    """Write files until they have so many bytes, unless they are there; return them.

    From a number on, they are copies of the earlier ones.
    """
    files: list[Path] = []
    while sum(file.stat().st_size for file in files) < size:
        number = len(files)
        files.append(folder / f"clicks-{number:04}.parquet")
        if files[-1].exists():
            continue
        if number < distinct:
            write_file(files[-1], number + 1)
        else:
            shutil.copyfile(files[number % distinct], files[-1])
    return files


def write_file(path: Path, seed: int) -> None:
    """Write a file of rows, atomically."""
    from pyarrow import parquet

    chance, made = np.random.default_rng(seed), path.with_suffix(".part")
    writer: Any = None
    for _ in range(FILE_ROWS // GROUP_ROWS):
        rows = table(chance, GROUP_ROWS)
        writer = writer or parquet.ParquetWriter(made, rows.schema)
        writer.write_table(rows, row_group_size=GROUP_ROWS)
    writer.close()
    made.rename(path)


def table(chance: np.random.Generator, rows: int) -> Any:
    """Return some rows."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    score = np.full(rows, -1.2)
    for k in range(1, INTEGERS + 1):
        numbers = np.floor(chance.lognormal(1.0, 1.5, rows)).astype(np.int64) - (k == 2)
        empty = chance.random(rows) < 0.02 * k
        score += np.where(empty, 0.1, 0.06 * (k % 3 - 1) * np.log1p(np.maximum(numbers, 0)))
        columns[f"I{k}"] = pa.array(numbers, mask=empty)
    for k, values in enumerate(VALUES.tolist(), 1):
        # With this density, the chance of the n-th value falls off as 1/n.
        ranks = np.exp(chance.random(rows) * np.log(values)).astype(np.uint32)
        codes = (ranks + np.uint32(k << 24)) * np.uint32(2654435761)
        score += 0.25 * ((codes >> 16 & 255) / 127.5 - 1) * (ranks < 1_000)
        empty = chance.random(rows) < (0.0 if f"C{k}" == KEY else 0.01)
        columns[f"C{k}"] = pa.array(hex_texts(codes), mask=empty)
    clicked = chance.random(rows) < 1 / (1 + np.exp(-score))
    return pa.table({"click": pa.array(clicked.astype(np.int64)), **columns})


def hex_texts(codes: NDArray[np.uint32]) -> NDArray[Any]:
    """Return numbers as texts of eight hexadecimal digits."""
    return PAIRS[codes.view(np.uint8)].view("S8").astype("U8")


# Measuring.


def processor_seconds() -> float:
    """Return the seconds that this process and those it has waited for have used."""
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in each)


def peaks(parent: int, until: threading.Event, found: dict[int, float]) -> None:
    """Note the most megabytes that processes started by another have taken so far."""
    while not until.wait(0.5):
        for each in Path("/proc").glob("[0-9]*/status"):
            try:
                facts = dict(line.split(":", 1) for line in each.read_text().splitlines())
            except (OSError, ValueError):  # it has ended
                continue
            if int(facts["PPid"]) == parent and "VmHWM" in facts:
                found[int(facts["Pid"])] = int(facts["VmHWM"].split()[0]) / 1024


def measured(work: Callable[[Callable[[int], None]], str]) -> str:
    """Do some work, which names the process whose workers count; return its figures."""
    began, used = time.perf_counter(), processor_seconds()
    over, found = threading.Event(), dict[int, float]()
    threads: list[threading.Thread] = []

    def watch(parent: int) -> None:
        threads.append(threading.Thread(target=peaks, args=(parent, over, found)))
        threads[0].start()

    try:
        said = work(watch)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    wall, spent = time.perf_counter() - began, processor_seconds() - used
    return (
        f"{said}; {wall:.0f} s, {spent:.0f} s of processors, {max(found.values()):.0f} MB a worker"
    )


def fitted(files: list[Path], workers: int, proof: Path) -> str:
    """Fit ridge regression."""
    from noregret.batch import Ridge
    from noregret.scale import Processes, fit

    def work(watch: Callable[[int], None]) -> str:
        with Processes(workers) as pool:
            watch(os.getpid())
            model = fit(Ridge(penalty=PENALTY), files, "click", pool=pool, **READING)
        certificate = model.certificate()
        proof.write_text(certificate.to_json())
        best, rounds = certificate.hindsight, certificate.data.rounds
        mean = certificate.loss.total / rounds
        return f"{rounds:,} rows, mean square {mean:.5f}, gap {best.gap / best.loss:.1e}"

    return measured(work)


def by_key(files: list[Path], workers: int, folder: Path, *options: str) -> str:
    """Run the command with a learner per value of a column."""
    asked = ["--target", "click", "--group", KEY, "--json", *options]
    command = [sys.executable, "-c", COMMAND, "run", *map(str, files), *asked]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        command += ["--workers", str(workers), "--work-folder", place]

        def work(watch: Callable[[int], None]) -> str:
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ran:
                watch(ran.pid)
                told, _ = ran.communicate()
            assert ran.returncode == 0
            found = json.loads(told)
            rows, loss = found["data"]["rows"], found["loss"]
            return f"{rows:,} rows, {loss['name']} loss {loss['mean']:.5f}"

        return measured(work)


def main() -> None:
    """Write the files, and measure."""
    options = argparse.ArgumentParser(prog="python -m benchmarks._criteo", description=__doc__)
    options.add_argument("folder", type=Path, help="where the files are, or are written to")
    options.add_argument("gigabytes", type=float, nargs="?", default=10.0)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--work", default="fit,certified", help="what to measure")
    options.add_argument("--shares", default="0.25,1", help="on which shares of the files")
    options.add_argument("--distinct", type=int, default=10**9, help="files that are no copies")
    given = options.parse_args()
    began = time.perf_counter()
    given.folder.mkdir(parents=True, exist_ok=True)
    files = write(given.folder, given.gigabytes * 1e9, given.distinct)
    size = sum(file.stat().st_size for file in files) / 1e9
    print(f"{size:.2f} GB in {len(files)} files, {time.perf_counter() - began:.0f} s", flush=True)
    proof = given.folder / "proof.json"
    keyed = {
        "certified": (*PLAIN, "--certificate", str(proof)),
        "key": PLAIN,
        "hashed": HASHED,
    }
    for share in map(float, given.shares.split(",")):
        some = files[: math.ceil(share * len(files))]
        for work in given.work.split(","):
            if work == "fit":
                print(f"{work}: {fitted(some, given.workers, proof)}", flush=True)
            else:
                found = by_key(some, given.workers, given.folder, *keyed[work])
                print(f"{work}: {found}", flush=True)


if __name__ == "__main__":
    main()
