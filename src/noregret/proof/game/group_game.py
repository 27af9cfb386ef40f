"""Games with one learner per key, and their certificate.

A second learner plays the rows of all keys together. Its ledger has all rows, so that the best
predictor for all keys is found as in any game; the best of each key is found from the same rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.hindsight.proofs.answer import Limits
from noregret.linear import inputs
from noregret.linear.data_frames import split_target
from noregret.linear.groups import Groups
from noregret.linear.keyed_rows import Key, rows_by_key, taken
from noregret.proof.game.game import Game
from noregret.proof.game.grouping import Grouping
from noregret.proof.game.play_blocks import Played, acquaint, play_block
from noregret.proof.record.ledger import MEMORY, Keep
from noregret.streams.block import Block, only
from noregret.streams.stream import Reading, Stream

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.proof.certificates.groups import Grouped

Codes = NDArray[np.int64]


class GroupGame(Game):
    """A game with one learner per key. Made by ``play`` for ``Groups``.

    Parameters
    ----------
    groups
        The learners, which have learned nothing yet.
    columns
        The columns that name the key of each row, for files.
    keep, memory, predictions, progress
        As in ``play``; rows are always kept, and predictions are not.
    """

    def __init__(
        self,
        groups: Groups | Grouping,
        columns: Iterable[str] = (),
        *,
        keep: Keep = "auto",
        memory: int = MEMORY,
        predictions: bool = False,
        progress: bool | None = None,
    ) -> None:
        self.grouping = groups if isinstance(groups, Grouping) else Grouping(groups, [*columns])
        if self.groups.rounds:
            raise NoRegretError("these groups have learned before this game", "play new ones")
        if keep not in ("auto", "rows") or predictions:
            raise ValueError("a game of groups keeps the rows, and no predictions")
        learner = self.groups.learner.clone()
        super().__init__(learner, keep="rows", memory=memory, progress=progress)
        self.grouping.record = self._take
        self.patient = False  # whether to search all keys, however long it takes
        # Keys that must be shown to meet a theorem's assumptions once one does not; None for all.
        self.promises_wanted: int | None = None
        self.searched_bound = False  # whether that of a key depends on where a search stopped
        self._codes: list[NDArray[np.uint32]] = []  # the number of each row's key
        # The numbers of all rows when they were last looked at, and the order of their appearance.
        self._order: tuple[NDArray[np.uint32], NDArray[np.uint32]]
        self._order = np.zeros(0, np.uint32), np.zeros(0, np.uint32)
        self._refusal: NoRegretError | None = None

    @property
    def groups(self) -> Groups:
        """The learners."""
        return self.grouping.groups

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name the key of each row."""
        return self.grouping.keys.columns

    # Playing.

    def play(
        self, stream: Any, outcomes: Any = None, *, target: str | None = None, keys: Any = None
    ) -> GroupGame:
        """Play more examples.

        Parameters
        ----------
        stream
            Triples (key, x, y), or a table, or the path of a file.
        outcomes, target
            As in ``noregret.play``.
        keys
            For a table, the key of each row; for a data frame or a file, the column that has them,
            or a tuple of several.
        """
        self.answers.clear()
        named = keys if isinstance(keys, tuple) else (keys,)
        named = named if all(isinstance(name, str) for name in named) else ()
        options: dict[str, Any] = {"passed": named, "drop": named} if named else {}
        stream, outcomes, target = self._source(stream, outcomes, target, **options)
        if named and (isinstance(stream, Stream) or hasattr(stream, "shape")):
            self.grouping.keys.columns = named
        rows = inputs.row_count(stream) if hasattr(stream, "__len__") else None
        with self.recorded(rows):
            if isinstance(stream, Stream):
                if not named:
                    raise TypeError("name the column of the keys: play(groups, file, keys='shop')")
                self.play_blocks(stream.reading())
            elif keys is not None:
                if target is not None:
                    stream, outcomes = split_target(stream, target)
                self._play_keyed(stream, outcomes, named[0] if len(named) == 1 else keys)
            else:
                self._play_triples(stream)
        return self

    def play_blocks(
        self,
        reading: Reading,
        blocks: Iterable[Block] | None = None,
        observe: Callable[[Block, Played], None] | None = None,
        scored: bool = True,
    ) -> None:
        """Play a pass through a stream, while the game is being recorded; see ``Grouping.play``."""

        def skip(block: Block, played: Played) -> None:
            self.skipped += played.refused

        acquaint(self.learner, reading)
        source = reading if blocks is None else blocks
        self.grouping.play(reading, source, observe or skip)

    def _take(self, reading: Reading, block: Block, codes: Codes, kept: NDArray[np.bool_]) -> None:
        """Record the rows of a block that their groups have learned."""
        self.reading = reading
        self.describe(reading.transforms, reading.stream.target)
        learned = kept & block.labelled
        if self._refusal is not None or not learned.any():
            return
        rows = only(replace(block, tags=None, faults=[]), learned)
        _, played = play_block(self.learner, reading, rows)
        self._refusal = next(iter([*played.refused, *filter(None, [played.error])]), None)
        self._codes.append(codes[learned].astype(np.uint32))
        if not reading.named:
            self.names = reading.feature_names(self.learner.engine.size)

    def _play_triples(self, stream: Any) -> None:
        for triple in stream:
            if not isinstance(triple, tuple) or len(triple) != 3:
                raise TypeError(
                    "play groups with triples (key, x, y), or with a table and the keys of its"
                    f" rows: play(groups, X, y, keys=…): got {inputs.kind_of(triple)}"
                )
            self.learn_keyed(*triple)

    def learn_keyed(self, key: Key, x: Any, y: Any) -> None:
        """Learn from one example of a key, while the game is being recorded."""
        self._learn(key, lambda learner: learner.learn_one(x, y))
        self.learner.learn_one(x, y)
        self._note([key])

    def _play_keyed(self, X: Any, y: Any, keys: Any) -> None:
        X, keys = self.groups._apart(X, keys)
        if y is None or len(y) != len(keys):
            raise ValueError(f"{len(keys)} rows, but {0 if y is None else len(y)} outcomes")
        y = np.asarray(y)
        for key, rows in rows_by_key(keys):
            self._learn(key, partial(learned_from, taken(X, rows), y[rows]))
        self.learner.learn_many(X, y)
        self._note(keys)

    def _note(self, keys: list[Key]) -> None:
        """Note the keys of rows that were learned, as their learners have them."""
        numbers = (self.grouping.keys.code(self.groups._named(key)) for key in keys)
        self._codes.append(np.fromiter(numbers, dtype=np.uint32, count=len(keys)))

    def _learn(self, key: Key, learn: Callable[[Any], Any]) -> None:
        """Let the learner of a key learn, and count its rounds and losses."""
        grouping = self.grouping
        with self.groups.using(key) as learner:
            before = learner.rounds, learner.total_loss, learner.mistakes
            try:
                learn(learner)
            finally:
                grouping.rounds += learner.rounds - before[0]
                grouping.loss += learner.total_loss - before[1]
                grouping.mistakes += learner.mistakes - before[2]

    def _settle(self) -> None:
        """Complete the record with the losses of the keys' own learners."""
        super()._settle()
        told = self.grouping
        # A sum over keys, which does not depend on the order of the rows that were played together.
        told.loss = self.groups.total_loss
        self.ledger.books = self.ledger.books._replace(loss=told.loss, mistakes=told.mistakes)

    # The figures.

    @property
    def codes(self) -> NDArray[np.uint32]:
        """The number of each row's key, in order of appearance."""
        found = self._appeared()
        ranks = np.zeros(max(found.tolist(), default=-1) + 1, np.uint32)
        ranks[found] = np.arange(len(found), dtype=np.uint32)
        return ranks[self._codes[0]]

    @property
    def keys(self) -> list[Key]:
        """The keys, in order of appearance."""
        return [self.grouping.keys.names[code] for code in self._appeared().tolist()]

    def _appeared(self) -> NDArray[np.uint32]:
        """Return the numbers that were noted, in order of appearance."""
        if len(self._codes) != 1 or self._order[0] is not self._codes[0]:
            self._codes = [np.concatenate([np.zeros(0, np.uint32), *self._codes])]
            used, first = np.unique(self._codes[0], return_index=True)
            self._order = self._codes[0], used[np.argsort(first)]
        return self._order[1]

    @property
    def key_digest(self) -> str:
        """A digest of the key of every row, in order."""
        names = [[str(part) for part in (k if isinstance(k, tuple) else (k,))] for k in self.keys]
        text = json.dumps(names, ensure_ascii=False, separators=(",", ":"))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32)
        digest.update(self.codes.astype("<u4").tobytes())
        return f"blake2b:{digest.hexdigest()}"

    # The proof.

    @property
    def promises(self) -> bool:
        """False: the theorems are about the game of each key."""
        return False

    def check(self) -> None:
        """Raise an error if the record of the game is incomplete."""
        super().check()
        if self._refusal is not None:
            raise NoRegretError(
                "one learner for all groups, whose game the rows are recorded in, refused a row:"
                f" {self._refusal}"
            )
        if self.grouping.keys.era:
            raise NoRegretError("there are too many groups for a certificate")
        if not self.learner.rounds == self.grouping.rounds == sum(map(len, self._codes)):
            raise NoRegretError(
                "the record of this game is incomplete, as something interrupted it",
                "play the game again",
            )

    def from_sums(self) -> None:
        """Return None: the keys' own best predictors need the rows."""

    def per_key(self, theorem: str | None, limits: Limits) -> Grouped:
        """Return the best predictor of each key, and the theorem's promise."""
        from noregret.proof.game.best_per_key import best_per_key

        asked = "per key", theorem, limits.tolerance
        if not self.patient:  # what is found depends on the time
            self.answers.pop(asked, None)
        if asked not in self.answers:
            self.answers[asked] = best_per_key(self, limits, theorem)
        found: Grouped = self.answers[asked]
        return found

    def __getstate__(self) -> Mapping[str, Any]:  # type: ignore[override]
        raise TypeError("a game of groups cannot be copied or pickled")


def learned_from(X: Any, y: Any, learner: Learner) -> None:
    """Let a learner learn many examples."""
    learner.learn_many(X, y)
