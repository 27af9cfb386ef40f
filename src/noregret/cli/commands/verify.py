"""``noregret verify``: play the game of a certificate again, and say what is confirmed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import noregret


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
    found = noregret.verify(certificate, data, target=target, format=format)
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot write is no failure
        sys.stdout.reconfigure(errors="replace")
    Console(highlight=False).print(found)
    if not found.confirmed:
        raise typer.Exit(1)
