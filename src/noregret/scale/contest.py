"""Many learners on one stream, each on a worker, mixed by a master: ``noregret.scale.tournament``.

It is the game of ``noregret.experts.Experts`` over these learners, with the same bits: only who
computes the forecasts is different.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.expert_losses import expert_loss
from noregret.base.registry import built, find
from noregret.errors import BadExample, NoRegretError
from noregret.experts.ensemble import Experts
from noregret.experts.ensemble_game import EnsembleGame
from noregret.experts.masters.blend import Blend
from noregret.experts.members import member_of
from noregret.linear.learner import Learner
from noregret.proof.game.table_rows import TableBlock
from noregret.scale.entrants import Entrants, entered, job_of
from noregret.scale.fitting import stream_of
from noregret.scale.pool import Pool
from noregret.scale.processes import Processes
from noregret.scale.work_folder import work_folder

if TYPE_CHECKING:
    from noregret.experts.master import Master
    from noregret.streams.block import Block
    from noregret.streams.stream import Stream

Floats = NDArray[np.float64]
# Losses of learners that masters have too.
SHARED = ("square", "absolute", "quantile")


def tournament(
    learners: Mapping[str, Learner] | Iterable[Learner],
    data: str | Path | Sequence[str | Path] | Stream,
    target: str | None = None,
    *,
    master: Master | None = None,
    pool: Pool | None = None,
    folder: str | Path | None = None,
    **options: Any,
) -> EnsembleGame:
    r"""Let many learners play the rows of files, each on a worker, and mix their forecasts.

    Parameters
    ----------
    learners
        Untrained learners: a dict by name, such as ``grid`` makes, or a list. They do not change.
    data
        Files, or a stream of ``noregret.streams``. Every worker reads all of them.
    target
        The column that holds the outcomes.
    master
        The untrained master that mixes; by default ``Blend`` with the loss of the learners: log for
        logistic ones, zero-one for other labels.
    pool
        The workers; by default as many processes as there are processors.
    folder
        A folder that all workers can use, for the forecasts. If this process is killed, the same
        tournament continues there. By default a temporary one.
    **options
        Reading options: see ``noregret.streams.Options``.

    Returns
    -------
    EnsembleGame
        Its ``certificate()`` compares the mixture with the best learner in hindsight; ``advice``
        and ``outcomes`` are the data to verify it with. Its ``experts`` are the trained learners
        and the master, which can predict, learn on and be saved.

    Notes
    -----
    The result does not depend on the number of workers, and is that of ``noregret.play(Experts(…),
    …)``. A learner that diverges or refuses a row sleeps from then on: ``experts.retired`` has the
    reasons.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import Vaw
    >>> from noregret.scale import Processes, grid, tournament
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,sold\n" + "1,4\n2,7\n" * 50)
    >>> with Processes(1) as pool:
    ...     game = tournament(grid("vaw", penalty=[0.1, 1, 10]), file, "sold", pool=pool)
    >>> game.rounds, game.certificate().theorem.holds
    (100, True)
    >>> min(game.experts.losses, key=game.experts.losses.get)
    'vaw penalty=0.1'
    """
    found = dict(learners) if isinstance(learners, Mapping) else named(learners)
    for learner in found.values():
        if not isinstance(learner, Learner):
            raise TypeError(f"a tournament is between learners, such as Auto(): got {learner!r}")
        if learner.rounds:
            raise NoRegretError(f"this {learner.name} has learned before", "take a new one")
    experts = Experts(
        {name: learner.clone() for name, learner in found.items()}, master or master_for(found)
    )
    stream = stream_of(data, target, options)
    within = None if folder is None else str(folder)
    if pool is None:
        with Processes() as made:
            return contested(experts, stream, made, within)
    return contested(experts, stream, pool, within)


def contested(experts: Experts, stream: Stream, pool: Pool, within: str | None) -> EnsembleGame:
    """Play the game of an ensemble, its members on workers."""
    learners, says = learners_of(experts), says_of(experts)
    game = EnsembleGame(experts, progress=False)
    with work_folder(within, *job_of(learners, says, stream)) as folder:
        entrants = entered(learners, says, stream, pool, folder)
        names = list(experts.members)
        with game.recorded():
            for block, advice in entrants.blocks():
                known = np.flatnonzero(block.labelled & ~np.isnan(advice).all(axis=1))
                if len(known):
                    y = outcomes_of(experts, block, known)
                    game.play_block(TableBlock(advice[known], y, names))
        if not game.rounds:
            raise NoRegretError("there are no examples in it", file=stream.paths[0])
        take_learners(experts, entrants)
    return game


def outcomes_of(experts: Experts, block: Block, rows: NDArray[np.int64]) -> Floats:
    """Return the outcomes of some rows of a block in the master's coding."""
    found = np.empty(len(rows))
    for place, (row, y) in enumerate(zip(rows.tolist(), block.y[rows].tolist(), strict=True)):
        try:
            found[place] = experts.outcome_of(y)
        except BadExample as error:
            raise error.at(block.place_of(row)) from None
    return found


