"""The best asset and the best constant rebalanced portfolio in hindsight.

A constant rebalanced portfolio u restores the same shares before every round and multiplies its
wealth by u·x. Its loss is minus the logarithm of its wealth. The loss of an asset is one sum per
column; the best constant rebalanced portfolio is found by Newton's method on the simplex. That no
other is much better follows from the concavity of the logarithm: for every portfolio v

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
# Assets with which the search starts, as the best portfolio usually holds only a few.
MAX_FIRST_ASSETS = 64
# Bound on the relative error of a computed logarithm, in units of 2⁻⁵³.
LOG_ROUNDINGS = 8
# Scores below this may have lost digits to underflow.
MIN_SCORE = 1e-280
# Rows per partial sum in sums whose error is bounded.
ROWS_PER_SUM = 128
# Added to the diagonal of the curvature, relative to its mean, in case assets are equal.
DIAGONAL_SHARE = 1e-12
# The search stops early at this share of the requested gap.
GAP_SHARE = 1e-3
# A line search stops when the slope falls to this share of the initial one.
SLOPE_SHARE = 0.1
# Steps with little progress after which the search stops.
MAX_IDLE_STEPS = 4

Blocks = Callable[[], Iterable[Floats]]


def best_asset(blocks: Blocks) -> Answer:
    """Return the asset with the largest wealth; ``blocks`` returns blocks of price relatives.

    Examples
    --------
    >>> best_asset(lambda: [np.array([[1.0, 2.0], [1.0, 0.9]])]).witness
    array([0., 1.])
    """
    totals = losses_of_assets(blocks)
    if not totals.values.min() < math.inf:
        raise NoRegretError("every asset fell to 0 at some time: none has a finite log-wealth")
    return totals.answer(ASSETS)


def log_wealth_of_assets(blocks: Blocks) -> Floats:
    """Return the log-wealth of every asset."""
    return -losses_of_assets(blocks).values


def losses_of_assets(blocks: Blocks) -> Totals:
    """Return minus the log-wealth of every asset."""

    def losses() -> Iterator[Floats]:
        for block in blocks():
            with np.errstate(divide="ignore"):
                yield -np.log(block)

    return expert_losses(losses, doubts=(LOG_ROUNDINGS, 0))


def best_rebalanced(
    blocks: Blocks, *, limits: Limits = USUAL, start: Floats | None = None
) -> Answer:
    """Return the constant rebalanced portfolio with the largest wealth, with a proven gap.

    Parameters
    ----------
    blocks
        A function that returns the price relatives each time it is called: blocks of
        rounds × assets, without negative numbers and with a positive one in every round.
    limits
        When to stop; the gap is relative to the log-wealth, or to 1 if that is smaller. The
        interval is valid wherever the search stops.
    start
        A portfolio to start from, if a good one is known.

    Examples
    --------
    Holding half of each turns two assets without growth into growth:

    >>> X = np.array([[1.0, 2.0], [1.0, 0.5]] * 10)
    >>> answer = best_rebalanced(lambda: [X])
    >>> answer.witness.round(4), round(math.exp(-answer.loss), 4)
    (array([0.5, 0.5]), 3.2473)
    """
    return searched(blocks, limits, start).answer()


def searched(
    blocks: Blocks, limits: Limits, start: Floats | None = None, *, scaled: bool = False
) -> Search:
    """Search for the best constant rebalanced portfolio, and return the final state of the search.

    ``scaled`` promises that the largest number of every row is 1.
    """
    search = Search(blocks, start, scaled)
    until = time.monotonic() + limits.seconds
    wasted = 0
    for _ in range(limits.steps):
        before = search.gap
        search.look()
        wanted = 0.5 * limits.tolerance * max(1.0, abs(search.loss))
        if search.gap <= wanted:
            # Newton's method converges quadratically: one more step is cheap and closes the gap.
            wasted += search.gap > 0.5 * before
            if search.gap <= GAP_SHARE * wanted or wasted >= MAX_IDLE_STEPS:
                break
        if time.monotonic() > until or not search.moved():
            break
    return search


class Search:
    """The state of the search: the current portfolio and the best one so far.

    Rows are divided by their largest number, and the logarithms of these are summed separately, so
    that tiny and huge relatives do no harm.
    """

    def __init__(
        self, blocks: Blocks, start: Floats | None = None, is_scaled: bool = False
    ) -> None:
        self.blocks, self.is_scaled = blocks, is_scaled
        logs = [np.log(block.max(axis=1)) for block in blocks()]
        if not logs:
            raise NoRegretError("there are no rounds, so there is no best portfolio")
        self.rounds = sum(map(len, logs))
        self.peaks = -total(np.concatenate(logs))
        for u in self.starts(start):
            self.u, self.scores = u, self.scores_of(u)
            if (self.scores > 0).all():
                break
        self.loss, self.gap = math.inf, math.inf
        self.best: tuple[float, float, Floats] | None = None
        self.blind_steps = 0

    def starts(self, given: Floats | None) -> Iterator[Floats]:
        """Yield portfolios to start from; the last holds all assets, so it never loses all."""
        if given is not None:
            yield given
        wealth = log_wealth_of_assets(self.blocks)
        few = np.zeros(len(wealth))
        few[np.argsort(-wealth, kind="stable")[:MAX_FIRST_ASSETS]] = 1.0 / min(
            len(wealth), MAX_FIRST_ASSETS
        )
        yield few
        yield np.full(len(wealth), 1.0 / len(wealth))

    def scaled(self) -> Iterator[Floats]:
        """Yield the rows divided by their largest number."""
        for block in self.blocks():
            yield block if self.is_scaled else block / block.max(axis=1, keepdims=True)

    def scores_of(self, u: Floats) -> Floats:
        """Return u·x for every scaled row."""
        return np.concatenate([block @ u for block in self.scaled()])

    def look(self) -> None:
        """Compute the loss, the gap and the quadratic approximation at the current portfolio."""
        n = len(self.u)
        self.curvature = np.zeros((n, n))
        sums, at = np.zeros(n), 0
        for block in self.scaled():
            ratios = block / self.scores[at : at + len(block), None]
            at += len(block)
            sums += ratios.sum(axis=0)
            ratios -= 1.0  # a constant makes no difference on the simplex
            self.curvature += ratios.T @ ratios
        self.loss = self.peaks - float(np.log(self.scores).sum())
        self.gap = self.rounds * math.log(max(1.0, float(sums.max()) / self.rounds))
        self.slope, self.pull = sums - self.rounds, sums / self.rounds
        if self.best is None or self.gap < self.best[0]:
            self.best = self.gap, self.loss, self.u

    def moved(self) -> bool:
        """Take one step; return False if there is none to take."""
        n = len(self.u)
        level = DIAGONAL_SHARE * float(np.trace(self.curvature)) / n + 1e-300
        curved = self.curvature + level * np.eye(n)
        target = least_quadratic(curved, self.slope + level * self.u, self.u)
        if self.stepped(target - self.u):
            return True
        # Cover's rule never loses wealth, however badly the quadratic was solved.
        if self.stepped(self.u * self.pull - self.u):
            return True
        # The wealth is maximal up to rounding, but the gap may still shrink; the best one is kept.
        self.blind_steps += 1
        return self.blind_steps <= MAX_IDLE_STEPS and self.put(target)

    def stepped(self, direction: Floats) -> bool:
        """Take the best step in a direction; return whether the portfolio changed."""
        along = self.scores_of(direction)
        step = best_step(self.scores, along)
        if step == 0.0:
            return False
        return self.put(self.u + step * direction)

    def put(self, u: Floats) -> bool:
        """Move to a portfolio, unless it loses everything; return whether it is another one."""
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
        """The best portfolio so far: the one with the smallest gap."""
        return self.u if self.best is None else self.best[2]

    def answer(self) -> Answer:
        """Return the best portfolio found, with a proven bound on all others."""
        u = self.found
        loss, off = loss_of(self.blocks, u)
        lower = loss - off - self.proven_gap(u)
        return Answer(REBALANCED, upward(loss + off, off), downward(lower, abs(loss) + off), u)

    def proven_gap(self, u: Floats) -> float:
        """Return an upper bound on the log-wealth that any portfolio gains over this one."""
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
    """Return the loss of a constant rebalanced portfolio, and a bound on its rounding error.

    >>> round(math.exp(-loss_of(lambda: [np.array([[1.0, 3.0]])], np.array([0.5, 0.5]))[0]), 6)
    2.0
    """
    logs: list[float] = []
    for block in blocks():
        most = block.max(axis=1)
        scores = (block / most[:, None]) @ u
        faint = scores < MIN_SCORE
        scores[faint], powers = scores_by_powers(block[faint], u)
        with np.errstate(divide="ignore", invalid="ignore"):  # a forged witness may hold anything
            logs += np.log(scores).tolist()
            logs += np.log(most[~faint]).tolist()
        logs += (math.log(2) * powers).tolist()
    sizes = total(np.abs(logs))
    if not math.isfinite(sizes):
        return math.inf, 0.0
    off = len(logs) // 2 * growth(3 * len(u)) + (LOG_ROUNDINGS + 8) * UNIT * sizes
    return -math.fsum(logs), off


def scores_by_powers(block: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Return u·x for every row as a number near 1, or 0, and a power of two to multiply it by.

    Only terms that are negligible next to the largest one underflow.
    """
    (shares, of_shares), (numbers, of_numbers) = np.frexp(u), np.frexp(block)
    terms, powers = shares * numbers, (of_shares + of_numbers).astype(np.float64)
    top = np.where(terms > 0, powers, -np.inf).max(axis=1, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    near = np.maximum(powers - top[:, None], -2000.0).astype(np.int64)
    return np.ldexp(terms, near).sum(axis=1), top


def ratios_to(block: Floats, u: Floats) -> Floats:
    """Return x/(u·x) for the numbers of every row; infinity on overflow."""
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
    """Return the step between 0 and 1 that nearly maximises the sum of ln(scores + step·along)."""

    def slope(step: float) -> float:
        there = scores + step * along
        if not (there > 0).all():
            return -math.inf
        return float((along / there).sum())

    # Do not search for a slope of exactly zero: near it, rounding decides the sign, and another
    # processor would take another step.
    first = slope(0.0)
    if not first > 0:
        return 0.0
    low, step, high = 0.0, 1.0, 1.0
    for _ in range(60):
        there = slope(step)
        if abs(there) < SLOPE_SHARE * first or (step == 1.0 and there > 0):
            return step
        low, high = (step, high) if there > 0 else (low, step)
        step = 0.5 * (low + high)
    return low
