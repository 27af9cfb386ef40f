"""The figures that contestants are judged by, and those of the peers, which are kept."""

from __future__ import annotations

import importlib.metadata
import json
import tempfile
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np

from benchmarks import _quality_descent, _quality_peers
from benchmarks._files import FOLDER
from benchmarks._quality_peers import EDGE, STEP, Peer, peers
from benchmarks._quality_sets import Floats, Set

WARM = 100  # rows; the figure without them is told as well
FURTHER = 5  # rates beyond those that a peer starts with
CODE = (__file__, _quality_descent.__file__, _quality_peers.__file__)
PEERS = ("river", "scikit-learn", "vowpalwabbit")

# The figure of all rows, that without the first, and the rate, 0 for none.
Figure = tuple[float, float, float]


def figure(scores: Floats, rows: Set, rate: float = 0.0) -> Figure:
    """Return the mean loss, of all rows and of those after the first."""
    with np.errstate(all="ignore"):
        if rows.classes:
            edge = float(np.log(1 / EDGE))
            s = np.clip(np.nan_to_num(scores, nan=0.0, posinf=edge, neginf=-edge), -edge, edge)
            losses = np.logaddexp(0, s) - rows.y * s
        else:
            losses = (scores - rows.y) ** 2 / rows.y.var()
    losses = np.where(np.isnan(losses), np.inf, losses)
    return float(losses.mean()), float(losses[WARM:].mean()) if len(losses) > WARM else np.nan, rate


def tuned(peer: Peer, rows: Set) -> Figure:
    """Return the best figure over the rates, and the rate.

    While the best rate is the lowest or the highest, the next is tried as well.
    """
    assert peer.at is not None
    at = {rate: figure(peer.at(rate), rows, rate) for rate in peer.rates}
    for _ in range(FURTHER):
        best = min(at, key=lambda rate: at[rate][0])
        if best not in (min(at), max(at)):
            break
        beyond = best * STEP if best == max(at) else best / STEP
        at[beyond] = figure(peer.at(beyond), rows, beyond)
    best = min(at, key=lambda rate: at[rate][0])
    if peer.finer:
        for rate in (best / STEP**0.5, best * STEP**0.5):
            at[rate] = figure(peer.at(rate), rows, rate)
    return min(at.values())


def of_peers(rows: Set) -> dict[str, dict[str, Figure]]:
    """Return the figures of all peers, or those that were kept."""
    versions = [importlib.metadata.version(name) for name in PEERS]
    code = b"".join(Path(str(file)).read_bytes() for file in CODE)
    key = sha256(json.dumps([rows.digest(), versions]).encode() + code).hexdigest()[:24]
    kept = FOLDER / "quality" / f"{key}.json"
    if kept.exists():
        found: dict[str, dict[str, Figure]] = json.loads(kept.read_text())
        return found
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all_peers = peers(rows, Path(folder)).items()
        found = {
            "default": {n: figure(p.default(), rows) for n, p in all_peers if p.default},
            "tuned": {n: tuned(p, rows) for n, p in all_peers if p.at},
        }
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found))
    return found
