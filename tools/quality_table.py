"""Write the tables of docs/auto.md from what ``benchmarks quality`` measures.

    NOREGRET_DATA=FOLDER python tools/quality_table.py [SET …]     # all sets by default

The package must be installed with the extra ``bench``. Peers that were measured before, with the
same data, versions and code, are not measured again. FOLDER has the sets that do not come with a
package, as benchmarks/README.md says.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._pages import fill, table  # noqa: E402
from benchmarks._quality_drawn import DRAWN  # noqa: E402
from benchmarks._quality_figures import Figure  # noqa: E402
from benchmarks._quality_sets import THERE, real  # noqa: E402
from benchmarks.quality import ORDERS, Result, better, measured, told  # noqa: E402

PAGE = ROOT / "docs" / "auto.md"
# Sets, and peers, of the table of what a rate is worth.
RATES = ("bikes", "bikes, raw", "flights", "elec2", "a9a", "rcv1")
PEERS = ("VW", "River SGD", "scikit-learn")
TITLES = {"in order": "In the order in which the rows came", "shuffled": "The same rows shuffled"}


@cache
def has_classes(name: str) -> bool:
    """Return whether the outcomes of a set are classes."""
    return (real() | DRAWN)[name]().classes


def name_of(found: Result) -> str:
    """Name a set; of one with classes, say that the figure is a log loss."""
    return f"{found.name} (*log*)" if has_classes(found.name) else found.name


def improved(default: Figure, tuned: Figure) -> str:
    """Write what a peer reaches at its default, and at its best rate."""
    if tuned[0] >= default[0]:
        return f"{told(default[0])}, no rate is better"
    rate = f"{tuned[2]:,.0f}" if tuned[2] >= 1000 else f"{tuned[2]:.3g}"
    return f"{told(default[0])} → {told(tuned[0])} at {rate}"


def rates(results: list[Result]) -> str:
    """Return what peers reach at their defaults and at their best rates."""
    rows = []
    for found in results:
        if found.name in RATES and found.order == ORDERS[0]:
            both = [(found.default[peer], found.tuned[peer]) for peer in PEERS]
            cells = [improved(default, tuned) for default, tuned in both]
            rows.append([name_of(found), *cells, ours(found)])
    return table(["", *PEERS, "`auto`"], rows)


def ours(found: Result) -> str:
    """Write our figure, in bold where it is as good as the best of the peers, tuned."""
    figure = told(found.ours[0])
    return f"**{figure}**" if better(found, tuned=True) else figure


def quality(results: list[Result], order: str) -> str:
    """Return ours beside the best of the peers, on every set that was not drawn."""
    rows = []
    for found in results:
        if found.order == order and found.name not in DRAWN:
            (who, default), (best, tuned) = found.best(tuned=False), found.best(tuned=True)
            rows.append(
                [
                    name_of(found),
                    f"{found.rows:,} × {found.columns:,}",
                    ours(found),
                    f"{told(default[0])} {who}",
                    f"{told(tuned[0])} {best}",
                    told(found.linear[0]),
                ]
            )
    return table(["set", "size", "`auto`", "best default", "best tuned", "best linear"], rows)


def count(results: list[Result], order: str) -> str:
    """Say on how many sets we are as good as others."""
    some = [found for found in results if found.order == order]
    drawn = sum(found.name in DRAWN for found in some)
    lost = [found.name for found in some if not better(found, tuned=False)]
    default, best = len(some) - len(lost), sum(better(found, tuned=True) for found in some)
    behind = f" (not on {', '.join(lost)})" if lost else ""
    which = f", these and {drawn} that were drawn with a known structure" if drawn else ""
    return (
        f"Of {len(some)} sets{which}, `auto` is"
        f" as good as every default on {default}{behind}, and as good as anything tuned on {best}."
    )


def main(names: list[str]) -> None:
    """Measure, and fill the pages."""
    if missing := sorted(THERE.keys() - real().keys()):
        raise SystemExit(f"NOREGRET_DATA must name a folder that has {', '.join(missing)}")
    results = measured(names or [*real(), *DRAWN])
    parts = [
        f"**{TITLES[order]}**\n\n{quality(results, order)}\n\n{count(results, order)}"
        for order in ORDERS
    ]
    fill(PAGE, "rates", rates(results))
    fill(PAGE, "quality", "\n\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
