"""The stubs that ``tools/stubs.py`` writes say what is compiled: names, bases and parameters."""

from __future__ import annotations

import ast
import importlib
import inspect
import runpy
from pathlib import Path
from typing import Any

import pytest

TOOL = runpy.run_path(str(Path(__file__).resolve().parent.parent / "tools" / "stubs.py"))
SOURCES: Path = TOOL["SOURCES"]
MODULES = sorted(path.relative_to(SOURCES) for path in SOURCES.rglob("*.pyx"))


def check_function(function: ast.FunctionDef, compiled: Any) -> None:
    if type(compiled).__name__ == "wrapper_descriptor":
        return  # special methods of compiled classes have no signature
    given, known = function.args, inspect.signature(compiled).parameters
    stated = [*given.args, *filter(None, [given.vararg, given.kwarg])]
    bound = inspect.ismethod(compiled) or inspect.isbuiltin(compiled)
    assert [each.arg for each in stated][bound:] == list(known), function.name
    required = [name for name, each in known.items() if each.default is each.empty]
    open_ended = len(list(filter(None, [given.vararg, given.kwarg])))
    assert len(required) - open_ended == len(given.args) - bound - len(given.defaults)


def check_class(stub: ast.ClassDef, kind: type) -> None:
    assert [ast.unparse(base) for base in stub.bases] in ([], [kind.__bases__[0].__name__])
    for node in stub.body:
        if isinstance(node, ast.AnnAssign):
            assert hasattr(kind, ast.unparse(node.target)), (stub.name, ast.unparse(node.target))
        elif isinstance(node, ast.FunctionDef):
            compiled = getattr(kind, node.name)
            if "property" not in map(ast.unparse, node.decorator_list):
                check_function(node, compiled)


@pytest.mark.parametrize("source", MODULES, ids=str)
def test_a_stub_says_what_is_compiled(source: Path) -> None:
    module: Any = importlib.import_module(".".join(source.with_suffix("").parts))
    for node in ast.parse(TOOL["Stub"](SOURCES / source).text()).body:
        if isinstance(node, ast.ClassDef):
            check_class(node, getattr(module, node.name))
        elif isinstance(node, ast.FunctionDef):
            check_function(node, getattr(module, node.name))
        elif isinstance(node, ast.AnnAssign):
            assert hasattr(module, ast.unparse(node.target)), ast.unparse(node.target)
