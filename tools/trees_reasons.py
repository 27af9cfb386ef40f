"""Print the figures of docs/auto.md on why refitted LightGBM is better where it is.

    NOREGRET_DATA=FOLDER python tools/trees_reasons.py

Each set is changed so that the reason is gone, or its loss is split. Half a minute.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._quality_sets import THERE, Floats, Set, real  # noqa: E402
from benchmarks._quality_trees import judged, lightgbm  # noqa: E402
from benchmarks.quality import ours  # noqa: E402
from benchmarks.quality_trees import sets  # noqa: E402


def some(rows: Set, columns: list[int]) -> Set:
    """Return these columns, all of them quantities."""
    X = np.ascontiguousarray(rows.X[:, columns])
    return replace(rows, X=X, quantities=np.arange(len(columns)))


def hours_of_working_days() -> Set:
    """Return bikes with an indicator for each hour of a working day, shuffled."""
    rows, raw = sets()["bikes"](), sets()["bikes, raw"]()  # columns: season, yr, mnth, hr, …
    hour, working = raw.X[:, 3], raw.X[:, 6]
    products = (hour[:, None] == np.arange(24)) * working[:, None]
    return replace(rows, X=np.hstack([rows.X, products])).shuffled()


def losses(scores: Floats, rows: Set) -> Floats:
    """Return the log losses of the second half."""
    s = np.clip(scores, -34, 34)
    return np.asarray((np.logaddexp(0, s) - rows.y * s)[len(s) // 2 :])


def main() -> None:
    """Measure, and print."""
    if missing := sorted(THERE.keys() - real().keys()):
        raise SystemExit(f"NOREGRET_DATA must name a folder that has {', '.join(missing)}")
    elec2, doctors = sets()["elec2"]().shuffled().first(15_000), sets()["doctors"]().shuffled()
    changed = {
        "Friedman, the five columns that matter": some(sets()["drawn: Friedman"](), [*range(5)]),
        "bikes, hours of working days, shuffled": hours_of_working_days(),
        "elec2, 15,000 rows, shuffled": elec2,
        "the same without date, day and period": some(elec2, [*range(3, 8)]),
        "doctors, capped": replace(doctors, y=np.minimum(doctors.y, np.quantile(doctors.y, 0.98))),
    }
    for name, rows in changed.items():
        auto, boosted = judged(ours, rows).second, judged(lightgbm, rows).second
        print(f"{name}, second half: auto {auto:.3f}, LightGBM {boosted:.3f}", flush=True)
    shuttle, plane = sets()["shuttle"](), sets()["drawn: hyperplane"]()
    w = np.linalg.lstsq(plane.X - 0.5, 2 * plane.y - 1, rcond=None)[0]
    distance = np.abs((plane.X - 0.5) @ w)[len(plane.y) // 2 :]
    far = distance > np.median(distance)
    for name, play in (("auto", ours), ("LightGBM", lightgbm)):
        wrong = int((losses(play(shuttle), shuttle) > np.log(2)).sum())
        lost = losses(play(plane), plane)
        print(f"shuttle, second half, {name}: {wrong} rows wrong")
        print(f"hyperplane, {name}: far {lost[far].mean():.3f}, near {lost[~far].mean():.3f}")


if __name__ == "__main__":
    main()
