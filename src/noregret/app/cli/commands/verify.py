"""``noregret verify``: recompute a certificate from the data, and compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.cli.options import DATA, FORMAT, INPUT, TARGET, argument, option
from noregret.app.cli.workers import CLUSTER, WORK_FOLDER, WORKERS, workers_of
from noregret.app.commands import FAILED
from noregret.errors import NoRegretError, Use, WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.proof.verifying import Verification
    from noregret.scale import Pool

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
    WORKERS,
    CLUSTER,
    WORK_FOLDER,
]
NO_WORKERS = "leave --workers and --cluster out"
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
        with workers_of(given) as pool:
            if pool is None:
                found = check(
                    given.certificate,
                    given.data,
                    target=given.target,
                    format=given.format,
                    start=given.start,
                )
            else:
                found = checked_by(pool, given)
    except NoRegretError as error:
        if any(isinstance(cure, Use) and cure.name not in given for cure in error.cures):
            error.cures = (AGAIN + of_experts(given.certificate),)
        elif not error.cures and error.file != given.certificate:
            words = of_experts(given.certificate)
            error.cures = (f"the certificate is about experts{words}",) if words else ()
        raise
    print_on(Console(highlight=False), found)
    if not found.confirmed:
        raise SystemExit(FAILED)


def checked_by(pool: Pool, given: Namespace) -> Verification:
    """Return what workers confirm."""
    from noregret.scale import verify as check

    if given.start is not None:
        raise WrongUsage("a learner that was trained before plays its rows in order", NO_WORKERS)
    return check(
        given.certificate,
        given.data,
        target=given.target,
        format=given.format,
        pool=pool,
        folder=given.work_folder,
    )


def of_experts(path: str) -> str:
    """Return where the data are if a certificate is about experts, else empty."""
    from noregret.app.report.certificate.verification_text import FORECASTS
    from noregret.proof.certificates.file import load_certificate

    try:
        return f"; {FORECASTS}" if load_certificate(path).family == "experts" else ""
    except NoRegretError:
        return ""
