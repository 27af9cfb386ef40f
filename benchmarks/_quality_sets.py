"""Data sets to be judged on: real ones that are at hand.

Bundled with the package: flights and polls. From scikit-learn, River and statsmodels: sets that
these packages carry, nothing is downloaded. From the folder that the environment variable
NOREGRET_DATA names: bikes/hour.csv, elec2/elecNormNew.csv, a9a/a9a.svm.gz, rcv1/rcv1_small.vw.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from noregret import data

Floats = NDArray[np.float64]
SEED = 0


@dataclass(frozen=True)
class Set:
    """Rows in the order in which they came, one-hot, neither scaled nor with an intercept.

    Parameters
    ----------
    X
        An array or a CSR matrix.
    y
        Outcomes: numbers, or 0 and 1 where classes are to be told apart.
    classes
        Whether they are classes.
    quantities
        The columns that are quantities; the others say yes or no.
    """

    X: Any
    y: Floats
    classes: bool
    quantities: NDArray[np.int64]

    def shuffled(self) -> Set:
        """Return the rows in an order drawn with a seed."""
        at = np.random.default_rng(SEED).permutation(len(self.y))
        return replace(self, X=self.X[at], y=self.y[at])

    def first(self, rows: int) -> Set:
        """Return the first rows."""
        return replace(self, X=self.X[:rows], y=self.y[:rows])

    def digest(self) -> str:
        """Return a short text that differs where the rows do."""
        arrays = [self.X]
        if sparse.issparse(self.X):
            arrays = [self.X.data, self.X.indices, self.X.indptr]
        found = hashlib.sha256(repr(self.X.shape).encode())
        for array in (*arrays, self.y, self.quantities):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()[:16]


def dense(X: Any, y: Any, classes: bool = False) -> Set:
    """Return a set whose columns are all quantities."""
    table = np.ascontiguousarray(X, dtype=np.float64)
    return Set(table, np.asarray(y, dtype=np.float64), classes, np.arange(table.shape[1]))


def one_hot(
    table: pd.DataFrame, target: str, categories: Iterable[str] = (), positive: Any = None
) -> Set:
    """Return a table with a column for every value of those that are text, or named.

    ``positive`` says, of a column of outcomes, which are of the class 1.
    """
    outcomes = table[target] if positive is None else positive(table[target])
    parts: list[Floats] = []
    quantities, width = [], 0
    for name in table.columns.drop(target):
        column = table[name]
        if name in set(categories) or not pd.api.types.is_numeric_dtype(column):
            parts.append(pd.get_dummies(column.astype(str)).to_numpy(float))
        else:
            parts.append(column.fillna(0).to_numpy(float)[:, None])
            quantities.append(width)
        width += parts[-1].shape[1]
    y = outcomes.to_numpy(float)
    return Set(np.hstack(parts), y, positive is not None, np.array(quantities, dtype=np.int64))


# Bundled.


def flights(blind: bool = False, late: bool = False) -> Set:
    """Return delays on arrival: knowing the delay on departure or not; or whether over 15'."""
    table = pd.read_csv(data.path("flights"))
    if blind:
        table = table.drop(columns="dep_delay")
    kinds = ("month", "hour", "carrier", "origin", "dest")
    return one_hot(table, "arr_delay", kinds, (lambda y: y > 15) if late else None)


def polls() -> Set:
    """Return what five pollsters say, and the average of many polls."""
    return one_hot(pd.read_csv(data.path("approval")), "five_thirty_eight")


# From packages.


