"""Work on several processes or machines, with the same results as on one.

A job is cut into *parts* that depend only on the data, never on the number of workers: a part is a
range of a file. What a worker does is a pure function of a part and of what was computed before, so
it can be repeated anywhere, and a lost worker costs only time. Large results go to files in a
folder that all workers can use.

``Processes`` are workers on this machine, ``RayCluster`` those of a Ray cluster. ``fit`` fits a
method that needs only sums, ``play`` plays shards of the rows with a learner each, whose
``mixture`` is one model, ``tournament`` plays all rows with many learners and mixes them, and
``rows`` holds rows for ``noregret.hindsight``. ``verify`` confirms certificates of shards, of
groups and of merged parts.
"""

from noregret.scale.contest import grid, tournament
from noregret.scale.fitting import fit
from noregret.scale.playing import mixture, play
from noregret.scale.pool import Pool, pool_of
from noregret.scale.processes import Processes
from noregret.scale.ray_cluster import RayCluster
from noregret.scale.spread_rows import SpreadRows, rows
from noregret.scale.verifying import verify

__all__ = [
    "Pool",
    "Processes",
    "RayCluster",
    "SpreadRows",
    "fit",
    "grid",
    "mixture",
    "play",
    "pool_of",
    "rows",
    "tournament",
    "verify",
]
