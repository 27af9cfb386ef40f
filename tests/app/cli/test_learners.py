"""``noregret learners``: the list, and the page of each learner."""

import inspect
import json
import re
import shlex
import subprocess
import sys
from typing import Any

import pytest

import noregret
from noregret.app.cli.family_words import WORDS, path_of
from noregret.app.cli.learner_facts import explain
from noregret.base.algorithm import Named
from noregret.base.registry import all_algorithms, built
from tests.app.run.commands import Ended, command

KINDS = all_algorithms()
NAMES = [kind.name for kind in KINDS]
each = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.family}-{kind.name}")


def run(*arguments: str, columns: int = 80) -> Ended:
    """Run the command as if the terminal were so wide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        return command("learners", *arguments)


def words(text: str) -> str:
    return " ".join(text.split())


def parameters(kind: type[Named]) -> dict[str, dict[str, Any]]:
    told = explain(kind)
    return {parameter["name"]: parameter for parameter in told["parameters"]}


def test_the_list_names_every_learner_its_line_and_its_theorems() -> None:
    done = run(columns=100)
    assert done.code == 0, done.err
    for kind in KINDS:
        begins = re.findall(rf"^{kind.name}  +(.+)$", done.out, re.MULTILINE)
        told = " ".join((kind.__doc__ or "").split())
        assert any(told.startswith(line.strip()[:50]) for line in begins)
        for theorem in kind.theorems:
            assert theorem.name in words(done.out)
    for family in WORDS.values():
        assert f"\n{family.title}: " in f"\n{done.out}"


def test_one_family_can_be_listed_alone() -> None:
    for family in WORDS:
        told = json.loads(run("--family", family, "--json").out)
        assert [one["name"] for one in told] == [k.name for k in KINDS if k.family == family]
    refused = run("--family", "singers")
    assert refused.code == 2
    assert "singers" in refused.err


def test_a_name_of_several_families_is_explained_for_each() -> None:
    mine = [kind for kind in KINDS if kind.name == "follow-the-leader"]
    first = run("follow-the-leader", columns=100).out
    for kind in mine:
        page = run("follow-the-leader", "--family", kind.family, columns=100).out
        assert f"= {path_of(kind)}(" in page
        hint = f"noregret learners follow-the-leader --family {kind.family}"
        assert (hint in first) == (kind is not mine[0])


def test_the_list_is_compact() -> None:
    assert run(columns=80).out.count("\n") <= 4 * len(NAMES)


@each
def test_every_parameter_is_explained_as_it_is(kind: type[Named]) -> None:
    signature = inspect.signature(kind).parameters
    told = parameters(kind)
    assert list(told) == list(signature)
    for parameter, about in told.items():
        assert len(about["meaning"].split()) >= 2, f"{kind.name} does not explain {parameter}"
        assert about["meaning"].endswith(".")
        assert about["default"] == signature[parameter].default
        assert about["type"] in ("number", "whole number", "true or false", "word") or (
            kind.family != "learners"
            and about["type"] in ("numbers", "names", "learner", "Python object")
        )


@each
def test_choices_are_those_that_the_learner_itself_offers(kind: type[Named]) -> None:
    for parameter, about in parameters(kind).items():
        if about["type"] != "word":
            assert about["choices"] == []
            continue
        given: dict[str, Any] = {parameter: "no-such-word"}
        if kind.name in ("fixed-share", "weighted-average"):  # no rate is known for just any loss
            given["rate"] = 0.1
        with pytest.raises(ValueError, match="choose one of") as refused:
            built(kind, given)
        offered = str(refused.value).split("choose one of ")[1].split(", ")
        assert sorted(about["choices"]) == sorted(offered)


@each
def test_a_page_says_all_there_is_to_say(kind: type[Named]) -> None:
    done = run(kind.name, "--family", kind.family)
    assert done.code == 0, done.err
    page = words(done.out.replace("\\\n", ""))
    for parameter, about in parameters(kind).items():
        assert f"{parameter}: {about['type']}, " in page
        assert about["meaning"] in page
        assert all(choice in page for choice in about["choices"])
    for theorem in kind.theorems:
        assert f"{theorem.name}: " in page
        assert words(theorem.plain) in page
    typed = WORDS[kind.family].command
    assert typed is None or f"{typed} --learner {kind.name}" in page
    assert f"{WORDS[kind.family].one} = {path_of(kind)}(" in page


def test_parameters_that_mean_the_same_are_explained_once() -> None:
    page = run("fixed-share", columns=100).out
    lines = page.splitlines()
    low = next(k for k, line in enumerate(lines) if line.startswith("  low: "))
    assert lines[low + 1].startswith("  high: ")
    meaning = parameters(noregret.experts.FixedShare)["low"]["meaning"]
    assert words(page).count(meaning) == 1


@each
def test_the_examples_build_the_learner(kind: type[Named]) -> None:
    told, one = explain(kind), WORDS[kind.family].one
    names: dict[str, Any] = {"noregret": noregret}
    exec(told["python"], names)
    assert type(names[one]) is kind
    if told["command"] is None:
        return
    given = shlex.split(told["command"])
    assert given[given.index("--learner") + 1] == kind.name
    chosen = dict(pair.split("=") for pair in given[given.index("--learner") + 2 :] if "=" in pair)
    for key, value in chosen.items():
        assert str(getattr(names[one], key)).lower() == value


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_line_is_wider_than_the_screen(columns: int) -> None:
    for arguments in ([], ["passive-aggressive"], ["exponentiated-gradient"], ["conjunction"]):
        page = run(*arguments, columns=columns).out
        assert max(map(len, page.splitlines())) <= columns


def test_a_command_too_long_for_the_screen_can_still_be_copied() -> None:
    page = run("exponentiated-gradient", columns=60).out
    broken = page[page.index("noregret run") :].split("\n  learner")[0]
    assert shlex.split(broken.replace("\\\n", ""))[-2:] == ["-p", "rate=0.1"]


def test_an_unknown_name_ends_with_2_and_the_nearest_names() -> None:
    done = run("widrow-hof", columns=100)
    assert done.code == 2
    assert "widrow-hof" in done.err
    assert "did you mean widrow-hoff?" in done.err
    assert "Traceback" not in done.err
    far = run("zzz", columns=100)
    assert far.code == 2
    assert all(name in re.sub(r"[^a-z0-9-]", "", far.err) for name in NAMES)


def test_machines_get_the_same_facts() -> None:
    told = json.loads(run("--json").out)
    assert [learner["name"] for learner in told] == NAMES
    assert all(set(one) == {"name", "family", "summary", "theorems"} for one in told)
    one = json.loads(run("winnow", "--json").out)
    assert one == explain(noregret.Winnow)
    assert one["theorems"] == ["winnow", "winnow1"]
    assert [promise["name"] for promise in one["promises"]] == one["theorems"]


def test_the_command_imports_nothing_heavy_before_it_is_called() -> None:
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import argparse, sys; before = set(sys.modules)\n"
            "import noregret; before |= set(sys.modules)\n"
            "import noregret.app.cli.commands.learners\n"
            "print(*sorted(set(sys.modules) - before))",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {"numpy", "rich", "scipy", "pyarrow"} & set(found)
    assert all(
        name.startswith(("noregret.app", "noregret.base", "noregret.errors"))
        for name in found
        if name.startswith("noregret")
    )
