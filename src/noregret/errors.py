"""Errors as data: what happened, where, and what to do about it, worded at the edge.

All are ``NoRegretError``. Code that catches one and knows more sets fields; no code reads or
changes the text. ``str(error)`` words it for Python, the command line words it for itself. A
``DataWarning`` is about data that can be used, but are perhaps not what they seem.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self


class Use(NamedTuple):
    """A cure that is a parameter: its name, its value (``...`` for any), and the words around."""

    name: str
    value: Any = ...
    text: str = "use {}"


def as_argument(use: Use) -> str:
    """Word a parameter as Python code has it."""
    return f"{use.name}={'…' if use.value is ... else repr(use.value)}"


def as_option(use: Use) -> str:
    """Word a parameter as the command line has it."""
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
    """A place in a file, or in a table; lines, columns and rows of files count from 1."""

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
        return ", ".join([*([] if self.file is None else [self.file]), *named])


class NoRegretError(Exception):
    """Anything noregret refuses to do.

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

    def at(self, place: Place | None = None, **fields: Any) -> Self:
        """Add what is known of the place; fields that are set already stay.

        A place in another file than the one that is named already is none of the error's.
        """
        found = fields if place is None else place._asdict() | fields
        if self.file is not None and str(found.get("file") or self.file) != self.file:
            found = {name: found[name] for name in found if name in ("round", "feature")}
        for name, value in found.items():
            if getattr(self, name) is None and value is not None:
                setattr(self, name, str(value) if name == "file" else value)
        return self

    @property
    def place(self) -> str:
        """Where it happened, in words; a round is named where there is no row of a file."""
        place = Place(self.file, self.line, self.column, self.row)
        counted = self.round is not None and self.line is None and self.row is None
        return ", ".join(filter(None, [str(place), f"{self.unit} {self.round}" if counted else ""]))

    @property
    def reason(self) -> str:
        """What happened and what to do about it, in words."""
        return self.reasoned(as_argument)

    def reasoned(self, wording: Wording) -> str:
        """Word what happened and what to do about it."""
        cures = [c if isinstance(c, str) else c.text.format(wording(c)) for c in self.cures]
        cure = ", or ".join(filter(None, [", ".join(cures[:-1]), *cures[-1:]]))
        return ": ".join(filter(None, [self.what, cure]))

    def worded(self, wording: Wording) -> str:
        """Word the error: the place, what happened, what to do."""
        return ": ".join(filter(None, [self.place, self.reasoned(wording)]))

    def __str__(self) -> str:
        return self.worded(as_argument)


class BadExample(NoRegretError, ValueError):
    """An example that cannot be learned from or predicted for; nothing was learned from it."""


class BadLabel(BadExample):
    """An outcome that is not one of the two labels that a classifier takes."""


class WrongUsage(NoRegretError, ValueError):
    """A request that makes no sense, whatever the data hold; the command ends with 2."""


class Diverged(NoRegretError, ArithmeticError):
    """The next step would have carried the weights away; they are as they were before it."""


class ModelFileError(NoRegretError, ValueError):
    """A model file that is damaged, foreign, or from a newer version."""


class CertificateError(NoRegretError, ValueError):
    """A certificate file that is damaged, foreign, changed since it was made, or makes no sense."""


def on_command_line(error: BaseException) -> str:
    """Word an error for the command line."""
    return error.worded(as_option) if isinstance(error, NoRegretError) else str(error)


class DataWarning(UserWarning):
    """Data that can be used, but perhaps not as they were meant."""


def tell(message: str) -> None:
    """Warn of something in the data, once for each message."""
    warnings.warn(message, DataWarning, stacklevel=3)


def foreign(said: object) -> str:
    """Return what another library says of an error: its first line, without the full stop."""
    return str(said).partition("\n")[0].rstrip(".")
