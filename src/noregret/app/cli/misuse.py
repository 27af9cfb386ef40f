"""Error messages for wrong command lines, with the line to write instead."""

from __future__ import annotations

import difflib
import inspect
import shlex
from collections.abc import Sequence
from itertools import chain, takewhile, zip_longest

from noregret.app.cli.parser import Command, command_names

# Options of other programs for what is a positional argument here.
FILES = ("--data", "--file", "--files", "--input", "--in", "--csv", "--path", "--model")
ECHO = ("--far", "--mic", "--out")
# The commands with -p, and the family of their algorithms.
TAKE_PARAMETERS = {"run": "learners", "mix": "experts", "portfolio": "portfolios"}


def no_command(name: str) -> str:
    """Return the message for an unknown command, with suggestions."""
    if name.startswith("-"):
        return f"no option {name}"
    names = command_names()
    near = difflib.get_close_matches(name, names, cutoff=0.5)
    known = f"{', '.join(names[:-1])} and {names[-1]}"
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {known}"
    return f"there is no command {name!r}: {hint}"


def unknown_words(command: Command, unknown: Sequence[str], arguments: Sequence[str]) -> str:
    """Return the message for unknown words of a command line, with suggestions."""
    for word in unknown:
        if word.startswith("-") and word != "-":
            return no_option(command, word.partition("=")[0], arguments)
    if command.name == "echo":
        return f"echo takes its files by options: {echo_line(command, arguments)}"
    return f"{command.name}: unexpected argument {shlex.join(unknown)}: {command.example}"


def no_option(command: Command, given: str, arguments: Sequence[str]) -> str:
    """Return the message for an unknown option, with suggestions."""
    said = f"{command.name} has no option {given}"
    if given in FILES and command.options[0].is_argument:
        words = [word.removeprefix(f"{given}=") for word in arguments if word != given]
        line = shlex.join(["noregret", command.name, *words])
        return f"{said}: give files without an option: {line}"
    parameter, family = given.lstrip("-").replace("-", "_"), TAKE_PARAMETERS.get(command.name)
    if family is not None and parameter in parameters_of(family):
        return f"{said}: set parameters of the algorithm with -p: -p {parameter}=…"
    known = [name for each in command.options for name in each.names]
    near = difflib.get_close_matches(given, known)
    return f"{said}: did you mean {' or '.join(near)}?" if near else said


def parameters_of(family: str) -> set[str]:
    """Return the names of all parameters in a family."""
    from noregret.base.registry import all_of

    return {name for kind in all_of(family).values() for name in inspect.signature(kind).parameters}


def echo_line(command: Command, arguments: Sequence[str]) -> str:
    """Return the correct line if the files of echo are given without options."""
    loose = [*takewhile(lambda word: not word.startswith("-"), arguments)]
    if not 2 <= len(loose) <= len(ECHO):
        return command.example
    files = zip_longest(ECHO, loose, fillvalue="CLEAN.wav")
    words = [*chain.from_iterable(files), *arguments[len(loose) :]]
    return shlex.join(["noregret", "echo", *words])
