"""The commands, found by walking ``noregret.app.cli.commands``: a new one is a new file there."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from noregret.app.cli import commands

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.app.cli.options import Option


class Command(NamedTuple):
    """A command: its name, the function that runs it, its options, and an example."""

    name: str
    run: Callable[[Namespace], None]
    options: Sequence[Option]
    example: str


def command_names() -> list[str]:
    """Return the names of all commands."""
    return [module.name for module in pkgutil.iter_modules(commands.__path__)]


def find(name: str) -> Command:
    """Return a command."""
    module = importlib.import_module(f"{commands.__name__}.{name}")
    return Command(name, getattr(module, name), module.OPTIONS, module.EXAMPLE)
