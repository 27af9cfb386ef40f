"""The result of verifying a certificate: every figure as stated and as recomputed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from noregret.base.display import as_renderable, as_text

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Line:
    """One figure of a certificate.

    Parameters
    ----------
    name
        Its path in the file.
    stated, found
        The stated and the recomputed value.
    confirmed
        Whether they agree, or whether the stated value is possible if it cannot be checked.
    note
        A remark.
    checked
        False for a value that the data do not determine.
    """

    name: str
    stated: Any
    found: Any
    confirmed: bool
    note: str = ""
    checked: bool = True

    @property
    def mark(self) -> str:
        """``confirmed``, ``not checked`` or ``NOT CONFIRMED``."""
        if not self.confirmed:
            return "NOT CONFIRMED"
        return "confirmed" if self.checked else "not checked"

    def given(self, *others: Line) -> Line:
        """Return the line, confirmed only if the lines that it depends on are."""
        if all(line.confirmed for line in others) or not self.confirmed:
            return self
        return replace(self, confirmed=False, note="follows from a figure that is not confirmed")


@dataclass(frozen=True)
class Verification:
    """The result of a verification; true if everything that can be checked was confirmed.

    Parameters
    ----------
    lines
        Every figure.
    tolerance
        Relative tolerance of recomputed figures.
    solver_tolerance
        The same for figures that depend on where a search for the best in hindsight stopped.
    """

    lines: tuple[Line, ...]
    tolerance: float
    solver_tolerance: float

    @property
    def confirmed(self) -> bool:
        """True if no line was refused."""
        return all(line.confirmed for line in self.lines)

    @property
    def failed(self) -> tuple[Line, ...]:
        """The lines that were not."""
        return tuple(line for line in self.lines if not line.confirmed)

    def __bool__(self) -> bool:
        return self.confirmed

    def __rich__(self) -> RenderableType:
        return as_renderable("verification table", self)

    def __str__(self) -> str:
        return as_text("verification text", self)

    def _repr_html_(self) -> str:
        return as_text("verification card", self)

    def __repr__(self) -> str:
        return f"<Verification: {self.counted('line')} confirmed>"

    def counted(self, word: str) -> str:
        """Return how many of the lines that can be checked are confirmed."""
        checked = [line for line in self.lines if line.checked]
        done = sum(line.confirmed for line in checked)
        return f"{done} of {len(checked)} {word}s"
