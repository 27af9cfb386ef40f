"""Write the table of docs/auto.md that compares the bounds of the theorems of auto with its loss.

    NOREGRET_DATA=FOLDER python tools/promise_table.py

Each figure is a share of the loss: below 100%, a bound says more than that losses are not negative.
The bound on the loss, by `auto-linear`, says something where it is below the best constant's loss.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._pages import fill, table  # noqa: E402
from benchmarks._quality_sets import Set, real  # noqa: E402
from noregret import Auto  # noqa: E402
from noregret.base.numbers import percent  # noqa: E402

PAGE = ROOT / "docs" / "auto.md"
HEADINGS = [
    "set",
    "regret to the best member",
    "`auto-mixing`",
    "`auto`, `auto-chances`",
    "`auto-linear`",
]


def shares(data: Set) -> tuple[tuple[float, float, float, float], bool]:
    """Return the regret to the best member, and the bounds, divided by the loss.

    Besides, whether `auto-linear` bounds the loss by less than that of the best constant.
    """
    learner = Auto(loss="logistic" if data.classes else "square")
    learner.learn_many(data.X, 2 * data.y - 1 if data.classes else data.y)
    told, loss = learner._accounts(), learner.total_loss
    best = int(told["excess"].argmin())
    regret, cost, price = (float(told[name][best]) / loss for name in ("excess", "cost", "price"))
    if data.classes:
        return (-regret, cost, price, 0.0), False
    rows = np.column_stack([np.ones(len(data.y)), dense(data.X)])
    fitted = rows @ np.linalg.lstsq(rows, data.y, rcond=None)[0]
    linear = float(told["linear"][0]) - float(np.sum((fitted - data.y) ** 2))
    tells = float(told["linear"][0]) < float(np.sum((data.y - data.y.mean()) ** 2))
    return (-regret, cost, price, linear / loss), tells


def dense(X: Any) -> NDArray[np.float64]:
    """Return rows as an array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def promises() -> str:
    """Return the table, in order and shuffled, and how often each bound is below the loss."""
    rows, below, linear, telling = [], [0, 0], [0, 0], 0
    for name, make in real().items():
        data = make()
        both_orders = [shares(each) for each in (data, data.shuffled())]
        found = [figures for figures, _ in both_orders]
        telling += sum(tells for _, tells in both_orders)
        for _, cost, price, by_lines in found:
            below = [below[0] + (cost < 1), below[1] + (price < 1)]
            linear = [linear[0] + (by_lines < 1 and not data.classes), linear[1] + 1 - data.classes]
        cells = [" · ".join(map(percent, both)) for both in zip(*found, strict=True)]
        if data.classes:
            cells[1] = cells[3] = ""
        rows.append([f"{name} (*log*)" if data.classes else name, *cells])
    return (
        f"{table(HEADINGS, rows)}\n\nThe bound of `auto-mixing`, or `auto-chances` for labels, is"
        f" below the loss on {below[0]} of {2 * len(rows)} streams, that of `auto` or"
        f" `auto-chances` on {below[1]}, and that of `auto-linear` on {linear[0]} of {linear[1]}"
        " streams of numbers: not where the first outcome is most of the loss, nor on a hundred"
        " rows. What `auto-linear` allows for the whole loss is below the loss of the best constant"
        f" on {telling} of {linear[1]}."
    )


if __name__ == "__main__":
    fill(PAGE, "promises", promises())
