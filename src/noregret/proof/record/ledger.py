"""The ledger of a game: the record for its certificate.

``linear/engine/recorder.pyx`` records every row in pages. Here pages are digested, summed for the
square loss, and stored; large ones in another thread, while the learner continues.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.hindsight.losses import is_square
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.limits import UNDERFLOW
from noregret.linear.engine.recorder import Recorder
from noregret.proof.record.best_so_far import Factor, factors
from noregret.proof.record.digest import Digest
from noregret.proof.record.figures import books_of
from noregret.proof.record.moment import Curve, Moment, curve_of
from noregret.proof.record.pages import Pages, Table
from noregret.proof.record.parts_digest import PartsDigest
from noregret.proof.record.worker_thread import Backstage

if TYPE_CHECKING:
    from noregret.hindsight import LeastSquares
    from noregret.linear.learner import Learner

Floats = NDArray[np.float64]
Keep = Literal["auto", "rows", "sums", "nothing"]

# Bytes of rows held in memory; beyond, rows are replaced by sums or go to a temporary file.
MEMORY = 64 << 20
# Pages of fewer words are processed at once: waking a thread would take longer.
SMALL_PAGE = 2**15
# With more features, hindsight is not computed at every point of the curve.
MAX_CURVE_FEATURES = 32
# Cubed features of a linear system that takes about a tenth of the time of learning one row.
SOLVED_PER_ROW = 20_000
# With more features, matrix products are faster than sums row by row.
BLAS_PAYS = 600
# Most pages queued for the worker thread, and the number from which on this thread helps.
MAX_QUEUED_PAGES, BUSY_PAGES = 8, 2


@dataclass
class Ledger:
    """The record of a game while a learner plays.

    Parameters
    ----------
    learner
        The learner.
    keep
        ``rows``, ``sums`` or ``auto``: rows as long as they are few or needed, else sums. With
        ``nothing``, only the figures at the end are known.
    so_far
        The bounds of the learner's theorems at a moment.
    needs_rows
        True if the theorems need rows, not only sums.
    free
        True if the learner is compared with all linear predictors.
    memory
        Bytes of rows to hold in memory; sparse ones that a search needs may take more.
    """

    learner: Learner
    keep: Keep = "auto"
    so_far: Callable[[Moment], float | None] = lambda moment: None
    needs_rows: bool = False
    free: bool = True
    memory: int = MEMORY
    kept_at: str | None = None  # a file for the rows that outlives this process
    moments: list[Moment] = field(default_factory=list)
    delay: int = 0  # updates between predictions and their own, where outcomes come late
    first_delayed: int | None = None  # the first round with one
    held: Rows | None = None  # the rows, where others hold them

    def __post_init__(self) -> None:
        self.recorder = Recorder(self.learner.engine, self.take)
        self.params = self.learner.params
        self.recorder.expected = self.params.get("dimension") or 0
        self.digest: Digest | PartsDigest = Digest()
        self.square = is_square(self.learner.engine.loss)
        self.sums: LeastSquares | None = None
        if self.square and self.keep in ("auto", "sums"):
            from noregret.hindsight.solvers.square import LeastSquares

            self.sums = LeastSquares()
        kept = self.keep in ("auto", "rows")
        self.pages = Pages(self.memory, self.kept_at) if kept else None
        if self.keep == "sums" and not self.square:
            raise ValueError("sums are enough for the square loss only: use keep='rows'")
        self.before = self.learner.rounds
        self.loss_before, self.mistakes_before = self.learner.total_loss, self.learner.mistakes
        self.books = books_of(self.learner, self.recorder)
        self.digested = self.entered = 0  # rows
        self.broken: str | None = None
        self.last_mark = self.recorder.mark
        self.watched: list[tuple[str, float]] = []
        self.solved = 0
        self.told: Callable[[], None] | None = None  # called as pages come
        self.backstage: Backstage | None = None
        self.open: list[tuple[Floats, int]] = []  # small pages not processed yet
        self.open_words = self.open_features = 0
        self.playing = False
        self.curve_rows = 0  # rows in the last search for points that the sums do not give
        self.provisional = False  # whether the last moment marks the end of the game
        self.missing = "the rows of this game were not kept, only sums over them"

    def watch(self, measure: str, limit: float) -> None:
        """Note the first round in which a measurement exceeds a limit."""
        if (measure, limit) not in self.watched and np.isfinite(limit):
            self.recorder.watch(measure, limit)
            self.watched.append((measure, limit))

    # While the game goes on.

    def take(self, words: Floats, rows: int) -> None:
        """Take a page from the core: process it at once if it is small, else in a thread."""
        features = self.learner.engine.size
        moment = None
        if self.recorder.mark != self.last_mark:
            self.last_mark = self.recorder.mark
            moment = self.moment()
        if self.backstage is None and len(words) < SMALL_PAGE:
            self.work(words, rows, features, moment)
        else:
            if self.backstage is None:
                self.backstage = Backstage()
            self.backstage.catch_up(MAX_QUEUED_PAGES)
            # If the worker thread is behind, this one helps; the sums are the same to the bit.
            product = None
            behind = self.backstage.waiting >= BUSY_PAGES and self.sums is not None
            if behind and len(words) >= SMALL_PAGE and features <= BLAS_PAYS:
                product = self.product(Table.of(words, rows, features), features)
            self.backstage.add(partial(self.work, words, rows, features, moment, product))
        if self.told is not None:
            self.told()

    def moment(self) -> Moment:
        """Return the current point of the curve."""
        learner = self.learner
        return Moment(
            learner.rounds - self.before,
            learner.total_loss - self.loss_before,
            learner.mistakes - self.mistakes_before,
            self.params,
            {name: m.largest for name, m in learner.measured.items()},
            self.recorder.sum_of_squared_gradients,
        )

    def work(
        self,
        words: Floats,
        rows: int,
        features: int,
        moment: Moment | None,
        product: Floats | None = None,
    ) -> None:
        """Digest, sum and store a page; small pages only once several are collected.

        With many features, pages are collected until adding their sums takes no longer than
        computing them.
        """
        self.digest.update(words, rows)
        self.digested += rows
        many = self.sums is not None and BLAS_PAYS < features <= MAX_DENSE
        enough = features * features // 2 if many else SMALL_PAGE
        if len(words) < enough:
            self.open.append((words, rows))
            self.open_words += len(words)
            self.open_features = features
            due = moment is not None and self.due(moment.rounds, features)
            if self.open_words >= enough or due:
                self.close_small()
        else:
            self.close_small()
            self.enter(words, rows, features, product)
        if moment is not None:
            self.complete(moment, features)
            self.moments.append(moment)

    def close_small(self) -> None:
        """Process the collected small pages."""
        if self.open:
            words = np.concatenate([words for words, _ in self.open])
            rows = sum(rows for _, rows in self.open)
            self.open, self.open_words = [], 0
            self.enter(words, rows, self.open_features, None)

    def enter(self, words: Floats, rows: int, features: int, product: Floats | None) -> None:
        """Sum and store a page."""
        if self.sums is not None and features > MAX_DENSE:
            self.give_up_sums()
        if self.sums is not None and product is not None:
            self.sums.add_product(product, rows)
        elif self.sums is not None:
            self.add_up(Table.of(words, rows, features), features)
        pages = self.pages
        if pages is not None and pages.held + words.nbytes > self.memory:
            # Asked when memory is full, and again whenever there are twice as many rows.
            doubled = (self.entered + rows).bit_length() > self.entered.bit_length()
            if (doubled or not pages.spilled) and self.may_drop_rows():
                self.complete_from_rows()
                for page in pages.index:
                    if page.words is not None:
                        self.recorder.give_back(page.words)
                self.pages = None
        decode = self.sums is None  # then rows are needed to the end
        if self.pages is None or self.pages.add(words, rows, features, decode):
            self.recorder.give_back(words)
        self.entered += rows

    def add_up(self, table: Table, features: int) -> None:
        """Add rows to the sums."""
        assert self.sums is not None
        product = self.product(table, features)
        if product is None:
            self.sums.add(table.X, table.y)
        else:
            self.sums.add_product(product, len(table.y))

    def product(self, table: Table, features: int) -> Floats | None:
        """Return Σ z zᵀ for rows z = (y, x), if there is a fast way.

        The way depends on the numbers alone, not on how the rows arrived.
        """
        if features > BLAS_PAYS or not table.is_dense():
            return None
        return table.product()

    def may_drop_rows(self) -> bool:
        """Return whether sums are sufficient now that there are many rows.

        They are not as long as they lack digits of the best predictor's loss, or of its proof.
        """
        if self.keep != "auto" or self.sums is None or self.needs_rows:
            return False
        with np.errstate(all="ignore"):
            from noregret.hindsight.solvers.square import SUMS_GAP

            best = self.sums.best()
            proven = best.gap <= SUMS_GAP * best.loss + UNDERFLOW
            return proven and self.sums.know_loss_of(best.witness)

    def give_up_sums(self) -> None:
        """Continue with rows alone: there are too many features for sums.

        If the first rows were stored as sums only, the game has no hindsight.
        """
        self.sums = None
        if self.pages is None:
            self.missing = f"there are more than {MAX_DENSE} features, and rows were not kept"

    def complete(self, moment: Moment, features: int, last: bool = False) -> None:
        """Add hindsight to a moment, if it is cheap or the last."""
        if self.recorder.weighted or self.keep == "nothing":
            return
        if self.sums is not None and (last or self.due(moment.rounds, features)):
            self.solved = moment.rounds
            self.look_back(moment, self.sums)
        elif self.sums is None:
            moment.bound = self.so_far(moment)

    def look_back(self, moment: Moment, sums: LeastSquares | Factor) -> None:
        """Add hindsight to a moment."""
        moment.sums, moment.rows_kept = sums, self.pages is not None
        moment.hindsight = moment.least_loss() if self.free else None
        moment.bound = self.so_far(moment)
        moment.sums = None

    def curve(self) -> Curve:
        """Return the curve; points that the sums do not give are computed from the rows."""
        if not self.playing:
            self.complete_from_rows()
        return curve_of(self.moments)

    def complete_from_rows(self) -> None:
        """Add hindsight to the moments that the sums do not give it to, if rows are kept."""
        lost = [m for m in self.moments if math.isnan(m.hindsight or 0) or math.isnan(m.bound or 0)]
        if lost and self.pages is not None and self.curve_rows < self.entered:
            self.curve_rows = self.entered
            found = factors(self.pages.blocks(), [moment.rounds for moment in lost])
            for moment, factor in zip(lost, found, strict=False):
                self.look_back(moment, factor)

    def due(self, rounds: int, features: int) -> bool:
        """Return whether to compute hindsight again, which is rare enough to be cheap."""
        pause = 1
        if features > MAX_CURVE_FEATURES:
            pause = max(features // 2, features**3 // SOLVED_PER_ROW, self.solved // 10)
        return self.sums is not None and rounds >= self.solved + pause

    # State.

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles, with the pages and the recorder's notes."""
        if self.playing:
            raise NoRegretError("this game is being played", "pickle or copy it when it is over")
        passing = {"backstage": None, "told": None, "kept_at": None}
        return vars(self) | passing | {"recorder": self.recorder.get_state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.recorder = Recorder(self.learner.engine, self.take)
        for measure, limit in self.watched:
            self.recorder.watch(measure, limit)
        self.recorder.set_state(*state["recorder"])

    def catch_up(self) -> None:
        """Wait until all pages so far are processed; the game continues."""
        if self.backstage is not None:
            self.backstage.catch_up()

    # When it is over, or paused.

    def settle(self) -> None:
        """Complete the record of all rounds so far, or mark it as incomplete."""
        try:
            self.finish()
        finally:
            self.learner._entry.record(None)
            self.told, self.playing = None, False
            self.books = books_of(self.learner, self.recorder)
            rounds = self.books.rounds - self.before
            if self.digested != rounds or self.entered != rounds:
                self.broken = f"only {min(self.digested, self.entered)} of {rounds} rounds"

    def finish(self) -> None:
        """Process everything that is queued."""
        self.recorder.hand_over()
        if self.backstage is not None:
            backstage, self.backstage = self.backstage, None
            try:
                backstage.catch_up()
            finally:
                backstage.close()
        self.close_small()
        rounds = self.learner.rounds - self.before
        if rounds > (self.moments[-1].rounds if self.moments else 0):
            self.moments.append(self.moment())
            self.provisional = True
        if self.moments and self.moments[-1].bound is self.moments[-1].hindsight is None:
            self.complete(self.moments[-1], self.learner.engine.size, last=True)

    def digest_text(self) -> str:
        """Return the digest of all rows so far."""
        self.check()
        books = self.books
        return self.digest.text(books.rounds - self.before, books.features, books.names)

    def check(self) -> None:
        """Raise an error if the record is incomplete."""
        if self.playing:
            raise NoRegretError("this game is being played", "ask when it is over")
        if self.keep == "nothing":
            raise NoRegretError("no record of this game was kept", "play with keep='auto'")
        if self.broken is not None:
            raise NoRegretError(
                f"the record of this game is incomplete ({self.broken}), as something"
                " interrupted it",
                "play the game again",
            )
        if self.recorder.weighted:
            raise NoRegretError(
                f"round {self.recorder.weighted} has an importance other than 1: certificates are"
                " about rounds that all count the same"
            )

    def open_books(self, told: Callable[[], None]) -> None:
        """Record the learner from now on; ``told`` is called for every page.

        If the game was paused, the point of the pause is removed from the curve.
        """
        if self.learner.rounds != self.books.rounds:
            raise NoRegretError(
                "the learner has learned outside this game since",
                "play a new one, or a copy of the learner next time",
            )
        if self.provisional:
            self.provisional = False
            self.moments.pop()
        if self.keep != "nothing":
            self.learner._entry.record(self.recorder)
        self.told, self.playing = told, True

    def rows(self, features: int = 0) -> Rows | None:
        """Return the stored rows; None if they were not stored."""
        if self.held is not None:
            return self.held
        if self.pages is None:
            return None
        width = max(features, self.books.features)
        sparse = self.pages.sparse_rows(width)
        if sparse is not None:
            return sparse
        if self.pages.spilled:
            return Rows(source=self.pages.blocks, features=width)
        rows = Rows(features=width)
        for X, y in self.pages.blocks():
            rows.add(X, y)
        return rows
