"""Command lines that make no sense: one sentence that says so, and the line to write instead."""

from __future__ import annotations

import difflib
import inspect
import shlex
from collections.abc import Sequence
from itertools import chain, takewhile, zip_longest
from typing import TYPE_CHECKING

from noregret.app.cli.find_commands import command_names

if TYPE_CHECKING:
    from noregret.app.cli.find_commands import Command

# Options that other programs have for what stands without an option here.
FILES = ("--data", "--file", "--files", "--input", "--in", "--csv", "--path", "--model")
ECHO = ("--far", "--mic", "--out")
# The commands whose -p takes parameters, and of which family.
TAKE_PARAMETERS = {"run": "learners", "mix": "experts", "portfolio": "portfolios"}


def no_command(name: str) -> str:
    """Say that there is no such command, and which may be meant."""
    if name.startswith("-"):
        return f"no option {name}"
    names = command_names()
    near = difflib.get_close_matches(name, names, cutoff=0.5)
    known = f"{', '.join(names[:-1])} and {names[-1]}"
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {known}"
    return f"there is no command {name!r}: {hint}"


def unknown_words(command: Command, unknown: Sequence[str], arguments: Sequence[str]) -> str:
    """Say which words of a command line have no meaning, and what may be meant."""
    for word in unknown:
        if word.startswith("-") and word != "-":
            return no_option(command, word.partition("=")[0], arguments)
    if command.name == "echo":
        return f"echo takes its files by options: {echo_line(command, arguments)}"
    return f"{command.name} does not know what to do with {shlex.join(unknown)}: {command.example}"


def no_option(command: Command, given: str, arguments: Sequence[str]) -> str:
    """Say that there is no such option, and which may be meant."""
    said = f"{command.name} has no option {given}"
    if given in FILES and command.options[0].is_argument:
        words = [word.removeprefix(f"{given}=") for word in arguments if word != given]
        line = shlex.join(["noregret", command.name, *words])
        return f"{said}: files are named without one: {line}"
    parameter, family = given.lstrip("-").replace("-", "_"), TAKE_PARAMETERS.get(command.name)
    if family is not None and parameter in parameters_of(family):
        return f"{said}: parameters of a learner are given by -p: -p {parameter}=…"
    known = [name for each in command.options for name in each.names]
    near = difflib.get_close_matches(given, known)
    return f"{said}: did you mean {' or '.join(near)}?" if near else said


def parameters_of(family: str) -> set[str]:
    """Return the names of all parameters in a family."""
    from noregret.base.registry import all_of

    return {name for kind in all_of(family).values() for name in inspect.signature(kind).parameters}


def echo_line(command: Command, arguments: Sequence[str]) -> str:
    """Return the line to write where files of echo are given without options."""
    loose = [*takewhile(lambda word: not word.startswith("-"), arguments)]
    if not 2 <= len(loose) <= len(ECHO):
        return command.example
    files = zip_longest(ECHO, loose, fillvalue="CLEAN.wav")
    words = [*chain.from_iterable(files), *arguments[len(loose) :]]
    return shlex.join(["noregret", "echo", *words])
