"""Quality of mixtures of forecasts, against the plain average of the same forecasts.

    python -m benchmarks mixing_quality     # as one of the benchmarks
    python -m benchmarks.mixing_quality     # the table alone, as Markdown
    python -m benchmarks.mixing_quality further    # the worst of many small drawn ensembles, and
                                                   # how many are above 1.005

Every figure is a root mean square error divided by that of the plain average: below 1 is better.
The forecasts are the bundled polls, forecasts made here from the bundled flights, and ensembles
drawn with a seed. A folder named by the environment variable NOREGRET_DATA adds those that it holds
of experts/m4_weekly_mlpol.csv, experts/flusight_us.csv, bikes/hour.csv and elec2/elecNormNew.csv.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks._harness import Grid, Row
from noregret import data
from noregret.experts import AdaHedge, Blend, Boa, Master, MlPoly, Squint
from noregret.hindsight import Rows, best_convex
from noregret.streams.corrected_forecast import Correcting

PACKAGES = ("pandas",)
Floats = NDArray[np.float64]
# Series that are mixed on their own: forecasts, one column an expert, and outcomes.
Series = list[tuple[Floats, Floats]]
# What mixes them: a forecast for every round.
Mixture = Callable[[Floats, Floats], Floats]
WORST = 1.005


# The forecasts.


def approval() -> Series:
    """Return five pollsters and the average of all polls that was published later."""
    table = pd.read_csv(data.path("approval"))
    outcomes = table.pop("five_thirty_eight").to_numpy(float)
    return [(table.drop(columns="ordinal_date").to_numpy(float), outcomes)]


def flights() -> Series:
    """Return rules of thumb for the delay of a flight on arrival, learned from those before it."""
    table = pd.read_csv(data.path("flights"))
    late, left = table["arr_delay"], table["dep_delay"]
    gained = (late - left).expanding().mean().shift(1).fillna(0.0)
    rules = [left, left + gained, late.ewm(span=20).mean().shift(1)]
    rules += [
        left + (late - left).groupby(table[name]).transform(lambda g: g.expanding().mean().shift(1))
        for name in ("carrier", "dest", "hour")
    ]
    return [(np.column_stack(rules)[1:], late.to_numpy(float)[1:])]


def hourly_delays() -> Series:
    """Return naive forecasts of the mean departure delay of the hour."""
    table = pd.read_csv(data.path("flights"))
    return [naive(table.groupby(["month", "day", "hour"])["dep_delay"].mean(), 17)]


def naive(values: pd.Series, season: int) -> tuple[Floats, Floats]:
    """Return what comes of the last values, of those a season or a week ago, and of means."""
    lags = [values.shift(lag) for lag in (1, 2, season, 7 * season)]
    means = [values.shift(1).rolling(width).mean() for width in (max(4, season // 12), season)]
    trend = values.shift(season) + values.shift(1) - values.shift(season + 1)
    first = 7 * season + 1
    return np.column_stack([*lags, *means, trend])[first:], values.to_numpy(float)[first:]


def drawn() -> dict[str, Series]:
    """Return ensembles drawn by chance: alike, of rain, unlike, and unlike with naps."""
    draw, rounds = np.random.default_rng(5), 2000
    walk = np.cumsum(draw.standard_normal(rounds)) * 0.1
    truth = 10 * np.sin(np.arange(rounds) / 58) + walk
    together = draw.standard_normal((rounds, 1))  # what all members have wrong at once
    alike = truth[:, None] + together + draw.standard_normal((rounds, 20)) * 1.5
    rain = np.maximum(0.0, draw.gamma(0.3, 8, rounds) - 1.5)
    wet = rain[:, None] * draw.lognormal(0, 0.5, (rounds, 15))
    wet = np.maximum(0.0, wet + draw.gamma(0.2, 5, (rounds, 15)) - 0.5)
    spreads = np.array([1, 1.1, 1.2, 1.5, 2, 3, 4, 5])
    unlike = truth[:, None] + draw.standard_normal((rounds, 8)) * spreads
    asleep = np.where(draw.random(unlike.shape) < 0.3, np.nan, unlike)
    return {
        "alike": [(alike, truth)],
        "rain": [(wet, rain)],
        "unlike": [(unlike, truth)],
        "napping": [(asleep, truth)],
    }


def weekly(path: Path) -> Series:
    """Return two forecasters of 359 weekly series."""
    table = pd.read_csv(path)
    return [(g[["e1", "e2"]].to_numpy(), g["y"].to_numpy()) for _, g in table.groupby("series")]


def influenza(path: Path) -> Series:
    """Return many forecasters of hospital admissions, one series for every horizon."""
    table = pd.read_csv(path)
    return [
        (g.iloc[:, 5:].to_numpy(float), g["observed"].to_numpy(float))
        for _, g in table.groupby("horizon")
    ]


def seasonal(path: Path, name: str, season: int) -> Series:
    """Return naive forecasts of a column."""
    return [naive(pd.read_csv(path)[name], season)]


def elsewhere() -> dict[str, Series]:
    """Return what is in the folder that NOREGRET_DATA names."""
    readers: dict[str, tuple[str, Callable[[Path], Series]]] = {
        "M4 weekly": ("experts/m4_weekly_mlpol.csv", weekly),
        "influenza": ("experts/flusight_us.csv", influenza),
        "bicycles": ("bikes/hour.csv", lambda path: seasonal(path, "cnt", 24)),
        "electricity": ("elec2/elecNormNew.csv", lambda path: seasonal(path, "nswdemand", 48)),
    }
    if not (folder := os.environ.get("NOREGRET_DATA")):
        return {}
    found = {name: (Path(folder) / place, read) for name, (place, read) in readers.items()}
    return {name: read(path) for name, (path, read) in found.items() if path.is_file()}


def all_series(quick: bool) -> dict[str, Series]:
    """Return every set of forecasts, without rounds in which all experts sleep."""
    sets = {"polls": approval(), "flights": flights(), "hourly delays": hourly_delays()} | drawn()
    if not quick:
        sets |= elsewhere()
    kept = slice(None, 300 if quick else None)
    return {
        name: [awake(np.ascontiguousarray(X[kept]), y[kept]) for X, y in series]
        for name, series in sets.items()
    }


def awake(X: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Leave out rounds without a forecast."""
    said = ~np.isnan(X).all(axis=1)
    return np.ascontiguousarray(X[said]), np.ascontiguousarray(y[said])


