"""Wide tables: a regret above the bound of another comparison is explained, and so are gaps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from noregret.proof.certificates.file import load_certificate

from .commands import done


def wide(path: Path, rows: int, columns: int) -> Path:
    """Write a table of noise columns; the target depends on a few."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(rows, columns))
    y = X[:, :3].sum(axis=1) + rng.normal(size=rows)
    names = ",".join([*(f"x{k}" for k in range(columns)), "y"])
    np.savetxt(path, np.column_stack([X, y]), "%.4f", ",", header=names, comments="")
    return path


def test_a_regret_above_the_bound_is_explained(tmp_path: Path) -> None:
    path, page = wide(tmp_path / "d.csv", 400, 380), tmp_path / "r.html"
    certificate = tmp_path / "c.json"
    said = done("run", path, "--target", "y", "--certificate", certificate, "--report", page)
    found = json.loads(certificate.read_text())
    above = found["regret"]["upper"] > found["theorem"]["bound"]
    assert found["theorem"]["holds"]
    for text in (said, page.read_text(), str(load_certificate(certificate))):
        words = " ".join(text.replace("│", " ").split())
        assert ("is larger and breaks no promise" in words) == above
    assert above


def test_points_without_a_regret_are_counted(tmp_path: Path) -> None:
    path, page = wide(tmp_path / "d.csv", 600, 60), tmp_path / "r.html"
    told = json.loads(done("run", path, "--target", "y", "--report", page, "--json"))
    regret = told["curve"]["regret"]
    gaps = sum(each is None for each in regret)
    assert 0 < gaps < len(regret) - 1
    notes = re.findall(r"at ([\d,]+) of the ([\d,]+) points", page.read_text())
    assert sum(int(some) for some, _ in notes) == gaps
    assert {int(each) for _, each in notes} == {len(regret)}
