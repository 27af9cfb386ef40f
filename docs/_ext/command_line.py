"""The directives ``{commands}`` and ``{command-line}``: all commands, and their options.

Both are written from the parsers themselves: a new command, or a new option, needs no edit here.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from docstrings import prose
from sphinx.util.docutils import SphinxDirective

from noregret.app.cli.parser import Command, command_names, find, parser_of

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

# Within help: something in quotes; or an option, an address, or an extra of the package.
CODE = re.compile(
    r"‘([^’]+)’|(?<!\w)'([^']+)'(?!\w)|((?<![\w-])--?[a-z][\w-]*|\w+://[\w:/@#.]*\w|\w+\[\w+\])"
)


def words(text: str) -> str:
    """Turn help into Markdown, with options and quoted names as code."""
    pieces = CODE.split(" ".join(text.split()))
    found = zip(pieces[1::4], pieces[2::4], pieces[3::4], strict=True)
    codes = [f"`{next(filter(None, each))}`" for each in found]
    return "".join(prose(text) + code for text, code in zip(pieces[::4], [*codes, ""], strict=True))


def written(action: argparse.Action) -> str:
    """Return an option as it is written on a command line, or the name of an argument."""
    value = action.metavar if action.nargs != 0 else None
    if not action.option_strings:
        return str(value)
    return ", ".join(f"{name} {value}" if value else name for name in action.option_strings)


def section(command: Command) -> Iterator[str]:
    """Yield the lines about a command: what it does, how to call it, and its options."""
    about, _, more = inspect.cleandoc(command.run.__doc__ or "").partition("\n\n")
    parser = parser_of(command)
    helps = parser._get_formatter()
    usage = (parser.usage or "").removeprefix("usage: ")
    yield from (f"## {command.name}", "", words(about), "", words(more), "")
    yield from ("```text", usage, "```", "")
    if command.example.strip() != f"noregret {command.name}":
        yield from ("For example:", "", "```text", command.example, "```")
    yield from ("", f"::::{{program}} noregret {command.name}", "::::", "")
    for group in parser._action_groups:
        actions = [each for each in group._group_actions if each.dest != "help"]
        if actions:
            yield from (f"::::{{rubric}} {group.title}", "::::", "")
        for action in actions:
            told = words(helps._expand_help(action))
            yield from (f"::::{{option}} {written(action)}", "", told, "::::", "")


def overview(commands: list[Command]) -> str:
    """Return a table of the commands, in Markdown."""
    lines = ["| Command | What it does |", "|---|---|"]
    for each in commands:
        about = inspect.cleandoc(each.run.__doc__ or "").partition("\n\n")[0]
        lines.append(f"| [`{each.name}`](#{each.name}) | {words(about)} |")
    return "\n".join(lines)


class Commands(SphinxDirective):
    """The table of the commands, as it stands in a page."""

    def run(self) -> list[Node]:
        """Parse the table as if it had been written there."""
        self.env.note_reread()  # the commands may have changed
        return self.parse_text_to_nodes(overview([find(name) for name in command_names()]))


class CommandLine(SphinxDirective):
    """The reference, as it stands in a page: MyST puts its sections before all other nodes."""

    def run(self) -> list[Node]:
        """Parse the reference as if it had been written there."""
        self.env.note_reread()
        lines = (line for name in command_names() for line in section(find(name)))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the directives."""
    app.add_directive("commands", Commands)
    app.add_directive("command-line", CommandLine)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
