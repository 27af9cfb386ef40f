"""The options shared by commands, each described once, and the parsing of shared values."""

from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError, BooleanOptionalAction
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from noregret.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.streams.options import Options

# Headings of the help.
ARGUMENTS, INPUT, METHOD, OUTPUT = "Arguments", "Input", "Method", "Output"
RECOVERY = "Recovery"
WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Option:
    """An option of a command, or an argument where the name has no dashes.

    Parameters
    ----------
    names
        The ways to write it.
    panel
        The heading of the help under which it is listed.
    settings
        Further arguments for ``argparse``: help, metavar, type, default, action.
    required
        Whether an argument must be given.
    """

    names: tuple[str, ...]
    panel: str
    settings: dict[str, Any]
    required: bool = False

    @property
    def is_argument(self) -> bool:
        """True for a positional argument."""
        return not self.names[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        """True if a value follows its name."""
        return not self.is_argument and self.settings.get("action") in (None, "append")

    def but(self, help: str = "", **settings: Any) -> Option:
        """Return a copy with another help text or other settings."""
        settings = self.settings | ({"help": help} if help else {}) | settings
        return replace(self, settings=settings)


def option(panel: str, *names: str, help: str, **settings: Any) -> Option:
    """Return an option that takes a value."""
    return Option(names, panel, {"help": help} | settings)


def file(panel: str, name: str, help: str) -> Option:
    """Return an option that names a file."""
    return option(panel, name, metavar="FILE", help=help)


def columns(name: str, help: str, panel: str = INPUT, **settings: Any) -> Option:
    """Return an option that names columns, and may be repeated."""
    settings = {"metavar": "COLUMNS", "action": "extend", "type": names} | settings
    return option(panel, name, help=help, **settings)


def names(text: str) -> list[str]:
    """Split names at commas; a comma before a space belongs to a name.

    >>> names("id,price, net")
    ['id', 'price, net']
    """
    found = [name for name in re.split(",(?! )", text) if name]
    if not found:
        raise ArgumentTypeError(f"{text!r} names no column")
    return found


def flag(panel: str, *names: str, help: str) -> Option:
    """Return an option without a value."""
    return Option(names, panel, {"help": help, "action": "store_true"})


def switch(panel: str, name: str, help: str, default: bool | None = True) -> Option:
    """Return an option that is switched on, or off with --no-."""
    settings = {"help": help, "action": BooleanOptionalAction, "default": default}
    return Option((name,), panel, settings)


def argument(
    name: str, metavar: str, help: str, *, many: bool = False, required: bool = True
) -> Option:
    """Return a positional argument."""
    settings = {"help": help, "metavar": metavar, "nargs": "*" if many else "?"}
    return Option((name,), ARGUMENTS, settings, required)


def whole_number(text: str) -> int:
    """Parse a whole number."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a whole number") from None


def number(text: str) -> float:
    """Parse a number."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None


UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "": 1.0}  # in seconds


