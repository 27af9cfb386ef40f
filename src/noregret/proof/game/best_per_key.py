"""The best predictor of each key in hindsight, and the theorems of the keys, summed over the keys.

For the square loss, the best of many keys are found together from the rows that were recorded.
Where that proves too little, for other losses, and for the theorems, the game of each key is played
again. Rows are gathered for a part of the keys at a time, so that they fit into memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.errors import NoRegretError
from noregret.hindsight.blocks import padded
from noregret.hindsight.losses import is_square, losses_of
from noregret.hindsight.proofs.answer import Answer, Limits
from noregret.hindsight.proofs.deadline import expired, remaining, time_limit
from noregret.hindsight.proofs.rounding import downward, upward
from noregret.hindsight.proofs.witness import BALL, LIMITED_NORM, REACH
from noregret.hindsight.solvers.square_stack import MAX_COLUMNS, LeastLosses, least_losses
from noregret.linear.engine import block_rows
from noregret.linear.learner import is_of_classes
from noregret.proof.certificates.certificate import Certificate, Interval
from noregret.proof.certificates.groups import BestPerKey, Grouped, SummedPromise
from noregret.proof.certificates.issue import candidates, within
from noregret.proof.game.game import Game, compared_with_all
from noregret.proof.theorems.searched import is_searched
from noregret.proof.theorems.theorem import REGRETS, Theorem

if TYPE_CHECKING:
    from noregret.linear.groups import Groups
    from noregret.linear.keyed_rows import Key
    from noregret.linear.learner import Learner
    from noregret.proof.game.group_game import GroupGame
    from noregret.proof.record.pages import Pages

Floats = NDArray[np.float64]
# Keys, their rows and outcomes in the order of the keys, and where those of each key end.
Gathered = tuple[NDArray[np.intp], Any, Floats, NDArray[np.int64]]
# Numbers of rows that are gathered at a time, and at first, as the search may end soon.
MAX_GATHERED, FIRST_GATHERED = 1 << 21, 1 << 16
# Of fewer keys, each game is played again.
MIN_STACKED = 32
# Games that are played again before it is known whether there is time for all.
TRIED = 32
# The least time limit that a certificate states.
MIN_SECONDS = 1e-3
# The relative difference up to which a game that is played again has the same loss.
SAME_LOSS = 1e-9
# Classes of predictors, where each key has a limit of its own.
ALL = "all linear predictors"
UP_TO_A_NORM = "all linear predictors, for some keys up to a norm"
OWN_BALL = "linear predictors up to the norm of the key's last weights"


class Found(NamedTuple):
    """The certificate of one key, and the loss of its learner as it was played.

    ``searched`` tells whether the bound depends on where a search stopped, if that was asked.
    """

    certificate: Certificate
    loss: float
    searched: bool

    @property
    def replayed(self) -> bool:
        """True if the game that was certified has the loss of the one played."""
        again = self.certificate.loss.total
        return abs(again - self.loss) <= SAME_LOSS * max(abs(again), abs(self.loss))


class Sums:
    """Sums over the keys that were searched."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.lowers: list[float] = []
        self.words: set[str] = set()
        self.promises: list[tuple[float | None, float | None]] = []
        self.held = 0  # keys that met the theorem's assumptions
        self.exact, self.cut = True, False
        self.searched = False  # whether a bound depends on where a search stopped

    def add_least(self, found: LeastLosses, keys: NDArray[np.intp]) -> None:
        """Add the least square losses of some keys."""
        self.losses += found.losses[keys].tolist()
        self.lowers += found.lowers[keys].tolist()
        self.words |= {ALL} if len(keys) else set()

    def add(self, found: Found) -> None:
        """Add a key."""
        best = found.certificate.hindsight
        self.losses.append(best.loss)
        self.lowers.append(best.loss - best.gap)
        self.words.add(words_of(best.comparator))
        self.exact = self.exact and best.exact
        self.cut = self.cut or best.seconds is not None
        self.add_promise(found)

    def is_held_by(self, keys: int) -> bool:
        """Return whether so many keys, and no others, met the theorem's assumptions."""
        return self.held == len(self.promises) == keys

    def add_promise(self, found: Found) -> None:
        """Add the promise to a key, whose best predictor was added."""
        promise = found.certificate.theorem
        if promise is not None:
            bound = promise.bound if found.replayed else None
            self.promises.append((promise.measured, bound))
            self.searched = self.searched or found.searched
            self.held += bound is not None


