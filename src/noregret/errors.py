"""Errors as data: what happened, where, and the cure; formatted where they are shown.

All are ``NoRegretError``. Code that catches one may add fields; no code reads or changes the text.
``str(error)`` formats it for Python, ``on_command_line`` for the command line. A ``DataWarning``
is about usable data that may not mean what they seem to.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Self


class Use(NamedTuple):
    """A cure that is a parameter: its name, its value (``...`` for any), and the text around it."""

    name: str
    value: Any = ...
    text: str = "use {}"


def as_argument(use: Use) -> str:
    """Format a parameter as Python code."""
    return f"{use.name}={'…' if use.value is ... else repr(use.value)}"


def as_option(use: Use) -> str:
    """Format a parameter as a command line option."""
    import shlex

    option = f"--{use.name.replace('_', '-')}"
    if isinstance(use.value, bool):
        return option if use.value else f"--no-{option[2:]}"
    values = use.value if isinstance(use.value, list) else [use.value]
    return " ".join(
        option if value is ... else f"{option} {shlex.quote(str(value))}" for value in values
    )


Cure = str | Use
Wording = Callable[[Use], str]


class Place(NamedTuple):
    """A place in a file or table; lines, columns and rows of files count from 1."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        named = [
            f"{name} {n}"
            for name, n in zip(self._fields[1:], self[1:], strict=True)
            if n is not None
        ]
        file = "standard input" if self.file == "-" else self.file
        return ", ".join([*([] if file is None else [file]), *named])


class NoRegretError(Exception):
    """The base of all errors raised by noregret.

    Parameters
    ----------
    what
        What happened.
    cure
        What to do about it: words, a parameter to use, or several of these to choose from.
    file, line, column, row
        Where it happened.
    round
        The round in which it happened, counted from 1; ``unit`` is what a round is called.
    feature
        The feature at fault.
    """

    def __init__(
        self,
        what: str,
        cure: Cure | Sequence[Cure] = (),
        *,
        file: Any = None,
        line: int | None = None,
        column: int | None = None,
        row: int | None = None,
        round: int | None = None,
        unit: str = "round",
        feature: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.feature = what, feature
        self.cures: tuple[Cure, ...] = (cure,) if isinstance(cure, str | Use) else tuple(cure)
        self.file = None if file is None else str(file)
        self.line, self.column, self.row = line, column, row
        self.round, self.unit = round, unit
        # The values of a bad row that are passed on with predictions, if they are known.
        self.passed: list[Any] | None = None

    def at(self, place: Place | None = None, **fields: Any) -> Self:
        """Add fields of the place; those already set are kept.

        A place in a different file is ignored.
        """
        found = fields if place is None else place._asdict() | fields
        if self.file is not None and str(found.get("file") or self.file) != self.file:
            found = {name: found[name] for name in found if name in ("round", "feature")}
        for name, value in found.items():
            if getattr(self, name) is None and value is not None:
                setattr(self, name, str(value) if name == "file" else value)
        return self

    def only(self, options: Collection[str]) -> Self:
        """Leave out cures that are parameters other than these."""
        self.cures = tuple(c for c in self.cures if isinstance(c, str) or c.name in options)
        return self

    @property
    def place(self) -> str:
        """The place as text; the round is given if there is no row of a file."""
        place = Place(self.file, self.line, self.column, self.row)
        counted = self.round is not None and self.line is None and self.row is None
        return ", ".join(filter(None, [str(place), f"{self.unit} {self.round}" if counted else ""]))

    @property
    def reason(self) -> str:
        """The message: what happened and the cure."""
        return self.reasoned(as_argument)

    def reasoned(self, wording: Wording) -> str:
        """Format what happened and the cure."""
        cures = [c if isinstance(c, str) else c.text.format(wording(c)) for c in self.cures]
        cure = ", or ".join(filter(None, [", ".join(cures[:-1]), *cures[-1:]]))
        return ": ".join(filter(None, [self.what, cure]))

    def worded(self, wording: Wording) -> str:
        """Format the error: the place, what happened, the cure."""
        return ": ".join(filter(None, [self.place, self.reasoned(wording)]))

    def __str__(self) -> str:
        return self.worded(as_argument)


class BadExample(NoRegretError, ValueError):
    """An example that cannot be learned or predicted; the learner is unchanged."""


class BadLabel(BadExample):
    """An outcome that is not one of the two labels that a classifier takes."""


class WrongUsage(NoRegretError, ValueError):
    """An invalid request, whatever the data; the command exits with 2."""


class Diverged(NoRegretError, ArithmeticError):
    """The next step would have made the weights diverge; they are unchanged."""


class ModelFileError(NoRegretError, ValueError):
    """A model file that is damaged, foreign, or from a newer version."""


class CertificateError(NoRegretError, ValueError):
    """A certificate file that is damaged, foreign, modified or invalid."""


class DataWarning(UserWarning):
    """Data that can be used, but may not mean what they seem to.

    Its argument is a ``NoRegretError``, which is not raised.
    """


def on_command_line(error: BaseException) -> str:
    """Format an error or a warning for the command line."""
    found = error.args[0] if isinstance(error, DataWarning) else error
    return found.worded(as_option) if isinstance(found, NoRegretError) else str(found)


def tell(what: str, cure: Cure | Sequence[Cure] = (), *, file: Any = None) -> None:
    """Warn about the data, once per message."""
    warnings.warn(DataWarning(NoRegretError(what, cure, file=file)), stacklevel=3)


def foreign(said: object) -> str:
    """Return the first line of another library's error, without the full stop."""
    return str(said).partition("\n")[0].rstrip(".")
