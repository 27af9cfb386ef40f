"""A command imports what it uses: it starts quickly, and its sentences need no search."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from noregret.base.families import FAMILIES, modules_of

# Modules of noregret that a run may load.
MAX_MODULES = 166
PROGRAM = """
import sys
from noregret.app.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    ours = (name for name in sys.modules if name.split(".")[0] in ("noregret", "scipy"))
    print(*ours, file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    """Return the modules of noregret and of SciPy that a command line loads."""
    line = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("learner", ["auto", "widrow-hoff"])
def test_a_run_loads_few_modules_and_only_the_learner_in_use(learner: str, tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("a,b,y\n1,2,3\n2,1,4\n3,5,8\n4,2,6\n")
    found = loaded("run", str(path), "--target", "y", "--learner", learner)
    algorithms = {module for family in FAMILIES for module in modules_of(family)}
    assert found & algorithms == {f"noregret.learners.{learner.replace('-', '_')}"}
    assert len(found) <= MAX_MODULES


@pytest.mark.parametrize("name", ["one.csv", "one.svmlight", "one.vw"])
def test_the_certificate_of_one_row_needs_no_scipy(name: str, tmp_path: Path) -> None:
    """SciPy takes a quarter of a second to load, more than all else."""
    path = tmp_path / name
    texts = {"csv": "a,b,y\n0.5,0.25,1\n", "svmlight": "1 1:0.5 2:0.25\n"}
    path.write_text(texts.get(name[4:], "1 | a:0.5 b:0.25\n"))
    told = ("--target", "y") if name == "one.csv" else ()
    assert "scipy" not in loaded("run", str(path), *told, "--learner", "widrow-hoff")
