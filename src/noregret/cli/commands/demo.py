"""``noregret demo``: watch a learner learn from real data, and what it regrets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from noregret import WidrowHoff
from noregret.data import flights
from noregret.hindsight.least_squares import LeastSquares

ROUNDS = 20_460
REPORTED = (100, 500, 2_000, 5_000, 10_000, ROUNDS)
Example = tuple[dict[str, float], float]


def demo() -> None:
    """Learn flight delays from bundled data, one flight at a time, and report the regret."""
    screen = Console(highlight=False)
    screen.width = max(40, min(screen.width, 100))
    learner = WidrowHoff(rate=0.1)
    examples = list(unit_scaled())
    columns = {name: k for k, name in enumerate(sorted({name for x, _ in examples for name in x}))}
    hindsight = LeastSquares(len(columns))
    lines: list[tuple[int, float, float]] = []
    spent = 0.0
    progress = Progress(
        TextColumn("learning"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("mean loss {task.fields[loss]:.0f}"),
        console=Console(stderr=True),
        transient=True,
        disable=not Console(stderr=True).is_terminal,
    )
    with progress:
        task = progress.add_task("learning", total=ROUNDS, loss=0.0)
        stream = iter(examples)
        for start, stop in zip((0, *REPORTED), REPORTED, strict=False):
            block = list(islice(stream, stop - start))
            began = time.perf_counter()
            for x, y in block:
                learner.learn_one(x, y)
            spent += time.perf_counter() - began
            hindsight.add(*as_arrays(block, columns))
            lines.append((stop, learner.total_loss, hindsight.best().loss))
            progress.update(task, completed=stop, loss=learner.total_loss / stop)
    outcomes = np.array([y for _, y in examples])
    show(screen, learner, lines, float(np.sum((outcomes - outcomes.mean()) ** 2)), spent)


def unit_scaled() -> Iterator[Example]:
    """Yield the flights with every x divided by its norm, as the promise of Widrow-Hoff asks."""
    for x, y in flights():
        numbers = {
            f"{name}={value}" if isinstance(value, str) else name: (
                1.0 if isinstance(value, str) else value
            )
            for name, value in x.items()
        }
        norm = sum(value * value for value in numbers.values()) ** 0.5
        yield {name: value / norm for name, value in numbers.items()}, y


def as_arrays(
    block: list[Example], columns: dict[str, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Write named rows out as an array."""
    rows = np.zeros((len(block), len(columns)))
    for r, (x, _) in enumerate(block):
        for name, value in x.items():
            rows[r, columns[name]] = value
    return rows, np.array([y for _, y in block])


def show(
    screen: Console,
    learner: WidrowHoff,
    lines: list[tuple[int, float, float]],
    constant: float,
    spent: float,
) -> None:
    """Print what was learned and what is regretted."""
    rounds, loss, best = lines[-1]
    screen.print(
        f"\n[bold]{learner.name}[/bold] with rate {learner.rate} learned the arrival delay of"
        f" {rounds:,} flights from New York, one flight at a time, each predicted before its"
        f" outcome was seen: {rounds / spent:,.0f} flights a second.\n"
    )
    table = Table(title="Loss so far, in squared minutes", title_justify="left")
    for heading in ("flights", "learner, mean", "best linear in hindsight, mean", "regret, total"):
        table.add_column(heading, justify="right")
    for count, paid, hindsight in lines:
        table.add_row(
            f"{count:,}",
            f"{paid / count:,.1f}",
            f"{hindsight / count:,.1f}",
            f"{paid - hindsight:+,.0f}",
        )
    screen.print(table)
    screen.print(
        "\nGuessing the overall mean delay, known only at the end, costs"
        f" {constant / rounds:,.1f} a flight."
    )
    if loss < best:
        screen.print(
            "The regret turned [bold]negative[/bold]: the learner, which keeps adapting, did better"
            " than the best fixed linear predictor chosen with all flights in view."
        )
    heaviest = sorted(
        zip(learner.features, learner.weights.tolist(), strict=True), key=lambda w: -abs(w[1])
    )[:5]
    screen.print(
        "\nHeaviest features: " + ", ".join(f"{name} {weight:+.1f}" for name, weight in heaviest)
    )
