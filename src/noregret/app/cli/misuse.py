"""Command lines that make no sense: one sentence that says so, and the line to write instead."""

from __future__ import annotations

import difflib
import inspect
import re
import shlex
from collections.abc import Sequence
from itertools import chain, takewhile, zip_longest

from noregret.app.cli.find_commands import command_names
from noregret.base.registry import all_of

# The usual line of each command that takes files.
USUAL = {
    "run": "noregret run DATA.csv --target COLUMN",
    "mix": "noregret mix FORECASTS.csv --target COLUMN",
    "verify": "noregret verify CERTIFICATE.json DATA.csv",
    "predict": "noregret predict MODEL DATA.csv",
    "portfolio": "noregret portfolio RELATIVES.csv",
    "echo": "noregret echo --far PLAYED.wav --mic RECORDED.wav --out CLEAN.wav",
}
# Options that other programs have for what stands without an option here.
FILES = ("--data", "--file", "--files", "--input", "--in", "--csv", "--path", "--model")
ECHO = ("--far", "--mic", "--out")
# The commands whose -p takes parameters, and of which family.
TAKE_PARAMETERS = {"run": "learners", "mix": "experts", "portfolio": "portfolios"}


def corrected(error: Exception, arguments: Sequence[str]) -> str:
    """Return what is wrong with a command line that Typer refused, and what to write instead."""
    kind, name = type(error).__name__, arguments[0] if arguments else ""
    said = str(getattr(error, "format_message", error.__str__)())
    if kind == "NoSuchOption":
        return no_option(error, name, arguments)
    if name not in command_names() and not name.startswith("-"):
        near = difflib.get_close_matches(name, command_names(), cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {listed_commands()}"
        return f"there is no command {name!r}: {hint}"
    if kind == "MissingParameter":
        what = re.search(r"'([^']+)'", said)
        return f"{name} needs {what[1] if what else 'more'}: {USUAL.get(name, f'noregret {name}')}"
    if "unexpected extra argument" in said:
        return extra_arguments(name, said, arguments)
    return said.removeprefix("Invalid value: ")


def listed_commands() -> str:
    """Return the commands in words."""
    *most, last = command_names()
    return f"{', '.join(most)} and {last}"


def no_option(error: Exception, name: str, arguments: Sequence[str]) -> str:
    """Say that there is no such option, and which is meant."""
    given = str(getattr(error, "option_name", "that option"))
    said = f"{name} has no option {given}" if name in command_names() else f"no option {given}"
    if given in FILES and name in USUAL and name != "echo":
        return f"{said}: files are named without one: {without(given, arguments)}"
    parameter = given.lstrip("-").replace("-", "_")
    if name in TAKE_PARAMETERS and parameter in parameters_of(TAKE_PARAMETERS[name]):
        return f"{said}: parameters of a learner are given by -p: -p {parameter}=…"
    possible = [str(each) for each in getattr(error, "possibilities", None) or ()]
    near = difflib.get_close_matches(given, possible)
    return f"{said}: did you mean {' or '.join(near)}?" if near else said


def parameters_of(family: str) -> set[str]:
    """Return the names of all parameters in a family."""
    return {name for kind in all_of(family).values() for name in inspect.signature(kind).parameters}


def without(option: str, arguments: Sequence[str]) -> str:
    """Return a command line whose files are named without that option."""
    words = [word.removeprefix(f"{option}=") for word in arguments if word != option]
    return shlex.join(["noregret", *words])


def extra_arguments(name: str, said: str, arguments: Sequence[str]) -> str:
    """Say which words are too many, and where files belong."""
    if name != "echo":
        found = re.search(r"\(([^()]*)\)$", said)
        usual = f": {USUAL[name]}" if name in USUAL else ""
        return f"{name} does not know what to do with {found[1] if found else 'that'}{usual}"
    loose = [*takewhile(lambda word: not word.startswith("-"), arguments[1:])]
    if not 2 <= len(loose) <= len(ECHO):
        return f"echo takes its files by options: {USUAL['echo']}"
    files = zip_longest(ECHO, loose, fillvalue="CLEAN.wav")
    words = [*chain.from_iterable(files), *arguments[1 + len(loose) :]]
    return f"echo takes its files by options: {shlex.join(['noregret', 'echo', *words])}"
