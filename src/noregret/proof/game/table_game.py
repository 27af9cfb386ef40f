"""Play the rows of a table (advice, losses, rewards or returns), and record the game.

game = play(Hedge(), advice, outcomes)
game.certificate()
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.positions import Positions
from noregret.errors import BadExample, NoRegretError
from noregret.hindsight.proofs.answer import Limits
from noregret.linear import inputs
from noregret.proof.game.played_game import PlayedGame
from noregret.proof.game.progress import Progress
from noregret.proof.game.table_player import TablePlayer
from noregret.proof.game.table_rows import TableBlock, reading_blocks, table_blocks
from noregret.proof.record.moment import Curve
from noregret.proof.record.table import Figures, Table
from noregret.streams.stream import Stream

if TYPE_CHECKING:
    from noregret.proof.game.batching import Batching
    from noregret.proof.theorems.table_evidence import TableEvidence

Floats = NDArray[np.float64]
# Bytes of rows held in memory.
MEMORY = 64 << 20
# Ratio of the rounds of consecutive points of the curve, and rows played at a time.
POINT_RATIO, MAX_ROWS_AT_A_TIME = 1.025, 1 << 16
# Called with a rejected row and the error: it raises, or returns to skip the row.
Refuse = Callable[[int, NoRegretError], None]


class Point(NamedTuple):
    """A point of the curve; regret and bound are None if they are expensive."""

    rounds: int
    loss: float
    mistakes: float | None
    regret: float | None
    bound: float | None


class TableGame(PlayedGame):
    """A player, the rows that it played, and the results. Made by ``play``.

    Parameters
    ----------
    player
        The player, which may continue to learn.
    keep
        ``rows``, or ``auto``, which is the same here; ``nothing`` for a game without a certificate.
    memory
        Bytes of rows to hold in memory; later rows go to a temporary file.
    predictions, progress
        As in ``PlayedGame``.
    """

    def __init__(
        self,
        player: Any,
        *,
        keep: str = "auto",
        memory: int = MEMORY,
        predictions: bool = False,
        progress: bool | None = None,
    ) -> None:
        if keep not in ("auto", "rows", "nothing"):
            raise ValueError(f"a game over a table keeps its rows (keep='rows'): got {keep!r}")
        super().__init__(predictions, progress)
        self.player = self.learner = player
        self.table, self.keep = Table(memory), keep
        self.points: list[Point] = []
        self.batching: Batching | None = None  # of rows that come in batches
        self.before = self.after = self._figures()
        self._mark = sys.maxsize if keep == "nothing" else self.before.rounds + 1
        self.playing = False
        self.provisional = False  # whether the last point marks the end of the game

    # Playing.

    def play(self, stream: Any, outcomes: Any = None, *, target: str | None = None) -> TableGame:
        """Play more rows, given as in ``noregret.play``."""
        stream, outcomes, target = self._source(stream, outcomes, target, missing="asleep")
        rows = None if isinstance(stream, Stream) else length_of(stream)
        with self.recorded(rows) as progress:
            if not isinstance(stream, Stream):
                for block in table_blocks(stream, outcomes, target, self.names):
                    self.play_block(block, partial(self._refuse, block, False))
                    progress.look()
                return self
            reading = stream.reading(learning=stream.target is not None)
            if self.batching is not None:
                self.batching.close()
            skips = stream.options.on_error == "skip"
            try:
                for block in reading_blocks(reading):
                    self.play_block(block, partial(self._refuse, block, skips))
                    progress.look()
            finally:  # with what was detected meanwhile
                self.describe(reading.transforms, stream.target)
        return self

    def _refuse(self, block: TableBlock, skips: bool, row: int, error: NoRegretError) -> None:
        """Add a skipped row, or raise the error with its place."""
        if block.place_of is None:
            raise error
        error.at(block.place_of(row))
        if not skips or not isinstance(error, BadExample) or error.round is None:
            raise error
        self.skipped.append(error.with_traceback(None))

    @contextmanager
    def recorded(self, rows: int | None = None) -> Iterator[Progress]:
        """Complete the record whatever happens."""
        if self.player.rounds != self.after.rounds:
            raise NoRegretError(
                f"{self.player.name} has learned outside this game since",
                "play a new one, or a copy next time",
            )
        self.answers.clear()
        self.playing = True
        if self.provisional:
            self.provisional = False
            self.points.pop()
        try:
            with Progress(self.player, rows, self._progress) as progress:
                yield progress
        finally:
            self.playing, self.after = False, self._figures()
            if self.rounds > (self.points[-1].rounds if self.points else 0):
                self.points.append(self._point())
                self.provisional = True

    def learn_one(self, x: Any, y: Any = None) -> None:
        """Learn from one row, while the game is being recorded."""
        self.learn_many([x], None if y is None else [y])

    def learn_many(self, X: Any, y: Any = None) -> None:
        """Learn from many rows, while the game is being recorded."""
        for block in table_blocks(X, y, None, self.names):
            self.play_block(block)

    def play_block(
        self,
        block: TableBlock,
        refuse: Refuse | None = None,
        predictions: Floats | None = None,
        weights: Floats | None = None,
    ) -> None:
        """Play a block of rows, while the game is being recorded.

        Parameters
        ----------
        block
            The rows.
        refuse
            Called with a rejected row and the error; by default the error is raised.
        predictions, weights
            Filled in for rows that are played; weights are those of a master over experts.
        """
        X, y = self._arranged(block), block.y
        if block.batches is not None and len(X):
            self._play_batches(X, block, refuse, predictions, weights)
        else:
            if predictions is None and self._predictions is not None:
                predictions = np.full(len(X), np.nan)
            self._play_in_turn(X, y, refuse, predictions, weights)
        if block.fault is not None:
            raise block.fault.at(round=self.player.rounds + 1)

    def _play_in_turn(
        self,
        X: Floats,
        y: Floats | None,
        refuse: Refuse | None,
        predictions: Floats | None,
        weights: Floats | None,
    ) -> None:
        """Play rows one after the other, without those that are refused."""
        start = 0
        while start < len(X):
            before = self.player.rounds
            try:
                self._play_rows(X, y, start, predictions, weights)
                break
            except NoRegretError as error:
                row = start + self.player.rounds - before
                if refuse is None or row >= len(X):
                    raise
                if predictions is not None:
                    predictions[row] = np.nan
                refuse(row, error)
                start = row + 1

    def _play_batches(
        self,
        X: Floats,
        block: TableBlock,
        refuse: Refuse | None,
        predictions: Floats | None,
        weights: Floats | None,
    ) -> None:
        """Play rows that come in batches."""
        y, batches = block.y, block.batches
        if y is None or batches is None:
            raise NoRegretError("rows in batches need outcomes", "name the target")
        said = np.full(len(X), np.nan) if predictions is None else predictions
        noted, self._predictions = self._predictions, None

        def in_turn(part: slice, filled: Floats, used: Floats | None) -> None:
            found = None if refuse is None else partial(refuse_after, part.start, refuse)
            self._play_in_turn(X[part], y[part], found, filled, used)

        try:
            self.in_batches.play(X, y, batches, in_turn, said, weights)
        finally:
            self._predictions = noted
            if noted is not None:
                noted.append(said[~np.isnan(said)])

    @property
    def in_batches(self) -> Batching:
        """The record of batches, from the first of them on."""
        if self.batching is None:
            from noregret.proof.game.batching import Batching

            self.batching = Batching(self.player)
        return self.batching

    @property
    def waited(self) -> float:
        """The loss that forecasting in batches has added."""
        return 0.0 if self.batching is None else self.batching.waited

    def _arranged(self, block: TableBlock) -> Floats:
        """Return the rows with columns in the order of earlier rows."""
        X, y, names = block.X, block.y, block.names
        if not len(X):
            return X
        if self.table.rows and (y is not None) != self.table.has_outcomes:
            had, has = ("outcomes", "none") if self.table.has_outcomes else ("no outcomes", "some")
            raise BadExample(f"the rows so far came with {had}, these with {has}")
        if names is None:
            self._check_width(X.shape[1])
            return X
        order = self.names or getattr(self.player, "names", None) or sorted(names)
        if names != order and sorted(names) == sorted(order):
            X = np.ascontiguousarray(X[:, [names.index(name) for name in order]])
            names = list(order)
        self.player.check_names(names)
        self._check_width(X.shape[1])
        self.names = list(names)
        return X

    def _check_width(self, width: int) -> None:
        """Check that rows have as many columns as earlier ones."""
        expected = self.table.width or self.player.width
        if expected and width != expected:
            raise BadExample(f"{width} columns, but there were {expected} before")

    def _play_rows(
        self,
        X: Floats,
        y: Floats | None,
        start: int,
        predictions: Floats | None,
        weights: Floats | None,
    ) -> None:
        """Play rows from point to point of the curve, and store those that were played."""
        begun, at = self.player.rounds, start
        try:
            while at < len(X):
                due = max(1, self._mark - self.player.rounds)
                stop = min(len(X), at + MAX_ROWS_AT_A_TIME, at + due)
                into = [] if weights is None else [weights[at:stop]]
                self.player.play_block(
                    X[at:stop],
                    None if y is None else y[at:stop],
                    None if predictions is None else predictions[at:stop],
                    *into,
                )
                at = stop
                if self.player.rounds >= self._mark:
                    self._look()
        finally:
            played = slice(start, start + self.player.rounds - begun)
            if self.keep != "nothing":
                self.table.add(X[played], None if y is None else y[played])
            if self._predictions is not None and predictions is not None:
                self._predictions.append(predictions[played].copy())

    def _look(self) -> None:
        """Add a point to the curve, and set the round of the next."""
        self.points.append(self._point())
        rounds = self.player.rounds
        self._mark = max(rounds + 1, int(rounds * POINT_RATIO))

    def _point(self) -> Point:
        now, before = self._figures(), self.before
        whole = before.rounds == 0
        return Point(
            now.rounds - before.rounds,
            now.loss - before.loss,
            None if now.mistakes is None else now.mistakes - (before.mistakes or 0),
            plus(self.player.regret_so_far(), self.waited) if whole else None,
            plus(self.player.bound_so_far(), self.waited) if whole else None,
        )

    def _figures(self) -> Figures:
        player, waited, mistakes = self.player, self.waited, self.player.mistakes
        if mistakes is not None and waited:  # of masters that vote, whose losses they are
            mistakes = type(mistakes)(mistakes + waited)
        return Figures(player.rounds, player.total_loss + waited, mistakes)

    # The figures.

    @property
    def _now(self) -> Figures:
        return self._figures() if self.playing else self.after

    @property
    def rounds(self) -> int:
        """The number of rounds played."""
        return self._now.rounds - self.before.rounds

    @property
    def loss(self) -> float:
        """The player's cumulative loss."""
        return self._now.loss - self.before.loss

    @property
    def mistakes(self) -> float | None:
        """The number of wrong predictions; None if predictions are not right or wrong."""
        now = self._now.mistakes
        return None if now is None else now - (self.before.mistakes or 0)

    @property
    def counted_mistakes(self) -> float | None:
        """The number of mistakes, for certificates."""
        return self.mistakes

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return str(self.player.loss_name)

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.table.width

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns; "0", "1", … where they have none."""
        return list(self.names or Positions(self.width))

    @property
    def digest(self) -> str:
        """A digest of the data: the same numbers give the same digest in any format."""
        self.check()
        return self.table.digest_text(self.names)

    @property
    def curve(self) -> Curve:
        """Loss, regret and bound over time."""
        points = self.points
        mistakes = [0 if p.mistakes is None else p.mistakes for p in points]
        counted = all(isinstance(m, int) for m in mistakes)
        return Curve(
            np.array([p.rounds for p in points], dtype=np.int64),
            np.array([p.loss for p in points], dtype=np.float64),
            np.array(mistakes, dtype=np.int64 if counted else np.float64),
            np.array([np.nan if p.regret is None else p.regret for p in points]),
            np.array([np.nan if p.bound is None else p.bound for p in points]),
            np.zeros(len(points), dtype=np.bool_),
        )

    # The proof.

    def check(self) -> None:
        """Raise an error if the record of the game is incomplete."""
        if self.playing:
            raise NoRegretError("this game is being played", "ask when it is over")
        if self.keep == "nothing":
            raise NoRegretError("no record of this game was kept", "play with keep='auto'")
        if self.table.rows != self.rounds:
            raise NoRegretError(
                f"the record of this game is incomplete (only {self.table.rows} of {self.rounds}"
                " rounds), as something interrupted it",
                "play the game again",
            )

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> TableEvidence:
        """Return the evidence for theorems."""
        self.check()
        if self.player.rounds != self.after.rounds:
            raise NoRegretError(
                f"{self.player.name} has learned outside this game since",
                "ask for the certificate before it does, or have a copy play",
            )
        if self.player.width != self.width:
            raise NoRegretError(
                f"there were {self.width} columns in this game, and {self.player.name} has"
                f" {self.player.width} by now: what joined on the way cannot be certified"
            )
        answers = self.answers if answers is None else answers
        found: TableEvidence = self.player.evidence(self.table, given, limits, answers)
        found.settle(self.before, self.after, self.names)
        if self.batching is not None:
            found.late_rows, found.waited = self.batching.late_rows, self.batching.waited
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles: enough for certificates, and to play on."""
        if self.playing:
            raise NoRegretError("this game is being played", "pickle or copy it when it is over")
        return vars(self) | {"answers": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.names is not None:  # a player's own state has no names of columns
            self.player.check_names(self.names)
        elif self.width and isinstance(self.player, TablePlayer):
            self.player._check_width(self.width)


def refuse_after(start: int, refuse: Refuse, row: int, error: NoRegretError) -> None:
    """Refuse a row of a part that begins at ``start``."""
    refuse(start + row, error)


def plus(figure: float | None, more: float) -> float | None:
    """Return a sum; None if the figure is not known."""
    return None if figure is None else figure + more


def length_of(source: Any) -> int | None:
    """Return the number of rows, if known."""
    if hasattr(source, "shape"):
        return inputs.row_count(source)
    return len(source) if isinstance(source, Sequence) else None
