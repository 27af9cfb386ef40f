"""One tournament: learners on workers, their forecasts in a table, and a master that mixes it."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.mix.figures import result_of
from noregret.app.commands.mix.mixing import Mix
from noregret.app.commands.mix.noting import average_of, median_of
from noregret.app.commands.outputs import Outputs
from noregret.app.commands.run.predictions import write
from noregret.app.commands.tournament.confirming import check_is_of
from noregret.app.commands.tournament.deciding import Contender, decided
from noregret.app.report.mix.experts import ON_A_SCALE
from noregret.app.results.mix import Steady
from noregret.app.results.run import MAX_REPORTED_ROWS, Skipped, skipped
from noregret.app.results.tournament import Standing, TournamentResult
from noregret.base.locks import Locks
from noregret.base.numbers import name_of
from noregret.errors import NoRegretError
from noregret.experts.ensemble import Experts
from noregret.experts.ensemble_file import save
from noregret.proof.certificates.file import load_certificate
from noregret.proof.verifying import verify
from noregret.scale.contest import learners_of, outcomes_of, says_of, take_learners
from noregret.scale.entrants import Entrants, entered, job_of
from noregret.scale.work_folder import Interrupted, work_folder
from noregret.streams import stream_of
from noregret.streams.options import ASLEEP, Options

if TYPE_CHECKING:
    from noregret.app.commands.mix.noting import Rows
    from noregret.experts.master import Master
    from noregret.linear.learner import Learner
    from noregret.proof.verifying.verification import Verification
    from noregret.scale.pool import Pool
    from noregret.streams.block import Block
    from noregret.streams.stream import Stream

Floats = NDArray[np.float64]
# The name of the outcomes in the table of forecasts, if the data have none.
OUTCOME = "outcome"
TABLE = "forecasts.parquet"


@dataclass
class Tournament:
    """Learners that play a stream, and a master that mixes them.

    Parameters
    ----------
    stream
        The stream.
    contenders
        The learners, by name.
    master_for
        Returns the master for the learners, once their losses are known.
    outputs
        The files to write at the end.
    task
        What outcomes are: ``numbers`` or ``classes``; None if the first rows tell.
    hindsight, watch, command
        As in ``Mix``.
    forecasts
        A file for the forecasts of all learners, if it is wanted.
    confirm
        A certificate of an earlier tournament, to be compared with the learners' forecasts here.
    pool, folder
        The workers, and a folder that all of them can use.
    """

    stream: Stream
    contenders: Mapping[str, Contender]
    master_for: Callable[[Mapping[str, Learner]], Master]
    outputs: Outputs = field(default_factory=Outputs)
    task: str | None = None
    hindsight: bool = True
    watch: bool = False
    command: str = ""
    forecasts: str | None = None
    confirm: str | None = None
    pool: Pool | None = None
    folder: str | None = None
    told: Callable[[Any], None] | None = None

    def __post_init__(self) -> None:
        reserved = {} if self.forecasts is None else {self.forecasts: "the forecasts"}
        self.outputs.check(self.stream.paths, reserved=reserved)
        if self.forecasts is not None:
            Outputs(predictions=self.forecasts).check(self.stream.paths)
        self.stated = None if self.confirm is None else load_certificate(self.confirm)
        self.confirmed: Verification | None = None
        self.mix: Mixing | None = None
        self.asked_to_stop = False
        self.failures: list[str] = []
        self.skipped, self.skipped_rows = 0, list[Skipped]()
        self.began, self.place = 0.0, ""
        self.size, self.standing = 0, ""

    def go(self) -> TournamentResult:
        """Play, mix, and write everything that was asked for."""
        forecasts = [] if self.forecasts is None else [self.forecasts]
        locks = Locks([*forecasts, *self.outputs.given().values()])
        try:
            return self.played()
        finally:
            locks.release()

    def played(self) -> TournamentResult:
        """Play, mix, and write."""
        self.began = time.perf_counter()
        learners, self.stream = decided(self.contenders, self.stream, self.task)
        experts = Experts(learners, self.master_for(learners))
        if self.stated is not None:
            check_is_of(self.stated, experts, self.outcome_in(experts), self.confirm)
        learners, says = learners_of(experts), says_of(experts)
        assert self.pool is not None
        try:
            job = job_of(learners, says, self.stream)
            with work_folder(self.folder, *job) as folder:
                self.place = folder
                entrants = entered(learners, says, self.stream, self.pool, folder, self.goes_on)
                table = self.forecasts or os.path.join(folder, TABLE)
                write(table, self.tables(experts, entrants))
                take_learners(experts, entrants)
                if self.stated is not None:
                    self.confirmed = verify(self.stated, table)
                return self.mixed(experts, entrants, table)
        except Interrupted:
            kept = "" if self.folder is None else f"to continue: {self.command}"
            raise KeyboardInterrupt(kept) from None

    def goes_on(self) -> bool:
        """Return whether it is not to end early, and report progress."""
        done, count = len(glob.glob(f"{glob.escape(self.place)}/learner-?*")), len(self.contenders)
        self.standing = f"{done:,} of {count:,} learners have played all rows"
        self.size = (self.stream.size or 0) * done // count
        if self.told is not None:
            self.told(self)
        return not self.asked_to_stop

    def mixed(self, experts: Experts, entrants: Entrants, table: str) -> TournamentResult:
        """Mix the table of forecasts."""
        options = Options(self.outcome_in(experts), missing=ASLEEP)
        self.mix = Mixing(
            stream_of([table], options),
            experts.master,
            self.outputs,
            hindsight=self.hindsight,
            watch=self.watch,
            command=self.command,
            told=self.told,
            work=self,
            experts=experts,
            entrants=entrants,
        )
        self.mix.stopping = self.asked_to_stop
        result = self.mix.played()  # the tournament has locked its files
        self.failures = self.mix.failures
        assert isinstance(result, TournamentResult)
        return result

    def tables(self, experts: Experts, entrants: Entrants) -> Iterator[Any]:
        """Yield Arrow tables of forecasts and outcomes, null where there is none."""
        import pyarrow as pa

        names, rows = list(experts.members), 0
        for block, advice in entrants.blocks():
            self.note_faults(block)
            said = ~np.isnan(advice).all(axis=1)
            y = np.full(len(block), np.nan)
            known = np.flatnonzero(block.labelled & said)
            y[known] = outcomes_of(experts, block, known)
            self.skipped += int(np.count_nonzero(~said))
            columns = {name: advice[said, k] for k, name in enumerate(names)}
            columns[self.outcome_in(experts)] = y[said]
            rows += int(np.count_nonzero(said))
            if said.any() or not rows:
                found = {name: np.ascontiguousarray(each) for name, each in columns.items()}
                yield pa.table({k: pa.array(v, mask=np.isnan(v)) for k, v in found.items()})
        if not rows:
            raise NoRegretError("there are no examples in it", file=self.stream.paths[0])

    def note_faults(self, block: Block) -> None:
        """Note the rows that cannot be read."""
        self.skipped += len(block.faults)
        more = max(0, MAX_REPORTED_ROWS - len(self.skipped_rows))
        self.skipped_rows += [skipped(fault.error) for fault in block.faults[:more]]

    def outcome_in(self, experts: Experts) -> str:
        """Return the name of the column of outcomes in the table of forecasts."""
        name = self.stream.target or OUTCOME
        return f"{name} ({OUTCOME})" if name in experts.members else name

    # The state so far, for progress and signals.

    @property
    def stopping(self) -> bool:
        """True if it is to end early."""
        return self.asked_to_stop

    @stopping.setter
    def stopping(self, value: bool) -> None:
        self.asked_to_stop = value
        if self.mix is not None:
            self.mix.stopping = value

    looking_back, rounds = False, 0


@dataclass
class Mixing(Mix):
    """The mix of the forecasts of a tournament."""

    work: Any = None
    experts: Any = None
    entrants: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        # Of the mixture and each learner: rounds with a forecast, their loss, labels predicted
        # rightly.
        width = 1 + len(self.experts.members)
        self.counted, self.paid, self.right = np.zeros(width), np.zeros(width), np.zeros(width)
        self.median = 0.0  # loss of the median forecast
        # Which learners went on to the end, and the loss of their average.
        self.going = np.array([name not in self.experts.retired for name in self.experts.members])
        self.paid_steady = 0.0

    def begin(self) -> None:
        """Take the names of the experts, which are those of the learners."""
        super().begin()
        if self.names and {*self.names} != {*self.experts.members}:
            raise NoRegretError(
                "these are not the forecasts of this tournament: something has replaced the file"
                " while it was used",
                "begin again",
                file=self.stream.paths[0],
            )

    def play(self, block: Block) -> Rows:
        """Play a block, and add up the losses of all."""
        rows = super().play(block)
        known = ~np.isnan(rows.y)
        said = np.column_stack([rows.predictions, rows.X])[known]
        y, awake = rows.y[known][:, None], ~np.isnan(said)
        with np.errstate(all="ignore"):
            self.paid += np.where(awake, self.cost.value(said, y), 0.0).sum(axis=0)
            self.median += float(self.cost.value(median_of(said[:, 1:]), y[:, 0]).sum())
            self.paid_steady += self.loss_of_steady(said, y[:, 0])
        self.right += np.count_nonzero(((said > 0.5) == (y > 0.5)) & awake, axis=0)
        self.counted += np.count_nonzero(awake, axis=0)
        return rows

    def loss_of_steady(self, said: Floats, y: Floats) -> float:
        """Return the loss of the average of the learners that did not stop.

        It is that of the mixture in rounds in which they say nothing.
        """
        X = said[:, 1:][:, self.going]
        found = np.where(np.isnan(X).all(axis=1), said[:, 0], average_of(X))
        return float(self.cost.value(found, y).sum())

    def steady(self) -> Steady | None:
        """Return the average of the learners that did not stop; None if none stopped, or all."""
        going = [name for name, goes_on in zip(self.names, self.going, strict=True) if goes_on]
        if len(going) in (0, len(self.names)):
            return None
        what = "the plain average of the learners that did not stop"
        if len(going) == 1:
            what = f"{name_of(going[0])}, the only learner that did not stop"
        return Steady(what, self.paid_steady)

    def result(self, started: str, began: float) -> TournamentResult:
        """Return the figures, with those of the learners."""
        found, work = result_of(self, started, began), self.work
        own = {each.name: getattr(found, each.name) for each in fields(found)}
        made = TournamentResult(**own, standings=self.standings())
        weights = {one.name: one.weight or 0.0 for one in made.standings[1:]}
        return replace(
            made,
            sources=work.stream.paths,
            format=work.stream.name,
            size=None,
            experts=tuple(one._replace(weight=weights[one.name]) for one in made.experts),
            median=self.median if self.cost.name in ON_A_SCALE else None,
            steady=self.steady(),
            seconds=began - work.began,
            outputs={} if work.forecasts is None else {"forecasts": work.forecasts},
            transforms=self.entrants.reading.transforms,
            target=work.stream.target,
            skipped=made.skipped + work.skipped,
            skipped_rows=(*work.skipped_rows, *made.skipped_rows)[:MAX_REPORTED_ROWS],
        )

    def standings(self) -> tuple[Standing, ...]:
        """Return the mixture, and the learners by mean loss, those that have stopped last."""
        stopped, master = self.experts.retired, self.only_series.master
        awake = [name not in stopped for name in self.names]
        rounds = self.counted.astype(int).tolist()
        share = (self.right / np.maximum(1, self.counted)).tolist()
        labels = self.cost.name in ("log", "zero-one")
        found = [
            Standing(name, count, paid, weight, right, stopped.get(name))
            for name, count, paid, weight, right in zip(
                self.names,
                rounds[1:],
                self.paid[1:].tolist(),
                master.weights(awake).tolist(),
                share[1:] if labels else [None] * len(self.names),
                strict=True,
            )
        ]
        found.sort(key=lambda one: (one.stopped is not None, one.total / max(1, one.rounds)))
        own = Standing("mixture", rounds[0], self.total, None, share[0] if labels else None)
        return (own, *found)

    def save_model(self, path: str) -> None:
        """Write the learners and the master as one model, with how the data were read."""
        self.experts.master = self.only_series.master
        save(self.experts, path, self.entrants.reading.kept_with_model())
