"""The verification of a certificate on a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from noregret.base import plain_text as plain
from noregret.base.numbers import clean, count

if TYPE_CHECKING:
    from noregret.proof.verifying.verification import Line, Verification

# Longer values are cut.
LONGEST = 200
EXPERTS = ("learner.family", "experts")
# Where the data of a certificate about experts are.
FORECASTS = (
    "its data are a table of forecasts and outcomes; that of a tournament is the file that its"
    " --forecasts wrote, or ‘noregret tournament … --confirm’ makes it again"
)
DIGEST = re.compile("blake2b:[0-9a-f]{64}")


def table(verification: Verification) -> RenderableType:
    """Return the verification as Rich shows it."""
    lines = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    lines.add_column(no_wrap=True)
    lines.add_column(overflow="fold")
    lines.add_column(overflow="fold")
    for line in verification.lines:
        style = "bold red" if not line.confirmed else "green" if line.checked else "dim"
        lines.add_row(Text(line.mark, style), Text(line.name), Text(said(line)))
    end = verdict(verification)
    return Group(lines, Text(), Text(tolerances(verification)), Text(), end)


def plain_text(verification: Verification) -> str:
    """Return the verification as plain text of 80 columns."""
    return plain.plain_text(table(verification))


def said(line: Line) -> str:
    """Return the stated value, and the one found if it differs."""
    if line.confirmed:
        return shown(line.stated) + ("" if line.checked else ", on the machine that searched")
    note = f" ({line.note})" if line.note else ""
    stated, found = shown(line.stated), shown(line.found)
    if stated == found:  # as far as they are shown
        return f"{stated}{note}" if note else f"stated {line.stated!r}; found {line.found!r}"
    return f"stated {stated}; found {found}{note}"


def shown(value: Any) -> str:
    """Return a value as text; a digest is shortened."""
    if isinstance(value, str) and DIGEST.fullmatch(value):
        return f"{value[:24]}…"
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        value = ", ".join(f"{key} = {shown(item)}" for key, item in value.items())
    if isinstance(value, tuple):
        value = ", ".join(map(str, value))
    text = clean(str(value)) or "none"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def tolerances(verification: Verification) -> str:
    """Return the tolerances of the comparison."""
    return (
        "Names, counts, the digest and the seal were compared exactly; recomputed figures with a"
        f" relative tolerance of {verification.tolerance:g},"
        f" or {verification.solver_tolerance:g} if they depend on where the search for the best in"
        " hindsight stopped; figures computed from others in the file, up to rounding."
    )


def verdict(verification: Verification) -> Text:
    """Return the verdict."""
    failed = verification.failed
    if not failed:
        return Text("CONFIRMED: every figure follows from these data.", "bold green")
    names = ", ".join(line.name for line in failed[:4])
    names += f" and {len(failed) - 4} more" if len(failed) > 4 else ""
    of = count(len(verification.lines), "field")
    other = any(line.name == "data.digest" for line in failed)
    why = " These are not the data that the certificate was made from." if other else ""
    if other and any((line.name, line.stated) == EXPERTS for line in verification.lines):
        why += f" The certificate is about experts: {FORECASTS}."
    notes = dict.fromkeys(line.note for line in failed if line.note.startswith("The learner"))
    why += "".join(f" {note}." for note in notes)
    return Text(f"NOT CONFIRMED: {len(failed)} of {of}: {names}.{why}", "bold red")
