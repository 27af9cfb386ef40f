"""Many series, each mixed on its own: what they come to together, and each for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from noregret.errors import NoRegretError
from noregret.hindsight.answer import Limits
from noregret.hindsight.experts import best_convex
from noregret.hindsight.rows import Rows
from noregret.mix.result import Convex, Group
from noregret.streams.options import AVERAGE

if TYPE_CHECKING:
    from noregret.certificate import Certificate
    from noregret.mix.mixing import Mix

# Series for each of which the best weights are searched.
MOST = 2_000
# They are added up: six digits of each are enough.
ENOUGH = Limits(tolerance=1e-6)
TOO_MANY_ROWS = "the rows of all groups do not fit in memory: choose one with --only"


def table_of_groups(mix: Mix) -> Iterator[Group]:
    """Yield the series with their figures; the average is NaN where it is no expert."""
    at = mix.names.index(AVERAGE) if AVERAGE in mix.stream.options.add else None
    own = [k for k, name in enumerate(mix.names) if name not in mix.stream.options.add]
    for name, number in mix.groups.items():
        series = mix.series.get(number)
        if series is None or not series.master.rounds:
            continue
        master = series.master
        losses = master.expert_losses
        awake = [k for k in own if 2 * master.rounds_awake[k] >= master.rounds]
        best = min(awake or own, key=losses.__getitem__)
        yield Group(
            name,
            master.rounds,
            master.total_loss,
            float("nan") if at is None else float(losses[at]),
            mix.names[best],
            float(losses[best]),
        )


def convex_of_groups(mix: Mix) -> tuple[Convex | None, str]:
    """Return the best fixed weights of each series, added up; or why they are not known."""
    if mix.notes.store.is_full:
        return None, TOO_MANY_ROWS
    if len(mix.series) > MOST:
        return None, f"it is looked for in up to {MOST:,} groups"
    total = gap = 0.0
    weights = np.zeros(len(mix.names))
    for _, kept in mix.notes.store.series():
        answer = best_convex(Rows(kept.completed(), kept.y), mix.cost, limits=ENOUGH)
        total += answer.loss
        gap += answer.loss - answer.lower
        weights += answer.witness
    shares = (weights / max(1, len(mix.series))).tolist()
    return Convex(total, gap, dict(zip(mix.names, shares, strict=True))), ""


def certificates(mix: Mix) -> Iterator[tuple[str, Certificate]]:
    """Yield the certificate of every series, by playing it once more on its own."""
    if mix.notes.store.is_full:
        raise NoRegretError(f"{mix.outputs.certificate}: {TOO_MANY_ROWS}")
    names = {number: name for name, number in mix.groups.items()}
    options = mix.stream.options
    for number, kept in mix.notes.store.series():
        master = mix.master.clone()
        master.check_names(mix.names)
        game = master.new_game(progress=False)
        game.play(kept.X, kept.y)
        game.names, game.target = list(mix.names), options.target
        game.transforms = replace(options, only=names[number]).transforms()
        yield names[number], game.certificate()
