"""The options of commands whose work several processes or machines can share."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from noregret.app.cli import options as ask
from noregret.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.scale.pool import Pool

WORKERS = ask.option(
    ask.METHOD,
    "--workers",
    metavar="NUMBER",
    type=ask.whole_number,
    help="Processes that share the work. The results are the same.",
)
CLUSTER = ask.option(
    ask.METHOD,
    "--cluster",
    metavar="ADDRESS",
    help="Share the work on a Ray cluster: auto, ray://HOST:PORT, or local to start one here"
    " (needs noregret[ray]).",
)
WORK_FOLDER = ask.option(
    ask.METHOD,
    "--work-folder",
    metavar="FOLDER",
    help="A folder that all machines of the cluster share, for intermediate files.",
)


def are_asked(given: Namespace) -> bool:
    """Return whether a command line asks for workers."""
    if given.workers is None and given.cluster is None:
        if given.work_folder is not None:
            raise WrongUsage("--work-folder is for --workers and --cluster")
        return False
    return True


def workers_of(given: Namespace) -> AbstractContextManager[Pool | None]:
    """Return the workers that a command line asks for, if any.

    They start with all that is imported by now.
    """
    if not are_asked(given):
        return nullcontext()
    from noregret.scale import pool_of
    from noregret.scale.processes import MAX_WORKERS

    if given.workers is not None and not 1 <= given.workers <= MAX_WORKERS:
        raise WrongUsage(f"--workers is from 1 to {MAX_WORKERS}: got {given.workers}")
    return pool_of(given.workers, given.cluster)
