"""``noregret demo``: watch a learner learn from real data, with a certificate at the end."""

from __future__ import annotations

import time
from itertools import islice

import numpy as np
from rich.console import Console
from rich.table import Table

from noregret import WidrowHoff
from noregret.data import flights
from noregret.game import Game

REPORTED = (100, 500, 2_000, 5_000, 10_000, 20_460)
# No flight has a norm above this; the learner divides its step by the square of it.
LARGEST_NORM = 12.0


def demo() -> None:
    """Learn flight delays from bundled data, one flight at a time, and certify the regret."""
    screen = Console(highlight=False)
    screen.width = max(40, min(screen.width, 100))
    game = Game(WidrowHoff(rate=0.5, norm=LARGEST_NORM))
    stream = iter(list(flights()))
    table = Table(title="Loss so far, in squared minutes", title_justify="left")
    for heading in (
        "flights",
        "learner, mean",
        "best linear predictor for these flights, mean",
        "regret, total",
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
    show(screen, game, table, float(np.sum((np.array(outcomes) - np.mean(outcomes)) ** 2)), spent)


def show(screen: Console, game: Game, table: Table, constant: float, spent: float) -> None:
    """Print what was learned, what is regretted, and the certificate."""
    learner = game.learner
    screen.print(
        f"\n[bold]{learner.name}[/bold] learned the arrival delay of {game.rounds:,} flights from"
        " New York, one flight at a time, each predicted before its outcome was seen:"
        f" {game.rounds / spent:,.0f} flights a second, books and hindsight included.\n"
    )
    screen.print(table)
    heaviest = sorted(
        zip(learner.features, learner.weights.tolist(), strict=True), key=lambda w: -abs(w[1])
    )[:5]
    screen.print(
        f"\nGuessing the overall mean delay, known only at the end, costs"
        f" {constant / game.rounds:,.1f} a flight. The learner's heaviest features, in minutes: "
        + ", ".join(f"{name} {weight:+.1f}" for name, weight in heaviest)
        + ". (A departure delay counts in hours.)\n"
    )
    certificate = game.certificate()
    screen.print(certificate)
    more = certificate.loss.total / certificate.hindsight.loss - 1
    screen.print(
        f"\nIn all it paid {abs(more):.1%} {'more' if more >= 0 else 'less'} than the best linear"
        " predictor that anyone could have chosen with every flight already in view; theory"
        " promised no worse than the bound above."
    )
