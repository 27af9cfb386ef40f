"""Print the type stub of the package's front page, for the build to install.

``noregret/__init__.py`` finds the learners by walking their folder, which editors and type
checkers cannot follow; this writes the same names down.
"""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "noregret"


def imports() -> list[str]:
    """Return every name that the front page imports, as explicit re-exports."""
    page = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    return [
        f"from {node.module} import {alias.name} as {alias.name}"
        for node in page.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is None and not alias.name.startswith("TYPE_CHECKING")
    ]


def classes() -> list[str]:
    """Return every learner's class, named after its file."""
    files = sorted(p.stem for p in (PACKAGE / "learners").glob("*.py") if p.stem != "__init__")
    names = ((stem, "".join(word.capitalize() for word in stem.split("_"))) for stem in files)
    return [f"from noregret.learners.{stem} import {name} as {name}" for stem, name in names]


if __name__ == "__main__":
    print("\n".join(imports() + classes()))
