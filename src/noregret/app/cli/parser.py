"""Command lines read by argparse, from the options that a command lists.

Measured with 30 options, import and one parse, best of seven: argparse takes 4 ms of processor
time, Click 8.5 takes 21 ms, Typer 0.29 takes 178 ms and brings pydantic; the whole start may take
300 ms. argparse comes with Python, too.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from noregret.app.cli.find_commands import Command, command_names, find
from noregret.app.cli.options import Option
from noregret.errors import WrongUsage

ABOUT = "Online learning that can prove how well it did."


class Formatter(argparse.HelpFormatter):
    """Help with a wide column of options, and defaults where they say something."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def _get_help_string(self, action: argparse.Action) -> str:
        told = action.help or ""
        shown = not isinstance(action.default, bool | list | None) and "%(default)" not in told
        if shown and action.default is not argparse.SUPPRESS and "(default" not in told:
            return f"{told.removesuffix('.')} (default: %(default)s)."
        return told


class Parser(argparse.ArgumentParser):
    """A parser whose errors are wrong usage."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with a command line."""
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
        # A default is set afterwards: some versions of Python add that of a switch to its help.
        settings = {key: value for key, value in each.settings.items() if key != "default"}
        action = group.add_argument(*each.names, **settings)
        if "default" in each.settings:
            parser.set_defaults(**{action.dest: each.settings["default"]})
    more = parser.add_argument_group("Help")
    more.add_argument("-h", "--help", action="help", help="Show this text.")
    return parser


def place(option: Option) -> str:
    """Return an argument as the first line of the help has it."""
    shown = option.settings["metavar"] + (" …" if option.settings["nargs"] == "*" else "")
    return shown if option.required else f"[{shown}]"


def read(command: Command, arguments: Sequence[str]) -> argparse.Namespace:
    """Read a command line, or say what is wrong with it and what to write instead."""
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
    """Yield words, an option and its value as one: argparse takes no ‘--drop -x’, but --drop=-x."""
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
        epilog="‘noregret COMMAND --help’ explains a command.",
        formatter_class=Formatter,
        add_help=False,
    )
    commands = parser.add_argument_group("Commands")
    for name in command_names():
        about = inspect.cleandoc(find(name).run.__doc__ or "")
        commands.add_argument(name, help=about.partition("\n")[0])
    more = parser.add_argument_group("Help")
    more.add_argument("-h", "--help", action="help", help="Show this text.")
    more.add_argument("--version", action="store_true", help="Print the version.")
    parser.print_help()
