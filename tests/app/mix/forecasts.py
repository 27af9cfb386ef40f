"""Tables of forecasts drawn at random, and what to expect of mixing them, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import noregret
from noregret.app.commands.mix import DEFAULT
from noregret.streams.corrected_forecast import Correcting

ROWS = 300


def frame(rows: int = ROWS, seed: int = 0, asleep: float = 0.0, series: int = 0) -> pd.DataFrame:
    """Return a table of three experts, a day of the week, and the outcome."""
    draw = np.random.default_rng(seed)
    y = np.cumsum(draw.normal(size=rows)).round(4)
    made = pd.DataFrame({"day": draw.choice(["Mon", "Tue"], rows), "y": y})
    for name, bias, noise in (("north", 0.5, 0.5), ("east", -1.0, 1.0), ("west", 0.0, 2.0)):
        said = (y + bias + noise * draw.normal(size=rows)).round(4)
        made[name] = np.where(draw.random(rows) < asleep, np.nan, said)
    lost = made[["north", "east", "west"]].isna().all(axis=1)
    made.loc[lost, "west"] = 0.0
    if series:
        made["series"] = [f"s {k}" for k in draw.integers(0, series, rows)]
    return made


def csv(place: Path, table: pd.DataFrame, name: str = "forecasts.csv") -> Path:
    """Write a table as CSV."""
    file = place / name
    table.to_csv(file, index=False)
    return file


def completed(table: pd.DataFrame, correct: bool = True) -> pd.DataFrame:
    """Return the experts as a mix sees them: in order, with those made of the others."""
    own = table[["east", "north", "west"]]
    made = own.assign(average=own.mean(axis=1), median=own.median(axis=1))
    if correct:
        rows = np.ascontiguousarray(own.assign(corrected=0.0))
        Correcting(3).correct(rows, [0, 1, 2], 3, np.ascontiguousarray(table["y"]))
        made["corrected"] = rows[:, 3]
    return made[sorted(made.columns)]


def by_hand(
    table: pd.DataFrame, learner: str = DEFAULT, *, correct: bool = True, **params: Any
) -> Any:
    """Mix a table row by row; return the forecasts, the weights and the master."""
    master = noregret.experts.make(learner, **params)
    said, used = [], []
    rows = completed(table, correct)
    for row, outcome in zip(rows.to_numpy(), table["y"], strict=True):
        x = dict(zip(rows.columns, row.tolist(), strict=True))
        said.append(master.predict_one(x))
        used.append(master.weights_for(row) if master.width else None)
        if not np.isnan(outcome):
            master.learn_one(x, outcome)
    return np.array(said), used, master
