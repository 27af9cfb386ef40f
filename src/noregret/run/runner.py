"""One run: a stream, a learner, what is kept while it plays, and what is written at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._version import __version__
from noregret.errors import NoRegretError
from noregret.params import plain
from noregret.playing import Played, play_block
from noregret.run.result import Result, Skipped, heaviest_of
from noregret.run.watching import Watching

if TYPE_CHECKING:
    from noregret.certificate import Certificate
    from noregret.game import Game
    from noregret.learner import Learner
    from noregret.record.curve import Curve
    from noregret.streams.base import Stream
    from noregret.streams.block import Block

# Bad rows that are told in full.
TOLD = 10
# Rows between checkpoints, if not said otherwise.
EVERY = 1_000_000


@dataclass
class Outputs:
    """What to write, and where."""

    predictions: str | None = None
    model: str | None = None
    certificate: str | None = None
    report: str | None = None

    def given(self) -> dict[str, str]:
        """Return the files by what they are."""
        return {kind: path for kind, path in vars(self).items() if path is not None}

    def check(self, sources: tuple[str, ...]) -> None:
        """Refuse at once what could not be written at the end."""
        from noregret.run import predictions

        taken: dict[Path, str] = {Path(path).resolve(): "the data" for path in sources}
        for kind, path in self.given().items():
            place = Path(path)
            if not place.parent.is_dir():
                raise NoRegretError(f"{path}: there is no folder {place.parent}")
            if place.is_dir():
                raise NoRegretError(f"{path}: a folder: name a file for the {kind}")
            if not os.access(place.parent, os.W_OK):
                raise NoRegretError(f"{path}: the folder cannot be written to")
            if place.resolve() in taken:
                raise NoRegretError(f"{path}: already taken, by {taken[place.resolve()]}")
            taken[place.resolve()] = f"the {kind}"
        if self.predictions is not None:
            predictions.check_name(self.predictions)


@dataclass
class Run:
    """A learner that plays a stream, and all that is wanted of it.

    Parameters
    ----------
    stream, learner
        What is played, and who plays.
    outputs
        What to write at the end.
    hindsight
        Whether to compare with the best in hindsight: it needs a record of the game.
    checkpoint, every
        Where to write checkpoints, and after how many rows each.
    resume
        A checkpoint to go on from.
    command
        The command line, to do it again.
    told
        Called after every block with the rows and the bytes so far.
    """

    stream: Stream
    learner: Learner
    outputs: Outputs = field(default_factory=Outputs)
    hindsight: bool = True
    checkpoint: str | None = None
    every: int = EVERY
    resume: str | None = None
    command: str = ""
    told: Callable[[Run], None] | None = None

    def __post_init__(self) -> None:
        from noregret.run.predictions import Spool

        self.outputs.check(self.stream.paths)
        self.watching = Watching(self.learner.engine.loss)
        self.watches = self.outputs.report is not None
        self.size = 0
        self.skipped = 0
        self.skipped_rows: list[Skipped] = []
        self.seen = 0  # rows, skipped ones too
        self.spent = 0.0
        self.stopping = False
        self.weighted = False
        self.tags: list[str] | None = None
        self.game: Game | None = None
        if self.hindsight:
            from noregret.game import Game

            kept_at = None if self.checkpoint is None else f"{self.checkpoint}.rows"
            self.game = Game(self.learner, progress=False, kept_at=kept_at)
            self.game.transforms, self.game.target = self.stream.transforms, self.stream.target
        self.spool: Spool | None = None
        self.reading = self.stream.reading()
        if self.resume is not None:
            from noregret.run.resuming import restore

            restore(self, self.resume)
        elif self.outputs.predictions is not None:
            kept_at = None if self.checkpoint is None else f"{self.checkpoint}.predictions"
            self.spool = Spool(3, kept_at)
        self.reading.wanted = lambda: not self.stopping
        self.saved = self.learner.rounds

    # While it runs.

    def go(self) -> Result:
        """Play to the end, or until stopped, and write everything that was asked for."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self.began = time.perf_counter()
        before = self.spent
        recorded: AbstractContextManager[Any] = nullcontext()
        if self.game is not None:
            self.game.reading = self.reading
            recorded = self.game.recorded()
        with recorded:
            for block in self.reading:
                self.take(block)
                self.spent = before + time.perf_counter() - self.began
                if self.told is not None:
                    self.told(self)
                if self.checkpoint is not None and self.learner.rounds - self.saved >= self.every:
                    self.save_checkpoint()
                if self.stopping:
                    break
            if self.stopping and self.checkpoint is not None and self.learner.rounds:
                self.save_checkpoint()
        if not self.learner.rounds:
            self.refuse_nothing()
        self.spent = before + time.perf_counter() - self.began
        return self.finish(started)

    def refuse_nothing(self) -> None:
        """Say that there was nothing to learn from."""
        where = ", ".join(self.stream.paths)
        if self.stopping:
            raise NoRegretError(f"{where}: stopped before the first example")
        if self.skipped:
            first = self.skipped_rows[0]
            raise NoRegretError(
                f"{where}: none of its {self.skipped} rows could be used; {first.place}: {first.reason}"
            )
        raise NoRegretError(f"{where}: there are no examples in it")

    def take(self, block: Block) -> None:
        """Play a block, and note what is wanted of it."""
        needs_scores = self.spool is not None or self.watches
        scores = np.full(len(block), np.nan) if needs_scores else None
        played = play_block(self.learner, self.reading, block, scores)
        self.note(block, played, scores)
        self.size = block.size

    def note(self, block: Block, played: Played, scores: Any) -> None:
        """Note the rows of a block."""
        y, importances, kept = block.y, block.importances, played.kept
        numbers = self.numbers_of(block)
        tags = block.tags
        if kept is not None:
            y, numbers = y[kept], numbers[kept]
            scores = None if scores is None else scores[kept]
            importances = None if importances is None else importances[kept]
            tags = None if tags is None else [t for t, k in zip(tags, kept, strict=True) if k]
        self.weighted = self.weighted or importances is not None
        self.watching.note(y, scores if self.watches else None, importances)
        if self.spool is not None:
            self.note_tags(tags, len(y))
            self.spool.add(numbers, scores, y)
        self.skipped += len(played.refused)
        more = max(0, TOLD - len(self.skipped_rows))
        self.skipped_rows += [Skipped(*row) for row in played.refused[:more]]
        self.seen += len(block) + len(block.faults)

    def numbers_of(self, block: Block) -> Any:
        """Return the numbers of a block's rows in the data, those of faults left out."""
        numbers = self.seen + 1 + np.arange(len(block) + len(block.faults), dtype=np.float64)
        if not block.faults:
            return numbers
        gaps = [fault.row + k for k, fault in enumerate(block.faults)]
        return np.delete(numbers, gaps)

    def note_tags(self, tags: list[str] | None, rows: int) -> None:
        """Keep the tags of rows, where any has one."""
        assert self.spool is not None
        if tags is not None and self.tags is None:
            self.tags = [""] * self.spool.rows
        if self.tags is not None:
            self.tags += tags if tags is not None else [""] * rows

    def save_checkpoint(self) -> None:
        """Write down where things stand."""
        from noregret.run.resuming import save

        assert self.checkpoint is not None
        save(self, self.checkpoint)
        self.saved = self.learner.rounds

    # At the end.

    def finish(self, started: str) -> Result:
        """Make the certificate, write everything, and return what came of it."""
        certificate, uncertified = self.certified()
        result = self.result(started, certificate, uncertified)
        with ExitStack() as stack:  # one that cannot be written does not keep back the others
            for kind, path in reversed(self.outputs.given().items()):
                stack.callback(getattr(self, f"write_{kind}"), path, result)
        if uncertified is not None and self.outputs.certificate is not None:
            raise NoRegretError(f"{self.outputs.certificate}: no certificate: {uncertified}")
        self.clean_up()
        return result

    def certified(self) -> tuple[Certificate | None, str | None]:
        """Return the certificate, or why there is none."""
        if self.game is None:
            return None, "the comparison with hindsight was not asked for (--no-hindsight)"
        try:
            self.game.names = self.reading.feature_names(self.game.ledger.books.features)
            return self.game.certificate(), None
        except NoRegretError as error:
            return None, str(error)

    def write_predictions(self, path: str, result: Result) -> None:
        """Write the predictions."""
        from noregret.run import predictions

        assert self.spool is not None
        predictions.write(path, predictions.tables(self.spool.blocks(), self.tags, self.learner))

    def write_model(self, path: str, result: Result) -> None:
        """Write the model, with how the data were read."""
        from noregret.model_file import save

        save(self.learner, path, self.reading)

    def write_certificate(self, path: str, result: Result) -> None:
        """Write the certificate."""
        if result.certificate is not None:
            result.certificate.save(path)

    def write_report(self, path: str, result: Result) -> None:
        """Write the report."""
        from noregret.model_file import write_whole
        from noregret.report.run_html import page

        write_whole(path, page(result).encode())

    def clean_up(self) -> None:
        """Remove what only an unfinished run needs."""
        if self.checkpoint is not None and self.stopping:
            return
        if self.spool is not None:
            self.spool.close()
        if self.checkpoint is not None:
            from noregret.run.checkpoint import companions

            for path in (self.checkpoint, *companions(self.checkpoint).values()):
                Path(path).unlink(missing_ok=True)

    def result(
        self, started: str, certificate: Certificate | None, uncertified: str | None
    ) -> Result:
        """Return the figures."""
        learner, options = self.learner, self.reading.options
        labels = learner.engine.loss.labels
        return Result(
            sources=self.stream.paths,
            format=self.stream.name,
            rows=learner.rounds,
            features=learner.engine.size,
            size=self.size or None,
            seconds=self.spent,
            learner=repr(learner),
            name=learner.name,
            params={name: plain(value) for name, value in learner.params.items()},
            loss=learner.engine.loss.name,
            total=learner.total_loss,
            mistakes=learner.mistakes if labels else None,
            weight=self.watching.weight if self.weighted else None,
            constant=self.watching.constant(),
            certificate=certificate,
            uncertified=uncertified,
            curve=self.curve(),
            heaviest=heaviest_of(
                self.reading.feature_names(learner.engine.size), learner.weights
            ),
            transforms=self.stream.transforms,
            target=self.stream.target,
            outlook=self.watching.outlook(),
            skipped=self.skipped,
            skipped_rows=tuple(self.skipped_rows),
            shared=None if options.hash is None else self.reading.vocabulary.shared,
            interrupted=self.stopping,
            command=self.command,
            version=__version__,
            started=started,
            outputs=self.outputs.given(),
        )

    def curve(self) -> Curve:
        """Return the curve of the game, or its last point where no record was kept."""
        from noregret.record.curve import Curve

        if self.game is not None:
            return self.game.curve
        nothing = np.full(1, np.nan)
        learner = self.learner
        return Curve(
            np.array([learner.rounds]),
            np.array([learner.total_loss]),
            np.array([learner.mistakes]),
            nothing,
            nothing,
        )
