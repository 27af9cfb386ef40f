"""Playing the rows of a table: advice, losses, rewards or returns; and keeping the books.

game = play(Hedge(), advice, outcomes)
game.certificate()
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.display import as_text
from noregret.errors import BadExample, NoRegretError
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.proof.game.play_blocks import Refused, without_round
from noregret.proof.game.progress import Progress
from noregret.proof.game.table_rows import TableBlock, stream_blocks, table_blocks
from noregret.proof.record.curve import Curve
from noregret.proof.record.table import Table
from noregret.streams.stream import Stream

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.theorems.table_evidence import TableEvidence

Floats = NDArray[np.float64]
# Bytes of rows held in memory.
MEMORY = 64 << 20
# From one point of the curve to the next, and rows played at a time between two late ones.
APART, LONG = 1.025, 1 << 16


class Point(NamedTuple):
    """A point of the curve; regret and bound are None where they cannot be had cheaply."""

    rounds: int
    loss: float
    mistakes: float | None
    regret: float | None
    bound: float | None


class Figures(NamedTuple):
    """What a player has done in its life."""

    rounds: int
    loss: float
    mistakes: float | None


class TableGame:
    """A player, the rows of the table it played, and what came of them. Made by ``play``.

    Parameters
    ----------
    player
        Who plays; it goes on learning.
    keep
        ``rows``, or ``auto``, which is the same here.
    memory
        Bytes of rows to hold in memory; what comes after goes to a temporary file.
    predictions
        Whether to keep the predictions.
    progress
        Whether to show a progress bar; None for: on a terminal, when it takes over a second.
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
        if keep not in ("auto", "rows"):
            raise ValueError(f"a game over a table keeps its rows (keep='rows'): got {keep!r}")
        self.player = self.learner = player
        self.table = Table(memory)
        self.names: list[str] | None = None
        self.transforms: tuple[str, ...] = ()
        self.target: str | None = None
        self.skipped: list[Refused] = []
        self.answers: dict[Any, Any] = {}
        self.points: list[Point] = []
        self.before = self.after = self._figures()
        self._mark = self.before.rounds + 1
        self._predictions: list[Floats] | None = [] if predictions else None
        self._progress = progress
        self.playing = False
        self.provisional = False  # whether the last point stands for the end of the game

    # Playing.

    def play(self, stream: Any, outcomes: Any = None, *, target: str | None = None) -> TableGame:
        """Go on with more rows; they come as in ``noregret.play``."""
        if isinstance(outcomes, str) and target is None:
            outcomes, target = None, outcomes
        if isinstance(stream, str | Path):
            from noregret.streams import read

            stream, target = read(stream, target, missing="asleep"), None
        self.transforms = tuple(getattr(stream, "transforms", self.transforms))
        self.target = target or getattr(stream, "target", self.target)
        rows = None if isinstance(stream, Stream) else length_of(stream)
        with self.recorded(rows) as progress:
            if isinstance(stream, Stream):
                blocks = stream_blocks(stream)
            else:
                blocks = table_blocks(stream, outcomes, target, self.names)
            on_error = stream.options.on_error if isinstance(stream, Stream) else "stop"
            for block in blocks:
                self.play_block(block, on_error)
                progress.look()
        return self

    @contextmanager
    def recorded(self, rows: int | None = None) -> Iterator[Progress]:
        """Have the books settled whatever happens."""
        if self.player.rounds != self.after.rounds:
            raise NoRegretError(
                f"{self.player.name} has learned outside this game since: play a new one, or a"
                " copy next time"
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

    def play_block(self, block: TableBlock, on_error: str = "stop") -> None:
        """Play a block of rows; those that are refused are raised, or left out and noted."""
        X, y = self._arranged(block), block.y
        start = 0
        while start < len(X):
            before = self.player.rounds
            try:
                self._play_rows(X[start:], None if y is None else y[start:])
                break
            except NoRegretError as error:
                row = start + self.player.rounds - before
                if block.place_of is None or row >= len(X):
                    raise
                place, reason = block.place_of(row), without_round(str(error))
                if on_error != "skip" or not isinstance(error, BadExample) or error.round is None:
                    error.args = (f"{place}: {reason}",)
                    raise
                self.skipped.append(Refused(place, reason))
                start = row + 1
        if block.fault is not None:
            number = self.player.rounds + 1
            placed = block.fault if block.place_of else f"round {number}: {block.fault}"
            raise BadExample(placed, round=number)

    def _arranged(self, block: TableBlock) -> Floats:
        """Return the rows with their columns in the order of those before them."""
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
        """Check that rows have as many columns as those before them."""
        expected = self.table.width or self.player.width
        if expected and width != expected:
            raise BadExample(f"{width} columns, but there were {expected} before")

    def _play_rows(self, X: Floats, y: Floats | None) -> None:
        """Have rows played up to every point of the curve, and kept as far as they were."""
        begun = self.player.rounds
        kept = None if self._predictions is None else np.full(len(X), np.nan)
        try:
            at = 0
            while at < len(X):
                stop = min(len(X), at + LONG, at + max(1, self._mark - self.player.rounds))
                self.player.play_block(
                    X[at:stop],
                    None if y is None else y[at:stop],
                    None if kept is None else kept[at:stop],
                )
                at = stop
                if self.player.rounds >= self._mark:
                    self._look()
        finally:
            rows = self.player.rounds - begun
            self.table.add(X[:rows], None if y is None else y[:rows])
            if self._predictions is not None and kept is not None:
                self._predictions.append(kept[:rows])

    def _look(self) -> None:
        """Take a point of the curve, and say when the next is due."""
        self.points.append(self._point())
        rounds = self.player.rounds
        self._mark = max(rounds + 1, int(rounds * APART))

    def _point(self) -> Point:
        now, before = self._figures(), self.before
        whole = before.rounds == 0
        return Point(
            now.rounds - before.rounds,
            now.loss - before.loss,
            None if now.mistakes is None else now.mistakes - (before.mistakes or 0),
            self.player.regret_so_far() if whole else None,
            self.player.bound_so_far() if whole else None,
        )

    def _figures(self) -> Figures:
        player = self.player
        return Figures(player.rounds, player.total_loss, player.mistakes)

    # The figures.

    @property
    def _now(self) -> Figures:
        return self._figures() if self.playing else self.after

    @property
    def rounds(self) -> int:
        """How many rounds were played."""
        return self._now.rounds - self.before.rounds

    @property
    def loss(self) -> float:
        """The player's cumulative loss."""
        return self._now.loss - self.before.loss

    @property
    def mistakes(self) -> float | None:
        """How many outcomes it got wrong, where those can be wrong or right."""
        now = self._now.mistakes
        return None if now is None else now - (self.before.mistakes or 0)

    @property
    def counted_mistakes(self) -> float | None:
        """The mistakes, as certificates have them."""
        return self.mistakes

    @property
    def averaged(self) -> bool:
        """Whether it predicts with the mean of its weights: never here."""
        return False

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return str(self.player.loss_name)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.table.width

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns; "0", "1", … where they have none."""
        return self.names or [str(k) for k in range(self.width)]

    @property
    def digest(self) -> str:
        """A digest of the data: the same numbers give the same digest, however they came."""
        self.check()
        return self.table.digest_text(self.names)

    @property
    def predictions(self) -> Floats:
        """Every prediction, made before its outcome was seen."""
        if self._predictions is None:
            raise NoRegretError("the predictions were not kept: play(…, predictions=True)")
        return np.concatenate([np.empty(0), *self._predictions])

    @property
    def curve(self) -> Curve:
        """Loss, regret and bound as they went."""
        points = self.points
        mistakes = [0 if p.mistakes is None else p.mistakes for p in points]
        counted = all(isinstance(m, int) for m in mistakes)
        return Curve(
            np.array([p.rounds for p in points], dtype=np.int64),
            np.array([p.loss for p in points], dtype=np.float64),
            np.array(mistakes, dtype=np.int64 if counted else np.float64),
            np.array([np.nan if p.regret is None else p.regret for p in points]),
            np.array([np.nan if p.bound is None else p.bound for p in points]),
        )

    # The certificate.

    def check(self) -> None:
        """Raise an error where the books cannot be relied on."""
        if self.playing:
            raise NoRegretError("this game is being played: ask when it is over")
        if self.table.rows != self.rounds:
            raise NoRegretError(
                f"the record of this game is incomplete (only {self.table.rows} of {self.rounds}"
                " rounds), as something interrupted it: play the game again"
            )

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> TableEvidence:
        """Return what a theorem may look at."""
        self.check()
        if self.player.rounds != self.after.rounds:
            raise NoRegretError(
                f"{self.player.name} has learned outside this game since: ask for the certificate"
                " before it does, or have a copy play"
            )
        if self.player.width != self.width:
            raise NoRegretError(
                f"there were {self.width} columns in this game, and {self.player.name} has"
                f" {self.player.width} by now: what joined on the way cannot be certified"
            )
        answers = self.answers if answers is None else answers
        found: TableEvidence = self.player.evidence(self.table, given, limits, answers)
        found.settle(self)
        return found

    def certificate(
        self, theorem: str | None = None, *, limits: Limits = USUAL, **given: Any
    ) -> Certificate:
        """State how well the player did, against the best in hindsight and what was promised.

        Parameters
        ----------
        theorem
            Which promise to look at; the first whose assumptions held, if not given.
        limits
            How hard to search for the best in hindsight.
        **given
            What a theorem is told besides.
        """
        from noregret.proof.certificates.issue import certify

        return certify(self, theorem, limits, given)

    def __getstate__(self) -> dict[str, Any]:
        """Return all that a pickle holds: what it needs to be asked, and to be played on."""
        if self.playing:
            raise NoRegretError("this game is being played: pickle or copy it when it is over")
        return vars(self) | {"answers": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.names is not None:  # a player's own state does not say which column is which
            self.player.check_names(self.names)
        elif self.width and hasattr(self.player, "fit"):
            self.player.fit(self.width)

    def _repr_html_(self) -> str:
        return as_text("game card", self)

    def __repr__(self) -> str:
        mean = f", mean loss {self.loss / self.rounds:.6g}" if self.rounds else ""
        return f"<TableGame of {self.player!r}: {self.rounds} rounds{mean}>"


def length_of(source: Any) -> int | None:
    """Return how many rows there are, where that is known."""
    if hasattr(source, "shape"):
        return int(source.shape[0])
    return len(source) if isinstance(source, Sequence) else None
