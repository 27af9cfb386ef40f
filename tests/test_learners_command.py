"""``noregret learners``: the list, and the page of each learner."""

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from typing import Any

import pytest

import noregret
from noregret.cli.learner_facts import explain

COMMAND = [sys.executable, "-W", "error", "-c", "from noregret.cli import main; main()"]
NAMES = list(noregret.all_learners())


def run(*arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "learners", *arguments],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": str(columns), "PYTHONIOENCODING": "utf-8"},
    )


def words(text: str) -> str:
    return " ".join(text.split())


def parameters(name: str) -> dict[str, dict[str, Any]]:
    told = explain(noregret.all_learners()[name])
    return {parameter["name"]: parameter for parameter in told["parameters"]}


def test_the_list_names_every_learner_its_line_and_its_theorems() -> None:
    done = run(columns=100)
    assert done.returncode == 0, done.stderr
    for name, learner in noregret.all_learners().items():
        begins = re.search(rf"^{name}  +(.+)$", done.stdout, re.MULTILINE)
        assert begins is not None
        assert (learner.__doc__ or "").startswith(begins[1].strip()[:60])
        for theorem in learner.theorems:
            assert theorem.name in done.stdout


def test_the_list_is_compact() -> None:
    assert run(columns=80).stdout.count("\n") <= 4 * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_explained_as_it_is(name: str) -> None:
    signature = inspect.signature(noregret.all_learners()[name]).parameters
    told = parameters(name)
    assert list(told) == list(signature)
    for parameter, about in told.items():
        assert len(about["meaning"].split()) >= 2, f"{name} does not explain {parameter}"
        assert about["meaning"].endswith(".")
        assert about["default"] == signature[parameter].default
        assert about["type"] in ("number", "whole number", "true or false", "word")


@pytest.mark.parametrize("name", NAMES)
def test_choices_are_those_that_the_learner_itself_offers(name: str) -> None:
    for parameter, about in parameters(name).items():
        if about["type"] != "word":
            assert about["choices"] == []
            continue
        with pytest.raises(ValueError, match="choose one of") as refused:
            noregret.make(name, **{parameter: "no-such-word"})
        offered = str(refused.value).split("choose one of ")[1].split(", ")
        assert sorted(about["choices"]) == sorted(offered)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_all_there_is_to_say(name: str) -> None:
    learner = noregret.all_learners()[name]
    done = run(name)
    assert done.returncode == 0, done.stderr
    page = words(done.stdout.replace("\\\n", ""))
    for parameter, about in parameters(name).items():
        assert f"{parameter}: {about['type']}, " in page
        assert about["meaning"] in page
        assert all(choice in page for choice in about["choices"])
    for theorem in learner.theorems:
        assert f"{theorem.name}: " in page
        assert words(theorem.plain) in page
    assert f"noregret run data.csv --target y --learner {name}" in page
    assert f"learner = noregret.{learner.__name__}(" in page


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_build_the_learner(name: str) -> None:
    told = explain(noregret.all_learners()[name])
    names: dict[str, Any] = {"noregret": noregret}
    exec(told["python"], names)
    assert type(names["learner"]) is noregret.all_learners()[name]
    given = shlex.split(told["command"])
    assert given[given.index("--learner") + 1] == name
    chosen = dict(pair.split("=") for pair in given[given.index("--learner") + 2 :] if "=" in pair)
    for key, value in chosen.items():
        assert str(getattr(names["learner"], key)).lower() == value


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_line_is_wider_than_the_screen(columns: int) -> None:
    for arguments in ([], ["passive-aggressive"], ["exponentiated-gradient"], ["conjunction"]):
        page = run(*arguments, columns=columns).stdout
        assert max(map(len, page.splitlines())) <= columns


def test_a_command_too_long_for_the_screen_can_still_be_copied() -> None:
    page = run("exponentiated-gradient", columns=60).stdout
    broken = page[page.index("noregret run") :].split("\n  learner")[0]
    assert shlex.split(broken.replace("\\\n", ""))[-2:] == ["-p", "rate=0.1"]


def test_an_unknown_name_ends_with_2_and_the_nearest_names() -> None:
    done = run("widrow-hof", columns=100)
    assert done.returncode == 2
    assert "widrow-hof" in done.stderr
    assert "did you mean widrow-hoff?" in done.stderr
    assert "Traceback" not in done.stderr
    far = run("zzz", columns=100)
    assert far.returncode == 2
    assert all(name in far.stderr for name in NAMES)


def test_machines_get_the_same_facts() -> None:
    told = json.loads(run("--json").stdout)
    assert [learner["name"] for learner in told] == NAMES
    assert all(set(learner) == {"name", "summary", "theorems"} for learner in told)
    one = json.loads(run("winnow", "--json").stdout)
    assert one == explain(noregret.Winnow)
    assert one["theorems"] == ["winnow", "winnow1"]
    assert [promise["name"] for promise in one["promises"]] == one["theorems"]


def test_the_command_imports_nothing_heavy_before_it_is_called() -> None:
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import typer, sys; before = set(sys.modules)\n"
            "import noregret; before |= set(sys.modules)\n"
            "import noregret.cli.commands.learners\n"
            "print(*sorted(set(sys.modules) - before))",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert all(
        name.startswith("noregret.cli") or name == "__future__" or "json" in name for name in found
    )
