"""The figures of a finished mix."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from noregret._version import __version__
from noregret.app.commands.mix.groups import certificates, convex_of_groups, table_of_groups
from noregret.app.results.mix import Convex, Expert, MixResult, Stretch
from noregret.app.results.run import Outlook
from noregret.base.params import plain
from noregret.errors import NoRegretError
from noregret.experts.masters.blend import outcomes_aside
from noregret.hindsight.proofs.answer import USUAL
from noregret.proof.game.table_game import plus
from noregret.proof.record.moment import Curve
from noregret.streams.options import AVERAGE, MEDIAN

if TYPE_CHECKING:
    from noregret.app.commands.mix.mixing import Mix
    from noregret.app.results.mix_history import History
    from noregret.experts.evidence import ExpertEvidence
    from noregret.proof.certificates.certificate import Certificate

Floats = NDArray[np.float64]
# The most switches in a sequence of experts that is shown, and how much of what the most would
# gain must be gained to stop before.
SWITCHES, MOST_OF_IT = 12, 0.9
FAILED = (NoRegretError, ArithmeticError, MemoryError, ValueError)


def result_of(mix: Mix, started: str, began: float) -> MixResult:
    """Compare with hindsight, and return all figures."""
    certificate, uncertified = certified(mix)
    convex, without = best_weights(mix)
    notes, left_out = mix.notes, mix.left_out
    history = None if notes.watching is None else notes.watching.history()
    experts = experts_of(mix)
    totals = {expert.name: expert.total for expert in experts}
    added = mix.stream.options.add
    regret, bound = regret_of(mix)
    roles = mix.reading.settled
    master = mix.master
    groups = tuple(table_of_groups(mix)) if mix.grouped else ()
    mix.certificates, unmade = certificates(mix) if mix.grouped else ({}, uncertified)
    return MixResult(
        sources=mix.stream.paths,
        format=mix.stream.name,
        rows=mix.rounds,
        features=len(mix.names),
        size=mix.size or None,
        seconds=mix.spent,
        learner=repr(master),
        name=master.name,
        params={name: plain(value) for name, value in master.params.items()},
        loss=master._round.cost.name,
        total=mix.total,
        mistakes=None,
        weight=None,
        constant=None,
        certificate=certificate,
        uncertified=unmade,
        curve=curve_of(mix),
        heaviest=(),
        transforms=mix.reading.transforms,
        target=mix.stream.target,
        outlook=Outlook(),
        skipped=left_out.count,
        skipped_rows=tuple(left_out.first),
        shared=None,
        interrupted=mix.interrupted,
        command=mix.command,
        version=__version__,
        started=started,
        outputs={},
        looked_back=time.perf_counter() - began,
        loss_parameter=mix.cost.parameter,
        experts=experts,
        average=totals[AVERAGE] if AVERAGE in added else notes.average,
        median=totals[MEDIAN] if MEDIAN in added else None,
        convex=convex,
        without_convex=without,
        regret=regret,
        bound=bound,
        groups=groups,
        group_certificates=tuple(
            one for one in mix.certificates.values() if not isinstance(one, str)
        ),
        history=history,
        leaders=((), ()) if history is None or mix.grouped else leaders_of(history),
        no_forecasts=mix.no_forecasts,
        left_out=() if roles is None else tuple(roles.left_out),
        open_rows=notes.open_rows,
        set_aside=set_aside(experts, notes.forecasts.tolist()),
        outcomes_aside=sum(outcomes_aside(series.game.player) for series in mix.series.values()),
        batches=batches_of(mix),
        waited=float(sum(series.game.waited for series in mix.series.values())),
    )


def set_aside(experts: Iterable[Expert], forecasts: Iterable[int]) -> int:
    """Return how many forecasts, of how many of each expert, the master did not use."""
    found = zip(experts, forecasts, strict=False)
    return sum(count - one.awake for one, count in found if not one.added)


def certified(mix: Mix) -> tuple[Certificate | None, str | None]:
    """Return the certificate, or why there is none."""
    if mix.grouped:
        return None, None
    if not mix.hindsight:
        return None, "the comparison with hindsight was not asked for (--no-hindsight)"
    try:
        return mix.only_series.game.certificate(), None
    except FAILED as error:
        return None, str(error) or "there is not enough memory"


def best_weights(mix: Mix) -> tuple[Convex | None, str]:
    """Return the best fixed weights in hindsight, or why they are not known."""
    if not mix.hindsight:
        return None, ""
    if not mix.cost.convex:
        return None, f"the {mix.cost.name} loss is not convex"
    try:
        if mix.grouped:
            return convex_of_groups(mix)
        evidence = cast("ExpertEvidence", mix.only_series.game.evidence({}, USUAL))
        answer = evidence.best_mixture()
    except FAILED as error:
        return None, str(error) or "there is not enough memory"
    weights = dict(zip(mix.names, np.asarray(answer.witness).tolist(), strict=True))
    return Convex(answer.loss, answer.loss - answer.lower, weights), ""


def experts_of(mix: Mix) -> tuple[Expert, ...]:
    """Return the experts with their losses, summed over all series."""
    masters = [series.master for series in mix.series.values() if series.master.width]
    totals = np.sum([master.expert_losses for master in masters], axis=0)
    awake = np.sum([master.rounds_awake for master in masters], axis=0)
    weights = np.mean([master.weights() for master in masters], axis=0)
    slept = mix.notes.asleep
    alone = None if slept is None else np.maximum(totals - slept, 0.0).tolist()
    beside = None if slept is None else np.maximum(mix.total - slept + 0 * totals, 0.0).tolist()
    added = mix.stream.options.add
    return tuple(
        Expert(
            name,
            float(totals[k]),
            int(awake[k]),
            float(weights[k]),
            name in added,
            None if alone is None else alone[k],
            None if beside is None else beside[k],
        )
        for k, name in enumerate(mix.names)
    )


def regret_of(mix: Mix) -> tuple[float | None, float | None]:
    """Return the regret against the best expert and its bound, summed over all series."""
    played = [series for series in mix.series.values() if series.master.rounds]
    regrets = (plus(each.master.regret_so_far(), each.game.waited) for each in played)
    bounds = (plus(each.master.bound_so_far(), each.game.waited) for each in played)
    return sum_of(regrets), sum_of(bounds)


def batches_of(mix: Mix) -> int | None:
    """Return the number of batches in all series; None if rows do not come in batches."""
    if mix.stream.options.batch is None:
        return None
    return sum(series.game.in_batches.count for series in mix.series.values())


def sum_of(numbers: Iterable[float | None]) -> float | None:
    """Return a sum; None if one of the numbers is not known."""
    known = list(numbers)
    return None if None in known else float(sum(filter(None, known)))


def curve_of(mix: Mix) -> Curve:
    """Return the curve of the game; for many series, only the totals at the end."""
    if not mix.grouped:
        return mix.only_series.game.curve
    nothing = np.full(1, np.nan)
    zero = np.zeros(1, dtype=np.int64)
    rounds, total = np.array([mix.rounds]), np.array([mix.total])
    return Curve(rounds, total, zero, nothing, nothing, np.zeros(1, dtype=np.bool_))


def leaders_of(history: History) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Return the expert with the largest weight over time, and the best sequence in hindsight."""
    from noregret.hindsight.switches import best_sequences

    heaviest = merged(history.rounds, np.argmax(history.weights, axis=1))
    losses = np.nan_to_num(history.losses, nan=0.0, posinf=1e300)
    most = min(SWITCHES, len(losses) - 1)
    found = best_sequences(losses, most=most)
    gains = found.losses[0] - found.losses
    few = int(np.argmax(gains >= MOST_OF_IT * gains[-1]))
    ends = np.concatenate([[0], history.rounds])
    best = tuple(
        Stretch(int(ends[one.first - 1]) + 1, int(ends[one.last]), one.expert)
        for one in found.segments(few)
    )
    return heaviest, best


def merged(rounds: NDArray[np.int64], experts: NDArray[np.int64]) -> tuple[Stretch, ...]:
    """Return stretches of rounds that belong to one expert each."""
    cuts = [0, *(np.flatnonzero(np.diff(experts)) + 1).tolist(), len(experts)]
    ends = [0, *rounds.tolist()]
    return tuple(
        Stretch(ends[first] + 1, ends[last], int(experts[first])) for first, last in pairwise(cuts)
    )
