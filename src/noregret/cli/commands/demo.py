"""``noregret demo``: watch a learner learn from real data, and what it regrets."""

from __future__ import annotations

import time
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from noregret import WidrowHoff
from noregret.data import flights
from noregret.hindsight import LeastSquares

ROUNDS = 20_460
REPORTED = (100, 500, 2_000, 5_000, 10_000, ROUNDS)
# No flight has a norm above this; the learner divides its step by the square of it.
LARGEST_NORM = 12.0
Example = tuple[dict[str, float | str], float]


def demo() -> None:
    """Learn flight delays from bundled data, one flight at a time, and report the regret."""
    screen = Console(highlight=False)
    screen.width = max(40, min(screen.width, 100))
    learner = WidrowHoff(rate=0.5, norm=LARGEST_NORM)
    learner.watch("norm", LARGEST_NORM)
    examples = list(flights())
    columns = {name: k for k, name in enumerate(sorted({n for x, _ in examples for n in named(x)}))}
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


def named(x: dict[str, float | str]) -> dict[str, float]:
    """Write strings as the indicator features that the learner makes of them."""
    return {
        f"{name}={value}" if isinstance(value, str) else name: (
            1.0 if isinstance(value, str) else value
        )
        for name, value in x.items()
    }


def as_arrays(
    block: list[Example], columns: dict[str, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Write named rows out as an array."""
    rows = np.zeros((len(block), len(columns)))
    for r, (x, _) in enumerate(block):
        for name, value in named(x).items():
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
        f"\n[bold]{learner.name}[/bold] (rate {learner.rate}, norm {learner.norm:g}) learned the"
        f" arrival delay of {rounds:,} flights from New York, one flight at a time, each predicted"
        f" before its outcome was seen: {rounds / spent:,.0f} flights a second.\n"
    )
    table = Table(title="Loss so far, in squared minutes", title_justify="left")
    for heading in (
        "flights",
        "learner, mean",
        "best linear predictor for these flights, mean",
        "regret, total",
    ):
        table.add_column(heading, justify="right")
    for count, paid, hindsight in lines:
        table.add_row(
            f"{count:,}",
            f"{paid / count:,.1f}",
            f"{hindsight / count:,.1f}",
            f"{paid - hindsight:+,.0f}",
        )
    screen.print(table)
    more, side = abs(loss / best - 1), "more" if loss >= best else "less"
    screen.print(
        f"\nIn all it paid {more:.1%} {side} than the best linear predictor that anyone could have"
        " chosen with every flight already in view. Guessing the overall mean delay, known only at"
        f" the end, costs {constant / rounds:,.1f} a flight."
    )
    norm = learner.measured["norm"]
    screen.print(
        f"\nWhat its promise assumes was measured on the way: no flight had a norm above"
        f" {norm.largest:.1f}, within the {norm.limit:g} it was told."
        if norm.first_over is None
        else f"\nIts promise assumes norms up to {norm.limit:g}: exceeded in round"
        f" {norm.first_over}."
    )
    heaviest = sorted(
        zip(learner.features, learner.weights.tolist(), strict=True), key=lambda w: -abs(w[1])
    )[:5]
    screen.print(
        "\nHeaviest features, in minutes: "
        + ", ".join(f"{name} {weight:+.1f}" for name, weight in heaviest)
        + ". (A departure delay counts in hours.)"
    )
