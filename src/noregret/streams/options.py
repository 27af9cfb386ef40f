"""How a stream is read: options, the same in Python, on the command line and in certificates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from noregret.checks import one_of, whole

ASLEEP = "asleep"
MISSING = ("stop", "zero", "indicator", ASLEEP)
# Experts that can be made of the others.
AVERAGE, MEDIAN, CORRECTED = ADDED = ("average", "median", "corrected")
SCALES = ("none", "max", "standard", "unit")
ON_ERROR = ("stop", "skip")
# What quotes mean in CSV and TSV; auto is multiline for CSV, line for TSV.
AUTO, MULTILINE, LINE, NONE = QUOTES = ("auto", "multiline", "line", "none")
CHOICES = {"missing": MISSING, "scale": SCALES, "on_error": ON_ERROR, "quotes": QUOTES}
MAX_BITS = 30
# Options that name columns, one or several.
COLUMNS = ("drop", "keep", "categories")
# Options that may be given several times.
LISTS = (*COLUMNS, "add")
# Options that mean nothing for a table of forecasts.
NOT_FOR_EXPERTS = ("categories", "hash", "intercept", "scale", "fourier", "positive")
# What is not written down as a transform: the certificate has its own place for the target.
ELSEWHERE = ("target", "format")
FLAGS = ("intercept", "no-header", "prices")


@dataclass(frozen=True)
class Options:
    """How the columns of a file become outcomes and features.

    Parameters
    ----------
    target
        The column that holds the outcomes.
    drop
        Columns to leave out.
    keep
        The only columns to use, besides the target; all if none are named.
    categories
        Columns whose values are names even where they look like numbers: each value becomes an
        indicator feature.
    missing
        What to do with an empty cell: ``stop`` refuses the row, ``zero`` takes it for 0 (for text:
        no indicator), ``indicator`` does that and adds the feature ``column=missing``. ``asleep``
        is for tables of forecasts, an expert a column: who has none in a row is asleep there (NaN).
        Columns that hold no numbers are left out, and rows without an outcome are not played.
    header
        Whether the first line of a CSV file holds the names; without, columns are called 1, 2, ….
    quotes
        What double quotes mean in CSV and TSV files. ``multiline``: a value between them may hold
        delimiters and line ends. ``line``: it ends on its line, before a delimiter or the line's
        end; any other quote is a letter. ``none``: quotes are letters. ``auto``, the default, is
        ``multiline`` for CSV and ``line`` for TSV.
    hash
        Bits: the names of all features share 2^bits slots, so memory is bounded.
    intercept
        Whether every example gets the feature ``intercept``, always 1.
    scale
        ``max`` divides by the largest value of the feature so far, ``standard`` makes its mean 0
        and its deviation 1, ``unit`` gives every row the norm 1; ``none`` by default.
    fourier
        How many random Fourier features the rows become, after scaling; also with the width of the
        kernel and the seed, as in ``300:width=2:seed=1``. The intercept is none of them.
    positive
        The target's value that counts as +1; all others are −1.
    on_error
        ``stop`` at a row that cannot be used, or ``skip`` and count it.
    format
        What the files are; if not given, their extensions say it.
    add
        With ``asleep``, experts made of the others: ``average`` and ``median`` of those awake,
        ``corrected``, a linear combination learned from the rows before.
    group
        A column that says which rows belong together; it is no feature.
    only
        The only group to use.
    prices
        For games over tables: rows are prices, and each is divided by the one before it.
    """

    target: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    missing: str = "stop"
    header: bool = True
    quotes: str = AUTO
    hash: int | None = None
    intercept: bool = False
    scale: str = "none"
    fourier: str | int | None = None
    positive: str | None = None
    on_error: str = "stop"
    format: str | None = None
    add: tuple[str, ...] = ()
    group: str | None = None
    only: str | None = None
    prices: bool = False

    def __post_init__(self) -> None:
        for name in LISTS:
            given = getattr(self, name)
            columns = (given,) if isinstance(given, str) else tuple(given)
            object.__setattr__(self, name, columns)
        for name, choices in CHOICES.items():
            one_of(name, getattr(self, name), choices)
        if self.hash is not None:
            object.__setattr__(self, "hash", whole("hash", self.hash, below=MAX_BITS + 1))
        if self.fourier is not None:
            from noregret.linear.random_features import Fourier

            object.__setattr__(self, "fourier", str(Fourier.of(self.fourier)))
        if self.positive is not None:
            object.__setattr__(self, "positive", str(self.positive))
        if self.drop and self.keep:
            raise ValueError("name the columns to drop or those to keep, not both")
        self.check_experts()

    def check_experts(self) -> None:
        """Refuse what makes no sense for a table of forecasts, or without one."""
        for name in self.add:
            one_of("add", name, ADDED)
        if self.missing != ASLEEP:
            if self.add:
                raise ValueError("add makes experts of experts: it needs missing='asleep'")
        elif odd := [n for n in NOT_FOR_EXPERTS if getattr(self, n) != getattr(type(self), n, ())]:
            raise ValueError(f"with missing='asleep' columns are experts: leave {odd[0]} out")
        if self.only is not None:
            if self.group is None:
                raise ValueError("only names a group: say which column holds the groups")
            object.__setattr__(self, "only", str(self.only))

    def transforms(self) -> tuple[str, ...]:
        """Write down all that differs from a plain reading, as certificates have it."""
        said: list[str] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ELSEWHERE or value == field.default:
                continue
            name = field.name.replace("_", "-")
            if field.name in LISTS:
                said += [f"{name}={column}" for column in value]
            elif isinstance(value, bool):
                said.append(name if value else f"no-{name}")
            else:
                said.append(f"{name}={value}")
        return tuple(said)

    @classmethod
    def of(cls, transforms: Iterable[str], target: str | None = None) -> Options:
        """Read what ``transforms`` wrote; ValueError where it cannot be understood."""
        known = {field.name: field for field in fields(cls) if field.name not in ELSEWHERE}
        given: dict[str, Any] = {"target": target}
        for text in transforms:
            name, has_value, value = text.partition("=")
            key = name.replace("-", "_")
            if text in FLAGS:
                given[key.removeprefix("no_")] = not key.startswith("no_")
            elif key not in known or isinstance(known[key].default, bool) or not has_value:
                raise ValueError(f"{text!r} is no transform that this version knows")
            elif key in LISTS:
                given[key] = (*given.get(key, ()), value)
            else:
                given[key] = int(value) if key == "hash" else value
        return cls(**given)
