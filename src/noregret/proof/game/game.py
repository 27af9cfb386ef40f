"""Playing a learner against a stream, and recording the game.

game = play(WidrowHoff(rate=0.1), stream)
game.certificate()
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.model_file import digest_of
from noregret.errors import NoRegretError
from noregret.hindsight import Limits
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.linear import inputs, learn_many
from noregret.linear.data_frames import split_target
from noregret.linear.engine.block_rows import play_pairs
from noregret.linear.learner import Learner, Measurement
from noregret.proof.certificates.certificate import Start
from noregret.proof.game.play_blocks import Played, acquaint, play_block
from noregret.proof.game.played_game import PlayedGame
from noregret.proof.game.progress import Progress
from noregret.proof.record.figures import Books, books_of
from noregret.proof.record.ledger import MEMORY, Keep, Ledger
from noregret.proof.record.moment import Curve, Moment
from noregret.streams.block import Block
from noregret.streams.stream import Reading, Stream

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence
    from noregret.proof.theorems.theorem import Theorem

Floats = NDArray[np.float64]
G_co = TypeVar("G_co", covariant=True)
# Pairs per request, between checks of the clock.
PAIRS = 1_024


class Game(PlayedGame):
    """A learner and the ledger of its rounds. Made by ``play``.

    Parameters
    ----------
    learner
        The learner, which may continue to learn.
    keep
        What to store for hindsight: ``rows``, ``sums`` (enough for the square loss), ``auto``, or
        ``nothing`` for a game without a certificate.
    memory
        Bytes of rows to hold in memory.
    predictions, progress
        As in ``PlayedGame``.
    kept_at
        A file for the rows that outlives this process, for checkpoints.
    """

    ledger_kind: type[Ledger] = Ledger
    learner: Learner

    def __init__(
        self,
        learner: Learner,
        *,
        keep: Keep = "auto",
        memory: int = MEMORY,
        predictions: bool = False,
        progress: bool | None = None,
        kept_at: str | None = None,
    ) -> None:
        if not isinstance(learner, Learner):
            raise TypeError(f"play a learner, such as WidrowHoff(): got {learner!r}")
        if keep not in ("auto", "rows", "sums", "nothing"):
            raise ValueError(f"keep must be auto, rows, sums or nothing: got {keep!r}")
        super().__init__(predictions, progress)
        self.learner = learner
        self._start: Start | None = None
        if learner.rounds and keep != "nothing":
            self._start = Start(learner.rounds, digest_of(learner))
        self.reading: Reading | None = None
        self._covering = covering(learner)
        self.ledger = self.ledger_kind(
            learner,
            keep,
            so_far=self._bound_so_far,
            needs_rows=any(t.needs_rows for t in self._covering) or takes_rows(learner.params),
            free=compared_with_all(learner.params),
            memory=memory,
            kept_at=kept_at,
        )
        for theorem in self._covering:
            for assumption in theorem.assumptions:
                if watched := assumption.limit_of(learner.params):
                    self.ledger.watch(*watched)

    # Playing.

    def play(self, stream: Any, outcomes: Any = None, *, target: str | None = None) -> Game:
        """Play more examples, given as in ``noregret.play``."""
        self.answers.clear()
        stream, outcomes, target = self._source(stream, outcomes, target)
        rows = inputs.row_count(stream) if hasattr(stream, "__len__") else None
        with self.recorded(rows):
            if target is not None:
                stream, outcomes = split_target(stream, target)
            if isinstance(stream, Stream):
                if stream.options.id is not None:
                    raise NoRegretError(
                        "outcomes that come later, joined by an id, are for the command and for"
                        " Service: a game has the outcome of each row at once",
                        "leave id out",
                    )
                self.play_blocks(stream.reading())
            elif outcomes is not None:
                self._play_table(stream, outcomes)
            else:
                self._play_stream(stream)
        return self

    @contextmanager
    def recorded(self, rows: int | None = None) -> Iterator[None]:
        """Record the learner; complete the record whatever happens."""
        progress = Progress(self.learner, rows, self._progress)
        self.ledger.open_books(progress.look)
        try:
            with progress:
                yield
        except BaseException:
            # Complete the record as far as possible; the error that stopped the game matters more.
            with suppress(Exception):
                self._settle()
            raise
        self._settle()

    def _settle(self) -> None:
        """Complete the record, and stop recording the learner."""
        try:
            self.ledger.settle()
        finally:
            self.answers.clear()

    def _play_table(self, X: Any, y: Any) -> None:
        if self._predictions is None:
            self.learner.learn_many(X, y)
            return
        scores = np.full(inputs.row_count(X), np.nan)
        before = self.learner.rounds
        try:
            learn_many.play(self.learner._entry, X, y, scores)
        finally:
            self._predictions.append(scores[: self.learner.rounds - before])

    def _play_stream(self, stream: Any) -> None:
        if isinstance(stream, np.ndarray) or hasattr(stream, "tocsr"):
            raise TypeError("a table needs its outcomes: play(learner, X, y)")
        if hasattr(stream, "columns") or hasattr(stream, "column_names"):
            raise TypeError(
                "a data frame needs its outcomes: play(learner, frame, target='column')"
                " or play(learner, frame, y)"
            )
        if isinstance(stream, tuple) and len(stream) == 2 and is_table(stream[0]):
            self._play_table(*stream)
            return
        try:
            pairs = iter(stream)
        except (TypeError, NotImplementedError):  # the latter of a memory view in two dimensions
            raise TypeError(
                f"play a stream of (x, y) pairs, or a table with its outcomes: got"
                f" {inputs.kind_of(stream)}"
            ) from None
        nothing = object()
        first = next(pairs, nothing)
        if first is nothing:
            return
        pairs = chain([first], pairs)
        if isinstance(first, tuple) and len(first) == 2 and is_block(*first):
            for X, y in pairs:
                self._play_table(X, y)
            return
        self._play_pairs(pairs)

    def play_blocks(
        self,
        reading: Reading,
        blocks: Iterable[Block] | None = None,
        observe: Callable[[Block, Played], None] | None = None,
        scored: bool = False,
    ) -> None:
        """Play a pass through a stream, while the game is being recorded.

        Parameters
        ----------
        reading
            The pass.
        blocks
            Its blocks, if the first was taken from it already.
        observe
            Called after each block with its result; a block that an error ends has the rows before
            it. Without an observer, skipped rows are added to ``skipped``.
        scored
            True if the observer needs the scores.
        """
        self.reading = reading
        self.describe(reading.stream.transforms, reading.stream.target)
        acquaint(self.learner, reading)
        scored = scored or self._predictions is not None
        try:
            for block in reading if blocks is None else blocks:
                scores = np.full(len(block), np.nan) if scored else None
                try:
                    done, played = play_block(self.learner, reading, block, scores)
                finally:
                    self._keep(None if scores is None else scores[block.labelled])
                if observe is None:
                    self.skipped += played.refused
                else:
                    observe(done, played)
                if played.error is not None:
                    raise played.error
        finally:  # with what was detected meanwhile
            reading.close()
            self.describe(reading.transforms, reading.stream.target)
        if not reading.named:
            self.names = reading.feature_names(self.learner.engine.size)

    def _keep(self, scores: Floats | None) -> None:
        """Keep the scores of played rows, if predictions are wanted."""
        if self._predictions is not None and scores is not None:
            self._predictions.append(scores[~np.isnan(scores)])

    def _play_pairs(self, pairs: Iterator[Any]) -> None:
        learner, full = self.learner, PAIRS
        while full == PAIRS:
            scores = None if self._predictions is None else np.full(PAIRS, np.nan)
            try:
                full = play_pairs(learner._entry, pairs, PAIRS, scores)
            finally:
                self._keep(scores)
            if self.ledger.told is not None:
                self.ledger.told()

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example, while the game is being recorded."""
        self.learner.learn_one(x, y)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn from many examples, while the game is being recorded."""
        self.learner.learn_many(X, y)

    # The figures.

    @property
    def rounds(self) -> int:
        """The number of rounds played."""
        return self._now.rounds - self.ledger.before

    @property
    def loss(self) -> float:
        """The learner's cumulative loss."""
        return self._now.loss - self.ledger.loss_before

    @property
    def mistakes(self) -> int:
        """The number of labels predicted wrongly."""
        return self._now.mistakes - self.ledger.mistakes_before

    @property
    def measured(self) -> dict[str, Measurement]:
        """The measured quantities that theorems make assumptions about."""
        return self._now.measured

    @property
    def _now(self) -> Books:
        """The record; during the game, the current figures of the learner."""
        ledger = self.ledger
        return books_of(self.learner, ledger.recorder) if ledger.playing else ledger.books

    @property
    def digest(self) -> str:
        """A digest of the data: the same numbers give the same digest in any format."""
        return self.ledger.digest_text()

    @property
    def predictions(self) -> NDArray[Any]:
        """Every prediction, made before its outcome was seen."""
        return learn_many.answers(self.learner._entry, super().predictions)

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, as users know them."""
        return list(self.names or self.learner.features)

    @property
    def curve(self) -> Curve:
        """Loss, regret and bound over time."""
        return self.ledger.curve()

    def _bound_so_far(self, moment: Moment) -> float | None:
        for theorem in self._covering:
            if theorem.so_far is None or self.ledger.before:
                continue
            if all(a.may_hold(moment) for a in theorem.assumptions):
                return theorem.so_far(moment)
        return None

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transforms of the data, and the classes behind their numbers."""
        return tuple(dict.fromkeys([*self._transforms, *self.learner._notes()]))

    # The proof.

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return self.learner.engine.loss.name

    @property
    def counted_mistakes(self) -> int | None:
        """The number of mistakes; None if outcomes are not labels."""
        return self.mistakes if self.learner.engine.loss.labels else None

    @property
    def width(self) -> int:
        """The number of features seen."""
        return self.ledger.books.features

    @property
    def start(self) -> Start | None:
        """The trained model that the game began with; None if the learner was untrained."""
        return self._start

    @property
    def averaged(self) -> bool:
        """True if ``noregret.averaged`` makes the learner predict with the mean of its weights."""
        return self.learner.engine.mean_kept and not self.learner.params.get("averaged")

    def check(self) -> None:
        """Raise an error if the record of the game is incomplete."""
        self.ledger.check()

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> Evidence:
        """Return the evidence for theorems."""
        found = self.answers if answers is None else answers
        kind = self.learner._evidence_kind()
        return kind(self.ledger, given, limits, found, self.names)

    def from_sums(self) -> Game | None:
        """Return this game with only sums over its rows."""
        pages = self.ledger.pages
        if not self.ledger.square or pages is None or self.width > MAX_DENSE:
            return None
        summed = Game(self.learner.clone(), keep="sums", progress=False)
        with summed.recorded():  # so that they are summed in the same blocks
            for X, y in pages.blocks():
                summed.learn_many(X, y)
        other, books = copy.copy(self), copy.copy(self.ledger)
        books.sums, books.pages = summed.ledger.sums, None
        other.ledger, other.answers = books, {}
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles: enough for certificates, and to play on."""
        return vars(self) | {"answers": {}, "reading": None, "_covering": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._covering = covering(self.learner)


def takes_rows(params: Mapping[str, Any]) -> bool:
    """Return whether certificates of such a learner need the rows, not only sums over them."""
    return params.get("domain") == "box" or "kernel" in params


def covering(learner: Learner) -> list[Theorem]:
    """Return the theorems that are about a learner of these parameters."""
    return [theorem for theorem in learner.theorems if theorem.covers(learner.params)]


def compared_with_all(params: Mapping[str, Any]) -> bool:
    """Return whether a learner with these parameters is compared with all linear predictors."""
    bounded = "weight" in params and params.get("regulariser") != "euclidean"
    bounded = bounded or "kernel" in params
    return params.get("radius") is None and not bounded


def is_block(x: Any, y: Any) -> bool:
    """Return whether x holds many rows and y their outcomes."""
    return is_table(x) and (hasattr(y, "__len__") or getattr(y, "ndim", 0) > 0)


def is_table(x: Any) -> bool:
    """Return whether x holds many rows."""
    if isinstance(x, list):
        return bool(x) and isinstance(x[0], Mapping)
    shape = getattr(x, "shape", None)
    return (shape is not None and len(shape) == 2) or hasattr(x, "column_names")


class Player(Protocol[G_co]):
    """An algorithm that can create a game to play in."""

    def _new_game(self, **options: Any) -> G_co:
        """Return it."""
        ...


def play(
    learner: Player[G_co],
    stream: Any,
    outcomes: Any = None,
    *,
    target: str | None = None,
    predictions: bool = False,
    keep: Keep = "auto",
    memory: int = MEMORY,
    progress: bool | None = None,
    keys: Any = None,
) -> G_co:
    """Play a learner against a stream and return the game: the figures, and the certificate.

    Parameters
    ----------
    learner
        The learner, which predicts each outcome before it learns from it. Other families
        (``experts``, ``bandits``, ``portfolios``) play the rows of a table, with or without
        outcomes; ``filters`` play two signals.
    stream
        Pairs (x, y), each requested after those before it have been learned; or blocks, pairs of
        a table and its outcomes; or a table: a 2-d array, a SciPy sparse matrix, a data
        frame or a list of dicts; or the path of a file that ``noregret.streams`` reads.
    outcomes
        One outcome per row, for a table.
    target
        The column that holds the outcomes, for a data frame or a file.
    predictions
        If True, keep the predictions.
    keep
        What to store for hindsight. ``rows``: every row, in memory up to ``memory`` bytes and in a
        temporary file beyond. ``sums``: sums over the rows, which are enough for the square loss.
        ``auto``: rows; with the square loss and many rows, sums.
        ``nothing``: the game has no certificate.
    memory
        Bytes of rows to hold in memory.
    progress
        If True, show a progress bar; by default on a terminal after a second.
    keys
        For ``Groups``: the key of each row of a table; or, for a data frame or a file, the column
        that has them, or a tuple of several. A stream has triples (key, x, y) instead.

    Examples
    --------
    >>> from noregret import WidrowHoff, play
    >>> game = play(WidrowHoff(rate=0.5), [({"size": 1.0}, 2.0)] * 20)
    >>> game.rounds, round(game.loss, 3)
    (20, 5.333)
    >>> certificate = game.certificate()
    >>> certificate.theorem.name, certificate.theorem.holds
    ('widrow-hoff', True)
    """
    if not hasattr(learner, "_new_game") or isinstance(learner, type):
        raise TypeError(f"play a learner, such as WidrowHoff(): got {learner!r}")
    options = {"keep": keep, "memory": memory, "predictions": predictions, "progress": progress}
    if keys is not None and isinstance(learner, Learner):
        raise TypeError("keys are for Groups(learner), which has a learner per key")
    game: Any = learner._new_game(**options)
    told: dict[str, Any] = {} if keys is None else {"keys": keys}
    played: G_co = game.play(stream, outcomes, target=target, **told)
    return played
