"""``noregret verify``: recompute a certificate from the data, and compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.cli.options import DATA, FORMAT, INPUT, TARGET, argument, option
from noregret.app.commands import FAILED
from noregret.errors import NoRegretError, Use

if TYPE_CHECKING:
    from argparse import Namespace

EXAMPLE = "noregret verify CERTIFICATE.json DATA.csv"
OPTIONS = [
    argument("certificate", "CERTIFICATE", "The certificate (JSON)."),
    DATA.but("The data it was made from, in the same or another format."),
    TARGET.but("The column of outcomes (default: the one that the certificate names)."),
    FORMAT,
    option(
        INPUT,
        "--start",
        metavar="MODEL",
        help="The trained model that the learner started from, if the certificate names one.",
    ),
]
AGAIN = "give the data that the certificate was made from; it contains the reading options"


def verify(given: Namespace) -> None:
    """Check a certificate: recompute every figure from the data.

    The exit code is 0 if every figure is confirmed, else 1.
    """
    from rich.console import Console

    from noregret.app.commands.printing import print_on
    from noregret.proof.verifying import verify as check
    from noregret.streams import format_called

    if given.format is not None:
        format_called(given.format)
    try:
        found = check(
            given.certificate,
            given.data,
            target=given.target,
            format=given.format,
            start=given.start,
        )
    except NoRegretError as error:
        if any(isinstance(cure, Use) and cure.name not in given for cure in error.cures):
            error.cures = (AGAIN + of_experts(given.certificate),)
        raise
    print_on(Console(highlight=False), found)
    if not found.confirmed:
        raise SystemExit(FAILED)


def of_experts(path: str) -> str:
    """Return where the data are if a certificate is about experts, else empty."""
    from noregret.app.report.certificate.verification_text import FORECASTS
    from noregret.proof.certificates.file import load_certificate

    try:
        return f"; {FORECASTS}" if load_certificate(path).family == "experts" else ""
    except NoRegretError:
        return ""