def duration(text: str) -> float:
    """Read a time in seconds: 60s, 1.5min, 500ms, 2h; a bare number is in seconds."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        seconds = round(float(digits) * UNITS[text[len(digits) :]], 6)
    except (ValueError, KeyError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a time, such as 60s or 10min")
    return seconds


DATA = argument(
    "data", "DATA", "One or more files or glob patterns; - reads standard input.", many=True
)

TARGET = option(INPUT, "--target", metavar="COLUMN", help="The column to predict.")
FORMAT = option(
    INPUT,
    "--format",
    metavar="NAME",
    help="File format: csv, tsv, parquet, jsonl, xlsx, arff, sqlite, database, svmlight, vw or npz"
    " (default: by extension).",
)
DROP = columns("--drop", "Columns to leave out, such as id,name; may be repeated.")
KEEP = columns("--keep", "Use only these columns; may be repeated.")
CATEGORIES = columns(
    "--categories", "Columns of category names, even if they look like numbers; may be repeated."
)
TEXT = columns(
    "--text",
    "Columns of free text: their words and pairs of words become features; may be repeated.",
)
TIME = columns(
    "--time",
    "Columns of times in seconds since 1970 (or milliseconds, …); dates and times written as text"
    " are recognised. May be repeated.",
)
DATES = columns(
    "--dates",
    "The order of dates such as 01/02/2024 where it cannot be detected: dmy, mdy or ymd, or due=mdy"
    " for one column. May be repeated.",
)
INTERACTIONS = columns(
    "--interactions",
    "Two columns whose product becomes a feature too, such as price*town; ‘pairs’ uses all pairs of"
    " columns. May be repeated.",
)
HEADER = switch(INPUT, "--header", "The first line of a CSV file holds column names.")
QUOTES = option(
    INPUT,
    "--quotes",
    metavar="RULE",
    default="auto",
    help="Double quotes in CSV and TSV: multiline (a quoted value may span lines), line (it ends"
    " on its line), none (quotes are ordinary characters), or auto: multiline for CSV, line for"
    " TSV.",
)
DELIMITER = option(
    INPUT,
    "--delimiter",
    metavar="MARK",
    default="auto",
    help="The delimiter of CSV files: ',', ';', tab or '|' (default: detected from the first"
    " lines).",
)
ENCODING = option(
    INPUT,
    "--encoding",
    metavar="NAME",
    default="auto",
    help="The encoding of CSV files: utf-8 or latin-1 (default: UTF-8, or Latin-1 if the file is"
    " not valid UTF-8). UTF-16 is recognised by its byte order mark.",
)
SHEET = option(
    INPUT,
    "--sheet",
    metavar="NAME",
    help="The sheet of an Excel workbook, or the table of an SQLite database (default: the first).",
)
MISSING = option(
    INPUT,
    "--missing",
    metavar="RULE",
    help="What to do with an empty cell: indicator (use zero, and add an indicator feature; the"
    " default), zero, or stop. A row without a target is predicted but not learned from; with stop,"
    " it ends the run.",
)
ON_ERROR = option(
    INPUT,
    "--on-error",
    metavar="RULE",
    default="stop",
    help="What to do with a row that cannot be read: stop, or skip (skip and count it).",
)
GROUP = option(
    INPUT,
    "--group",
    metavar="COLUMN",
    help="The column that names the series of each row; every series is mixed separately.",
)
BATCH = option(
    INPUT,
    "--batch",
    metavar="COLUMN",
    help="The column that is the same in rows that come together, such as a date: all of them are"
    " forecast before any outcome is learned.",
)
ONLY = option(INPUT, "--only", metavar="GROUP", help="Use only this group.")

LEARNER = option(
    METHOD, "--learner", metavar="NAME", help="The algorithm; ‘noregret learners’ lists them."
)
PARAMETER = option(
    METHOD,
    "-p",
    "--param",
    dest="parameter",
    metavar="NAME=VALUE",
    action="append",
    help="A parameter of the algorithm, such as rate=0.1; may be repeated.",
)

PREDICTIONS = file(
    OUTPUT,
    "--predictions",
    "Write every prediction, made before its outcome was seen (.csv or .parquet).",
)
MODEL = file(OUTPUT, "--model", "Write the trained model, for ‘noregret predict’ or Python.")
CERTIFICATE = file(OUTPUT, "--certificate", "Write the certificate (JSON).")
REPORT = file(OUTPUT, "--report", "Write an HTML report.")
HINDSIGHT = switch(
    OUTPUT,
    "--hindsight",
    "Compare with the best fixed predictor in hindsight, and certify the regret.",
)
LOOK_BACK = option(
    OUTPUT,
    "--look-back",
    metavar="TIME",
    type=duration,
    help="Time limit for that comparison, such as 60s or 10min (default: as long as learning took,"
    " at least 2s; after a quarter of the time of learning, a relative gap of 1e-3 is accepted;"
    " none with --workers or --cluster)."
    " All figures are proven, even if time runs out.",
)
GAP = option(
    OUTPUT,
    "--gap",
    metavar="SHARE",
    type=number,
    help="End the comparison when the best loss in hindsight is known to this relative precision"
    " (default: 1e-6). If given without --look-back, the comparison takes as long as needed.",
)
QUIET = flag(OUTPUT, "-q", "--quiet", help="Print nothing.")
JSON = flag(OUTPUT, "--json", help="Print the results as JSON.")


def params_of(given: list[str] | None) -> dict[str, Any]:
    """Parse parameters of the form name=value."""
    params: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise WrongUsage(f"{text!r}: write a parameter as name=value, as in rate=0.1")
        if name in params:
            raise WrongUsage(f"{name!r} is given twice")
        params[name] = value_of(value.strip())
    return params


def value_of(text: str) -> Any:
    """Return a parameter's value: a number, true, false or none, or text."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def reading_options(given: Namespace, **instead: Any) -> Options:
    """Return the options of a stream; invalid ones are wrong usage."""
    from dataclasses import fields

    from noregret.checks import one_of
    from noregret.streams.options import CHOICES, LISTS, Options

    names = {field.name for field in fields(Options)}
    told = {name: value for name, value in vars(given).items() if name in names} | instead
    for name in LISTS:
        told[name] = tuple(told.get(name) or ())
    try:
        for name in CHOICES.keys() & told.keys():
            one_of(f"--{name.replace('_', '-')}", told[name], CHOICES[name])
        return Options(**told)
    except ValueError as error:
        raise WrongUsage(str(error)) from None