def from_sklearn(name: str, positive: Callable[[Any], Any] | None = None) -> Set:
    """Return a set that scikit-learn carries."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return dense(X, y if positive is None else positive(y), positive is not None)


def from_river(name: str, positive: Callable[[Any], Any] | None = None) -> Set:
    """Return a set that River carries; of a date, the year and the month."""
    from river import datasets

    rows = list(getattr(datasets, name)())
    table = pd.DataFrame([x for x, _ in rows])
    for column in table.select_dtypes("datetime").columns:
        date = table.pop(column).dt
        table["year"], table["month"] = date.year, date.month.astype(str)
    table["outcome"] = [y for _, y in rows]
    return one_hot(table, "outcome", positive=positive)


def from_statsmodels(name: str) -> pd.DataFrame:
    """Return a table that statsmodels carries."""
    from statsmodels import datasets

    table: pd.DataFrame = getattr(datasets, name).load_pandas().data
    return table


def carbon_dioxide() -> Set:
    """Return the weekly share of carbon dioxide in the air: a trend and the season."""
    values = from_statsmodels("co2")["co2"].to_numpy(float)
    week = np.arange(len(values))
    season = 2 * np.pi * week / 52.18
    known = ~np.isnan(values)
    return dense(np.column_stack([week, np.sin(season), np.cos(season)])[known], values[known])


def sea_temperature() -> Set:
    """Return monthly temperatures of the sea."""
    table = from_statsmodels("elnino").melt("YEAR", var_name="month", value_name="y")
    months = {name: k for k, name in enumerate(table["month"].unique())}
    table["place"] = table["month"].map(months) + 12 * table["YEAR"]
    return one_hot(table.sort_values("place").drop(columns="place"), "y")


def affairs() -> Set:
    """Return who had any."""
    jobs = ("occupation", "occupation_husb")
    return one_hot(from_statsmodels("fair"), "affairs", jobs, lambda y: y > 0)


# From the folder.


def bikes(folder: Path, raw: bool = False) -> Set:
    """Return hourly hires; ``raw`` leaves the categories as the numbers they are written as."""
    table = pd.read_csv(folder / "bikes/hour.csv")
    table = table.drop(columns=["instant", "dteday", "casual", "registered"])
    kinds = ("season", "yr", "mnth", "hr", "weekday", "weathersit")
    return one_hot(table, "cnt", () if raw else kinds)


def electricity(folder: Path) -> Set:
    """Return whether the price goes up."""
    table = pd.read_csv(folder / "elec2/elecNormNew.csv")
    return one_hot(table, "class", positive=lambda y: y == "UP")


def census(folder: Path) -> Set:
    """Return whether an income is high."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(folder / "a9a/a9a.svm.gz"))
    return Set(sparse.csr_matrix(X), (y > 0).astype(float), True, np.empty(0, dtype=np.int64))


def news(folder: Path) -> Set:
    """Return articles as weighted words."""
    columns: dict[str, int] = {}
    outcomes, at, values, starts = [], [], [], [0]
    for line in (folder / "rcv1/rcv1_small.vw").read_text().splitlines():
        label, _, words = line.partition("|f ")
        outcomes.append(float(label) > 0)
        for word in words.split():
            name, _, value = word.partition(":")
            at.append(columns.setdefault(name, len(columns)))
            values.append(float(value or 1))
        starts.append(len(at))
    X = sparse.csr_matrix((values, at, starts), (len(outcomes), len(columns)))
    return Set(X, np.array(outcomes, dtype=float), True, np.empty(0, dtype=np.int64))


HERE: dict[str, Callable[[], Set]] = {
    "flights": flights,
    "flights, blind": lambda: flights(blind=True),
    "flights, late": lambda: flights(blind=True, late=True),
    "polls": polls,
    "diabetes": lambda: from_sklearn("diabetes"),
    "breast cancer": lambda: from_sklearn("breast_cancer", lambda y: y),
    "wine": lambda: from_sklearn("wine", lambda y: y == 0),
    "digits, even": lambda: from_sklearn("digits", lambda y: y % 2 == 0),
    "phishing": lambda: from_river("Phishing", lambda y: y),
    "bananas": lambda: from_river("Bananas", lambda y: y),
    "chickens": lambda: from_river("ChickWeights"),
    "airline": lambda: from_river("AirlinePassengers"),
    "segments": lambda: from_river(
        "ImageSegments", lambda y: y.isin(["brickface", "sky", "grass"])
    ),
    "doctors": lambda: one_hot(from_statsmodels("randhie"), "mdvis"),
    "affairs": affairs,
    "co2": carbon_dioxide,
    "el niño": sea_temperature,
}
THERE: dict[str, tuple[str, Callable[[Path], Set]]] = {
    "bikes": ("bikes/hour.csv", bikes),
    "bikes, raw": ("bikes/hour.csv", lambda folder: bikes(folder, raw=True)),
    "elec2": ("elec2/elecNormNew.csv", electricity),
    "a9a": ("a9a/a9a.svm.gz", census),
    "rcv1": ("rcv1/rcv1_small.vw", news),
}


def real() -> dict[str, Callable[[], Set]]:
    """Return what is at hand, by name, each to be read when it is needed."""
    found: dict[str, Callable[[], Set]] = {}
    if folder := os.environ.get("NOREGRET_DATA"):
        for name, (place, read) in THERE.items():
            if (Path(folder) / place).is_file():
                found[name] = partial(read, Path(folder))
    return found | HERE
