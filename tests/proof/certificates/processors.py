"""Certificates of everything that plays, made or verified by a process of its own.

    python -m tests.proof.certificates.processors DATA make CERTIFICATES verify CERTIFICATES

The environment says which vector instructions that process uses. Data are in files, with numbers
that are the same whatever computes them.
"""

from __future__ import annotations

import random
import sys
import wave
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import noregret as nr
from noregret.base.algorithm import Named
from noregret.base.registry import all_algorithms
from noregret.echo import Canceller

COLUMNS = ("a", "b", "c", "d", "e")
CANCELLER = "canceller"


def write_data(folder: Path, rounds: int) -> None:
    """Write a table of each kind that is played, and two recordings."""
    draw = random.Random(17)
    truth = (3, -5, 2, 0, 1)
    numbers, labels, bits, relatives, signals = [], [], [], [], []
    before = [0] * 5
    for _ in range(rounds):
        row = [draw.randint(-32, 32) for _ in truth]
        score = sum(w * x for w, x in zip(truth, row, strict=True)) + draw.randint(-40, 40)
        numbers.append([*(x / 64 for x in row), score / 256])
        labels.append([*(x / 64 for x in row), 1 if score > 0 else -1])
        coins = [draw.randint(0, 1) for _ in truth]
        bits.append([*coins, coins[0]])
        relatives.append([1 + x / 512 for x in row])
        before = [row[0], *before[:-1]]
        signals.append([row[0] / 64, sum(w * x for w, x in zip(truth, before, strict=True)) / 256])
    for name, rows in (("numbers", numbers), ("labels", labels), ("bits", bits)):
        write_table(folder / f"{name}.csv", (*COLUMNS, "y"), rows)
    write_table(folder / "advice.csv", (*COLUMNS, "y"), [[abs(x) / 2 for x in r] for r in numbers])
    write_table(folder / "relatives.csv", COLUMNS, relatives)
    write_table(folder / "signals.csv", ("far", "y"), signals)
    far = [draw.randint(-8000, 8000) for _ in range(4000)]
    write_sound(folder / "far.wav", far)
    write_sound(
        folder / "mic.wav", [x // 2 + draw.randint(-300, 300) for x in [0, 0, 0, *far[:-3]]]
    )


def write_table(path: Path, columns: tuple[str, ...], rows: list[Any]) -> None:
    lines = [",".join(map(repr, row)) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n", encoding="utf-8")


def write_sound(path: Path, samples: list[int]) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(array("h", samples).tobytes())


def data_for(player: Any) -> tuple[str, str | None]:
    """Return the file that a player can play, and its target."""
    if player.family == "experts":
        votes = "majority" in player.name or player.name == "halving"
        return ("bits.csv" if votes else "advice.csv"), "y"
    if player.family == "bandits":
        return ("bits.csv" if player.name == "exp4" else "advice.csv"), None
    if player.family in ("portfolios", "filters"):
        return ("relatives.csv", None) if player.family == "portfolios" else ("signals.csv", "y")
    if player.name in ("conjunction", "winnow"):
        return "bits.csv", "y"
    if player.family == "batch":
        numeric = player.name in ("linear-regression", "ridge", "online-to-batch")
        return ("numbers.csv" if numeric else "labels.csv"), "y"
    return ("labels.csv" if player.engine.loss.labels else "numbers.csv"), "y"


def players() -> Iterator[Named]:
    """Yield one of each kind that learns from files: those of classes do not yet."""
    for kind in all_algorithms():
        if hasattr(kind, "classes"):
            continue
        params: dict[str, Any] = {"arms": ["a", "b"]} if kind.name == "exp4" else {}
        yield kind(**params)


def make(data: Path, made: Path) -> None:
    """Make the certificate of every player."""
    made.mkdir()
    for player in players():
        file, target = data_for(player)
        game = nr.play(player, data / file, target=target, progress=False)
        game.certificate().save(made / f"{player.family}.{player.name}.json")
    canceller = Canceller(8000, tail=0.004, block=32, certify=True)
    canceller.process_many(*recordings(data))
    canceller.certificate().save(made / f"{CANCELLER}.json")


def recordings(data: Path) -> tuple[Any, Any]:
    import soundfile

    far, mic = (soundfile.read(data / name, dtype="int16")[0] for name in ("far.wav", "mic.wav"))
    return far, mic


def verify(data: Path, made: Path) -> None:
    """Verify them, and print the lines that are not confirmed."""
    for player in players():
        file, target = data_for(player)
        path = made / f"{player.family}.{player.name}.json"
        tell(path, nr.verify(path, data / file, target=target))
    path = made / f"{CANCELLER}.json"
    tell(path, nr.verify(path, recordings(data)))


def tell(path: Path, found: nr.Verification) -> None:
    for line in found.failed:
        print(f"{path.stem}: {line.name}: stated {line.stated!r}, found {line.found!r}")


def main(source: str, *steps: str) -> None:
    """Make or verify the certificates in each of the folders that are named."""
    for step, folder in zip(steps[::2], steps[1::2], strict=True):
        {"make": make, "verify": verify}[step](Path(source), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
