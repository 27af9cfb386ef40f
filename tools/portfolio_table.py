"""Write the table of final wealth in docs/portfolios.md.

    NOREGRET_DATA=FOLDER python tools/portfolio_table.py

FOLDER has portfolio/nyse_o.csv and portfolio/djia.csv, tables of relatives with a line of names;
both are in the collection OLPS.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from noregret.hindsight.portfolio import best_rebalanced
from noregret.portfolios import (
    BlendPortfolio,
    BuyAndHold,
    EgPortfolio,
    OnsPortfolio,
    UniformRebalanced,
    UniversalPortfolio,
)
from noregret.portfolios.strategies.blend_portfolio import PROVEN
from noregret.portfolios.strategy import Strategy

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._pages import fill, table  # noqa: E402

PAGE = ROOT / "docs" / "portfolios.md"
Floats = NDArray[np.float64]
# Bounds on the best constant shares are shown; those of buy and hold and of a blend are on others.
STRATEGIES: dict[str, tuple[Strategy, bool]] = {
    "`eg-portfolio`": (EgPortfolio(), True),
    "`eg-portfolio`, rate 0.5": (EgPortfolio(rate=0.5), True),
    "`blend-portfolio`": (BlendPortfolio(), False),
    "`ons-portfolio`": (OnsPortfolio(), False),
    "`ons-portfolio`, as proven": (OnsPortfolio(**PROVEN), True),
    "`universal-portfolio`": (UniversalPortfolio(), True),
    "`uniform-rebalanced`": (UniformRebalanced(), False),
    "`buy-and-hold`": (BuyAndHold(), False),
}


def markets() -> dict[str, Floats]:
    """Return the relatives of each market."""
    folder = os.environ.get("NOREGRET_DATA")
    if folder is None:
        raise SystemExit("NOREGRET_DATA must name the folder that has portfolio/nyse_o.csv")
    read = {
        title: np.loadtxt(Path(folder) / "portfolio" / name, delimiter=",", skiprows=1)
        for title, name in (("NYSE(O)", "nyse_o.csv"), ("DJIA", "djia.csv"))
    }
    moves = np.random.default_rng(7).normal(0.0, 0.02, (2500, 5))
    moves[:, 2] += 0.0015
    noise = np.random.default_rng(8).normal(0.0002, 0.02, (2500, 10))
    return read | {
        "one rises": np.exp(moves - 0.0002),
        "Cover": np.array([[1.0, 2.0], [1.0, 0.5]] * 250),
        "noise": np.exp(noise),
    }


def told(wealth: float) -> str:
    """Write a wealth."""
    return f"{wealth:,.3g}" if not 1000 <= wealth < 1e5 else f"{wealth:,.0f}"


def cell(strategy: Strategy, bounded: bool, relatives: Floats) -> str:
    """Return the final wealth, and the bound on the regret."""
    played = strategy.clone()
    certificate = nr.play(played, relatives).certificate()
    bound = certificate.theorem.bound if bounded else None
    return told(played.wealth) + ("" if bound is None else f" ({bound:.3g})")


def main() -> None:
    """Write the table."""
    shown = markets()
    rows = [
        [name, *(cell(strategy, bounded, relatives) for relatives in shown.values())]
        for name, (strategy, bounded) in STRATEGIES.items()
    ]
    best = [float(relatives.prod(axis=0).max()) for relatives in shown.values()]
    shares = [float(np.exp(-best_rebalanced(partial(list, [X])).loss)) for X in shown.values()]
    rows += [["best asset", *map(told, best)], ["best constant shares", *map(told, shares)]]
    fill(PAGE, "wealth", table(["", *shown], rows))


if __name__ == "__main__":
    main()
