"""What to do about files that are no tables of prices, by the options that the command has."""

from __future__ import annotations

import re
import shlex

# What is said of files in general, and what to do here; the column is group 1 where there is one.
IN_GENERAL = {
    r"column '(.*)' holds (.*): drop it \(--drop .*": (
        r"column '\1' holds \2: say that it tells when (--date {name}), or drop it (--drop {name})"
    ),
    r"(?:column|field) '(.*)' is empty: fill it in, or use --missing .*": (
        r"column '\1' is empty: fill it in, or drop the asset (--drop {name})"
    ),
    r"column '(.*)': (.*), or read the column as names \(--categories .*": (
        r"column '\1': \2, or drop the asset (--drop {name})"
    ),
    r"drop those that hold text, or name the target": (
        r"drop those that hold text, as --date DAY or --drop NAME does"
    ),
}


def advised(message: str) -> str:
    """Return a refusal of a file with advice that ``noregret portfolio`` can take.

    >>> advised("column 'oil' is empty: fill it in, or use --missing zero")
    "column 'oil' is empty: fill it in, or drop the asset (--drop oil)"
    """
    for said, instead in IN_GENERAL.items():
        if found := re.search(said, message, re.DOTALL):
            name = shlex.quote(found[1]) if found.re.groups else ""
            put = found.expand(instead).replace("{name}", name)
            return message[: found.start()] + put + message[found.end() :]
    return message