def best_per_key(game: GroupGame, limits: Limits, theorem: str | None) -> Grouped:
    """Return the best predictor per key, the regret and the theorem's promise, over all keys."""
    keys, codes, pages = game.keys, game.codes, game.ledger.pages
    assert pages is not None
    promised = candidates(game.learner, theorem)
    seconds = math.inf if game.patient else limits.seconds
    with time_limit(replace(limits, seconds=seconds)):
        search = Search(game, keys, codes, limits)
        if is_stackable(game, promised, len(keys)):
            search.least = search.least_losses()
        # The first theorem whose assumptions hold for all keys, or else the first.
        chosen, sums = (promised[0] if promised else None), None
        for each in promised if len(promised) > 1 else ():
            sums = search.sums(each.name, whole=True)
            if sums is not None:
                chosen = each
                break
        if sums is None:
            sums = search.sums(None if chosen is None else chosen.name)
    assert sums is not None
    game.searched_bound = game.searched_bound or sums.searched
    reached = len(sums.losses)
    if reached < len(keys) and search.least is not None:
        sums.add_least(search.least, search.unproven[reached - len(search.proven) :])
    elif reached < len(keys):
        left = outcomes_from(pages, codes, reached)
        sums.losses.append(trivial_loss(game, left, sums.words))
        # No loss is below 0, unless it is written in Python.
        sums.lowers.append(0.0 if type(game.learner.engine.loss) is Loss else -math.inf)
    stopped = sums.cut or min(reached, len(sums.promises) if chosen else reached) < len(keys)
    loss = total(sums.losses, upward)
    lower = total(sums.lowers, downward)
    best = BestPerKey(
        in_words(sums.words),
        loss,
        Answer("", loss, lower, np.zeros(0)).gap,
        sums.exact and reached == len(keys),
        reached,
        max(limits.seconds, MIN_SECONDS) if stopped else None,
    )
    regret = Interval(game.loss - loss, game.loss - (loss - best.gap))
    promise = None
    if chosen is not None:
        promise = summed(game, chosen, sums, regret, len(keys))
    return Grouped(game.columns, len(keys), game.key_digest, best, regret, promise)


class Search:
    """The search for the best predictor of each key, as long as there is time."""

    def __init__(
        self, game: GroupGame, keys: list[Key], codes: NDArray[np.uint32], limits: Limits
    ) -> None:
        self.game, self.keys, self.codes, self.limits = game, keys, codes, limits
        names, rounds, losses = game.groups.figures()
        if sum(rounds) != game.rounds:
            raise NoRegretError("the groups have learned outside this game since", "play a new one")
        self.played = dict(zip(names, losses, strict=True))
        self.columns = {name: at for at, name in enumerate(game.learner._entry.known.names)}
        self.least: LeastLosses | None = None  # of all keys, if they are stacked

    @property
    def proven(self) -> NDArray[np.intp]:
        """The keys whose least loss is known but for rounding."""
        return np.flatnonzero(() if self.least is None else self.least.sharp)

    @property
    def unproven(self) -> NDArray[np.intp]:
        """The keys whose least loss is to be searched for."""
        return np.flatnonzero(np.ones(len(self.keys)) if self.least is None else ~self.least.sharp)

    def gathered(self, keys: NDArray[np.intp]) -> Iterator[Gathered]:
        """Yield the rows of some keys, a part of the keys at a time."""
        assert self.game.ledger.pages is not None
        return gathered(self.game.ledger.pages, self.codes, keys, self.game.width)

    def least_losses(self) -> LeastLosses:
        """Return bounds of the least square loss of every key."""
        parts = [
            least_losses(X.toarray() if hasattr(X, "nnz") else X, y, stops)
            for _, X, y, stops in self.gathered(np.arange(len(self.keys)))
        ]
        return LeastLosses(
            np.concatenate([part.losses for part in parts]),
            np.concatenate([part.lowers for part in parts]),
            np.concatenate([part.sharp for part in parts]),
        )

    def sums(self, theorem: str | None, whole: bool = False) -> Sums | None:
        """Return the sums over the keys; if ``whole``, None unless a theorem holds for all."""
        sums = Sums()
        if self.least is not None:
            sums.add_least(self.least, self.proven)
        for found in self.games(self.unproven, theorem):
            if found is None:
                return None if whole else sums
            sums.add(found)
            if whole and sums.promises[-1][1] is None:
                return None
        if theorem is not None and self.least is not None:
            self.add_promises(sums, theorem, whole)
            if whole and not sums.is_held_by(len(self.keys)):
                return None
        return sums

    def add_promises(self, sums: Sums, theorem: str, whole: bool) -> None:
        """Add the promises to keys whose best are known; for the ``whole``, until one is not met.

        Nothing is lost by leaving early if there is no time for all.
        """
        limits, keys = self.limits, len(self.proven)
        if self.is_enough(sums):
            return
        began = limits.clock()
        for count, found in enumerate(self.games(self.proven, theorem)):
            left = remaining(limits) if not self.game.patient else math.inf
            slow = (limits.clock() - began) * (keys - count) > left * count
            if found is None or (count >= TRIED and slow):
                return
            sums.add_promise(found)
            if (whole and sums.promises[-1][1] is None) or self.is_enough(sums):
                return

    def is_enough(self, sums: Sums) -> bool:
        """Return whether no further key can change what a verification compares.

        A key without a bound leaves the sum without one. Until there is one, the sum may yet turn
        out to break the promise, so that all keys count.
        """
        wanted = self.game.promises_wanted
        return wanted is not None and wanted <= sums.held < len(sums.promises)

    def games(self, keys: NDArray[np.intp], theorem: str | None) -> Iterator[Found | None]:
        """Play the games of some keys again; yield what is known of each, and None if time ends."""
        game, first = self.game, not len(self.proven)
        for numbers, X, y, stops in self.gathered(keys):
            start = 0
            for number, stop in zip(numbers.tolist(), stops.tolist(), strict=True):
                if not first and expired():
                    yield None
                    return
                key, first = self.keys[number], False
                names = features_of(game.groups, key)
                own = compact(X[start:stop], [self.columns[name] for name in names])
                made, searched = certified(game, own, y[start:stop], theorem, self.limits)
                yield Found(made, self.played[key], searched)
                start = stop


