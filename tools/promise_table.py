"""Write the table of docs/auto.md that compares the bounds of the theorems of auto with its loss.

    NOREGRET_DATA=FOLDER python tools/promise_table.py

Each figure is a share of the loss: below 100%, a bound says more than that losses are not negative.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._pages import fill, table  # noqa: E402
from benchmarks._quality_sets import Set, real  # noqa: E402
from noregret import Auto  # noqa: E402
from noregret.base.numbers import percent  # noqa: E402

PAGE = ROOT / "docs" / "auto.md"
HEADINGS = ["set", "regret to the best member", "`auto-mixing`", "`auto`, `auto-chances`"]


def shares(data: Set) -> tuple[float, float, float]:
    """Return the regret to the best member and its two bounds, divided by the loss."""
    learner = Auto(loss="logistic" if data.classes else "square")
    learner.learn_many(data.X, 2 * data.y - 1 if data.classes else data.y)
    told, loss = learner._accounts(), learner.total_loss
    best = int(told["excess"].argmin())
    regret, cost, price = (float(told[name][best]) / loss for name in ("excess", "cost", "price"))
    return -regret, cost, price


def promises() -> str:
    """Return the table, in order and shuffled, and how often each bound is below the loss."""
    rows, below, many = [], [0, 0], 0
    for name, make in real().items():
        data = make()
        found = [shares(each) for each in (data, data.shuffled())]
        for _, cost, price in found:
            below, many = [below[0] + (cost < 1), below[1] + (price < 1)], many + 1
        cells = [" · ".join(map(percent, both)) for both in zip(*found, strict=True)]
        if data.classes:
            cells[1] = ""
        rows.append([f"{name} (*log*)" if data.classes else name, *cells])
    return (
        f"{table(HEADINGS, rows)}\n\nThe bound that certificates state is below the loss on"
        f" {below[0]} of {many} streams, the bound of the theorem `auto` or `auto-chances` on"
        f" {below[1]}."
    )


if __name__ == "__main__":
    fill(PAGE, "promises", promises())
