"""``noregret verify``: play the game of a certificate again, and say what is confirmed."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from noregret.errors import NoRegretError
from noregret.streams import format_called

# Advice of an option that only other commands have, to the end of the sentence.
OTHER_OPTIONS = re.compile(r"[:;] (?:(?![:;] ).)*--(?!target|format)\w.*", re.DOTALL)


def verify(
    certificate: Annotated[
        Path, typer.Argument(help="The certificate's file.", metavar="CERTIFICATE")
    ],
    data: Annotated[
        list[str],
        typer.Argument(
            help="The data: the files that it was made from, or the same in another format.",
            metavar="DATA",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            help="The column that holds the outcomes; if not given, the one that the certificate"
            " names."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="What the files are, where their extensions do not say it."),
    ] = None,
) -> None:
    """Check a certificate against the data: every figure is computed again.

    Ends with 0 if all of it is confirmed, with 1 if anything is not.
    """
    from noregret.proof.verifying import verify as check

    if format is not None:
        format_called(format)
    try:
        found = check(certificate, data, target=target, format=format)
    except NoRegretError as error:
        error.args = (advised(str(error)),)
        raise
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot write is no failure
        sys.stdout.reconfigure(errors="replace")
    Console(highlight=False).print(found)
    if not found.confirmed:
        raise typer.Exit(1)


def advised(said: str) -> str:
    """Return an error about data with advice that fits here: how they are read is settled.

    >>> advised("d.csv, line 3: the outcome is missing; --on-error skip leaves such rows out")[:59]
    'd.csv, line 3: the outcome is missing. The data are read as'
    """
    reason, replaced = OTHER_OPTIONS.subn("", said)
    again = "The data are read as the certificate says: give those that it was made from"
    return f"{reason}. {again}" if replaced else said
