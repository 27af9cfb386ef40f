"""Write the tables of docs/auto.md beside trees, from what ``benchmarks quality_trees`` measures.

    NOREGRET_DATA=FOLDER python tools/trees_table.py [SET …]     # all sets by default

The package must be installed with the extra ``bench``. Peers that were measured before, with the
same data and versions, are not measured again. FOLDER is that of tools/quality_table.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._harness import Grid  # noqa: E402
from benchmarks._pages import fill, table  # noqa: E402
from benchmarks._quality_curved import CURVED  # noqa: E402
from benchmarks._quality_sets import THERE, real  # noqa: E402
from benchmarks.quality import DIGITS, ORDERS  # noqa: E402
from benchmarks.quality_trees import (  # noqa: E402
    Result,
    beside_boosting,
    beside_streaming,
    measured,
    sets,
)

PAGE = ROOT / "docs" / "auto.md"
TITLES = {"in order": "In the order in which the rows came", "shuffled": "The same rows shuffled"}


def written(grid: Grid) -> str:
    """Return a grid in Markdown."""
    return table(["set", *grid.columns], [[name, *cells] for name, cells in grid.rows])


def sentence(results: list[Result], order: str) -> str:
    """Say on how many sets we are as good as LightGBM."""
    some = [found for found in results if found.order == order and found.boosted]
    drawn = sum(found.name in CURVED for found in some)
    whole, second = (sum(found.as_good(half) for found in some) for half in (False, True))
    lags = ""
    if all(found.lagged for found in some):
        with_lags = [sum(f.as_good(half, lags=True) for f in some) for half in (False, True)]
        lags = f" As the one with lags: on {with_lags[0]} and {with_lags[1]}."
    return (
        f"Of {len(some)} sets, {drawn} of them drawn, `auto` is at least as good as refitted"
        f" LightGBM on {whole}, in the second half on {second}.{lags}"
    )


def among_streams(results: list[Result], order: str) -> str:
    """Say on how many sets we are as good as every learner of streams."""
    some = [found for found in results if found.order == order and found.others]
    behind = [found for found in some if found.ours.whole > found.best()[1].whole + DIGITS]
    names = f" (not on {', '.join(found.name for found in behind)})" if behind else ""
    good = len(some) - len(behind)
    return f"Of {len(some)} sets, `auto` is at least as good as all of them on {good}{names}."


def main(names: list[str]) -> None:
    """Measure, and fill the page."""
    if missing := sorted(THERE.keys() - real().keys()):
        raise SystemExit(f"NOREGRET_DATA must name a folder that has {', '.join(missing)}")
    results = measured(names or sets())
    for name, grid, count in (
        ("boosting", beside_boosting, sentence),
        ("streams", beside_streaming, among_streams),
    ):
        parts = [
            f"**{TITLES[order]}**\n\n{written(grid(results, order))}\n\n{count(results, order)}"
            for order in ORDERS
        ]
        fill(PAGE, name, "\n\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
