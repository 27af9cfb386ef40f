"""Stubs of compiled modules say what is compiled: names, bases, parameters and their defaults.

They are written by hand, about 1,000 lines. To generate them, the types would have to stand in the
.pyx files, where Cython compiles them (``x: float`` becomes a C double), and type checkers and
editors would have no types before a build.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
STUBS = [path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.pyi"))]
Parameters = list[tuple[str, str | None]]


def parameters_in(text: str) -> Parameters:
    """Return the names and defaults of a Cython function, without its C types and ``self``."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    found: Parameters = []
    for part in filter(None, map(str.strip, parts)):
        declared, _, default = part.partition("=")
        declared = declared.removesuffix(" not None").strip()
        name = re.search(r"(\**\w+)$", declared)
        assert name, part
        found.append((name[1], default.strip() or None))
    return [each for each in found if each[0] not in ("self", "cls")]


def functions_in(path: Path) -> dict[tuple[str, str], Parameters]:
    """Return the parameters of every function in a Cython file, by class and name."""
    found: dict[tuple[str, str], Parameters] = {}
    for chunk in re.split(r"^(?=(?:cdef )?class )", path.read_text("utf-8"), flags=re.MULTILINE):
        opened = re.match(r"(?:cdef )?class (\w+)", chunk)
        for made in re.finditer(
            r"^(    )?(?:def|cpdef(?: \w+)*) (\w+)\((.*?)\)(?: except\S* \S+| noexcept)?:$",
            chunk,
            re.DOTALL | re.MULTILINE,
        ):
            owner = opened[1] if opened and made[1] else ""
            found[owner, made[2]] = parameters_in(made[3])
    return found


def stated(function: ast.FunctionDef) -> Parameters:
    """Return the names and defaults of a function in a stub; an ellipsis hides a default."""
    given = function.args
    names = [each.arg for each in given.args if each.arg not in ("self", "cls")]
    hidden = [None] * (len(names) - len(given.defaults))
    defaults = hidden + [ast.unparse(default) for default in given.defaults]
    more = [f"*{given.vararg.arg}"] if given.vararg else []
    more += [f"**{given.kwarg.arg}"] if given.kwarg else []
    return [*zip(names, defaults, strict=True), *((name, None) for name in more)]


def same(default: str | None, compiled: str | None) -> bool:
    """Return whether a stub states the default that is compiled."""
    if default is None and compiled == "None":
        return True  # the stub asks for what the code refuses to go without
    if default is None or compiled is None or default == "...":
        return (default is None) == (compiled is None)
    return bool(ast.literal_eval(default) == ast.literal_eval(compiled))


def compiled_parameters(owner: type, name: str) -> Parameters:
    """Return the parameters of a method where it is defined; a constructor may be ``__cinit__``."""
    for base in owner.__mro__:
        path = SOURCE / (base.__module__.replace(".", "/") + ".pyx")
        found = functions_in(path) if path.exists() else {}
        for known in (name, "__cinit__") if name == "__init__" else (name,):
            if (base.__name__, known) in found:
                return found[base.__name__, known]
    assert name == "__init__", f"{owner.__name__} has no {name}"
    return []


def check_function(function: ast.FunctionDef, compiled: Parameters) -> None:
    said = stated(function)
    assert [name for name, _ in said] == [name for name, _ in compiled], function.name
    for (name, default), (_, own) in zip(said, compiled, strict=True):
        assert same(default, own), (function.name, name, default, own)


def check_class(stub: ast.ClassDef, kind: type) -> None:
    for base in map(ast.unparse, stub.bases):
        assert base in [each.__name__ for each in kind.__mro__[1:]], (stub.name, base)
    for node in stub.body:
        if isinstance(node, ast.AnnAssign):
            assert hasattr(kind, ast.unparse(node.target)), (stub.name, ast.unparse(node.target))
        elif isinstance(node, ast.FunctionDef):
            assert hasattr(kind, node.name), (stub.name, node.name)
            if "property" not in map(ast.unparse, node.decorator_list):
                check_function(node, compiled_parameters(kind, node.name))


@pytest.mark.parametrize("stub", STUBS, ids=str)
def test_a_stub_says_what_is_compiled(stub: Path) -> None:
    module: Any = importlib.import_module(".".join(stub.with_suffix("").parts))
    compiled = functions_in(SOURCE / stub.with_suffix(".pyx"))
    for node in ast.parse((SOURCE / stub).read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            check_class(node, getattr(module, node.name))
        elif isinstance(node, ast.FunctionDef):
            check_function(node, compiled["", node.name])
        elif isinstance(node, ast.AnnAssign):
            assert hasattr(module, ast.unparse(node.target)), ast.unparse(node.target)
