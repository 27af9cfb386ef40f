"""Results of real games, as a run would make them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret
from noregret import Game
from noregret.app.results.findings import found_of
from noregret.app.results.run import Calibration, Constant, Histogram, Outlook, Result, Skipped
from noregret.data import flights

Floats = NDArray[np.float64]
GRID = 24


def result_of(game: Game, outlook: Outlook, constant: Constant | None, **more: Any) -> Result:
    """Put a game into a result; ``more`` replaces anything."""
    learner = game.learner
    weights = zip(learner.features, learner.weights.tolist(), strict=True)
    heaviest = sorted(weights, key=lambda pair: -abs(pair[1]))[:10]
    made = Result(
        sources=("data/flights.csv",),
        format="csv",
        rows=game.rounds,
        features=len(learner.features),
        size=658_123,
        seconds=0.214,
        learner=repr(learner),
        name=learner.name,
        params=dict(learner.params),
        loss="square",
        total=game.loss,
        mistakes=None,
        weight=None,
        constant=constant,
        certificate=game.certificate() if game.rounds else None,
        uncertified=None if game.rounds else "no rounds were played",
        curve=game.curve,
        heaviest=tuple((str(name), weight) for name, weight in heaviest),
        transforms=("intercept",),
        target="arr_delay",
        outlook=outlook,
        skipped=0,
        skipped_rows=(),
        shared=None,
        interrupted=False,
        command="noregret run data/flights.csv --target arr_delay --learner widrow-hoff"
        " -p rate=0.5 -p norm=12 --report flights.html",
        version=noregret.__version__,
        started="2025-01-31T12:00:00Z",
        outputs={"report": "flights.html", "certificate": "flights.json"},
    )
    return replace(made, **more)


@cache
def regression(rows: int = 20_460) -> Result:
    """Flight delays, as many as asked for."""
    pairs = list(flights())[:rows]
    game = noregret.play(noregret.WidrowHoff(rate=0.5, norm=12.0), pairs, predictions=True)
    delays = np.array([delay for _, delay in pairs])
    mean = float(delays.mean())
    constant = Constant(mean, float(((delays - mean) ** 2).sum()))
    return result_of(game, beside(game.predictions, delays), constant)


@cache
def found(rows: int = 20_460) -> Result:
    """Flight delays, by the learner that tells what it found."""
    pairs = list(flights())[:rows]
    game = noregret.play(noregret.make("auto"), pairs, predictions=True)
    delays = np.array([delay for _, delay in pairs])
    told = beside(game.predictions, delays)
    return result_of(game, told, None, found=found_of(game.learner))


def beside(predicted: Floats, outcomes: Floats) -> Outlook:
    """Return what a regression's predictions look like beside the outcomes."""
    missed = outcomes - predicted
    far = float(np.quantile(np.abs(missed), 0.995))
    counts, edges = np.histogram(np.clip(missed, -far, far), bins=41, range=(-far, far))
    low, high = np.quantile(outcomes, [0.005, 0.995]).tolist()
    spread, _, _ = np.histogram2d(
        np.clip(outcomes, low, high),
        np.clip(predicted, low, high),
        bins=GRID,
        range=[[low, high]] * 2,
    )
    return Outlook(Histogram(edges, counts), spread.astype(np.int64), low, high)


@cache
def classification(rows: int = 20_460) -> Result:
    """Flights that arrive more than a quarter of an hour late."""
    pairs = [(x, float(delay > 15)) for x, delay in list(flights())[:rows]]
    learner = noregret.make("logistic", rate=0.5)
    game = noregret.play(learner, pairs, predictions=True)
    late = np.array([y for _, y in pairs])
    chance = 1 / (1 + np.exp(-np.concatenate(game._predictions or [])))
    share = float(late.mean())
    entropy = -len(late) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    return result_of(
        game,
        Outlook(calibration=calibration(chance, late), confusion=confusion(chance > 0.5, late > 0)),
        Constant(share, float(entropy)),
        loss="logistic",
        mistakes=game.mistakes,
        target="late",
    )


def calibration(chance: Floats, outcomes: Floats, bins: int = 10) -> Calibration:
    """Return probabilities in bins."""
    where = np.minimum((chance * bins).astype(int), bins - 1)
    counts = np.bincount(where, minlength=bins)
    with np.errstate(invalid="ignore"):
        return Calibration(
            np.bincount(where, chance, bins) / counts,
            np.bincount(where, outcomes, bins) / counts,
            counts,
        )


def confusion(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> Any:
    """Return labels predicted and true."""
    return tuple(
        tuple(int(np.sum((true == t) & (said == s))) for s in (False, True)) for t in (False, True)
    )


def troubled() -> Result:
    """Return a run with everything that can go wrong short of an error."""
    names = ("<script>alert(1)</script>", "[bold red]x[/]", "a very long name " * 20, "city=Zürich")
    return replace(
        classification(2_000),
        sources=tuple(f"logs/day {i}/<b>part</b>.csv.gz" for i in range(12)),
        heaviest=tuple((name, (-1) ** i * 3.0 / (i + 1)) for i, name in enumerate(names)),
        skipped=12_345,
        skipped_rows=tuple(
            Skipped(f"flights.csv:{line}", "column 'dep_delay': 'N/A' is not a number")
            for line in (17, 404, 1_203)
        ),
        shared=321,
        interrupted=True,
        weight=1_723.5,
        transforms=("intercept", "scale=max", "hash=18"),
        outputs={},
    )


def nothing() -> Result:
    """Return a run over no rows at all."""
    game = noregret.play(noregret.WidrowHoff(), [])
    return result_of(game, Outlook(), None, heaviest=(), target=None, size=None, seconds=0.0)
