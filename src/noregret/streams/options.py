"""The options of a stream, the same in Python, on the command line and in certificates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from noregret.checks import one_of, whole

ASLEEP = "asleep"
STOP, ZERO, INDICATOR = "stop", "zero", "indicator"
MISSING = (STOP, ZERO, INDICATOR, ASLEEP)
# Experts that can be derived from the others.
AVERAGE, MEDIAN, CORRECTED = ADDED = ("average", "median", "corrected")
SCALES = ("none", "max", "standard", "unit")
ON_ERROR = ("stop", "skip")
# The meaning of quotes in CSV and TSV; auto is multiline for CSV and line for TSV.
AUTO, MULTILINE, LINE, NONE = QUOTES = ("auto", "multiline", "line", "none")
# Delimiters of CSV, as options write them, and the encodings of text.
TAB, DELIMITERS = "tab", (AUTO, ",", ";", "tab", "|")
UTF_8, LATIN_1 = "utf-8", "latin-1"
ENCODINGS = (AUTO, UTF_8, LATIN_1)
CHOICES = {
    "missing": MISSING,
    "scale": SCALES,
    "on_error": ON_ERROR,
    "quotes": QUOTES,
    "delimiter": DELIMITERS,
    "encoding": ENCODINGS,
}
MAX_BITS = 30
# Options that name columns, one or several.
COLUMNS = ("drop", "keep", "categories", "text", "time")
# Options that may be given several times. Columns of written numbers are detected, not given.
WRITTEN = ("written_numbers", "decimal_commas")
LISTS = (*COLUMNS, *WRITTEN, "many_values", "dates", "interactions", "add", "passed")
# How a file is written, which makes no difference to other formats.
FORM = ("delimiter", "encoding", "sheet", *WRITTEN)
# Options that do not apply to a table of forecasts.
NOT_FOR_EXPERTS = (
    "categories",
    "text",
    "time",
    "dates",
    "interactions",
    "hash",
    "intercept",
    "scale",
    "fourier",
    "positive",
    "negative",
)
# Options that are not listed as transforms: certificates state the target separately.
ELSEWHERE = ("target", "format", "follow", "passed", "id", "sniff")
# The prefix under which certificates list the classes of a learner, which are not an option.
CLASSES = "classes="
FLAGS = ("intercept", "no-header", "prices")


@dataclass(frozen=True)
class Options:
    """Options for turning the columns of a file into outcomes and features.

    Parameters
    ----------
    target
        The column that holds the outcomes.
    drop
        Columns to leave out.
    keep
        The only columns to use besides the target; all columns by default.
    categories
        Columns whose values are categories even if they look like numbers: each value becomes an
        indicator feature.
    text
        Columns of free text: the counts of words, and of pairs of neighbouring words, become the
        features ``column:word`` and ``column:two words``.
    time
        Columns of times that are numbers: seconds since 1970, or milliseconds, microseconds or
        nanoseconds if they are that large. Dates and times that are written as such are recognised.
    dates
        The order of day, month and year in dates such as 31/12/2024: ``dmy``, ``mdy`` or ``ymd``,
        for columns in which it cannot be detected; ``due=mdy`` for a column alone. Orders that were
        detected are named so.
    interactions
        Pairs of columns whose products become features besides: ``price*town``, or ``pairs`` for
        all pairs of columns except free text.
    missing
        How to treat an empty cell: ``stop`` rejects the row, ``zero`` replaces it by 0 (text: no
        indicator), ``indicator``, the default of ``noregret run``, does the same and adds the
        feature ``column=missing``. A row without an outcome is rejected by ``stop``, and otherwise
        only predicted. ``asleep`` is for tables of forecasts with one expert per
        column: an expert without a forecast sleeps in that round (NaN). Columns without numbers are
        ignored, and rows without an outcome are not played.
    header
        Whether the first line of a CSV file holds the names; otherwise columns are named 1, 2, ….
    quotes
        The meaning of double quotes in CSV and TSV files. ``multiline``: a quoted value may contain
        delimiters and line ends. ``line``: it must end on its line, before a delimiter or the line
        end; any other quote is an ordinary character. ``none``: quotes are ordinary characters.
        ``auto``, the default, is ``multiline`` for CSV and ``line`` for TSV.
    delimiter
        The delimiter between values in CSV files: ``,``, ``;``, ``tab`` or ``|``. ``auto``, the
        default, detects it from the first lines; in TSV files it is the tab.
    encoding
        The encoding of CSV and TSV files: ``utf-8`` or ``latin-1``. ``auto``, the default, is
        Latin-1 if the first 4 MiB are not UTF-8. UTF-16 is recognised by its byte order mark.
    sheet
        The sheet of an Excel workbook, or the table of an SQLite database; the first by default.
    hash
        Hash the names of all features into 2^bits slots, which bounds the memory.
    intercept
        Whether to add the feature ``intercept``, always 1, to every example.
    scale
        ``max`` divides by the largest value of the feature so far, ``standard`` makes its mean 0
        and its deviation 1, ``unit`` gives every row the norm 1; ``none`` by default.
    fourier
        The number of random Fourier features to replace the scaled rows with; optionally with the
        width of the kernel and the seed, as in ``300:width=2:seed=1``. An intercept is kept as is.
    positive
        The value of the target that counts as +1; all others are −1.
    negative
        With ``positive``: the only other value of the target. A row with any other is rejected.
    on_error
        ``stop`` at a row that cannot be used, or ``skip`` and count it.
    format
        The format of the files; by default, that of their extension.
    passed
        Columns whose values are kept beside the rows, for files of predictions.
    id
        In JSON lines, the field that says which lines belong together: a line with an outcome has
        the features of an earlier one of the same id that had none.
    follow
        Whether to wait at the end of the last file, a text file that grows, for further lines.
    add
        With ``asleep``, experts derived from the others: ``average`` and ``median`` of those awake,
        ``corrected``, a linear combination learned from earlier rows.
    group
        A column that assigns rows to groups; it is not a feature.
    only
        The only group to use.
    batch
        With ``asleep``, a column with the same value in rows that come together, such as a date:
        all of them are forecast before any of their outcomes is learned. Rows of a batch follow
        each other in their group; the column is not an expert.
    prices
        For games over tables: rows are prices, and each is divided by the previous one.
    written_numbers, decimal_commas
        Columns of CSV that hold numbers as people write them (``$5``, ``12%``, ``"1,234"``), and
        those of them with decimal commas. They are detected, and named in certificates.
    many_values
        Columns with more than 262,144 different values, of which later ones share features. They
        are detected, and named in certificates.
    sniff
        Whether to detect the delimiter, the encoding, written numbers and dates. Otherwise these
        are as in 0.1.0, but for what is said: columns of dates are then said by ``time``. So
        certificates are read, which name all that was detected.
    """

    target: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    interactions: tuple[str, ...] = ()
    missing: str = "stop"
    header: bool = True
    quotes: str = AUTO
    delimiter: str = AUTO
    encoding: str = AUTO
    sheet: str | None = None
    hash: int | None = None
    intercept: bool = False
    scale: str = "none"
    fourier: str | int | None = None
    positive: str | None = None
    negative: str | None = None
    on_error: str = "stop"
    format: str | None = None
    follow: bool = False
    passed: tuple[str, ...] = ()
    id: str | None = None
    add: tuple[str, ...] = ()
    group: str | None = None
    only: str | None = None
    batch: str | None = None
    prices: bool = False
    written_numbers: tuple[str, ...] = ()
    decimal_commas: tuple[str, ...] = ()
    many_values: tuple[str, ...] = ()
    sniff: bool = True

    def __post_init__(self) -> None:
        for name in LISTS:
            given = getattr(self, name)
            columns = (given,) if isinstance(given, str) else tuple(given)
            object.__setattr__(self, name, columns)
        if self.delimiter == "\t":
            object.__setattr__(self, "delimiter", TAB)
        for name, choices in CHOICES.items():
            one_of(name, getattr(self, name), choices)
        if self.dates:
            from noregret.streams.local_dates import check_order

            for given in self.dates:
                check_order(given)
        if self.hash is not None:
            object.__setattr__(self, "hash", whole("hash", self.hash, below=MAX_BITS + 1))
        if self.fourier is not None:
            from noregret.linear.random_features import Fourier

            object.__setattr__(self, "fourier", str(Fourier.of(self.fourier)))
        for name in ("positive", "negative"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, str(getattr(self, name)))
        if self.negative is not None and self.positive in (None, self.negative):
            raise ValueError("negative names the class besides the positive one: give both")
        if self.drop and self.keep:
            raise ValueError("name the columns to drop or those to keep, not both")
        if both := set(self.text) & {*self.categories, *self.time}:
            raise ValueError(f"column {min(both)!r} cannot be text and something else")
        self.check_experts()

    def check_experts(self) -> None:
        """Raise an error for options that do not apply with, or without, a table of forecasts."""
        for name in self.add:
            one_of("add", name, ADDED)
        if self.missing != ASLEEP:
            if self.add:
                raise ValueError("add makes experts of experts: it needs missing='asleep'")
            if self.batch is not None:
                raise ValueError("batches are of forecasts: they need missing='asleep'")
        elif odd := [n for n in NOT_FOR_EXPERTS if getattr(self, n) != getattr(type(self), n, ())]:
            raise ValueError(f"with missing='asleep' columns are experts: leave {odd[0]} out")
        if self.batch is not None and self.batch in (self.group, self.target):
            raise ValueError(f"{self.batch!r} is the group or target: batches need another column")
        if self.only is not None:
            if self.group is None:
                raise ValueError("only names a group: say which column holds the groups")
            object.__setattr__(self, "only", str(self.only))

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns that say which rows belong together: those of groups and of batches."""
        return tuple(name for name in (self.group, self.batch) if name is not None)

    def transforms(self) -> tuple[str, ...]:
        """Return all options that differ from the defaults, as certificates list them."""
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
    def of(
        cls, transforms: Iterable[str], target: str | None = None, sniff: bool = True
    ) -> Options:
        """Parse the result of ``transforms``; raise ValueError if that is not possible."""
        known = {field.name: field for field in fields(cls) if field.name not in ELSEWHERE}
        given: dict[str, Any] = {"target": target, "sniff": sniff}
        for text in transforms:
            if text.startswith(CLASSES):
                continue
            name, has_value, value = text.partition("=")
            key = name.replace("-", "_")
            if text in FLAGS:
                given[key.removeprefix("no_")] = not key.startswith("no_")
            elif key not in known or isinstance(known[key].default, bool) or not has_value:
                raise ValueError(f"{text!r} is not a transform that this version knows")
            elif key in LISTS:
                given[key] = (*given.get(key, ()), value)
            else:
                given[key] = int(value) if key == "hash" else value
        return cls(**given)
