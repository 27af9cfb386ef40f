"""The directive ``{error-messages} PART``: the errors of some packages with their cures.

They are read from the sources, where they are raised; ``…`` stands for what only a run knows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import noregret

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

SOURCE = Path(noregret.__file__).parent
ERRORS = (
    "NoRegretError", "BadExample", "BadLabel", "CertificateError", "Conflict", "DataWarning",
    "Diverged", "Expired", "ModelFileError", "ServiceError", "Stopped", "UnknownId", "WrongUsage",
)  # fmt: skip


class Message(NamedTuple):
    """What an error says, and what it advises."""

    what: str
    cures: tuple[str, ...]


def words(node: ast.expr | None) -> str | None:
    """Return the text of an expression, with … for what is not known; None if it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(words(each) or "…" for each in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (words(node.left) or "…") + (words(node.right) or "…")
    return None


def advice(node: ast.expr) -> Iterator[str]:
    """Yield the cures of an error."""
    if isinstance(node, ast.Tuple | ast.List):
        for each in node.elts:
            yield from advice(each)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Use":
        name, *more = (words(each) or "…" for each in node.args)
        yield f"use --{name.replace('_', '-')}" + (f" {more[0]}" if more else "")
    elif (text := words(node)) is not None:
        yield text


def called(node: ast.AST) -> str:
    """Return the name of what a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


@cache
def messages(part: str) -> list[Message]:
    """Return the errors that the modules of a package raise."""
    found = dict[str, Message]()
    place = SOURCE / part
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if called(node) not in ERRORS or not isinstance(node, ast.Call) or not node.args:
                continue
            what = words(node.args[0])
            cures = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "cure")]
            what = (what or "").lstrip(" :,")
            if len(what.replace("…", "")) > 12 and bare(what)[0] != "(":
                told = tuple(text for each in cures for text in advice(each))
                found.setdefault(what, Message(what, told))
    return list(found.values())


def bare(what: str) -> str:
    """Return a message from its first word on, by which it is sorted."""
    return what.lstrip("… :,-'").lower()


def literal(text: str) -> str:
    """Return a text as it is, on one line."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{' '.join(text.split())}{fence}"


def listed(parts: list[str]) -> str:
    """Return the errors of packages as a list, with the cures that are not in their words."""
    found = sorted((m for part in parts for m in messages(part)), key=lambda m: bare(m.what))
    return "\n".join(
        f"- {literal(each.what)}"
        + (f" → {'; or '.join(map(literal, each.cures))}" if each.cures else "")
        for each in found
    )


class ErrorMessages(SphinxDirective):
    """The errors of the packages that are named."""

    required_arguments = 1
    optional_arguments = 9

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        found = self.parse_text_to_nodes(listed(self.arguments))
        return [nodes.container("", *found, classes=["messages"])]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the directive."""
    app.add_directive("error-messages", ErrorMessages)
    return {"version": "1", "parallel_read_safe": True}
