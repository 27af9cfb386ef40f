"""Learners on shards of one stream, with one certificate for all rows.

Each learner has its own part of the rows, and its own theorem, against every u: the sum of their
losses is at most the sum of their bounds at one u, the best for all rows together. So nothing about
the shards need be trusted, and averaging their weights is not needed, which has no such theorem.
Learners without a theorem of this kind have a loss and a regret, and no bound.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.hindsight import LeastSquares, Limits
from noregret.hindsight.blocks import padded
from noregret.hindsight.losses import is_square
from noregret.hindsight.rows import Rows
from noregret.linear.fixed_predictor import FixedPredictor
from noregret.linear.learner import Learner, Measurement
from noregret.proof.certificates.certifiable import Certifiable
from noregret.proof.game.game import Game, covering, takes_rows
from noregret.proof.record.figures import Books
from noregret.proof.record.ledger import MEMORY, Ledger
from noregret.proof.record.pages import Pages
from noregret.proof.record.parts_digest import Part, PartsDigest, parts_of, reduced
from noregret.proof.theorems.evidence import Evidence
from noregret.proof.theorems.shards import shard_theorems

Floats = NDArray[np.float64]


class Sharded:
    """A learner of which there is one per shard.

    Parameters
    ----------
    learner
        The learner, untrained. Without a theorem about shards, no bound is claimed for them.
    """

    def __init__(self, learner: Learner) -> None:
        if not isinstance(learner, Learner) or learner._evidence_kind() is not Evidence:
            raise ValueError(
                f"shards are for learners of numbers and of two classes, with a weight per feature:"
                f" not for {type(learner).__name__}; let one learner play all rows"
            )
        self.learner = learner
        self.theorems = shard_theorems(learner)

    @property
    def name(self) -> str:
        """The name of the learner."""
        return self.learner.name

    @property
    def family(self) -> str:
        """The family of the learner."""
        return self.learner.family

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters of the learner."""
        return self.learner.params

    @property
    def square(self) -> bool:
        """True for the square loss, for which sums over the rows may do."""
        return is_square(self.learner.engine.loss)

    @property
    def needs_rows(self) -> bool:
        """True if certificates need the rows, not only sums over them."""
        found = any(theorem.needs_rows for theorem in covering(self.learner))
        return not self.square or found or takes_rows(self.params)

    def game(self) -> Game:
        """Return a game for a shard, played by a new learner."""
        return Game(self.learner.clone(), keep="sums" if self.square else "rows", progress=False)

    def __repr__(self) -> str:
        return f"shards of {self.learner!r}"


