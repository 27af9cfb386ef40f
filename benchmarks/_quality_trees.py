"""Peers that are not linear, each row predicted before they learn from it, at their defaults.

LightGBM is no learner of streams: it is fitted again, every 1,000 rows, to all rows so far, and
before the first time it says the mean outcome so far or its log-odds. It may use one thread. As
rows come in order, it is also told the last three outcomes, which `auto` makes use of by itself.
River's forests and trees take milliseconds a row, so they only play small sets; they do so with
quantities as they are and standardised as they come, and the better figure counts.

Figures are kept with those of the linear peers, peer by peer.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks._files import FOLDER
from benchmarks._quality_figures import figure
from benchmarks._quality_peers import EDGE, as_dicts, vowpal_wabbit, write_vw
from benchmarks._quality_sets import Floats, Set

EVERY = 1000  # rows between two fits
SMALL, NARROW = 3000, 256  # rows and columns for peers that take long
LAGS = 3
EDITION = 1  # of what the functions below compute; another one has all measured again
BOOSTED = "LightGBM, refitted"
SCALED = ", scaled"
LAGGED = "LightGBM, refitted, with lags"


@dataclass(frozen=True)
class Told:
    """Losses of all rows and of the second half, and the cost: microseconds a row."""

    whole: float
    second: float
    cost: float


def judged(play: Callable[[Set], Floats], rows: Set) -> Told:
    """Return the figures of a contestant; the time is the processor's.

    It is not told of a command, whose start takes longer than a small set.
    """
    start, commands = time.process_time(), os.times().children_user
    scores = play(rows)
    cost = 1e6 * (time.process_time() - start) / len(rows.y)
    if os.times().children_user != commands:
        cost = np.nan
    return Told(figure(scores, rows)[0], second_half(scores, rows), cost)


def second_half(scores: Floats, rows: Set) -> float:
    """Return the mean loss of the second half, in the same unit as that of all rows."""
    half = len(rows.y) // 2
    some = replace(rows, X=rows.X[half:], y=rows.y[half:])
    found = figure(scores[half:], some)[0]
    return found if rows.classes else found * float(some.y.var() / rows.y.var())


# LightGBM.


def guesses(rows: Set) -> Floats:
    """Return the mean outcome of the rows before, or the log-odds of it; 0 at first."""
    before, seen = np.cumsum(rows.y) - rows.y, np.arange(len(rows.y))
    if not rows.classes:
        return np.asarray(before / np.maximum(seen, 1))
    return np.asarray(np.log((before + 0.5) / (seen - before + 0.5)))


def lightgbm(rows: Set, every: int = EVERY) -> Floats:
    """Return what LightGBM says, fitted again after every so many rows to all of them."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind: Any = LGBMClassifier if rows.classes else LGBMRegressor
    scores = guesses(rows)
    for end in range(every, len(rows.y), every):
        if rows.classes and len(np.unique(rows.y[:end])) < 2:
            continue
        model = kind(n_jobs=1, verbose=-1).fit(rows.X[:end], rows.y[:end])
        scores[end : end + every] = model.predict(rows.X[end : end + every], raw_score=True)
    return scores


def with_lags(rows: Set) -> Set:
    """Return the rows with the last three outcomes as further columns."""
    late = [np.concatenate([np.full(k, np.nan), rows.y[:-k]]) for k in range(1, LAGS + 1)]
    beside = np.column_stack(late)
    X = sparse.hstack([rows.X, beside], "csr") if sparse.issparse(rows.X) else None
    return replace(rows, X=np.hstack([rows.X, beside]) if X is None else X)


# River.


def river(rows: Set, make: Callable[[], Any], scaled: bool = False) -> Floats:
    """Return what a model of River says; its leaves may be linear, so quantities may be scaled."""
    from river import preprocessing

    model, scaler = make(), preprocessing.StandardScaler()
    labels = (rows.y > 0).tolist() if rows.classes else rows.y.tolist()
    scores = np.zeros(len(labels))
    empty = dict.fromkeys(range(rows.X.shape[1]), 0.0)
    for k, (numbers, flags) in enumerate(zip(*as_dicts(rows), strict=True)):
        if scaled:
            scaler.learn_one(numbers)
        x = empty | (scaler.transform_one(numbers) if scaled else numbers) | flags
        if not rows.classes:
            scores[k] = model.predict_one(x) or 0.0
        elif said := model.predict_proba_one(x):
            p = min(max(said.get(True, 0.0), EDGE), 1 - EDGE)  # a class not seen yet is missing
            scores[k] = np.log(p / (1 - p))
        model.learn_one(x, labels[k])
    return scores


def forests(classes: bool) -> dict[str, Callable[[], Any]]:
    """Return River's models, by name."""
    from river import forest, tree

    if classes:
        return {
            "River AMF": lambda: forest.AMFClassifier(seed=0),
            "River ARF": lambda: forest.ARFClassifier(seed=0),
            "River HAT": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0),
        }
    return {
        "River AMF": lambda: forest.AMFRegressor(seed=0),
        "River ARF": lambda: forest.ARFRegressor(seed=0),
        "River HAT": lambda: tree.HoeffdingAdaptiveTreeRegressor(seed=0),
    }


# Vowpal Wabbit.


def vw(rows: Set, *options: object) -> Floats:
    """Return what VW says with these options."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.vw"
        write_vw(rows, path)
        return vowpal_wabbit(path, rows.classes, *options)


# All.


def streaming(rows: Set) -> dict[str, Callable[[Set], Floats]]:
    """Return the peers that learn row by row, by name; none on sets that would take long."""
    if len(rows.y) > SMALL or rows.X.shape[1] > NARROW:
        return {}
    found: dict[str, Callable[[Set], Floats]] = {}
    for name, make in forests(rows.classes).items():
        found[name] = partial(river, make=make)
        found[name + SCALED] = partial(river, make=make, scaled=True)
    found["VW -q ::"] = lambda rows: vw(rows, "-q", "::")
    found["VW --nn 5"] = lambda rows: vw(rows, "--nn", "5")
    return found


def versions(name: str) -> str:
    """Return the version of the package of a peer."""
    package = {"L": "lightgbm", "R": "river", "V": "vowpalwabbit"}[name[0]]
    return importlib.metadata.version(package)


def kept(name: str, play: Callable[[Set], Floats], rows: Set) -> Told:
    """Return the figures of a peer, from the folder if they are there."""
    key = json.dumps([EDITION, name, versions(name), rows.digest(), EDGE, EVERY])
    path = FOLDER / "quality" / f"trees-{sha256(key.encode()).hexdigest()[:24]}.json"
    if path.exists():
        return Told(**json.loads(path.read_text()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = judged(play, rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(found)))
    return found


def boosted(rows: Set) -> Told:
    """Return the figures of LightGBM, refitted."""
    return kept(BOOSTED, lightgbm, rows)


def lagged(rows: Set) -> Told:
    """Return the figures of LightGBM, refitted, that sees the last outcomes as well."""
    return kept(LAGGED, lambda rows: lightgbm(with_lags(rows)), rows)


def others(rows: Set) -> dict[str, Told]:
    """Return the figures of the peers that learn row by row: the better, scaled or not."""
    found: dict[str, Told] = {}
    for name, play in streaming(rows).items():
        told, peer = kept(name, play, rows), name.removesuffix(SCALED)
        if peer not in found or told.whole < found[peer].whole:
            found[peer] = told
    return found
