"""One run: a stream, a learner, the record of the game, and the files written at the end."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.outputs import Outputs
from noregret.app.commands.run.checkpoint import PREDICTIONS, ROWS, TAGS, companions
from noregret.app.commands.run.measuring import class_names
from noregret.app.commands.run.previous import LastOutcomes
from noregret.app.commands.run.watching import Watching
from noregret.app.results.loss_choice import (
    AS_NUMBERS,
    CLASS_LEARNER,
    NUMBERS,
    SEVERAL,
    Choice,
    chosen,
    explain,
    first_row,
)
from noregret.app.results.run import MAX_REPORTED_ROWS, Result, Skipped, skipped
from noregret.base.compiled.machine import keep_freed_memory
from noregret.base.locks import Locks
from noregret.base.registry import built, find
from noregret.errors import NoRegretError, tell
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.linear.learner import is_of_classes
from noregret.proof.game.game import Game
from noregret.proof.game.play_blocks import Played, codes_of, numbers_of
from noregret.streams.block import picked
from noregret.streams.class_labels import as_written

if TYPE_CHECKING:
    from noregret.app.commands.run.answering import Answers
    from noregret.app.commands.run.model_reading import Opened
    from noregret.app.commands.run.serving import Served
    from noregret.app.commands.run.spool import Numbers, Tags
    from noregret.linear.learner import Learner
    from noregret.proof.game.grouping import Grouping
    from noregret.proof.record.ledger import Keep
    from noregret.scale.pool import Pool
    from noregret.streams.block import Block, Floats
    from noregret.streams.stream import Stream

# The default time limit for the comparison with hindsight is at least this many seconds.
MIN_LOOK_BACK = 2.0
# The share of the time of learning after which less precision is enough, and the least seconds.
PATIENCE, MIN_PATIENCE = 0.25, 0.1
# Rows before the first outcome that are kept until it tells what the target is.
MAX_UNDECIDED = 100_000
# Rows between checkpoints by default.
EVERY = 1_000_000


@dataclass
class Run:
    """A learner that plays a stream, with all options of the command.

    Parameters
    ----------
    stream, learner
        The stream, and the learner that plays it.
    outputs
        The files to write at the end.
    hindsight
        Whether to compare with the best in hindsight, which needs a record of the game.
    look_back
        Seconds for that comparison; by default as many as learning took, and at least
        ``MIN_LOOK_BACK``. With a ``gap`` or several workers, and no seconds, it takes as long as
        needed: what several workers find is not to depend on the time that they took.
    gap
        The relative gap at which that comparison ends.
    checkpoint, every
        The file for checkpoints, and the rows between them.
    resume
        A checkpoint to resume from.
    command
        The command line, to repeat the run.
    told
        Called after every block with the rows and the bytes so far.
    open_loss
        Whether the first outcomes choose the learner's loss.
    task
        What outcomes are: ``numbers`` or ``classes``; None if the first outcomes tell.
    answers
        Writes each prediction at once, instead of a file at the end. Then the first row tells what
        outcomes are, and signals and errors end the run as the end of the data does.
    save_every
        Seconds between saves of the model.
    group
        Columns that assign rows to groups, each with a learner of its own.
    start
        The model to go on with; ``learner`` and ``stream`` are its own.
    pool, folder
        The workers that play the groups, and a folder that all of them can use.
    """

    stream: Stream
    learner: Learner
    outputs: Outputs = field(default_factory=Outputs)
    hindsight: bool = True
    look_back: float | None = None
    gap: float | None = None
    checkpoint: str | None = None
    every: int = EVERY
    resume: str | None = None
    command: str = ""
    told: Callable[[Run], None] | None = None
    open_loss: bool = False
    task: str | None = None
    answers: Answers | None = None
    save_every: float | None = None
    group: Sequence[str] | None = None
    start: Opened | None = None
    pool: Pool | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        self.kept_at = self.checkpoint or self.resume
        if self.kept_at is not None:  # a link stays: what it leads to is written and removed
            self.kept_at = os.path.realpath(self.kept_at)
        self.beside = companions(self.kept_at)
        kept = [self.kept_at, *self.beside.values()] if self.kept_at else []
        self.outputs.check(self.stream.paths, kept)
        self.choice: Choice | None = None  # of the loss, if it was open
        self.watches = self.outputs.report is not None
        self.size = 0
        self.skipped = 0
        self.skipped_rows: list[Skipped] = []
        self.predicted = 0  # rows without an outcome
        self.seen = 0  # rows, skipped ones too
        self.spent = 0.0
        self.stopping = False
        self.working = ""  # what workers do
        self.weighted = False
        self.has_zeros = self.has_booleans = False  # among the outcomes
        self.last_outcomes = LastOutcomes()
        self.interrupted = False  # whether rows were left unplayed
        self.looking_back, self.looked_back = False, 0.0  # whether it does, and for how long it did
        self.open_gap: float | None = None  # of hindsight, while it looks back
        self.failures: list[str] = []  # what could not be written
        self.grouping: Grouping | None = None
        self.served: Served | None = None
        if self.stream.options.id is not None:
            from noregret.app.commands.run.serving import Served

            self.served = Served(len(self.group or ()))
        self.spool: Numbers | None = None
        self.tags: Tags | None = None
        self.saved: int | None = None  # rounds in the last checkpoint
        self.stored = (0, time.monotonic())  # rounds in the last model saved, and when
        keep_freed_memory()
        self.reading = self.stream.reading()
        if self.start is not None:
            self.start.restore(self.reading)
        own = self.learner
        self.before = own.rounds, own.total_loss, own.mistakes  # of a model that goes on
        self.reading.group_fields = tuple(self.group or ())
        if "loss" in self.learner.params and not self.learner.engine.loss.labels:
            self.reading.class_loss = "-p loss=logistic"
        if self.answers is not None:
            self.reading.take_at_once()
        if self.chooses:
            self.reading.wait()

    def prepare(self) -> None:
        """Resume from a checkpoint, or check that there is none yet."""
        if self.resume is not None:
            from noregret.app.commands.run.resuming import restore

            restore(self, self.resume)
        elif self.checkpoint is not None and Path(self.checkpoint).exists():
            raise NoRegretError(
                f"{self.checkpoint}: exists already: --resume {self.checkpoint} resumes from it; to"
                " start over, remove it"
            )
        self.reading.wanted = self.goes_on
        if self.checkpoint is not None:
            self.reading.keep_seals()

    def goes_on(self) -> bool:
        """Return whether more rows are wanted; asked before each block, and while none comes."""
        rounds, last = self.stored
        due = self.save_every is not None and time.monotonic() - last >= self.save_every
        if due and self.rounds > rounds and self.outputs.model is not None:
            self.stored = self.rounds, time.monotonic()
            from noregret.app.commands.run.concluding import write_model

            try:
                write_model(self, self.outputs.model)
            except OSError as error:  # the run is worth more: the next save may succeed
                self.stored = rounds, time.monotonic()
                tell(f"the model could not be saved: {error.strerror}", file=self.outputs.model)
        return not self.stopping

    @property
    def chooses(self) -> bool:
        """True if the first outcomes decide what the target is."""
        if is_of_classes(self.learner):
            return False
        return self.open_loss or self.learner.engine.loss.labels

    @property
    def measures(self) -> bool:
        """True if predictions are measured; the loss of mean weights is not that of predictions."""
        return self.watches or self.served is not None or not self.learner.engine.mean_kept

    def choose(self, first: Block) -> Choice | None:
        """Return what the first outcomes are taken for; None if there was no choice."""
        loss = "" if self.open_loss else self.learner.engine.loss.name
        if self.answers is not None:
            first = first_row(first)
        found = chosen(first, self.stream.options, self.task, loss, type(self.learner))
        if found.outcomes == SEVERAL and self.learner.params.get("delay"):
            raise NoRegretError(
                "the target has several classes, and a delay is for numbers and two classes",
                "leave -p delay out; -p recent=false if the latest classes will not be known",
            )
        return found if self.open_loss or found.positive is not None else None

    @property
    def columns(self) -> int:
        """The number of values kept per prediction."""
        return 4 if is_of_classes(self.learner) else 3

    def begin(self, choice: Choice | None) -> None:
        """Begin the game of the learner, with the loss and the classes that were chosen for it."""
        self.choice = choice
        if choice is not None and choice.outcomes == SEVERAL:
            several = find(self.learner._for_classes or CLASS_LEARNER, "learners")
            shared = {name: self.learner.params[name] for name in several().params}
            self.learner = built(several, shared)
        elif choice is not None and self.open_loss:
            self.learner = type(self.learner)(**self.learner.params | {"loss": choice.loss})
        if choice is not None:
            said = {name: getattr(choice, name) for name in ("positive", "negative")}
            said = {name: value for name, value in said.items() if value is not None}
            if self.stream.options.positive is None and said:
                options = replace(self.stream.options, **said)
                self.stream = type(self.stream)(self.stream.paths, options)
        of_classes = is_of_classes(self.learner)
        self.watching = Watching(self.learner.engine.loss, of_classes, self.watches)
        if self.group is not None:
            from noregret.app.commands.run.games import opened

            self.grouping, self.game = opened(self, self.group)
            return
        keep: Keep = "auto" if self.hindsight else "nothing"
        self.game = Game(self.learner, keep=keep, progress=False, kept_at=self.beside.get(ROWS))

    # While it runs.

    def go(self) -> Result:
        """Play to the end, or until stopped, and write everything that was asked for.

        No other run may use the same files meanwhile.
        """
        locks = Locks([*self.outputs.given().values(), *filter(None, [self.kept_at])])
        try:
            self.prepare()
            return self.played()
        finally:
            locks.release()

    def played(self) -> Result:
        """Play, and write."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self.began = time.perf_counter() - self.spent
        try:
            blocks = self.blocks()
            scored = self.spool is not None or self.measures or self.answers is not None
            with self.game.recorded():
                if self.grouping is not None:
                    self.grouping.play(self.reading, blocks, self.take, self.answers is None)
                else:
                    self.game.play_blocks(self.reading, blocks, self.take, scored)
                endless = self.answers is not None or self.stream.options.follow
                self.interrupted = self.stopping and not endless
                if self.interrupted and self.checkpoint is not None and self.learner.rounds:
                    self.save_checkpoint()
            self.check_data()
            self.spent = time.perf_counter() - self.began
            return self.finish(started)
        except BaseException as error:
            self.reading.close()
            if isinstance(error, NoRegretError):
                explain(error, self.choice)
            if isinstance(error, NoRegretError) and self.answers is not None and self.rounds:
                self.finish(started)
            if self.checkpoint is not None and not Path(self.checkpoint).exists():
                self.remove_checkpoint()  # no run can resume from here
            raise

    def check_data(self) -> None:
        """Raise an error if there was nothing to learn from, or no positive label."""
        named = self.stream.options.positive is not None and not self.interrupted
        named = named and self.start is None  # a day without any is one
        if not self.rounds or (named and not self.watching.positives):
            from noregret.app.commands.run.useless_data import nothing_learned, one_label

            raise one_label(self) if self.rounds else nothing_learned(self)

    def blocks(self) -> Iterator[Block]:
        """Begin, unless the run is resumed, and return the blocks; the first chooses the loss."""
        self.reading.ahead = self.pool is None  # workers read what comes after the first block
        blocks = iter(self.reading)
        if self.resume is not None:
            return blocks
        first = self.first_blocks(blocks) if self.chooses else []
        self.begin(self.choose(first[-1]) if first else None)
        if is_of_classes(self.learner):
            self.reading.take_classes()
        if self.reading.undecided:
            first = self.reading.decide(self.stream, first)
        if self.outputs.predictions is not None:
            from noregret.app.commands.run.spool import Numbers

            self.spool = Numbers(self.columns, self.beside.get(PREDICTIONS))
        return chain(first, blocks)

    def first_blocks(self, blocks: Iterator[Block]) -> list[Block]:
        """Return the first blocks, up to one with an outcome."""
        first: list[Block] = []
        for block in blocks:
            first.append(block)
            told = self.task == NUMBERS or self.stream.options.positive is not None
            if block.labelled.any() or told or self.answers is not None:
                break
            if sum(map(len, first)) > MAX_UNDECIDED:
                self.reading.check_target()
                raise NoRegretError(
                    f"none of the first {MAX_UNDECIDED:,} rows has an outcome, so it is not known"
                    " what the target is",
                    (f"use {AS_NUMBERS}", "--positive VALUE", "--learner auto-classes"),
                    file=self.stream.paths[0],
                )
        return first

    @property
    def rounds(self) -> int:
        """Number of rounds played."""
        own = self.learner.rounds - self.before[0]
        return own if self.grouping is None else self.grouping.rounds

    @property
    def total(self) -> float:
        """The total loss of the predictions as they were given."""
        if self.served is not None and not is_of_classes(self.learner):
            return self.served.loss
        own = self.learner.total_loss - self.before[1]
        own = own if self.grouping is None else self.grouping.loss
        return own if self.served is None else own + sum(self.served.more.values())

    @property
    def mistakes(self) -> int:
        """The number of labels predicted wrongly when they were learned."""
        own = self.learner.mistakes - self.before[2]
        return own if self.grouping is None else self.grouping.mistakes

    @property
    def class_names(self) -> list[Any]:
        """The names of classes, as predictions and outcomes are numbered."""
        if self.grouping is not None and self.reading.classes is not None:
            return as_written(self.reading.classes.names)
        return class_names(self.learner, self.stream.options)

    @property
    def labels(self) -> tuple[Any, Any] | None:
        """The negative and the positive label of groups, whose learners have seen a part of them.

        None without groups, and if outcomes are not labels.
        """
        if self.grouping is None or not self.learner.engine.loss.labels:
            return None
        if self.has_booleans:
            return (False, True)
        return (0 if self.has_zeros else -1, 1)

    @property
    def standing(self) -> str:
        """The error so far in a few words: accuracy, RMSE, or the mean loss."""
        if self.working:
            return self.working
        loss = self.learner.engine.loss
        mean = self.total / max(1.0, self.watching.weight)
        if loss.labels or is_of_classes(self.learner):
            right = self.watching.right  # of classes when they were predicted, known or not
            share = 1 - self.mistakes / max(1, self.rounds) if right is None else right
            more = f", log loss {mean:.3g}" if loss.name in ("logistic", "softmax") else ""
            return f"accuracy {share:.1%}{more}"
        return f"RMSE {math.sqrt(mean):.4g}" if loss.name == "square" else f"mean loss {mean:.4g}"

    def is_due(self) -> bool:
        """Return whether a checkpoint is due."""
        return self.checkpoint is not None and (
            self.learner.rounds - (self.saved or 0) >= self.every
        )

    def take(self, block: Block, played: Played) -> None:
        """Record a block that was played, report progress, and save a checkpoint if one is due."""
        self.note(block, played)
        self.working = ""
        self.size, self.spent = block.size, time.perf_counter() - self.began
        if self.told is not None:
            self.told(self)
        if self.is_due() and played.error is None:  # a run resumes after the whole block
            self.save_checkpoint()

    def tell_share(self, share: float, words: str) -> None:
        """Report how much of their work workers have done."""
        self.size, self.working = int(share * (self.stream.size or 0)), words
        if self.told is not None:
            self.told(self)

    def note(self, block: Block, played: Played) -> None:
        """Note the rows of a block."""
        y, importances, kept, scores = block.y, block.importances, played.kept, played.scores
        chances_of = played.chances
        numbers, tags = numbers_of(block, self.seen), block.tags
        if self.stream.name == "vw":
            self.watching.note_initial(block, kept)
        if self.served is not None and block.keys is not None and scores is not None:
            scores, chances_of = self.served.replace(self.learner, block, played)
        if block.bases is not None:
            y, scores = y + block.bases, None if scores is None else scores + block.bases
        if kept is not None and not kept.all():
            y, numbers = y[kept], numbers[kept]
            scores = None if scores is None else scores[kept]
            importances = None if importances is None else importances[kept]
            tags = None if tags is None else picked(tags, np.flatnonzero(kept))
        if is_of_classes(self.learner) and self.grouping is None:
            y = codes_of(self.learner, block.classes or [], y)
        self.has_booleans = self.has_booleans or block.booleans
        self.has_zeros = self.has_zeros or bool((y == 0).any())
        groups = played.groups
        if groups is not None and kept is not None:
            groups = groups[kept]
        self.watch(y, scores if self.measures else None, importances, groups)
        chances = () if chances_of is None else (chances_of,)
        if self.spool is not None and scores is not None:
            self.note_tags(tags, len(y))
            self.spool.add(numbers, scores, y, *chances)
        if self.answers is not None and scores is not None:
            count = block.read or len(block) + len(block.faults)
            rows = np.column_stack([numbers, scores, y, *chances])
            self.answers.give(self, rows, tags, count, played.refused)
        self.skipped += len(played.refused)
        more = max(0, MAX_REPORTED_ROWS - len(self.skipped_rows))
        for error in played.refused[:more]:
            explain(error, self.choice)
            self.skipped_rows.append(skipped(error))
        self.seen += len(block) + len(block.faults)

    def watch(
        self,
        y: Floats,
        scores: Floats | None,
        importances: Floats | None,
        groups: NDArray[np.int64] | None,
    ) -> None:
        """Measure rows, except for those that were only predicted."""
        learned = ~np.isnan(y)
        count = int(learned.sum())
        if count < len(y):
            self.predicted += len(y) - count
            y = y[learned]
            scores = None if scores is None else scores[learned]
            importances = None if importances is None else importances[learned]
            groups = None if groups is None else groups[learned]
        self.weighted = self.weighted or importances is not None
        before = None if groups is None else self.last_outcomes.before(groups, y)
        self.watching.note(y, scores, importances, before)
        if self.served is not None and scores is not None and not is_of_classes(self.learner):
            self.served.count(self.learner.engine.loss, scores, y)

    def note_tags(self, tags: Sequence[str] | None, rows: int) -> None:
        """Keep the tags of rows, where any has one."""
        assert self.spool is not None
        if tags is not None and self.tags is None:
            from noregret.app.commands.run.spool import Tags

            self.tags = Tags(self.beside.get(TAGS))
            self.tags.add([""] * self.spool.rows)
        if self.tags is not None:
            self.tags.add(tags if tags is not None else [""] * rows)

    def save_checkpoint(self) -> None:
        """Save a checkpoint."""
        from noregret.app.commands.run.resuming import save

        assert self.checkpoint is not None
        save(self, self.checkpoint)
        self.saved = self.learner.rounds

    # At the end.

    def finish(self, started: str) -> Result:
        """Make the certificate, write all files, and return the result."""
        from noregret.app.commands.run.concluding import certified, conclude, write_all

        self.looking_back = self.hindsight and self.served is None
        began = time.perf_counter()
        if self.told is not None:
            self.told(self)
        certificate, uncertified = certified(self)
        self.looked_back = time.perf_counter() - began
        result, self.failures = write_all(self, conclude(self, started, certificate, uncertified))
        if not self.interrupted and not self.failures:  # else a resumed run can write it
            self.remove_checkpoint()
        if uncertified is not None and self.outputs.certificate is not None:
            self.failures.append(f"{self.outputs.certificate}: no certificate: {uncertified}")
        return result

    def limits(self) -> Limits:
        """Return how long to look back, and for which gap."""
        seconds, patience = self.look_back, math.inf
        if seconds is None:
            seconds = math.inf
            if self.gap is None and self.pool is None:
                seconds = max(MIN_LOOK_BACK, self.spent)
                patience = max(MIN_PATIENCE, PATIENCE * self.spent)
        tolerance = USUAL.tolerance if self.gap is None else self.gap
        return Limits(tolerance, seconds=seconds, patience=patience, told=self.tell_gap)

    def tell_gap(self, gap: float) -> None:
        """Report how precisely the best in hindsight is known."""
        self.open_gap = gap
        if self.told is not None:
            self.told(self)

    def remove_checkpoint(self) -> None:
        """Remove the files that only an unfinished run needs, the checkpoint first."""
        if self.checkpoint is not None and self.kept_at is not None:
            for path in (self.kept_at, *self.beside.values()):
                Path(path).unlink(missing_ok=True)