# The mixtures.


def with_average(X: Floats, y: Floats) -> Floats:
    """Add the average and the median, as ``noregret mix`` does."""
    return np.column_stack([X, np.nanmean(X, axis=1), np.nanmedian(X, axis=1)])


def with_corrected(X: Floats, y: Floats) -> Floats:
    """Add the corrected expert as well."""
    n = X.shape[1]
    table = np.column_stack([with_average(X, y), np.zeros(len(y))])
    Correcting(n).correct(table, list(range(n)), n + 2, y)
    return table


def mixed(make: Callable[[], Master], table: Callable[[Floats, Floats], Floats]) -> Mixture:
    """Return a function that mixes forecasts, each round before its outcome is seen."""

    def forecasts(X: Floats, y: Floats) -> Floats:
        made, master, rows = np.empty(len(y)), make(), np.ascontiguousarray(table(X, y))
        added = ["average", "median", "corrected"][: rows.shape[1] - X.shape[1]]
        master.check_names([*(f"expert {k}" for k in range(X.shape[1])), *added])
        master.play_block(rows, y, made)
        return made

    return forecasts


def in_hindsight(X: Floats, y: Floats) -> Floats:
    """Forecast with the best fixed weights; who sleeps repeats what blend says."""
    said = mixed(Blend, with_average)(X, y)
    whole = np.where(np.isnan(X), said[:, None], X)
    found: Floats = whole @ best_convex(Rows(whole, y), "square").witness
    return found


MIXTURES: dict[str, Mixture] = {
    "median": lambda X, y: np.asarray(np.nanmedian(X, axis=1)),
    "ml-poly, experts alone": mixed(MlPoly, lambda X, y: X),
    "ml-poly": mixed(MlPoly, with_average),
    "ada-hedge, gradient": mixed(lambda: AdaHedge(gradient=True), with_average),
    "boa": mixed(Boa, with_average),
    "squint": mixed(Squint, with_average),
    "blend": mixed(Blend, with_average),
    "blend, corrected": mixed(Blend, with_corrected),
    "best fixed weights": in_hindsight,
}


def average(X: Floats, y: Floats) -> Floats:
    """Forecast the plain average of all who say something."""
    return np.asarray(np.nanmean(X, axis=1))


def error(mixture: Mixture, series: Series) -> float:
    """Return the root mean square error over all rounds of all series."""
    squares = [(mixture(X, y) - y) ** 2 for X, y in series]
    return float(np.sqrt(np.concatenate(squares).mean()))


