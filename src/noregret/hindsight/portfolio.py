"""The best of portfolios after the fact: the best asset, and the best constant rebalanced one.

A constant rebalanced portfolio u restores the same shares before every round and multiplies its
wealth by u·x. Its loss is minus the logarithm of its wealth. The best asset is a sum a column; the
best constant rebalanced portfolio is found by Newton's method on the simplex. The proof that none
is much better is the concavity of the logarithm: for every other portfolio v

    Σ ln(v·x_t / u·x_t)  ≤  T ln( (1/T) Σ v·x_t / u·x_t )  ≤  T ln( max_i (1/T) Σ x_{t,i} / u·x_t ).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from noregret.errors import NoRegretError
from noregret.hindsight.expert_losses import Totals, expert_losses
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits
from noregret.hindsight.proofs.rounding import Floats, downward, growth, total, two_sum, upward
from noregret.hindsight.solvers.active_set import least_quadratic
from noregret.limits import UNIT

ASSETS = "single assets"
REBALANCED = "constant rebalanced portfolios"
# Of so many assets the best alone are the start: the answer is mostly made of few.
MAX_FIRST_ASSETS = 64
# The most roundings of itself by which a computed logarithm is off.
LOGARITHM = 8
# Scores below this may have lost digits by underflow.
MIN_SCORE = 1e-280
# Rows added up at a time, where a sum is to be proven.
ROWS_PER_SUM = 128
# What is added to the diagonal of the curvature, as a share of its mean, where assets are alike.
DIAGONAL_SHARE = 1e-12
# The share of the gap asked for at which the search ends, if it gets there.
GAP_SHARE = 1e-3
# The share of a direction's first slope at which a step along it is long enough.
FLAT_SLOPE = 0.1
# Steps that bring little, after which there is nothing more to be had.
PATIENCE = 4

Blocks = Callable[[], Iterable[Floats]]


def best_asset(blocks: Blocks) -> Answer:
    """Return the asset of the greatest wealth; ``blocks`` yields the relatives, block by block.

    Examples
    --------
    >>> best_asset(lambda: [np.array([[1.0, 2.0], [1.0, 0.9]])]).witness
    array([0., 1.])
    """
    totals = losses_of_assets(blocks)
    best = totals.best
    if not totals.values[best] < math.inf:
        raise NoRegretError("every asset fell to 0 at some time: none has a finite log-wealth")
    witness = np.zeros(len(totals.off))
    witness[best] = 1.0
    return Answer(ASSETS, float(totals.above[best]), float(totals.below.min()), witness, exact=True)


def log_wealth_of_assets(blocks: Blocks) -> Floats:
    """Return the log-wealth of every asset."""
    return -losses_of_assets(blocks).values


def losses_of_assets(blocks: Blocks) -> Totals:
    """Return minus the log-wealth of every asset."""

    def losses() -> Iterator[Floats]:
        for block in blocks():
            with np.errstate(divide="ignore"):
                yield -np.log(block)

    return expert_losses(losses, doubts=(LOGARITHM, 0))


def best_rebalanced(
    blocks: Blocks, *, limits: Limits = USUAL, start: Floats | None = None
) -> Answer:
    """Return the constant rebalanced portfolio of the greatest wealth, with a proven gap.

    Parameters
    ----------
    blocks
        A function that returns the relatives anew each time: blocks of rounds × assets, none
        negative, at least one positive in every round.
    limits
        When to stop; a relative gap counts from a log-wealth of 1 on. The interval is honest
        wherever it stops.
    start
        Where to begin, if something is known that may be near.

    Examples
    --------
    Half and half turns two assets that come to nothing into growth:

    >>> X = np.array([[1.0, 2.0], [1.0, 0.5]] * 10)
    >>> answer = best_rebalanced(lambda: [X])
    >>> answer.witness.round(4), round(math.exp(-answer.loss), 4)
    (array([0.5, 0.5]), 3.2473)
    """
    return searched(blocks, limits, start).answer()


def searched(
    blocks: Blocks, limits: Limits, start: Floats | None = None, *, scaled: bool = False
) -> Search:
    """Search for the best constant rebalanced portfolio, and return where that ended.

    ``scaled`` says that the largest number of every row is 1 already.
    """
    search = Search(blocks, start, scaled)
    until = time.monotonic() + limits.seconds
    wasted = 0
    for _ in range(limits.steps):
        before = search.gap
        search.look()
        wanted = 0.5 * limits.tolerance * max(1.0, abs(search.loss))
        if search.gap <= wanted:
            # Newton's last steps are the best: one more is cheap and leaves next to nothing.
            wasted += search.gap > 0.5 * before
            if search.gap <= GAP_SHARE * wanted or wasted >= PATIENCE:
                break
        if time.monotonic() > until or not search.moved():
            break
    return search


class Search:
    """A portfolio on its way to the best one.

    Rows are divided by their largest number, whose logarithms are added up apart, so that neither
    tiny nor enormous relatives matter.
    """

    def __init__(
        self, blocks: Blocks, start: Floats | None = None, is_scaled: bool = False
    ) -> None:
        self.blocks, self.is_scaled = blocks, is_scaled
        logs = [np.log(block.max(axis=1)) for block in blocks()]
        if not logs:
            raise NoRegretError("there are no rounds to look back at")
        self.rounds = sum(map(len, logs))
        self.peaks = -total(np.concatenate(logs))
        for u in self.starts(start):
            self.u, self.scores = u, self.scores_of(u)
            if (self.scores > 0).all():
                break
        self.loss, self.gap = math.inf, math.inf
        self.best: tuple[float, float, Floats] | None = None
        self.on_trust = 0

    def starts(self, told: Floats | None) -> Iterator[Floats]:
        """Yield where to start; the last surely loses no round, as it holds all assets."""
        if told is not None:
            yield told
        wealth = log_wealth_of_assets(self.blocks)
        few = np.zeros(len(wealth))
        few[np.argsort(-wealth, kind="stable")[:MAX_FIRST_ASSETS]] = 1.0 / min(
            len(wealth), MAX_FIRST_ASSETS
        )
        yield few
        yield np.full(len(wealth), 1.0 / len(wealth))

    def scaled(self) -> Iterator[Floats]:
        """Yield the rows, each divided by its largest number."""
        for block in self.blocks():
            yield block if self.is_scaled else block / block.max(axis=1, keepdims=True)

    def scores_of(self, u: Floats) -> Floats:
        """Return u·x of every scaled row."""
        return np.concatenate([block @ u for block in self.scaled()])

    def look(self) -> None:
        """Find loss, gap, and the quadratic that resembles the function around here."""
        n = len(self.u)
        self.curvature = np.zeros((n, n))
        sums, at = np.zeros(n), 0
        for block in self.scaled():
            ratios = block / self.scores[at : at + len(block), None]
            at += len(block)
            sums += ratios.sum(axis=0)
            ratios -= 1.0  # on the simplex a constant makes no difference
            self.curvature += ratios.T @ ratios
        self.loss = self.peaks - float(np.log(self.scores).sum())
        self.gap = self.rounds * math.log(max(1.0, float(sums.max()) / self.rounds))
        self.slope, self.pull = sums - self.rounds, sums / self.rounds
        if self.best is None or self.gap < self.best[0]:
            self.best = self.gap, self.loss, self.u

    def moved(self) -> bool:
        """Take one step; return False when there is none to take."""
        n = len(self.u)
        level = DIAGONAL_SHARE * float(np.trace(self.curvature)) / n + 1e-300
        curved = self.curvature + level * np.eye(n)
        target = least_quadratic(curved, self.slope + level * self.u, self.u)
        if self.stepped(target - self.u):
            return True
        # The rule that Cover gave never goes down, however badly the quadratic was solved.
        if self.stepped(self.u * self.pull - self.u):
            return True
        # As high as can be seen; the gap may still become smaller, and the best one is kept.
        self.on_trust += 1
        return self.on_trust <= PATIENCE and self.put(target)

    def stepped(self, direction: Floats) -> bool:
        """Go in a direction as far as it is best; return whether that was anywhere."""
        along = self.scores_of(direction)
        step = best_step(self.scores, along)
        if step == 0.0:
            return False
        return self.put(self.u + step * direction)

    def put(self, u: Floats) -> bool:
        """Go to a point, unless all is lost there; return whether that is another one."""
        u = np.maximum(u, 0.0)
        u = u / u.sum()
        scores = self.scores_of(u)
        if not (scores > 0).all():
            return False
        moved = bool((u != self.u).any())
        self.u, self.scores = u, scores
        return moved

    @property
    def found(self) -> Floats:
        """The best portfolio so far: the one of the smallest gap."""
        return self.u if self.best is None else self.best[2]

    def answer(self) -> Answer:
        """Return the best that was found, with what surely none exceeds."""
        u = self.found
        loss, off = loss_of(self.blocks, u)
        lower = loss - off - self.proven_gap(u)
        return Answer(REBALANCED, upward(loss + off, off), downward(lower, abs(loss) + off), u)

    def proven_gap(self, u: Floats) -> float:
        """Return what no portfolio exceeds this one by."""
        sums, lost = np.zeros(len(u)), np.zeros(len(u))
        for block in self.scaled():
            ratios = ratios_to(block, u)
            for start in range(0, len(ratios), ROWS_PER_SUM):
                sums, more = two_sum(sums, ratios[start : start + ROWS_PER_SUM].sum(axis=0))
                lost = lost + more
        if not np.isfinite(sums).all():
            return math.inf
        largest = float((sums + lost).max()) * (1 + growth(ROWS_PER_SUM + 4 * len(u) + 8))
        return upward(self.rounds * math.log(max(1.0, upward(largest / self.rounds))))


def loss_of(blocks: Blocks, u: Floats) -> tuple[float, float]:
    """Return what a constant rebalanced portfolio loses, and how far rounding may have it off.

    >>> round(math.exp(-loss_of(lambda: [np.array([[1.0, 3.0]])], np.array([0.5, 0.5]))[0]), 6)
    2.0
    """
    logs: list[float] = []
    for block in blocks():
        most = block.max(axis=1)
        scores = (block / most[:, None]) @ u
        faint = scores < MIN_SCORE
        scores[faint], powers = scores_by_powers(block[faint], u)
        with np.errstate(divide="ignore", invalid="ignore"):  # shares of a forged witness
            logs += np.log(scores).tolist()
            logs += np.log(most[~faint]).tolist()
        logs += (math.log(2) * powers).tolist()
    sizes = total(np.abs(logs))
    if not math.isfinite(sizes):
        return math.inf, 0.0
    off = len(logs) // 2 * growth(3 * len(u)) + (LOGARITHM + 8) * UNIT * sizes
    return -math.fsum(logs), off


def scores_by_powers(block: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Return u·x of every row as a number near 1, or 0, and the power of two that it is times.

    Of the terms only those are lost to underflow that are nothing beside the largest.
    """
    (shares, of_shares), (numbers, of_numbers) = np.frexp(u), np.frexp(block)
    terms, powers = shares * numbers, (of_shares + of_numbers).astype(np.float64)
    top = np.where(terms > 0, powers, -np.inf).max(axis=1, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    near = np.maximum(powers - top[:, None], -2000.0).astype(np.int64)
    return np.ldexp(terms, near).sum(axis=1), top


def ratios_to(block: Floats, u: Floats) -> Floats:
    """Return x/(u·x) for the numbers of every row; infinity where numbers do not reach."""
    scores = block @ u
    faint = scores < MIN_SCORE
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = block / scores[:, None]
        if faint.any():
            scores, powers = scores_by_powers(block[faint], u)
            lifted = np.ldexp(block[faint], -powers.astype(np.int64)[:, None])
            ratios[faint] = np.nan_to_num(lifted / scores[:, None], nan=np.inf, posinf=np.inf)
    return np.asarray(ratios)


def best_step(scores: Floats, along: Floats) -> float:
    """Return where between 0 and 1 the sum of ln(scores + step·along) is greatest, nearly."""

    def slope(step: float) -> float:
        there = scores + step * along
        if not (there > 0).all():
            return -math.inf
        return float((along / there).sum())

    # A slope so small that rounding may give it either sign is as good as none: at a step of
    # Newton's, another processor would find the other, and go elsewhere.
    first = slope(0.0)
    if not first > 0:
        return 0.0
    low, step, high = 0.0, 1.0, 1.0
    for _ in range(60):
        there = slope(step)
        if abs(there) < FLAT_SLOPE * first or (step == 1.0 and there > 0):
            return step
        low, high = (step, high) if there > 0 else (low, step)
        step = 0.5 * (low + high)
    return low
