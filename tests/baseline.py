"""Run a command with vector instructions held to what every processor of this kind has.

    python -m tests.baseline pytest tests

Holds back the four that choose by processor when they start: noregret, NumPy, OpenBLAS (NumPy's and
SciPy's) and the C library's mathematics. What they compute then differs in the last digits, as it
does between machines.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib import import_module


def held_to_the_baseline() -> dict[str, str]:
    """Return the environment variables that do it on this machine."""
    numpy = import_module("numpy._core._multiarray_umath")  # it has no type hints
    # NumPy warns of features that it cannot disable: those that the processor has not.
    present = [feature for feature in numpy.__cpu_dispatch__ if numpy.__cpu_features__[feature]]
    held = {"NOREGRET_CPU": "baseline"}
    if present:
        held["NPY_DISABLE_CPU_FEATURES"] = " ".join(present)
    if platform.machine() in {"x86_64", "AMD64"}:
        held["OPENBLAS_CORETYPE"] = "Prescott"
        held["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
    return held


if __name__ == "__main__":
    os.execvpe(sys.argv[1], sys.argv[1:], {**os.environ, **held_to_the_baseline()})
