"""The package as people meet it: light to import, typed, complete."""

import ast
import importlib.util
import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import noregret
from noregret.base.families import FAMILIES
from noregret.base.registry import all_of

INSTALLED = Path(noregret.__file__).parent
SOURCE = Path(__file__).parent.parent / "src" / "noregret"
HEAVY = {"scipy", "pandas", "polars", "pyarrow", "narwhals", "safetensors", "rich", "argparse"}
HEAVY |= {"clarabel", "jsonschema"}
SOURCES = {".pyx", ".pxd", ".pxi", ".c", ".h"}


def loaded_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_loads_nothing_heavy() -> None:
    assert not loaded_after("import noregret") & HEAVY


def test_learning_from_dicts_and_arrays_loads_nothing_heavy() -> None:
    code = (
        "import noregret, numpy as np\n"
        "noregret.WidrowHoff().learn_one({'a': 1.0}, 1.0)\n"
        "noregret.WidrowHoff().learn_many(np.ones((3, 2)), np.ones(3))"
    )
    assert not loaded_after(code) & HEAVY


def test_the_version_is_answered_without_the_commands() -> None:
    code = (
        "import sys; sys.argv = ['noregret', '--version']; import noregret.app.cli as c; c.main()"
    )
    assert "argparse" not in loaded_after(code)


def test_every_public_name_exists_and_is_documented() -> None:
    for name in noregret.__all__:
        thing = getattr(noregret, name)
        assert name == "LOSSES" or name.startswith("__") or thing.__doc__


def test_every_source_file_is_installed() -> None:
    for file in SOURCE.rglob("*"):
        if file.suffix in {".py", ".csv", ".typed", ".md"} and "__pycache__" not in str(file):
            assert (INSTALLED / file.relative_to(SOURCE)).exists(), file
        if file.suffix == ".pyx":
            assert (INSTALLED / file.relative_to(SOURCE).with_suffix(".pyi")).exists(), file
    assert (INSTALLED / "py.typed").exists()


def test_no_source_of_the_core_is_installed() -> None:
    if INSTALLED == SOURCE:
        pytest.skip("an editable install has its sources in place")
    assert not [file for file in INSTALLED.rglob("*") if file.suffix in SOURCES]


def test_the_stub_names_every_learner_and_every_public_name() -> None:
    stub = (resources.files("noregret") / "__init__.pyi").read_text(encoding="utf-8")
    for name in noregret.__all__:
        assert f" as {name}\n" in stub + "\n", name


def test_the_names_for_type_checkers_are_those_that_are_there() -> None:
    page = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in page.body if isinstance(node, ast.If)]
    told = {alias.name: node.module for node in block.body for alias in node.names}  # type: ignore[attr-defined]
    homes = {name: f"noregret.{home}" for name, home in noregret._HOMES.items()}
    assert told == homes | dict.fromkeys(noregret._PARTS, "noregret")


def test_learners_are_found_by_walking_so_that_a_new_file_is_enough() -> None:
    for family, package in FAMILIES.items():
        folder = INSTALLED.joinpath(*package.split(".")[1:])
        files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        assert {name.replace("-", "_") for name in all_of(family)} == files
        for name in all_of(family):
            assert importlib.util.find_spec(f"{package}.{name.replace('-', '_')}") is not None
    for kind in noregret.all_learners().values():
        assert getattr(noregret, kind.__name__) is kind
