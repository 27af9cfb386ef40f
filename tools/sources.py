"""List the package's installable files for the build, one a line.

The build asks here instead of keeping a list of its own: adding a learner is one new file.
With ``--version``, print the version instead; its one place is ``src/noregret/_version.py``.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "noregret"
INSTALLED = {".py", ".pyi", ".typed", ".csv", ".gz", ".json", ".md"}


def version() -> str:
    """Return the version that the package names."""
    text = (PACKAGE / "_version.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    if found is None:
        raise SystemExit("src/noregret/_version.py names no version")
    return found[1]


def sources() -> list[str]:
    """Return the files to install, relative to ``src``."""
    files = (p for p in PACKAGE.rglob("*") if p.suffix in INSTALLED or p.name == "py.typed")
    return sorted(p.relative_to(ROOT / "src").as_posix() for p in files if p.is_file())


if __name__ == "__main__":
    print(version() if "--version" in sys.argv else "\n".join(sources()))
