"""Options of raw rows as a server takes them: on its command line, or in its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from noregret.errors import NoRegretError, Use, as_argument, as_option
from noregret.streams.options import INDICATOR, Options
from noregret.streams.preparing import OF_VALUES

# Those that are options of the command; the configuration file takes all.
OPTIONS = ("text", "categories", "time", "dates", "drop")
# What the options of a server are, unless it is told otherwise.
DEFAULTS = Options(missing=INDICATOR, intercept=True)


def worded(error: NoRegretError) -> str:
    """Format an error of a row for clients: its cures are options of the server."""
    return error.worded(as_setting)


def as_setting(use: Use) -> str:
    """Format a parameter as an option of a server, if it is one."""
    if use.name not in OPTIONS or use.value is ...:
        return as_argument(use)
    line = in_file({use.name: use.value})
    return f"a new store with {as_option(use)}, or {line} in the configuration file"


def settings_of(options: Options) -> str:
    """Return what to give for a model that was begun with these options.

    Examples
    --------
    >>> settings_of(Options(missing="indicator", intercept=True, text=("remark",)))
    '--raw --text remark (in the file: rows = { text = "remark" })'
    """
    named = {name: getattr(options, name) for name in OF_VALUES}
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in named.items()
        if value != getattr(DEFAULTS, name)
    }
    if not given.keys() <= {*OPTIONS}:
        return f"{in_file(given)} in a configuration file"
    asked = " ".join(["--raw", *(as_option(Use(*each)) for each in given.items())])
    return f"{asked} (in the file: {in_file(given)})"


def in_file(given: Mapping[str, Any]) -> str:
    """Return options of rows as a line of the configuration file."""
    said = []
    for name, value in given.items():
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        said.append(f"{name} = {json.dumps(one, ensure_ascii=False)}")
    return f"rows = {{ {', '.join(said)} }}" if said else "rows = {}"