@dataclass
class Shard:
    """The result of one shard: the figures of its game, the sums over its rows, their digest.

    ``first_over`` has the round in which a measurement first exceeded a limit, ``expected`` the
    features known in the first round, and ``first_late`` the round in which another one joined.
    There are sums for the square loss only.
    """

    books: Books
    sums: LeastSquares | None
    part: Part
    first_over: dict[tuple[str, float], int | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    expected: int = 0
    first_late: int | None = None

    @classmethod
    def of(cls, game: Game) -> Shard:
        """Return the result of a game."""
        ledger = game.ledger
        ledger.check()
        recorder = ledger.recorder
        first = {
            watched: recorder.first_violation(number)
            for number, watched in enumerate(ledger.watched)
        }
        (part,) = parts_of(ledger.digest, game.rounds)
        notes, known = game.learner._notes(), (recorder.expected, recorder.first_late)
        return cls(ledger.books, ledger.sums, part, first, notes, *known)


class ShardsGame(Certifiable):
    """The games of all shards as one.

    Parameters
    ----------
    learner
        The learner, one of which played each shard.
    shards
        The results, in the order of the rows.
    learners
        The learners at the end of their shards, if they are wanted.
    pages
        The rows of all shards, if they were kept.
    """

    def __init__(
        self,
        learner: Sharded,
        shards: Sequence[Shard],
        learners: Sequence[Learner] = (),
        pages: Pages | None = None,
    ) -> None:
        super().__init__()
        self.learner: Sharded = learner
        self.shards, self.learners = list(shards), list(learners)
        self.read: Any = None  # how rows are read, for models that read more of them
        # Of other losses there are no sums: their rows are kept here, or others hold them.
        rows = pages is not None or not learner.square
        self.ledger = Ledger(learner.learner.clone(), "rows" if rows else "sums")
        ledger, books = self.ledger, books_of([shard.books for shard in shards])
        ledger.books, ledger.pages = books, pages
        ledger.digested = ledger.entered = books.rounds
        ledger.digest = PartsDigest([shard.part for shard in shards])
        ledger.sums = None if pages is not None else self.merged()

    def merged(self) -> LeastSquares | None:
        """Return the sums over all rows, merged over a tree that depends on the shards only."""
        sums, width = [shard.sums for shard in self.shards], self.ledger.books.features
        wide = [LeastSquares(width).merge(each) for each in sums if each is not None]
        if len(wide) < len(sums):
            return None
        return reduced(wide, lambda left, right: left.merge(right))

    def hold(self, rows: Rows) -> None:
        """Use rows that others hold, in place of the sums."""
        self.ledger.held, self.ledger.sums = rows, None

    def merge(self, other: ShardsGame) -> ShardsGame:
        """Return the game of the shards of both, those of the other last; neither game changes.

        Its certificate is about all rows, and is verified with the data of both, in this order.

        Parameters
        ----------
        other
            A game of the same learner, whose rows have the same features and were read in the same
            way, perhaps on another machine.
        """
        one, two = self.learner.learner, other.learner.learner
        if type(one) is not type(two) or one.params != two.params:
            raise ValueError(f"shards of {one!r} merge only with shards of the same: got {two!r}")
        for what, mine, yours in (
            ("the features differ", self.feature_names, other.feature_names),
            ("rows were read in other ways", self.transforms, other.transforms),
            ("the outcomes are in other columns", self.target, other.target),
        ):
            if mine != yours:
                raise NoRegretError(
                    f"{what}, so these shards do not read as one stream: {mine}, and {yours}",
                    "play all files at once",
                )
        here, there, pages = self.ledger.pages, other.ledger.pages, None
        if (here is None) != (there is None):
            raise NoRegretError(
                "one game has kept the rows, and the other sums over them",
                "play both with keep='rows', or both with keep='sums'",
            )
        if here is not None and there is not None:
            pages = Pages(MEMORY)
            pages.take(here)
            pages.take(there)
        shards, learners = [*self.shards, *other.shards], [*self.learners, *other.learners]
        found = ShardsGame(self.learner, shards, learners, pages)
        found.read = self.read
        found.describe(self.transforms, self.target, self.names)
        return found

    @property
    def rounds(self) -> int:
        """The number of rows in all shards."""
        return self.ledger.books.rounds

    @property
    def width(self) -> int:
        """The number of features seen."""
        return self.ledger.books.features

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, as users know them."""
        return list(self.names or self.ledger.books.names or map(str, range(self.width)))

    @property
    def digest(self) -> str:
        """A digest of the data, a tree over the shards."""
        return self.ledger.digest_text()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The shards."""
        return tuple(shard.part for shard in self.shards)

    @property
    def sharded(self) -> int:
        """The number of shards."""
        return len(self.shards)

    @property
    def loss(self) -> float:
        """The sum of the losses of all shards."""
        return self.ledger.books.loss

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return self.learner.learner.engine.loss.name

    def check(self) -> None:
        """Raise an error if the record of the game is incomplete."""
        self.ledger.check()

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> ShardsEvidence:
        """Return the evidence for the theorem."""
        found = self.answers if answers is None else answers
        return ShardsEvidence(self, given, limits, found)

    def from_sums(self) -> ShardsGame | None:
        """Return this game with only sums over its rows, if these may do."""
        if not self.learner.square:
            return None
        other = copy.copy(self)
        other.ledger, other.answers = copy.copy(self.ledger), {}
        other.ledger.sums, other.ledger.pages, other.ledger.held = self.merged(), None, None
        return other


class ShardsEvidence(Evidence):
    """The evidence of all shards for the theorem.

    Accounts of learners are the sums of those of all shards.
    """

    def __init__(
        self, game: ShardsGame, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any]
    ) -> None:
        super().__init__(game.ledger, given, limits, answers, game.names)
        self.shards = game.shards

    def each(self) -> list[OneShard]:
        """Return the evidence of each shard."""
        return [OneShard(self, shard) for shard in self.shards]

    def accounts(self, name: str) -> list[Floats]:
        """Return an account of each learner, with zeros for features that it has not met."""
        found = [np.asarray(shard.books.accounts[name]) for shard in self.shards]
        longest = max(map(len, found))
        return [np.pad(each, (0, longest - len(each))) for each in found]

    def numbered(self) -> Iterator[tuple[int, Shard]]:
        """Yield the shards, each with the number of rows before it."""
        sizes = [shard.part.rounds for shard in self.shards]
        yield from zip([0, *accumulate(sizes)], self.shards, strict=False)

    def first_over(self, measure: str, limit: float) -> int | None:
        """Return the first row in which a measurement exceeded a limit."""
        for before, shard in self.numbered():
            if (first := shard.first_over.get((measure, limit))) is not None:
                return before + first
        return None

    def longest_game(self, horizon: int) -> tuple[int, int | None]:
        """Return the rows of the longest shard, and the first row beyond a horizon."""
        over = (before for before, shard in self.numbered() if shard.part.rounds > horizon)
        first = next(over, None)
        longest = max(shard.part.rounds for shard in self.shards)
        return longest, None if first is None else first + horizon + 1

    def steepest(self) -> tuple[float, int | None]:
        """Return the largest slope, and the first row in which one was above the limit."""
        found = [(before, OneShard(self, shard).steepest()) for before, shard in self.numbered()]
        firsts = (before + first for before, (_, first) in found if first is not None)
        return max(slope for _, (slope, _) in found), next(firsts, None)

    @property
    def late_features(self) -> int:
        """The number of features that some learner did not know in its first round."""
        known = min(shard.expected for shard in self.shards)
        return max(0, self.ledger.books.features - known)

    @property
    def first_late_round(self) -> int | None:
        """The first row in which a learner met another feature, or that of one that never did."""
        width = self.ledger.books.features
        for before, shard in self.numbered():
            if shard.expected < width:
                return before + (shard.first_late or 1)
        return None