def is_stackable(game: GroupGame, theorems: list[Theorem], keys: int) -> bool:
    """Return whether every key is compared with all linear predictors, by the square loss."""
    learner = game.learner
    return (
        keys >= MIN_STACKED
        and game.width <= MAX_COLUMNS
        and not is_of_classes(learner)
        and is_square(learner.engine.loss)
        and compared_with_all(learner.params)
        and all(theorem.best is None for theorem in theorems)
    )


def certified(
    game: GroupGame, X: Any, y: Floats, theorem: str | None, limits: Limits
) -> tuple[Certificate, bool]:
    """Play the rows of one key again, and return the certificate.

    For a verification, also return whether its bound depends on where a search stopped.
    """
    learner = game.groups.learner.clone()
    own = Game(learner, keep="rows", progress=False)
    with own.recorded():
        if is_of_classes(learner):
            assert is_of_classes(game.learner)
            classes = game.learner.classes
            rows = X.toarray() if hasattr(X, "nnz") else X
            own.learn_many(rows, [classes[int(code)] for code in y.tolist()])
        elif hasattr(X, "nnz"):
            play_sparse(learner, X, y)
        else:
            own.learn_many(X, y)
    made = own.certificate(theorem, limits=limits)
    searched = False
    if game.patient and made.theorem is not None and made.theorem.bound is not None:
        bound = candidates(learner, made.theorem.name)[0].bound
        assert bound is not None
        searched = is_searched(partial(own.evidence, {}, limits), own.answers, bound)
    return made, searched


def play_sparse(learner: Learner, X: Any, y: Floats) -> None:
    """Play sparse rows, so that the learner meets each feature in the row that has it first.

    How many features it knows decides how its sums are rounded.
    """
    names, entry = [str(column) for column in range(X.shape[1])], learner._entry
    starts, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    entry.hold()
    try:
        block_rows.play_rows(
            entry, starts, indices, X.data, y, None, None, lambda first, stop: names[first:stop]
        )
    finally:
        entry.let_go()


