"""Real data that are not shipped with the package, where a developer has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "NOREGRET_DATA"


def real_data(name: str, contents: str) -> Path:
    """Return the path of a file below the folder that the variable names; skip if it is not there.

    ``contents`` says what the file holds: who wants the test to run has to find or write it.
    """
    folder = os.environ.get(VARIABLE)
    path = Path(folder or "") / name
    if not folder or not path.is_file():
        pytest.skip(f"to run it, set {VARIABLE} to a folder that has {name}: {contents}")
    return path