class OneShard(Evidence):
    """The evidence of one shard: its own figures, and what is known of the rows of all shards.

    The best in hindsight, the class that it is chosen from, and the limits of measurements are
    those of all shards.
    """

    def __init__(self, whole: ShardsEvidence, shard: Shard) -> None:
        vars(self).update(vars(whole))
        all_books = whole.ledger.books
        self.ledger = copy.copy(whole.ledger)
        self.ledger.books = shard.books._replace(
            features=all_books.features,
            names=all_books.names,
            measured=all_books.measured,
            largest_loss=all_books.largest_loss,
            norm=all_books.norm,
        )


def books_of(books: Sequence[Books]) -> Books:
    """Return the figures of several games as those of one."""
    longest = max(books, key=lambda each: each.features)
    measured = {
        name: Measurement(
            max(each.measured[name].largest for each in books), measurement.limit, None
        )
        for name, measurement in longest.measured.items()
    }
    accounts = dict(longest.accounts)
    for name, account in accounts.items():
        total = np.zeros(max(len(each.accounts[name]) for each in books), np.asarray(account).dtype)
        for each in books:
            total[: len(each.accounts[name])] += each.accounts[name]
        accounts[name] = total
    return Books(
        sum(each.rounds for each in books),
        math.fsum(each.loss for each in books),
        sum(each.mistakes for each in books),
        longest.features,
        longest.names,
        measured,
        math.fsum(each.gradient_squares for each in books),
        max(each.largest_loss for each in books),
        max(each.norm for each in books),
        accounts,
    )


# A replay by one process.


def rows_of(
    learner: Sharded,
    sizes: Sequence[int],
    stream: Any,
    outcomes: Any = None,
    target: str | None = None,
) -> Game:
    """Read data, and keep their rows, digested in shards of these sizes."""
    intake = Game(FixedPredictor(learner.learner.engine.loss), keep="rows", progress=False)
    intake.ledger.digest = PartsDigest(sizes=sizes)
    intake.play(stream, outcomes, target=target)
    intake.ledger.check()
    return intake


def play_shards(
    learner: Sharded,
    parts: Sequence[Part],
    stream: Any,
    outcomes: Any = None,
    target: str | None = None,
) -> ShardsGame:
    """Play the shards of data one after the other, and keep the rows."""
    intake = rows_of(learner, [part.rounds for part in parts], stream, outcomes, target)
    ledger = intake.ledger
    assert isinstance(ledger.digest, PartsDigest)
    assert ledger.pages is not None
    found = ledger.digest.parts
    width, left, games = ledger.books.features, [part.rounds for part in found], list[Game]()
    for rows, y in ledger.pages.blocks():
        X, at = padded(rows, width), 0
        while at < len(y):
            if not games or not left[len(games) - 1]:
                games.append(learner.game())
            count = min(left[len(games) - 1], len(y) - at)
            with games[-1].recorded():
                games[-1].learn_many(X[at : at + count], y[at : at + count])
            left[len(games) - 1] -= count
            at += count
    shards = [Shard.of(game) for game in games]
    for shard, part in zip(shards, found, strict=True):  # of features by name, as they were read
        shard.part = part
    game = ShardsGame(learner, shards, [game.learner for game in games], ledger.pages)
    books = ledger.books
    game.ledger.books = game.ledger.books._replace(features=width, names=books.names)
    game.describe(intake.transforms, intake.target, intake.names)
    return game
