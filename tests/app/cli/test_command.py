"""The command: its exit codes, its messages, its demo."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import noregret
from noregret.data import flights
from noregret.hindsight import LeastSquares
from tests.app.run.commands import command


def test_the_installed_command_is_there() -> None:
    installed = Path(sys.executable).parent / "noregret"
    done = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"noregret {noregret.__version__}\n"


SCRIPT = """
import atexit
from noregret.app.cli import script
atexit.register(print, "at the end")
script()
"""


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["learners"], 0, "auto"),
        (["verify", "no-such-file.json", "data.csv"], 1, "no-such-file.json"),
        (["run", "--no-such-option"], 2, "--no-such-option"),
    ],
)
def test_a_process_ends_with_the_code_all_the_output_and_the_exit_handlers_of_a_command(
    arguments: list[str], code: int, line: str
) -> None:
    python = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(python, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stderr
    assert line in done.stdout + done.stderr
    assert done.stdout.endswith("at the end\n")
    assert done.stdout == command(*arguments).out + "at the end\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_output_that_cannot_be_written_is_a_failure_of_the_process() -> None:
    python = [sys.executable, "-c", "from noregret.app.cli import script; script()", "--help"]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(python, stdout=full, stderr=subprocess.PIPE, env=env, check=False)
    assert done.returncode != 0
    assert b"No space left" in done.stderr


def test_wrong_usage_ends_with_2_and_no_traceback() -> None:
    for arguments in (["no-such-command"], ["demo", "--no-such-option"], ["demo", "extra"]):
        ended = command(*arguments)
        assert ended.code == 2
        assert "Traceback" not in ended.err
        assert arguments[-1] in ended.err


def test_version_is_answered_with_other_options_too() -> None:
    assert command("--version", "demo").out == f"noregret {noregret.__version__}\n"


def test_a_failure_is_one_line_and_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise FileNotFoundError(2, "No such file", "flights.csv")

    monkeypatch.setattr("noregret.data.flights", broken)
    ended = command("demo")
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "flights.csv" in ended.err


def demo_lines(report: Path) -> list[list[float]]:
    """The rows of the demo's table: flights, learner's mean, hindsight's mean, regret."""
    ended = command("demo", "--report", report)
    assert ended.code == 0, ended.err
    assert ended.err == ""  # the progress bar is for terminals
    lines = [line for line in ended.out.splitlines() if line.count("│") == 5]
    rows = [re.findall(r"[-+]?[\d,]+\.?\d*", line) for line in lines]
    return [[float(cell.replace(",", "")) for cell in row] for row in rows]


def test_the_demo_reports_what_an_independent_computation_finds(tmp_path: Path) -> None:
    examples = list(flights())
    names = sorted(
        {f"{k}={v}" if isinstance(v, str) else k for x, _ in examples for k, v in x.items()}
    )
    at = {name: k for k, name in enumerate(names)}
    rows = np.zeros((len(examples), len(names)))
    for r, (x, _) in enumerate(examples):
        for key, value in x.items():
            if isinstance(value, str):
                rows[r, at[f"{key}={value}"]] = 1.0
            else:
                rows[r, at[key]] = value
    outcomes = np.array([y for _, y in examples])
    learner, paid = noregret.make("auto"), 0.0
    for x, y in examples:
        paid += (learner.predict_one(x) - y) ** 2
        learner.learn_one(x, y)
    best = np.linalg.lstsq(rows, outcomes, rcond=None)[0]
    hindsight = float(np.sum((rows @ best - outcomes) ** 2))
    flights_seen, mean, hindsight_mean, regret = demo_lines(tmp_path / "demo.html")[-1]
    assert regret < 0
    assert "</html>" in (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert flights_seen == len(examples)
    assert mean == pytest.approx(paid / len(examples), abs=0.05)
    assert hindsight_mean == pytest.approx(hindsight / len(examples), abs=0.05)
    assert regret == pytest.approx(paid - hindsight, abs=1)


@pytest.mark.parametrize("seed", range(5))
def test_least_squares_from_sums_is_least_squares(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(40, 6)) * 10.0 ** draw.integers(-4, 5, size=6)
    if seed % 2:
        rows[:, 3] = rows[:, 1]  # a duplicate
        rows[:, 4] = 0.0  # and a column that never says anything
    outcomes = draw.normal(size=40)
    sums = LeastSquares(6)
    sums.add(rows[:17], outcomes[:17])
    sums.add(rows[17:], outcomes[17:])
    fitted = np.linalg.lstsq(rows / np.abs(rows).max(axis=0).clip(1e-300), outcomes, rcond=None)[0]
    scaled = rows / np.abs(rows).max(axis=0).clip(1e-300)
    expected = float(np.sum((scaled @ fitted - outcomes) ** 2))
    assert sums.best().loss == pytest.approx(expected, rel=1e-9)
    assert np.sum((rows @ sums.best().witness - outcomes) ** 2) == pytest.approx(expected, rel=1e-9)
