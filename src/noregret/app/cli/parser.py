"""Find commands, and parse their lines with argparse, from the options that a command lists.

Commands are found by walking ``noregret.app.cli.commands``: a new one is a new file there.

Processor time for import and one parse with 30 options, best of seven: argparse 4 ms, Click 8.5
21 ms, Typer 0.29 178 ms (it imports pydantic). The whole start may take 300 ms, and argparse is
part of Python.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from noregret.app.cli import commands
from noregret.app.cli.options import Option
from noregret.errors import WrongUsage

ABOUT = "Online learning with certificates: results that prove how good they are."


class Command(NamedTuple):
    """A command: its name, the function that runs it, its options, and an example."""

    name: str
    run: Callable[[argparse.Namespace], None]
    options: Sequence[Option]
    example: str


def command_names() -> list[str]:
    """Return the names of all commands."""
    return [module.name for module in pkgutil.iter_modules(commands.__path__)]


def find(name: str) -> Command:
    """Return a command."""
    module = importlib.import_module(f"{commands.__name__}.{name}")
    return Command(name, getattr(module, name), module.OPTIONS, module.EXAMPLE)


class Formatter(argparse.HelpFormatter):
    """A help formatter with a wide column of options, and defaults where they are informative."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Wrap help, but not within names such as ‘eg-portfolio’."""
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _get_help_string(self, action: argparse.Action) -> str:
        told = action.help or ""
        shown = not isinstance(action.default, bool | list | None) and "%(default)" not in told
        if shown and action.default is not argparse.SUPPRESS and "(default" not in told:
            return f"{told.removesuffix('.')} (default: %(default)s)."
        if isinstance(action, argparse.BooleanOptionalAction) and action.default:
            return f"{told.removesuffix('.')} (default)."
        return told


class Parser(argparse.ArgumentParser):
    """A parser that raises ``WrongUsage``."""

    def error(self, message: str) -> NoReturn:
        """Raise the error."""
        raise WrongUsage(message)


def parser_of(command: Command) -> Parser:
    """Return the parser of a command."""
    places = " ".join(place(each) for each in command.options if each.is_argument)
    parser = Parser(
        prog=f"noregret {command.name}",
        usage=" ".join(f"noregret {command.name} {places} [options]".split()),
        description=" ".join(inspect.cleandoc(command.run.__doc__ or "").split()),
        epilog=f"Example: {command.example}" if command.example else None,
        formatter_class=Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    panels: dict[str, Any] = {}
    for each in command.options:
        group = panels.get(each.panel) or parser.add_argument_group(each.panel)
        panels[each.panel] = group
        # Defaults are set afterwards: some versions of Python add that of a switch to its help.
        settings = {key: value for key, value in each.settings.items() if key != "default"}
        action = group.add_argument(*each.names, **settings)
        if "default" in each.settings:
            parser.set_defaults(**{action.dest: each.settings["default"]})
    more = parser.add_argument_group("Help")
    more.add_argument("-h", "--help", action="help", help="Show this help.")
    return parser


def place(option: Option) -> str:
    """Return a positional argument as shown in the usage line."""
    shown = option.settings["metavar"] + (" …" if option.settings["nargs"] == "*" else "")
    return shown if option.required else f"[{shown}]"


def read(command: Command, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; errors say what to write instead."""
    parser = parser_of(command)
    words = list(joined(arguments, command.options))
    given, unknown = parser.parse_known_intermixed_args(words)
    if unknown:
        from noregret.app.cli.misuse import unknown_words

        raise WrongUsage(unknown_words(command, unknown, arguments))
    for each in command.options:
        if each.required and not getattr(given, each.names[0]):
            needed = each.settings["metavar"]
            raise WrongUsage(f"{command.name} needs {needed}: {command.example}")
    return given


def joined(arguments: Sequence[str], options: Sequence[Option]) -> Iterator[str]:
    """Join options and their values: argparse rejects ‘--drop -x’ but accepts --drop=-x."""
    takes = {name for each in options if each.takes_value for name in each.names}
    words = iter(arguments)
    for word in words:
        if word == "--":
            yield from (word, *words)
        value = next(words, None) if word in takes else None
        yield word if value is None else f"{word}={value}"


def show_help() -> None:
    """Print the list of commands."""
    parser = Parser(
        prog="noregret",
        usage="noregret COMMAND …",
        description=ABOUT,
        epilog="‘noregret COMMAND --help’ shows the options of a command.",
        formatter_class=Formatter,
        add_help=False,
    )
    listed = parser.add_argument_group("Commands")
    for name in command_names():
        about = inspect.cleandoc(find(name).run.__doc__ or "")
        listed.add_argument(name, help=about.partition("\n")[0])
    more = parser.add_argument_group("Help")
    more.add_argument("-h", "--help", action="help", help="Show this help.")
    more.add_argument("--version", action="store_true", help="Print the version.")
    parser.print_help()
