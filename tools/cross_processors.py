"""Verify certificates on another level of vector instructions than they were made on.

    python tools/cross_processors.py [--few] [words in the names of games …]

Every game in ``tests/proof/certificates/roster.py`` is played on its own data and on hostile ones:
far columns, huge numbers, constant and doubled columns, spikes, one row. One process certifies with
all vector instructions and one with none (``tests/baseline.py``); each then verifies the other's
certificates. Every honest certificate that is refused, and every error that is none of noregret's
own, is printed. Takes about a quarter of an hour of CPU time, ``--few`` a quarter of that.
"""

from __future__ import annotations

import collections
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import noregret as nr  # noqa: E402
from tests.baseline import held_to_the_baseline  # noqa: E402
from tests.proof.certificates.roster import Entry, every, is_fixed, one_each  # noqa: E402

SETTINGS: dict[str, dict[str, str]] = {
    "every instruction": {},
    "baseline": held_to_the_baseline(),
}
DATA = "data.pickle"


def hostile(entry: Entry) -> Iterator[tuple[str, Any, Any]]:
    """Yield the data of a game with something hard done to them: (what, X, y)."""
    yield "as they are", entry.X, entry.y
    family = entry.name.partition(":")[0]
    if family == "groups":
        keys, rows, outcomes = zip(*entry.X, strict=True)
        for words, X, y in changed(np.array(rows), np.array(outcomes), is_text(outcomes)):
            yield words, list(zip(keys[: len(X)], X, y.tolist(), strict=True)), None
    elif family == "portfolios":
        yield "constant prices", np.ones_like(entry.X), None
        yield "equal assets", entry.X[:, :1] * np.ones_like(entry.X), None
        yield "prices times 1e6", entry.X * 1e6, None
        yield "nearly constant prices", 1 + 1e-12 * entry.X, None
        yield "one row", entry.X[:1], None
        yield "one spike", spiked(entry.X), None
    elif family not in ("echo", "bandits") and isinstance(entry.X, np.ndarray):
        yield from changed(entry.X, entry.y, is_fixed(entry))


def changed(X: Any, y: Any, fixed: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield changed rows and outcomes; ``fixed`` outcomes are classes."""
    for size in (1e-6, 1e6, 1e9):
        yield f"columns times {size:g}", X * size, y
        if size > 1:
            yield f"columns plus {size:g}", X + size, y
        if not fixed:
            yield f"all times {size:g}", X * size, y * size
            if size > 1:
                yield f"all plus {size:g}", X + size, y + size
    yield "constant columns", np.ones_like(X), y
    yield "no numbers", np.zeros_like(X), y
    yield "one row", X[:1], None if y is None else y[:1]
    yield "one spike", spiked(X), y
    if X.ndim == 2:
        yield "doubled columns", np.hstack([X, X]), y
        yield "nearly doubled columns", np.hstack([X, X * (1 + 1e-12)]), y


def spiked(X: Any) -> Any:
    """Return numbers with one that is huge."""
    X = X.copy()
    X[len(X) // 2] *= 1e9
    return X


def is_text(outcomes: Any) -> bool:
    """Return whether outcomes are names of classes."""
    return np.asarray(outcomes).dtype.kind == "U"


def entries(words: list[str]) -> dict[str, Entry]:
    """Return the games that are asked for, by name."""
    found = every()
    if "--few" in words:
        found = one_each() + [e for e in found if e.name.startswith("groups:")]
    words = [word for word in words if not word.startswith("--")]
    return {e.name: e for e in found if not words or any(word in e.name for word in words)}


def write_data(folder: Path, chosen: dict[str, Entry]) -> None:
    """Write the data of all games: numbers drawn by another processor may differ."""
    with np.errstate(all="ignore"):
        data = [
            (name, words, X, y) for name, entry in chosen.items() for words, X, y in hostile(entry)
        ]
    (folder / DATA).write_bytes(pickle.dumps(data))


def games(folder: Path, words: list[str]) -> Iterator[tuple[int, str, Entry]]:
    """Yield the games with their numbers and titles."""
    chosen = entries(words)
    for number, (name, how, X, y) in enumerate(pickle.loads((folder / DATA).read_bytes())):
        yield number, f"{name}: {how}", replace(chosen[name], X=X, y=y)


def make(folder: Path, made: Path, words: list[str]) -> None:
    """Certify all games; some refuse the data."""
    made.mkdir()
    for number, title, entry in games(folder, words):
        try:
            entry.certificate().save(made / f"{number}.json")
        except (nr.NoRegretError, ValueError):
            continue
        except Exception as error:
            print(f"{title}: CRASH {error!r:.150}", flush=True)


def verify(folder: Path, made: Path, words: list[str]) -> None:
    """Verify all certificates, and print what is not confirmed."""
    for number, title, entry in games(folder, words):
        path = made / f"{number}.json"
        if not path.exists():
            continue
        try:
            failed = nr.verify(path, **entry.data()).failed
        except Exception as error:
            kind = "REFUSED" if isinstance(error, nr.NoRegretError) else "CRASH"
            print(f"{title}: {kind} {error!r:.150}", flush=True)
            continue
        lines = [f"{each.name} {each.stated!r:.30}, {each.found!r:.30}" for each in failed]
        if lines:
            print(f"{title}: REFUSED {'; '.join(lines)}", flush=True)


def main(words: list[str]) -> int:
    """Certify and verify in processes with other instructions."""
    if words[:1] == ["--step"]:
        step, source, made = words[1:4]
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            {"make": make, "verify": verify}[step](Path(source), Path(made), words[4:])
        return 0
    outer = {k: v for k, v in os.environ.items() if k not in held_to_the_baseline()}
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, entries(words))

        def run(setting: str, step: str, made: Path) -> None:
            command = [sys.executable, __file__, "--step", step, str(folder), str(made), *words]
            child = {**outer, "OPENBLAS_NUM_THREADS": "1", **SETTINGS[setting]}
            with subprocess.Popen(
                command, env=child, cwd=ROOT, stdout=subprocess.PIPE, text=True
            ) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    counts["REFUSED" if ": REFUSED" in line else "CRASH"] += 1
                    print(f"{step} with {setting}: {line}", end="", flush=True)
            if process.returncode:
                raise SystemExit(f"{step} with {setting} ended with {process.returncode}")

        for setting in SETTINGS:
            run(setting, "make", folder / setting)
        settings = list(SETTINGS)
        for setting, other in (*zip(settings, settings[::-1], strict=True), (settings[0],) * 2):
            run(setting, "verify", folder / other)
            counts["verified"] += len(list((folder / other).glob("*.json")))
    print(
        f"{counts['verified']:,} honest certificates: {counts['REFUSED']} refused,"
        f" {counts['CRASH']} crashes"
    )
    return 1 if counts["REFUSED"] or counts["CRASH"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
