"""After any number of kills at any moment, a run ends as if nothing had happened, to the bit."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from noregret.base.locks import SUFFIX
from tests.app.run import data
from tests.app.run.commands import COMMAND, done
from tests.app.run.killing import OUTPUTS, figures
from tests.thorough import sized

HERE = Path(__file__).parents[3]
LARGE = sized(4_000, full=16_000)
# Then a run may go on to the end.
KILLS = sized(2, full=8)
LABELS = ["--target", "late", "--positive", "yes", "--drop", "sold", "--learner", "logistic"]


def with_bad_rows(path: Path) -> Path:
    """Write numbers among which some are none."""
    lines = data.csv(path, data.numbers()).read_text(encoding="utf-8").splitlines()
    for line in range(9, len(lines), 23):
        lines[line] = "1,oops" if line % 2 else lines[line].replace(",", ",?", 1)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


# A name: the file, how it is made, the options, and what is special.
Case = tuple[str, Callable[[Path], Any], list[str], dict[str, Any]]
PLAIN = ["--target", "y", "--drop", "label", "--learner", "widrow-hoff"]
PLAIN += ["-p", "rate=0.3", "-p", "norm=6"]
CASES: dict[str, Case] = {
    "sums": ("d.csv", lambda p: data.csv(p, data.numbers()), PLAIN, {}),
    "sums, large": (
        "d.csv",
        lambda p: data.csv(p, data.numbers(LARGE, 20)),
        PLAIN,
        {"block": LARGE * 19, "every": 1},
    ),
    "sums, rows dropped": (
        "d.csv",
        lambda p: data.csv(p, data.numbers(9_000)),
        PLAIN,
        {"memory": 50_000, "block": 30_000},
    ),
    "compressed, large": (
        "d.csv.gz",
        lambda p: data.csv(p, data.numbers(LARGE, 20)),
        PLAIN,
        {"block": LARGE * 19, "every": 1},
    ),
    "standard input": (
        "d.csv",
        lambda p: data.csv(p, data.numbers(LARGE, 20)),
        PLAIN,
        {"stdin": "d.csv", "block": LARGE * 19, "every": 1},
    ),
    "rows": ("d.csv", lambda p: data.csv(p, data.frame()), LABELS, {}),
    "rows beyond memory": (
        "d.csv",
        lambda p: data.csv(p, data.frame()),
        LABELS,
        {"memory": 10_000},
    ),
    "averaged": (
        "d.csv",
        lambda p: data.csv(p, data.numbers()),
        ["--target", "label", "--drop", "y", "--learner", "perceptron", "-p", "averaged=true"],
        {},
    ),
    "names that grow, tags": (
        "d.vw",
        lambda p: data.vw(p, 300),
        ["--learner", "logistic"],
        {"every": 20},
    ),
    "hashed": ("d.vw", lambda p: data.vw(p, 300), ["--learner", "logistic", "--hash", "6"], {}),
    "numbered": ("d.svm", data.svmlight, ["--format", "svmlight", "--scale", "max"], {}),
    "scaled": (
        "d.csv",
        lambda p: data.csv(p, data.frame()),
        [*LABELS, "--scale", "standard", "--missing", "indicator"],
        {},
    ),
    "scaled by the largest": (
        "d.parquet",
        lambda p: data.parquet(p, data.frame()),
        [*LABELS, "--scale", "max"],
        {},
    ),
    "row groups": (
        "d.parquet",
        lambda p: data.parquet(p, data.numbers(9_000)),
        PLAIN,
        {"every": 700},
    ),
    "random features": (
        "d.csv",
        lambda p: data.csv(p, data.numbers()),
        [*PLAIN[:4], "--learner", "nlms", "--fourier", "20"],
        {},
    ),
    "no choice": ("d.csv", lambda p: data.csv(p, data.numbers()), PLAIN[:4], {}),
    "no choice, labels": ("d.csv", lambda p: data.csv(p, data.frame()), LABELS[:6], {}),
    "bad rows": ("d.csv", with_bad_rows, [*PLAIN, "--on-error", "skip"], {}),
    "lines of JSON": ("d.jsonl", lambda p: data.jsonl(p, data.frame()), LABELS, {}),
    "multiplicative": (
        "d.csv",
        lambda p: data.csv(p, data.numbers()),
        [*PLAIN[:4], "--learner", "exponentiated-gradient", "-p", "weight=3", "-p", "rate=0.01"],
        {},
    ),
}


@pytest.fixture(scope="module")
def player() -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    """A process that plays cases."""
    arguments = [sys.executable, "-m", "tests.app.run.killing"]
    with subprocess.Popen(
        arguments, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as host:

        def play(case: dict[str, Any]) -> dict[str, Any]:
            assert host.stdin is not None
            assert host.stdout is not None
            print(json.dumps(case), file=host.stdin, flush=True)
            found: dict[str, Any] = json.loads(host.stdout.readline())
            return found

        yield play


@pytest.mark.parametrize("name", sized(list(CASES)[::4], full=list(CASES)))
def test_a_run_that_is_killed_ends_as_one_that_is_not(
    name: str, tmp_path: Path, player: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    file, make, arguments, special = CASES[name]
    make(tmp_path / file)
    given = "-" if "stdin" in special else file
    if given == "-":
        arguments = [*arguments, "--format", "csv"]
    case = {"folder": str(tmp_path), "block": 2_500, "every": 40, "seed": name, "kills": KILLS}
    found = player(case | {"arguments": [given, *arguments]} | special)
    assert found["ended"] == 0, found
    assert found["kills"] >= min(3, KILLS), found
    for end in OUTPUTS.values():
        whole, killed = (tmp_path / f"{run}.{end}" for run in ("whole", "killed"))
        assert whole.read_bytes() == killed.read_bytes(), end
    assert figures(tmp_path, "whole") == figures(tmp_path, "killed")
    assert not list(tmp_path.glob("c*")), "a finished run leaves no checkpoint behind"
    assert not list(tmp_path.glob(f".*{SUFFIX}")), "nor temporary files or locks"


def test_signals_at_random_times_change_nothing(tmp_path: Path) -> None:
    rows = sized(2_000, full=150_000)
    file = data.csv(tmp_path / "d.csv", data.numbers(rows, 6))
    arguments = ["run", str(file), "--quiet", *PLAIN]
    done(*arguments, *outputs(tmp_path / "whole"))
    kept = str(tmp_path / "c")
    again = [*arguments, *outputs(tmp_path / "killed")]
    again += ["--checkpoint", kept, "--resume", kept, "--every", str(rows // 8)]
    draw, kills = random.Random(4), 0
    while True:
        child = subprocess.Popen([*COMMAND, *again])
        try:
            assert child.wait(draw.uniform(0.3, 1.2) if kills < sized(1, full=8) else 120) == 0
            break
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            kills += 1
    for end in OUTPUTS.values():
        whole, killed = (tmp_path / f"{run}.{end}" for run in ("whole", "killed"))
        assert whole.read_bytes() == killed.read_bytes(), end


def outputs(place: Path) -> list[str]:
    """Return the options that ask for everything."""
    return [text for kind, end in OUTPUTS.items() for text in (f"--{kind}", f"{place}.{end}")]
