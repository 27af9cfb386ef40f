"""The packages import each other in one order, which ``tools/architecture.py`` keeps."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "architecture.py"
order: dict[str, Any] = runpy.run_path(str(TOOL))
# More exceptions than these are another order.
MAX_UPWARD = 9


def test_every_module_stands_in_the_order() -> None:
    folders = {f"noregret.{name}" for name in order["FOLDERS"]}
    outside = {name for name in order["modules"]() if order["package_of"](name) is None}
    assert outside == {"noregret"} | folders


def test_no_import_goes_up_but_those_that_are_listed() -> None:
    found = {
        (order["package_of"](edge.importer), order["package_of"](edge.imported))
        for edge in order["upward"]()
    }
    assert found == set(order["UPWARD"])
    assert len(found) <= MAX_UPWARD


def test_no_import_goes_up_while_a_module_is_imported() -> None:
    assert not [edge for edge in order["upward"]() if not edge.late]


def test_no_string_names_a_module_above_but_where_algorithms_are_looked_up() -> None:
    found = {
        importer.removeprefix("noregret.")
        for importer, named in order["named_in_strings"]()
        if order["goes_up"](importer, named)
    }
    assert found == set(order["LOOKUPS"])


def test_lines_of_cython_are_read_as_imports() -> None:
    text = "from noregret.base cimport (\n    a,\n    b,\n)\n    import noregret.auto\n"
    assert [*order["cython_imports"](text)] == [
        ("noregret.base.a", False),
        ("noregret.base.b", False),
        ("noregret.auto", True),
    ]
    found = {(edge.importer, edge.imported) for edge in order["imports"]()}
    assert ("noregret.auto.bank", "noregret.linear.engine.engine") in found
    assert ("noregret.experts.engine.round", "noregret.base.compiled.weigher") in found


def test_every_package_says_what_is_in_it() -> None:
    for package in [name for row in order["LAYERS"][1:] for name in row] + [*order["FOLDERS"]]:
        assert order["docstring"](package), package


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_pages_for_developers_name_files_that_exist(page: str) -> None:
    folders = (ROOT / "src", ROOT / "tests", ROOT / "tools")
    there = [path.as_posix() for folder in folders for path in folder.rglob("*.*")]
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.(?:pyx|pyi|py|c|h|md|build))`", text)
    assert named
    for name in named:
        if "your_" not in name and not (ROOT / name).is_file():
            assert any(path.endswith(f"/{name}") for path in there), name
