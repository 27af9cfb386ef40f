"""``noregret demo``: learn from real data, with a certificate and a report."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from noregret.app.cli.options import REPORT

if TYPE_CHECKING:
    from argparse import Namespace

    from rich.console import Console
    from rich.table import Table

    from noregret.app.results.run import Floats, Result
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.game.game import Game

REPORTED = (100, 500, 2_000, 5_000, 10_000, 20_460)


EXAMPLE = "noregret demo"
OPTIONS = [REPORT.but(default="noregret-demo.html")]


def demo(given: Namespace) -> None:
    """Learn flight delays from bundled data, one flight at a time, and certify the regret."""
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from noregret.app.commands.printing import command_path
    from noregret.app.report.run.html import page
    from noregret.app.results import DEFAULT_LEARNER
    from noregret.base.atomic_files import write_whole
    from noregret.base.registry import find
    from noregret.data import flights
    from noregret.proof.game.game import Game

    screen = Console(highlight=False)
    screen.width = max(40, min(screen.width, 100))
    started = datetime.now(UTC).isoformat(timespec="seconds")
    game = Game(find(DEFAULT_LEARNER, "learners")(), predictions=True)
    stream = iter(list(flights()))
    table = Table(title="Square loss so far, in squared minutes", title_justify="left")
    for heading in (
        "flights",
        "learner's mean loss",
        "mean loss of the best linear model for these flights",
        "regret (difference of the totals)",
    ):
        table.add_column(heading, justify="right")
    began = time.perf_counter()
    outcomes = []
    for stop in REPORTED:
        block = list(islice(stream, stop - game.rounds))
        outcomes += [delay for _, delay in block]
        game.play(block)
        regret = float(game.curve.regret[-1])
        table.add_row(
            f"{game.rounds:,}",
            f"{game.loss / game.rounds:,.1f}",
            f"{(game.loss - regret) / game.rounds:,.1f}",
            f"{regret:+,.0f}",
        )
    spent = time.perf_counter() - began
    certificate = game.certificate()
    result = result_of(game, certificate, np.array(outcomes), spent, started)
    show(screen, game, table, result)
    write_whole(given.report, page(result).encode())
    screen.print(f"\nReport with charts: {Path(given.report).resolve()}", soft_wrap=True)
    screen.print(
        f"With your own data: {command_path()} run DATA.csv --target COLUMN --report REPORT.html",
        soft_wrap=True,
    )


def result_of(
    game: Game, certificate: Certificate, outcomes: Floats, spent: float, started: str
) -> Result:
    """Return the result of the demo in the form of a run."""
    from importlib.resources import files

    from noregret._version import __version__
    from noregret.app.commands.run.watching import Watching
    from noregret.app.results.findings import found_of
    from noregret.app.results.run import Result, heaviest_of
    from noregret.base.params import plain

    learner = game.learner
    watching = Watching(learner.engine.loss)
    watching.note(outcomes, game.predictions, None)
    return Result(
        sources=("flights.csv",),
        format="csv",
        rows=game.rounds,
        features=learner.engine.size,
        size=len(files("noregret.data").joinpath("flights.csv").read_bytes()),
        seconds=spent,
        learner=repr(learner),
        name=learner.name,
        params={name: plain(value) for name, value in learner.params.items()},
        loss=learner.engine.loss.name,
        total=game.loss,
        mistakes=None,
        weight=None,
        constant=watching.constant(),
        certificate=certificate,
        uncertified=None,
        curve=game.curve,
        heaviest=heaviest_of(learner.features.__getitem__, learner.weights),
        transforms=game.transforms,
        target="arrival delay (minutes)",
        outlook=watching.outlook(),
        skipped=0,
        skipped_rows=(),
        shared=None,
        interrupted=False,
        command="noregret demo",
        version=__version__,
        started=started,
        outputs={},
        measures=watching.measured([]),
        found=found_of(learner),
    )


def show(screen: Console, game: Game, table: Table, result: Result) -> None:
    """Print losses, findings and the certificate."""
    certificate, constant = result.certificate, result.constant
    assert certificate is not None
    assert constant is not None
    screen.print(
        f"\n[bold]{game.learner.name}[/bold] learned the arrival delay of {game.rounds:,} flights"
        " from New York, one flight at a time, each predicted before its outcome was seen."
        " No learning rate and no scaling had to be chosen."
        f" {game.rounds / result.seconds:,.0f} flights per second, including the comparison"
        " in hindsight.\n"
    )
    screen.print(table)
    screen.print(
        f"\nRMSE {(game.loss / game.rounds) ** 0.5:,.1f} minutes; always predicting the mean delay,"
        f" known only at the end, gives {(constant.loss / game.rounds) ** 0.5:,.1f}.\n"
    )
    if result.found is not None:
        screen.print(result.found.words + "\n", markup=False)
    screen.print(certificate)
    screen.print(f"\n{comparison(certificate)}")


def comparison(certificate: Certificate) -> str:
    """Compare the loss with that of the best linear model in words."""
    more = certificate.loss.total / certificate.hindsight.loss - 1
    how = f"{abs(more):.1%} {'more' if more >= 0 else 'less'}"
    told = f"Its total loss is {how} than that of the best fixed linear model, chosen in hindsight."
    if certificate.regret.upper < 0:
        told += " The regret is negative because it adapts, which no fixed model can."
    bound = None if certificate.theorem is None else certificate.theorem.bound
    if bound is None or not bound < certificate.loss.total:
        return told
    share = bound / certificate.loss.total
    return (
        f"{told} The theorem limits how much worse it can be than the best of the learners that it"
        f" combines: here by {share:.1%} of its loss."
    )
