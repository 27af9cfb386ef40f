"""Many series, each mixed on its own: what they come to together, and each for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from noregret.app.results.mix import Convex, Group
from noregret.errors import NoRegretError
from noregret.hindsight.experts import best_convex
from noregret.hindsight.proofs.answer import Limits
from noregret.hindsight.rows import Rows
from noregret.proof.game.table_rows import TableBlock
from noregret.streams.options import AVERAGE

if TYPE_CHECKING:
    from noregret.app.commands.mix.mixing import Mix
    from noregret.app.commands.mix.store import Kept
    from noregret.proof.certificates.certificate import Certificate

# With more series, the best weights of each are not computed.
MAX_SEARCHED_SERIES = 2_000
# Series that are certified without --certificate, to report whether promises were kept.
MAX_CERTIFIED_SERIES = 100
# Losses of series are added up, so six digits of each are enough.
SIX_DIGITS = Limits(tolerance=1e-6)
TOO_MANY_ROWS = "the rows of all groups do not fit in memory: choose one with --only"


def table_of_groups(mix: Mix) -> Iterator[Group]:
    """Yield the series with their figures; the average is NaN if it is not an expert."""
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
            series.total,
            float("nan") if at is None else float(losses[at]),
            mix.names[best],
            float(losses[best]),
        )


def convex_of_groups(mix: Mix) -> tuple[Convex | None, str]:
    """Return the best fixed weights of each series, added up; or why they are not known."""
    if mix.notes.store.is_full:
        return None, TOO_MANY_ROWS
    if len(mix.series) > MAX_SEARCHED_SERIES:
        return None, f"it is computed for up to {MAX_SEARCHED_SERIES:,} groups"
    total = gap = 0.0
    weights = np.zeros(len(mix.names))
    for _, kept in mix.notes.store.series():
        answer = best_convex(Rows(kept.completed(), kept.y), mix.cost, limits=SIX_DIGITS)
        total += answer.loss
        gap += answer.loss - answer.lower
        weights += answer.witness
    shares = (weights / max(1, len(mix.series))).tolist()
    return Convex(total, gap, dict(zip(mix.names, shares, strict=True))), ""


def certificates(mix: Mix) -> tuple[dict[str, Certificate | str], str]:
    """Return the certificate of every series, or why it has none; and what to say of all.

    Each is played once more on its own; if no files were requested, only if there are few.
    """
    writes = "every group has its own: --certificate 'cert-{group}.json' writes them"
    if not mix.notes.stored:
        return {}, "the comparison with hindsight was not asked for (--no-hindsight)"
    if mix.notes.store.is_full:
        return {}, TOO_MANY_ROWS
    if mix.outputs.certificate is None and len(mix.series) > MAX_CERTIFIED_SERIES:
        return {}, f"{writes}, and counts the promises that were kept"
    names = {number: name for name, number in mix.groups.items()}
    made: dict[str, Certificate | str] = {}
    for number, kept in mix.notes.store.series():
        try:
            made[names[number]] = certificate_of(mix, names[number], kept)
        except (NoRegretError, ArithmeticError, MemoryError, ValueError) as error:
            made[names[number]] = str(error) or "there is not enough memory"
    return made, writes


def certificate_of(mix: Mix, group: str, kept: Kept) -> Certificate:
    """Return the certificate of a series."""
    options = mix.stream.options
    master = mix.master.clone()
    master.check_names(mix.names)
    game = master._new_game(progress=False)
    read = replace(options, only=group, **mix.reading.found())
    game.describe(read.transforms(), options.target, mix.names)
    with game.recorded():
        game.play_block(TableBlock(kept.X, kept.y, list(mix.names), batches=kept.batches))
    made: Certificate = game.certificate()
    return made
