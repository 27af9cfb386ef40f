"""List what the package needs, one requirement a line, with the extras that are named.

``make test`` asks here: so it can install the tools while the package is still being compiled.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))


def requirements(*extras: str) -> Iterator[str]:
    """Yield the requirements of the package and of its extras, and of extras that these name."""
    project = PROJECT["project"]
    yield from project["dependencies"]
    for extra in extras:
        for requirement in project["optional-dependencies"][extra]:
            own = re.fullmatch(rf"{project['name']}\[([\w,\s]+)\]", requirement)
            if own is None:
                yield requirement
            else:
                yield from requirements(*own[1].replace(" ", "").split(","))


if __name__ == "__main__":
    print("\n".join(dict.fromkeys(requirements(*sys.argv[1:]))))
