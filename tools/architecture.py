"""The order of the packages: which may import which, the exceptions, and what is imported today.

    python tools/architecture.py    print each package with what it imports, and every exception

A package imports what stands below it. ``tests/test_architecture.py`` holds the sources to this
file, and the page "Architecture" is written from it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent / "src"
ROOT = "noregret"
# The lowest first. Packages of one layer do not import each other.
LAYERS = (
    ("limits", "_version"),
    ("errors", "checks"),
    ("base",),
    ("linear",),
    ("streams",),
    ("hindsight",),
    ("proof.record",),
    ("proof.theorems",),
    ("proof.certificates",),
    ("proof.game",),
    ("forests",),
    ("auto",),
    ("learners",),
    ("experts",),
    ("bandits", "portfolios", "filters", "echo"),
    ("batch",),
    ("proof.verifying",),
    ("adversaries", "data", "scale", "sklearn", "river", "service"),
    ("app.results",),
    ("app.report",),
    ("app.commands",),
    ("app.cli",),
)
# Packages that only hold others.
FOLDERS = ("proof", "app")
# Imports that go up, and why. All wait until a function is called, or are for type checkers.
UPWARD = {
    ("base", "app.report"): "an object's card in a notebook: base.display asks for it by name",
    ("base", "experts"): "a model file may hold an ensemble, which base.model_file then reads",
    ("base", "streams"): "a model file may hold how its data were read, which streams then does",
    ("base", "proof.theorems"): "an algorithm carries its theorems, and is tuned by one",
    ("linear", "streams"): "a copy of a learner of files prepares its rows as that does",
    ("linear", "proof.game"): "a learner makes the game that it plays in",
    ("linear", "proof.theorems"): "a learner names the evidence that its theorems look at",
}
# Modules that name modules above them in strings, which are imported when a name is looked up.
LOOKUPS = {"base.families": "the folders in which each family's algorithms are found"}


class Import(NamedTuple):
    """One module that imports another; ``late`` if not when it is itself imported."""

    importer: str
    imported: str
    late: bool


@cache
def modules() -> dict[str, list[Path]]:
    """Return the files of every module, compiled ones with their declarations."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((SOURCE / ROOT).rglob("*")):
        if path.suffix in {".py", ".pyx", ".pxd"}:
            parts = path.relative_to(SOURCE).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)].append(path)
    return dict(found)


def resolved(name: str) -> str:
    """Return the module that a dotted name is, or is a part of."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


@cache
def layers() -> dict[str, int]:
    """Return the height of every package, by its full name."""
    return {f"{ROOT}.{name}": height for height, row in enumerate(LAYERS) for name in row}


def package_of(module: str) -> str | None:
    """Return the package of a module in the order; None for what is in none, such as the root."""
    while module and module not in layers():
        module = module.rpartition(".")[0]
    return module.removeprefix(f"{ROOT}.") or None


def height(package: str) -> int:
    """Return how high a package stands."""
    return layers()[f"{ROOT}.{package}"]


# Reading imports.


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the names that a file imports from this package, and whether it does so late."""
    text = path.read_text(encoding="utf-8")
    yield from python_imports(ast.parse(text)) if path.suffix == ".py" else cython_imports(text)


def python_imports(node: ast.AST, late: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the imports of Python, those in functions and for type checkers as late."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, late) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "imports name the whole package"
        yield from ((f"{node.module}.{alias.name}", late) for alias in node.names)
    elif isinstance(node, ast.stmt | ast.Module | ast.excepthandler | ast.match_case):
        typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        late = late or typing or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.iter_child_nodes(node):
            yield from python_imports(child, late)


def cython_imports(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what the lines of Cython import; indented ones are late."""
    several = re.compile(r"^([ \t]*)from +([\w.]+) +c?import +(\([^)]*\)|[^\n#]*)", re.MULTILINE)
    for indent, module, names in several.findall(text):
        yield from ((f"{module}.{name}", bool(indent)) for name in re.findall(r"\w+", names))
    for indent, module in re.findall(r"^([ \t]*)c?import +([\w.]+)", text, re.MULTILINE):
        yield module, bool(indent)


@cache
def imports() -> tuple[Import, ...]:
    """Return every import of one module of the package by another."""
    found = {
        Import(module, target, late)
        for module, paths in modules().items()
        for path in paths
        for name, late in imports_of(path)
        if (target := resolved(name)) not in ("", module)
    }
    return tuple(sorted(found))


def named_in_strings() -> Iterator[tuple[str, str]]:
    """Yield each module with the modules that its strings name in full."""
    for module, paths in modules().items():
        for path in paths:
            text = path.read_text(encoding="utf-8")
            for name in re.findall(rf"[\"']({ROOT}\.[\w.]+)[\"']", text):
                if name in modules():
                    yield module, name


# The order, as it is kept.


def goes_up(importer: str, imported: str) -> bool:
    """Return whether the second module is neither below the first nor in the same package."""
    lower, upper = package_of(importer), package_of(imported)
    if importer == ROOT:
        return False
    if lower is None or upper is None:
        return True
    return lower != upper and height(upper) >= height(lower) and height(lower) > 0


def upward() -> list[Import]:
    """Return the imports that go up, or that leave the order."""
    return [edge for edge in imports() if goes_up(edge.importer, edge.imported)]


def needs() -> dict[str, list[str]]:
    """Return the packages that each package imports below it, without those that these import."""
    direct: dict[str, set[str]] = {package: set() for row in LAYERS for package in row}
    for importer, imported, _ in imports():
        lower, upper = package_of(imported), package_of(importer)
        if lower and upper and lower != upper and not goes_up(importer, imported):
            direct[upper].add(lower)
    reached: dict[str, set[str]] = {}
    for package, below in direct.items():  # the lowest first
        reached[package] = below.union(*(reached[name] for name in below))
    return {
        package: sorted(
            (name for name in below if not any(name in reached[other] for other in below)),
            key=lambda name: (-height(name), name),
        )
        for package, below in direct.items()
    }


def drawing() -> str:
    """Return the packages from top to bottom, each with those that it stands on."""
    found = needs()
    width = max(map(len, found))
    rows = [
        f"{package:{width}}  →  {', '.join(found[package])}" if found[package] else package
        for row in reversed(LAYERS)
        for package in row
        if height(package)
    ]
    return "\n".join([*rows, ", ".join(LAYERS[0])])


def docstring(package: str) -> str:
    """Return what a package says of itself."""
    (path,) = modules()[f"{ROOT}.{package}"]
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


if __name__ == "__main__":
    print(drawing())
    for importer, imported, _ in upward():
        print(f"up: {importer} imports {imported}")
