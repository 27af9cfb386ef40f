"""Print the type stub of the package's front page, for the build to install.

``noregret/__init__.py`` fetches names when they are asked for, and finds the learners by walking
their folder, which editors and type checkers cannot follow; this writes the same names down.
"""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "noregret"


def constant(name: str) -> object:
    """Return what the front page sets a name to."""
    page = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
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
    """Return every learner's class, named after its file."""
    files = sorted(p.stem for p in (PACKAGE / "learners").glob("*.py") if p.stem != "__init__")
    names = ((stem, "".join(word.capitalize() for word in stem.split("_"))) for stem in files)
    return [f"from noregret.learners.{stem} import {name} as {name}" for stem, name in names]


if __name__ == "__main__":
    print("\n".join(imports() + classes()))