def take_learners(experts: Experts, entrants: Entrants) -> None:
    """Replace the members of an ensemble by the same ones after the game."""
    for name, forecasts in entrants.forecasts.items():
        member = member_of(forecasts.learner, experts.master)
        member.retired = forecasts.retired
        experts.members[name] = member


def learners_of(experts: Experts) -> dict[str, Learner]:
    """Return the learners of an ensemble."""
    return {name: member.who for name, member in experts.members.items()}


def says_of(experts: Experts) -> str:
    """Return the kind of forecast that the master of an ensemble needs."""
    return next(iter(experts.members.values())).says


def loss_for(learners: Mapping[str, Learner]) -> tuple[str, float | None]:
    """Return the loss by which learners are compared, and its parameter."""
    losses = [learner.engine.loss for learner in learners.values()]
    if any(loss.labels for loss in losses):
        return ("log" if all(loss.name == "logistic" for loss in losses) else "zero-one"), None
    kinds = {(loss.name, loss.parameter if loss.name == "quantile" else None) for loss in losses}
    if len(kinds) == 1 and (kind := next(iter(kinds)))[0] in SHARED:
        return kind
    return "square", None


def master_for(learners: Mapping[str, Learner]) -> Master:
    """Return the default master for some learners."""
    loss, parameter = loss_for(learners)
    expert_loss(loss, parameter)
    return Blend(loss, parameter)


def grid(learner: str | type[Learner], **values: Iterable[Any]) -> dict[str, Learner]:
    """Return learners with all combinations of some parameters, by name.

    Parameters
    ----------
    learner
        The class, or its name.
    **values
        The values of each parameter: a list, a range, an array.

    Examples
    --------
    >>> from noregret.scale import grid
    >>> list(grid("gradient-descent", rate=[0.1, 0.3]))
    ['gradient-descent rate=0.1', 'gradient-descent rate=0.3']
    """
    kind: Any = find(learner, "learners") if isinstance(learner, str) else learner
    lists = {name: list(each) for name, each in values.items()}
    made = [
        built(kind, dict(zip(lists, chosen, strict=True))) for chosen in product(*lists.values())
    ]
    return named(made)


def named(learners: Iterable[Learner]) -> dict[str, Learner]:
    """Name learners by their kind, and the parameters in which those of one kind differ.

    >>> from noregret import Vaw
    >>> list(named([Vaw(), Vaw(penalty=2.0)]))
    ['vaw penalty=1.0', 'vaw penalty=2.0']
    """
    given, found = list(learners), dict[str, Learner]()
    for learner in given:
        same = [each for each in given if type(each) is type(learner)]
        params = getattr(learner, "params", {})
        told = [
            f"{name}={value}"
            for name, value in params.items()
            if len({repr(each.params[name]) for each in same}) > 1
        ]
        name = base = " ".join([str(getattr(learner, "name", learner)), *told])
        number = 1
        while name in found:
            number += 1
            name = f"{base} {number}"
        found[name] = learner
    return found