def measured(quick: bool) -> tuple[Grid, dict[str, float]]:
    """Return the whole table, and the worst of every mixture."""
    found = {}
    for name, series in all_series(quick).items():
        plain = error(average, series)
        found[name] = [error(mixture, series) / plain for mixture in MIXTURES.values()]
    worst = [max(ratios) for ratios in zip(*found.values(), strict=True)]
    rows = [
        (name, [f"{ratio:.3f}" for ratio in ratios])
        for name, ratios in (found | {"worst": worst}).items()
    ]
    grid = Grid("Mixtures of forecasts: RMSE ÷ plain average", list(MIXTURES), rows)
    return grid, dict(zip(MIXTURES, worst, strict=True))


def run(quick: bool) -> Iterator[Row | Grid]:
    grid, worst = measured(quick)
    yield Row(
        f"blend on {len(grid.rows) - 1} sets of forecasts, the worst",
        f"{worst['blend']:.4f} of the plain average's RMSE",
        f"ml-poly, experts alone {worst['ml-poly, experts alone']:.4f}",
        f"{worst['blend']:.4f}",
        f"≤ {WORST}",
        worst["blend"] <= WORST,
    )
    yield grid


def small(seed: int) -> tuple[Floats, Floats]:
    """Draw an ensemble of few rounds.

    Members are alike, unlike, related, unlike with naps, wrong by much at times, biased, or drift.
    """
    draw, kind = np.random.default_rng(10_000 + seed), seed % 7
    rounds, n = int(draw.choice([60, 123, 200, 300, 800])), int(draw.choice([3, 5, 8, 20, 50, 80]))
    t = np.arange(rounds)
    y = 50 + 10 * np.sin(t / 9) + np.cumsum(draw.normal(size=rounds)) * draw.uniform(0, 1)
    if kind == 0:
        off = draw.standard_t(4, size=(rounds, n)) * draw.uniform(0.9, 1.2, n)
        off = off + draw.standard_t(4, size=(rounds, 1))
    elif kind == 1:
        off = draw.normal(size=(rounds, n)) * draw.lognormal(0, 0.5, n)
    elif kind == 2:
        off = draw.normal(size=(rounds, n)) * draw.uniform(1, 1.3, n)
        off = off + draw.normal(size=(rounds, 4)) @ draw.normal(size=(4, n)) * 0.5
    elif kind == 4:
        off = draw.standard_t(2.5, size=(rounds, n)) * draw.lognormal(0, 0.2, n)
        off = off + draw.standard_t(3, size=(rounds, 1)) * draw.uniform(0, 1)
    elif kind == 5:
        off = draw.normal(size=(rounds, n)) + draw.normal(size=n) * draw.choice([0.3, 1, 2])
        off = off + draw.normal(size=(rounds, 1))
    elif kind == 6:
        off = np.cumsum(draw.normal(size=(rounds, n)), axis=0) * draw.uniform(0, 0.3)
        off = off + draw.normal(size=(rounds, n)) + draw.normal(size=(rounds, 1))
    else:
        swell = (1 + 0.5 * np.sin(t / 30))[:, None]
        off = draw.normal(size=(rounds, n)) * draw.lognormal(0, 0.3, n) * swell
    X = y[:, None] + 2 * off
    if kind == 3 or seed % 3 == 0:
        asleep = draw.random((rounds, n)) < draw.uniform(0.1, 0.8)
        asleep[:, 0] = False
        X[asleep] = np.nan
    return X, np.ascontiguousarray(y)


def further(count: int = 700) -> None:
    """Print the worst ratio to the average on small ensembles by rounds, and how many exceed."""
    names = ("blend, corrected", "ml-poly, experts alone")
    mixtures = [*(MIXTURES[name] for name in names), mixed(Boa, lambda X, y: X)]
    found: dict[int, list[list[float]]] = {}
    for series in ([small(seed)] for seed in range(count)):
        plain = error(average, series)
        ratios = [error(mixture, series) / plain for mixture in mixtures]
        found.setdefault(len(series[0][1]), []).append(ratios)
    print("rounds", *names, "boa, experts alone", sep=" | ")
    for rounds, rows in sorted(found.items()):
        worst = [max(column) for column in zip(*rows, strict=True)]
        more = [sum(ratio > WORST for ratio in column) for column in zip(*rows, strict=True)]
        shares = (f"{w:.3f} ({k} of {len(rows)})" for w, k in zip(worst, more, strict=True))
        print(rounds, *shares, sep=" | ")


if __name__ == "__main__" and sys.argv[1:] == ["further"]:
    further()
elif __name__ == "__main__":
    from benchmarks.__main__ import markdown_table

    table, _ = measured(quick=False)
    print(*markdown_table(["", *table.columns], [(n, *f) for n, f in table.rows]), sep="\n")
