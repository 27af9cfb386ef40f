"""Print the type stub of the package's front page, for the build to install.

    stub.py [--depfile FILE OUTPUT]

With ``--depfile``, say in a file what ``OUTPUT`` is made from, folders included: a new file changes
its folder, and the next build writes the stub anew.

``noregret/__init__.py`` fetches names when they are asked for, and finds the algorithms by walking
their folders, which editors and type checkers cannot follow; this writes the same names down.
"""

import argparse
import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "noregret"


def constant(name: str, file: str = "__init__.py") -> object:
    """Return what a file, the front page if not given, sets a name to."""
    page = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    for node in page.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            return ast.literal_eval(node.value)
    raise LookupError(name)


def imports() -> list[str]:
    """Return every name that the front page offers, as explicit re-exports."""
    homes, parts = constant("_HOMES"), constant("_PARTS")
    assert isinstance(homes, dict)
    assert isinstance(parts, tuple)
    return [
        "from noregret._version import __version__ as __version__",
        *(f"from noregret import {part} as {part}" for part in parts),
        *(f"from noregret.{home} import {name} as {name}" for name, home in homes.items()),
    ]


def classes() -> list[str]:
    """Return every class of every family, named after its file; the first family's of a name."""
    found: dict[str, str] = {}
    for package in families():
        folder = folder_of(package)
        for stem in sorted(p.stem for p in folder.glob("*.py") if p.stem != "__init__"):
            name = "".join(word.capitalize() for word in stem.split("_"))
            found.setdefault(name, f"from {package}.{stem} import {name} as {name}")
    return list(found.values())


def families() -> list[str]:
    """Return the packages of algorithms."""
    packages = constant("FAMILIES", "base/families.py")
    assert isinstance(packages, dict)
    return list(packages.values())


def folder_of(package: str) -> Path:
    """Return the folder of a package."""
    return PACKAGE.joinpath(*package.split(".")[1:])


def write_depfile(depfile: Path, output: str) -> None:
    """Write what the stub is made from, for Ninja."""
    sources = [PACKAGE / "__init__.py", PACKAGE / "base" / "families.py"]
    sources += map(folder_of, families())
    depfile.write_text(f"{output}: {' '.join(map(str, sources))}\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--depfile", nargs=2, metavar=("FILE", "OUTPUT"))
    given = parser.parse_args()
    if given.depfile:
        write_depfile(Path(given.depfile[0]), given.depfile[1])
    print("\n".join(imports() + classes()))
