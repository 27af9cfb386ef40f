"""Predictions of the peers, each row before they learn from it: at their defaults, or at a rate.

Scores are predictions for numbers and log-odds for classes. Every peer has an intercept of its
own. River and scikit-learn get quantities standardised as they come, with the mean and the spread
of the rows so far, and columns of yes or no as they are, which suits both best: standardised, rare
ones are so large that plain gradient descent ends at 1e19. Sparse rows come as they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks._command import finish, python
from benchmarks._quality_descent import scikit_learn
from benchmarks._quality_sets import Floats, Set

EDGE = 1e-15  # probabilities stay as far from 0 and 1
STEP = 4.0  # between rates


@dataclass(frozen=True)
class Peer:
    """A peer on rows.

    Parameters
    ----------
    default
        The scores at its defaults; None if it is only looked at tuned.
    at
        The scores at a rate; None if it has none.
    rates
        Rates to try, and others beyond them while the first or last of them is best.
    finer
        Whether to try the rates half-way beside the best of these as well.
    """

    default: Callable[[], Floats] | None
    at: Callable[[float], Floats] | None = None
    rates: tuple[float, ...] = ()
    finer: bool = False


def around(rate: float, below: int, above: int) -> tuple[float, ...]:
    """Return rates below and above one, and that."""
    return tuple(rate * STEP**k for k in range(-below, above + 1))


def peers(rows: Set, folder: Path) -> dict[str, Peer]:
    """Return all of them, by name; the folder is for files that they read."""
    path = folder / "rows.vw"
    write_vw(rows, path)
    vw = partial(vowpal_wabbit, path, rows.classes)
    steady = partial(vw, "--power_t", 0, "-l")
    found = {
        "VW": Peer(vw, partial(vw, "-l"), around(0.5, 2, 6), finer=True),
        "VW --coin": Peer(partial(vw, "--coin")),
        "VW --power_t 0": Peer(None, steady, around(0.5, 3, 3), finer=True),
    }
    for name, rate in {"SGD": 0.01, "AdaGrad": 0.1, "FTRLProximal": 0.05}.items():
        at = partial(river, rows, name)
        found[f"River {name}"] = Peer(at, at, around(rate, 2, 2))
    at = partial(scikit_learn, rows)
    found["scikit-learn"] = Peer(at, at, around(0.01, 2, 2))
    found["scikit-learn, as it comes"] = Peer(partial(at, scaled=False))
    return found


# Vowpal Wabbit.


def write_vw(rows: Set, path: Path) -> None:
    """Write the rows as VW text."""
    X = sparse.csr_matrix(rows.X)
    labels = 2 * rows.y - 1 if rows.classes else rows.y
    with path.open("w") as file:
        for k, y in enumerate(labels):
            row = slice(X.indptr[k], X.indptr[k + 1])
            cells = zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)
            file.write(f"{y:.9g} | " + " ".join(f"{j}:{v:.9g}" for j, v in cells) + "\n")


def vowpal_wabbit(path: Path, classes: bool, *options: object) -> Floats:
    """Return what Vowpal Wabbit says in one pass."""
    loss = "logistic" if classes else "squared"
    with tempfile.NamedTemporaryFile(dir=path.parent) as said:
        given = ("-d", path, "--loss_function", loss, "--quiet", "-p", said.name, *options)
        finish(python("-m", "vowpalwabbit", *given))
        return np.loadtxt(said.name, usecols=0, ndmin=1)


# River.


def river(rows: Set, name: str, rate: float | None = None) -> Floats:
    """Return what River's linear models say with an optimiser."""
    from river import linear_model, optim, preprocessing

    optimizer = getattr(optim, name)() if rate is None else getattr(optim, name)(rate)
    kind = linear_model.LogisticRegression if rows.classes else linear_model.LinearRegression
    model: Any = kind(optimizer)
    scaler: Any = preprocessing.StandardScaler()
    labels = (rows.y > 0).tolist() if rows.classes else rows.y.tolist()
    scores = np.full(len(labels), np.inf)
    try:
        for k, (x, flags) in enumerate(zip(*as_dicts(rows), strict=True)):
            scores[k] = river_score(model, scaler.transform_one(x) | flags, rows.classes)
            scaler.learn_one(x)
            model.learn_one(scaler.transform_one(x) | flags, labels[k])
    except (OverflowError, ValueError):  # it diverged: what is left stays infinite
        pass
    return scores


def river_score(model: Any, x: dict[int, float], classes: bool) -> float:
    if not classes:
        return float(model.predict_one(x))
    p = min(max(model.predict_proba_one(x)[True], EDGE), 1 - EDGE)
    return float(np.log(p / (1 - p)))


def as_dicts(rows: Set) -> tuple[list[dict[int, float]], list[dict[int, float]]]:
    """Return quantities, all of them, and the other columns that are not 0, row by row."""
    quantities, flags = rows.quantities.tolist(), rows.X
    numbers: list[dict[int, float]] = [{}] * len(rows.y)
    if quantities:
        table = rows.X[:, rows.quantities].tolist()
        numbers = [dict(zip(quantities, row, strict=True)) for row in table]
        flags = rows.X.copy()
        flags[:, rows.quantities] = 0
    left = sparse.csr_matrix(flags)
    at, values, starts = left.indices.tolist(), left.data.tolist(), left.indptr.tolist()
    return numbers, [dict(zip(at[a:b], values[a:b], strict=True)) for a, b in pairwise(starts)]
