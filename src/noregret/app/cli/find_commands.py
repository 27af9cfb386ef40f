"""The commands, found by walking ``noregret.app.cli.commands``: a new one is a new file there."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from noregret.app.cli import commands


def command_names() -> list[str]:
    """Return the names of all commands."""
    return [module.name for module in pkgutil.iter_modules(commands.__path__)]


def find(name: str) -> Callable[..., None]:
    """Return a command."""
    module = importlib.import_module(f"{commands.__name__}.{name}")
    found: Callable[..., None] = getattr(module, name)
    return found


def is_described(command: Callable[..., None]) -> bool:
    """Whether a command says what it asks for in our own words (see ``asking``)."""
    return "Ask" in getattr(command, "__globals__", {})
