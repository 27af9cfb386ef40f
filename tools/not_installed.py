"""List the files below ``src/noregret`` that are not installed, for the build, one per line.

These are the sources of compiled code, and stubs, which the build writes anew. With ``--folders``,
list folders instead: bytecode that an editable install leaves behind.
"""

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "noregret"
INSTALLED = {".py", ".typed", ".csv", ".gz", ".json", ".md", ".npy", ".txt"}


def not_installed() -> list[str]:
    """Return the files that are no part of the package, relative to it."""
    others = {p for p in PACKAGE.rglob("*") if p.is_file() and p.suffix not in INSTALLED}
    others |= {
        p.with_suffix(".pyi") for p in PACKAGE.rglob("*.pyx")
    }  # there from the first build on
    return [p.relative_to(PACKAGE).as_posix() for p in others if p.name != "py.typed"]


def folders() -> list[str]:
    """Return the folders that are no part of the package, relative to it."""
    return [p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("__pycache__")]


if __name__ == "__main__":
    print("\n".join(sorted(folders() if "--folders" in sys.argv else not_installed())))
