"""A certificate that one processor made is confirmed by others."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from noregret.base.compiled import machine
from tests.baseline import held_to_the_baseline
from tests.proof.certificates import processors
from tests.thorough import sized

ROOT = Path(__file__).parents[3]
# As it comes, every vector instruction held back, and, in a thorough run on a processor that has
# more, ours to AVX2.
BETWEEN = sized(False, full=machine.level() == "avx512")
SETTINGS: dict[str, dict[str, str]] = {
    "as it comes": {},
    "baseline": held_to_the_baseline(),
    **({"avx2": {machine.VARIABLE: "avx2"}} if BETWEEN else {}),
}


def run(setting: str, *arguments: str | Path) -> str:
    """Run a process under a setting, whichever this one has, and return what it prints."""
    outer = {k: v for k, v in os.environ.items() if k not in held_to_the_baseline()}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env={**outer, **SETTINGS[setting]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def process(setting: str, data: Path, *steps: str | Path) -> str:
    """Make and verify certificates under a setting, and return what is not confirmed.

    In this process if it has that setting, which saves the start of another.
    """
    if SETTINGS[setting] or held_to_the_baseline().keys() & os.environ.keys():
        return run(setting, "-m", "tests.proof.certificates.processors", data, *steps)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # another process would print them
        processors.main(str(data), *map(str, steps))
    return printed.getvalue()


def test_certificates_of_everything_are_confirmed_across_processors(tmp_path: Path) -> None:
    processors.write_data(tmp_path, rounds=sized(12, full=150))
    names = list(SETTINGS)
    for number, setting in enumerate(names):
        steps: list[str | Path] = ["make", tmp_path / setting]
        for other in names[:number]:
            steps += ["verify", tmp_path / other]
        assert process(setting, tmp_path, *steps) == "", f"verified: {setting}"
    digests = [
        {p.name: json.loads(p.read_text("utf-8"))["data"]["digest"] for p in folder.glob("*.json")}
        for folder in (tmp_path / setting for setting in SETTINGS)
    ]
    assert len(digests[0]) == len(list(processors.players())) + 1
    assert all(found == digests[0] for found in digests)
    for number, setting in enumerate(names[:-1]):
        steps = [step for other in names[number + 1 :] for step in ("verify", tmp_path / other)]
        assert process(setting, tmp_path, *steps) == "", f"verified: {setting}"


SAY = "from noregret.base.compiled import machine; print(machine.level())"


def test_the_variable_holds_the_core_to_a_level_that_the_processor_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(machine.VARIABLE, raising=False)
    best = run("as it comes", "-c", SAY).strip()
    for level in machine.LEVELS:
        monkeypatch.setitem(SETTINGS, level, {machine.VARIABLE: level})
        lower = min(machine.LEVELS.index(level), machine.LEVELS.index(best))
        assert run(level, "-c", SAY).strip() == machine.LEVELS[lower]
    monkeypatch.setitem(SETTINGS, "empty", {machine.VARIABLE: ""})
    assert run("empty", "-c", SAY).strip() == best


def test_a_level_that_does_not_exist_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,y\n1,2\n", encoding="utf-8")
    command = "from noregret.app.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "run", str(file), "--target", "y"],
        env={**os.environ, machine.VARIABLE: "sse9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("noregret: NOREGRET_CPU=sse9 names no level")
    assert "baseline, avx2, avx512" in done.stderr
    assert done.stderr.count("\n") == 1
