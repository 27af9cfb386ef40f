"""Quality of `auto`, without options and in one pass, against peers, tuned or not.

    python -m benchmarks quality            # as one of the benchmarks
    python -m benchmarks.quality [SET …]    # all tables, as Markdown, of these sets or of all

Each learner predicts a row, then learns from it. For numbers the figure is the mean square error
divided by that of the mean outcome, known beforehand: 1 is as good as saying it. For classes it is
the mean log loss in nats. Rows come as they came, and shuffled with a seed. "Tuned" is the best of
many runs at rates a factor of 4 apart (and for VW then 2), going on while the last is the best,
chosen in hindsight by this very figure.

A process for every processor works on a set at a time. The peers' figures are kept in the folder
for temporary files, by the data, the versions of the peers and this code; delete
noregret-benchmarks/quality there to have them measured again.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

import noregret
from benchmarks._harness import Grid, Row, skipped
from benchmarks._quality_drawn import DRAWN
from benchmarks._quality_figures import WARM, Figure, figure, of_peers
from benchmarks._quality_hindsight import best_linear
from benchmarks._quality_sets import Floats, Set, real
from noregret.linear.learn_many import play

PACKAGES = ("river", "scikit-learn", "statsmodels", "vowpalwabbit")
ORDERS = ("in order", "shuffled")
MUST = ("bikes", "elec2", "a9a", "flights")  # as good here as the best of the tuned
DIGITS = 5e-4  # figures are told, and compared, to three of them


@dataclass(frozen=True)
class Result:
    """The figures on a set in an order, by contestant."""

    name: str
    order: str
    rows: int
    columns: int
    ours: Figure
    default: dict[str, Figure]
    tuned: dict[str, Figure]
    linear: Figure
    clipped: Figure

    def best(self, tuned: bool) -> tuple[str, Figure]:
        """Return the best peer; among those tuned are those whose default is best."""
        figures = list(self.default.items())
        if tuned:
            figures += self.tuned.items()
        return min(figures, key=lambda item: item[1][0])


# Measuring.


def ours(rows: Set) -> Floats:
    """Return the scores of `auto`, as it is."""
    scores = np.full(len(rows.y), np.nan)
    learner = noregret.Auto(loss="logistic" if rows.classes else "square")
    play(learner._entry, rows.X, rows.y, scores)
    return scores


def measure(name: str, order: str, most: int | None) -> Result:
    """Return all figures on one set in one order."""
    rows = (real() | DRAWN)[name]()
    rows = rows if order == ORDERS[0] else rows.shuffled()
    rows = rows if most is None else rows.first(most)
    linear = best_linear(rows)
    clipped = linear if rows.classes else np.clip(linear, rows.y.min(), rows.y.max())
    theirs = of_peers(rows)
    count, columns = rows.X.shape
    return Result(
        name=name,
        order=order,
        rows=count,
        columns=columns,
        ours=figure(ours(rows), rows),
        default=theirs["default"],
        tuned=theirs["tuned"],
        linear=figure(linear, rows),
        clipped=figure(clipped, rows),
    )


def measured(names: Iterable[str], most: int | None = None) -> list[Result]:
    """Return the results of all sets and orders, in the order of the names."""
    tasks = [(name, order, most) for name in names for order in ORDERS]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(measure, *zip(*tasks, strict=True)))


# Telling.


def told(number: float) -> str:
    """Write a figure."""
    if not np.isfinite(number):
        return "–" if np.isnan(number) else "∞"
    if number >= 1e4:
        return f"{number:.0e}"
    return f"{number:.3f}" if number < 100 else f"{number:.0f}"


def with_rate(found: Figure) -> str:
    """Write a figure with the rate that it was reached at."""
    return f"{told(found[0])} ({found[2]:.3g})" if found[2] else told(found[0])


def summary(results: list[Result], order: str, after: bool = False) -> Grid:
    """Return ours beside the best peers'; all rows, or those after the first."""
    k = int(after)
    rows = []
    for found in results:
        if found.order == order:
            default, tuned = found.best(False), found.best(True)
            cells = [f"{found.rows} × {found.columns}", told(found.ours[k])]
            cells += [f"{told(f[k])} {name}" for name, f in (default, tuned)]
            cells += [told(found.linear[k]), told(found.clipped[k])]
            rows.append((found.name, cells))
    columns = ["size", "auto", "best default", "best tuned", "best linear", "clipped"]
    what = f", without the first {WARM} rows" if after else ""
    return Grid(f"Predicting, {order}{what}", columns, rows)


def peer_by_peer(results: list[Result], order: str, tuned: bool) -> Grid:
    """Return ours beside every peer's."""
    some = [found for found in results if found.order == order]
    names = list(some[0].tuned if tuned else some[0].default)
    rows = []
    for found in some:
        theirs = found.tuned if tuned else found.default
        cells = [told(found.ours[0]), *(with_rate(theirs[name]) for name in names)]
        rows.append((found.name, cells))
    how = "tuned in hindsight (at the rate)" if tuned else "at their defaults"
    return Grid(f"All {how}, {order}", ["auto", *names], rows)


def better(found: Result, tuned: bool) -> bool:
    """Return whether no peer is better by more than half of the last digit told."""
    return found.ours[0] <= found.best(tuned)[1][0] + DIGITS


def verdicts(results: list[Result]) -> Iterator[Row]:
    """Judge what is aimed at."""
    for order in ORDERS:
        some = [found for found in results if found.order == order]
        lost = [found.name for found in some if not better(found, tuned=False)]
        yield Row(
            f"auto, {order}, {len(some)} sets",
            f"best on {len(some) - len(lost)}",
            f"all peers' defaults; better than auto: {', '.join(lost) or 'none'}",
            f"{len(some) - len(lost)} of {len(some)}",
            "all",
            not lost,
        )
    for found in results:
        if found.name in MUST:
            name, peer = found.best(True)
            yield Row(
                f"auto, {found.name}, {found.order}",
                told(found.ours[0]),
                f"best tuned peer, {name}: {told(peer[0])}",
                f"{found.ours[0] / peer[0]:.3f} of its loss",
                "≤ 1",
                better(found, tuned=True),
            )


def run(quick: bool) -> Iterator[Row | Grid]:
    if not hasattr(noregret, "Auto"):
        yield skipped("quality", "there is no noregret.Auto yet")
        return
    names = ["flights", "polls", "digits, even"] if quick else [*real(), *DRAWN]
    results = measured(names, 300 if quick else None)
    yield from verdicts(results)
    for order in ORDERS:
        yield summary(results, order)


def main(names: list[str]) -> None:
    """Print all tables."""
    from benchmarks.__main__ import COLUMNS, cells, markdown_table

    known = [*real(), *DRAWN]
    for name in names:
        if name not in known:
            raise SystemExit(f"unknown set {name!r}: choose from {'; '.join(known)}")
    results = measured(names or known)
    print(*markdown_table(COLUMNS, [cells(row) for row in verdicts(results)]), sep="\n")
    grids = [summary(results, order, after) for order in ORDERS for after in (False, True)]
    grids += [peer_by_peer(results, order, tuned) for order in ORDERS for tuned in (False, True)]
    for grid in grids:
        table = markdown_table(["", *grid.columns], [(name, *row) for name, row in grid.rows])
        print("", f"## {grid.title}", "", *table, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
