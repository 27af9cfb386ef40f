"""``noregret learners``: list all algorithms, or explain one."""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from noregret.app.cli.options import INPUT, JSON, argument, option
from noregret.app.commands.printing import heading, screen, show
from noregret.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from rich.console import Console

EXAMPLE = "noregret learners widrow-hoff"
OPTIONS = [
    argument("name", "NAME", "The algorithm to explain (default: list all).", required=False),
    option(
        INPUT,
        "--family",
        metavar="NAME",
        help="Only learners, experts, bandits, portfolios, batch or filters.",
    ),
    JSON,
]


def learners(given: Namespace) -> None:
    """List the algorithms, or explain one: what it does, its parameters and its theorems."""
    from noregret.app.cli.learner_facts import explain, outline
    from noregret.base.registry import all_algorithms, all_of, families_with, find, in_family

    name, family = given.name, given.family
    try:
        listed = all_algorithms() if family is None else list(all_of(in_family(family)).values())
        found = None if name is None else find(name, family)
    except ValueError as unknown:
        raise WrongUsage(str(unknown)) from None
    told = explain(found) if found else [outline(kind) for kind in listed]
    if given.json:
        print(json.dumps(told, indent=2, ensure_ascii=False))
    elif isinstance(told, dict):
        others = families_with(told["name"]) if family is None else []
        show_one(screen(), told, [other for other in others if other != told["family"]])
    else:
        show_all(screen(), told)


def show_all(console: Console, told: list[dict[str, Any]]) -> None:
    """List the algorithms by family, each with its summary and theorems."""
    from noregret.app.cli.family_words import WORDS

    for family, words in WORDS.items():
        group = [learner for learner in told if learner["family"] == family]
        if group:
            show(console, f"{words.title}: {words.about}", style="bold")
            show_family(console, group)
            console.print()
    show(
        console,
        "‘noregret learners NAME’ explains an algorithm, ‘noregret theorems NAME’ a theorem.",
    )


def show_family(console: Console, told: list[dict[str, Any]]) -> None:
    """List the algorithms of a family."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for learner in told:
        promised = learner["theorems"]
        kind = "theorem" if len(promised) == 1 else "theorems"
        line = Text(f"{learner['summary']}\n")
        line.append(f"{kind}: {', '.join(promised)}" if promised else "no theorem", style="dim")
        table.add_row(Text(learner["name"], style="bold"), line)
    console.print(table)


def show_one(console: Console, told: dict[str, Any], others: list[str]) -> None:
    """Explain an algorithm; ``others`` are further families with one of the same name."""
    show(console, told["name"], style="bold")
    show(console, told["summary"])
    for block in [*re.split(r"\n\s*\n", told["about"]), *told["details"]]:
        console.print()
        show_block(console, block)
    heading(console, "Parameters")
    for meaning, group in groupby(told["parameters"], meaning_of):
        for parameter in group:
            show(console, described(parameter), indent=2, hang=2)
        show(console, meaning, indent=6)
    if not told["parameters"]:
        show(console, "None.", indent=2)
    heading(console, "Theorems (‘noregret theorems NAME’ explains one)")
    for theorem in told["promises"]:
        what = "a warning about" if theorem["warning"] else "bounds"
        show(console, f"{theorem['name']}: {what} {theorem['bounds']}", indent=2, hang=2)
        show(console, theorem["promise"], indent=6, hang=2)
    if not told["promises"]:
        show(console, "None.", indent=2)
    heading(console, "Use")
    for line in [*typed(told["command"], console.width - 2), told["python"], told["play"]]:
        show(console, line, indent=2, hang=4)
    heading(console, "Source")
    show(console, told["source"], indent=2)
    for other in others:
        console.print()
        show(console, f"See also ‘noregret learners {told['name']} --family {other}’.")


def show_block(console: Console, block: str) -> None:
    """Print a paragraph, or a formula, whose indented lines are kept if they fit."""
    if not block.startswith("    "):
        show(console, " ".join(block.split()))
        return
    if max(map(len, block.splitlines())) > console.width:
        block = re.sub(r" {5,}", "      ", re.sub(r"(?<=\S) +", lambda gap: gap[0][:2], block))
    for line in block.splitlines():
        show(console, line.lstrip(), indent=len(line) - len(line.lstrip()), hang=4)


def typed(command: str | None, width: int) -> list[str]:
    """Return the lines of a command, broken before the learner if it is too long."""
    if command is None:
        return []
    if len(command) <= width:
        return [command]
    return command.replace(" --learner", " \\\n    --learner").split("\n")


def described(parameter: dict[str, Any]) -> str:
    """Return the name, type and default of a parameter."""
    from noregret.app.cli.learner_facts import written

    default = parameter["default"]
    otherwise = "optional" if default is None else f"default {written(default)}"
    return f"{parameter['name']}: {parameter['type']}, {otherwise}"


def meaning_of(parameter: dict[str, Any]) -> str:
    """Return the description of a parameter, with its choices if not listed in it."""
    meaning: str = parameter["meaning"]
    if all(choice in meaning for choice in parameter["choices"]):
        return meaning
    return f"{meaning} One of {', '.join(parameter['choices'])}."