def gathered(
    pages: Pages, codes: NDArray[np.uint32], keys: NDArray[np.intp], width: int
) -> Iterator[Gathered]:
    """Yield some keys, given in order, with their rows: a part of the keys at a time."""
    counts = np.bincount(codes, minlength=int(keys[-1]) + 1 if len(keys) else 0)[keys]
    ends = np.cumsum(counts)
    first, numbers = 0, FIRST_GATHERED
    while first < len(keys):
        most = max(1, min(numbers, MAX_GATHERED) // max(1, width))
        before = int(ends[first] - counts[first])
        last = max(first + 1, int(np.searchsorted(ends, before + most, "right")))
        wanted = np.zeros(int(codes.max()) + 1, dtype=bool)
        wanted[keys[first:last]] = True
        parts: list[tuple[Any, Floats]] = []
        places: list[NDArray[np.uint32]] = []
        row = 0
        for X, y in pages.blocks():
            own = codes[row : row + len(y)]
            row += len(y)
            chosen = np.flatnonzero(wanted[own])
            if len(chosen):
                parts.append((padded(X, width)[chosen], y[chosen]))
                places.append(own[chosen])
        of_rows = np.concatenate(places)
        order = np.argsort(of_rows, kind="stable")
        X, y = joined([X for X, _ in parts])[order], np.concatenate([y for _, y in parts])[order]
        yield keys[first:last], X, y, np.cumsum(counts[first:last])
        first, numbers = last, 16 * numbers


def joined(parts: list[Any]) -> Any:
    """Return tables as one, sparse if any is."""
    if any(hasattr(part, "nnz") for part in parts):
        from scipy import sparse

        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)


def features_of(groups: Groups, key: Key) -> list[str]:
    """Return the names of the features that a key's learner knows, in its order; empty for none."""
    pooled = groups._pooled
    if pooled is not None and key in pooled.slots:
        return pooled.names
    return list(groups._known(key)._entry.known.names)


def compact(X: Any, columns: list[int]) -> Any:
    """Return rows with the columns of a key's learner; sparse ones without names, with those used.

    The order of features decides how sums are rounded.
    """
    if columns:
        X = X[:, columns]
    elif hasattr(X, "nnz"):
        X = X[:, np.unique(X.indices)]
    if hasattr(X, "nnz"):
        X.sort_indices()
    return X


def outcomes_from(pages: Pages, codes: NDArray[np.uint32], first: int) -> Floats:
    """Return the outcomes of the keys from a number on."""
    parts, row = [np.zeros(0)], 0
    for _, y in pages.blocks():
        parts.append(y[codes[row : row + len(y)] >= first])
        row += len(y)
    return np.concatenate(parts)


def trivial_loss(game: GroupGame, outcomes: Floats, words: set[str]) -> float:
    """Return the loss of weights that are all zero, which every class of weights has."""
    loss, classes = game.learner.engine.loss, is_of_classes(game.learner)
    zero = {ALL, UP_TO_A_NORM, OWN_BALL} >= words or all(map(LIMITED_NORM.fullmatch, words))
    if not zero or classes or type(loss) is not Loss:
        raise NoRegretError(
            "the best predictor of each group was not found in time", "use --look-back for more"
        )
    values = losses_of(loss, outcomes).value_above(np.zeros(len(outcomes)), np.zeros(len(outcomes)))
    return upward(math.fsum(values.tolist()))


def words_of(comparator: str) -> str:
    """Return the class of predictors of a key without the limits that are its own."""
    if REACH.fullmatch(comparator):
        return UP_TO_A_NORM
    own = BALL.fullmatch(comparator) and comparator.endswith("as long as the last weights")
    return OWN_BALL if own else comparator


def in_words(words: set[str]) -> str:
    """Return the classes of all keys as one text."""
    return "; ".join(sorted(words - {ALL} if UP_TO_A_NORM in words else words))


def summed(
    game: GroupGame, theorem: Theorem, sums: Sums, regret: Interval, keys: int
) -> SummedPromise:
    """Return the promise of a theorem, summed over the keys."""
    held = sums.held
    told = [measured for measured, _ in sums.promises if measured is not None]
    low = high = math.nan
    if theorem.quantity in REGRETS:
        low, high = regret.lower, regret.upper
    elif theorem.quantity == "loss" and theorem.measured is None:
        low = high = game.loss
    elif len(told) == keys:
        low = high = math.fsum(told)
    bound = holds = None
    if held == keys:
        bound = math.fsum(bound for _, bound in sums.promises if bound is not None)
        holds = within(low, high, bound, game.loss)
    measured = None if math.isnan(high) else high
    return SummedPromise(theorem.name, theorem.quantity, measured, bound, holds, held)


def total(values: list[float], rounded: Any) -> float:
    """Return a sum, rounded outwards; of one number, itself."""
    if len(values) == 1:
        return values[0]
    if not all(map(math.isfinite, values)):
        return math.fsum(values)
    return float(rounded(math.fsum(values)))
