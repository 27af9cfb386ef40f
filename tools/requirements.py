"""List what the package needs, one requirement per line, with the extras that are named.

``make test`` calls this to install the tools while the package is still being compiled. The name
``build`` alone lists the tools that compile the package.
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


def build_requirements() -> list[str]:
    """Return what compiles the package; pip adds Ninja by itself only in an isolated build."""
    return [*PROJECT["build-system"]["requires"], "ninja"]


if __name__ == "__main__":
    asked = sys.argv[1:]
    listed = build_requirements() if asked == ["build"] else requirements(*asked)
    print("\n".join(dict.fromkeys(listed)))
