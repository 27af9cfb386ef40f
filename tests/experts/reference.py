"""Every master again, in plain Python and as its page says: sums of lists, logarithms, no tricks.

Each is asked for weights and told what everyone lost, the mixture included. Losses are kept as
lists and added up anew, in full precision, whenever they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import Any

Row = list[float]


def shares(logs: Sequence[float]) -> Row:
    """Return weights that add up to 1 from their logarithms."""
    most = max(logs)
    weights = [math.exp(log - most) for log in logs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def normal(weights: Sequence[float]) -> Row:
    total = math.fsum(weights)
    return [weight / total for weight in weights]


class Reference:
    """A master: ``weights`` of the next round, and ``learn`` what each lost and the mixture did."""

    def __init__(self, n: int, prior: Sequence[float] | None = None) -> None:
        self.n, self.prior = n, normal(prior or [1.0] * n)
        self.past: list[Row] = [[] for _ in range(n)]
        self.awake = [True] * n

    def totals(self) -> Row:
        return [math.fsum(column) for column in self.past]

    def weights(self) -> Row:
        raise NotImplementedError

    def learn(self, losses: Row, own: float) -> None:
        for column, loss in zip(self.past, losses, strict=True):
            column.append(loss)


class Hedge(Reference):
    """Weights prior · exp(−η L), η constant or a function of the round."""

    def __init__(self, n: int, prior: Any = None, *, rate: Callable[[int], float]) -> None:
        super().__init__(n, prior)
        self.rate = rate

    def weights(self) -> Row:
        eta = self.rate(len(self.past[0]) + 1)
        pairs = zip(self.prior, self.totals(), strict=True)
        return shares([math.log(p) - eta * total for p, total in pairs])


class Leaders(Reference):
    """All weight on those that lost least."""

    def weights(self) -> Row:
        totals = self.totals()
        least = min(t for t, awake in zip(totals, self.awake, strict=True) if awake)
        return normal([p if t <= least else 0.0 for p, t in zip(self.prior, totals, strict=True)])


class AdaHedge(Leaders):
    """η = ln n/Δ; Δ adds up the loss of the mean above the mixed loss.

    With 60 digits, as that is a small difference of large numbers.
    """

    cost = Decimal(0)

    def weights(self) -> Row:
        if not self.charged():
            return super().weights()
        with localcontext(prec=60):
            return [float(weight) for weight in self.exact_weights()]

    def charged(self) -> Decimal:
        """Return what the rate is inverse to."""
        return self.cost

    def exact_weights(self) -> list[Decimal]:
        if not self.charged():
            return [Decimal(weight) for weight in super().weights()]
        eta, totals = Decimal(max(2, self.n)).ln() / self.charged(), self.exact_totals()
        kept = [Decimal(p) * (-eta * t).exp() for p, t in zip(self.prior, totals, strict=True)]
        return [weight / sum(kept) for weight in kept]

    def exact_totals(self) -> list[Decimal]:
        """Return what each lost more than the best."""
        totals = [sum(map(Decimal, column), Decimal(0)) for column in self.past]
        return [total - min(totals) for total in totals]

    def learn(self, losses: Row, own: float) -> None:
        self.awake = [True] * self.n
        with localcontext(prec=60):
            self.cost += self.cost_of(losses)
        super().learn(losses, own)

    def cost_of(self, losses: Row) -> Decimal:
        """Return the loss of the mean less the mixed loss."""
        before, lost = (
            self.exact_totals(),
            [Decimal(loss) - Decimal(min(losses)) for loss in losses],
        )
        weights = self.exact_weights()
        mean = sum((w * loss for w, loss in zip(weights, lost, strict=True)), Decimal(0))
        if self.charged():
            eta = Decimal(max(2, self.n)).ln() / self.charged()
            left = sum(w * (-eta * loss).exp() for w, loss in zip(weights, lost, strict=True))
            return mean + Decimal(left).ln() / eta
        return mean - min(a + b for a, b in zip(before, lost, strict=True))


class FixedShare(Reference):
    """Weights · exp(−η loss), of which each gives a share to every other."""

    def __init__(
        self, n: int, prior: Any = None, *, rate: float, share: float, variable: bool = False
    ) -> None:
        super().__init__(n, prior)
        self.rate, self.share, self.variable, self.held = rate, share, variable, self.prior

    def weights(self) -> Row:
        return self.held

    def learn(self, losses: Row, own: float) -> None:
        kept = zip(self.held, losses, strict=True)
        after = normal([w * math.exp(-self.rate * (loss - min(losses))) for w, loss in kept])
        give = [1 - (1 - self.share) ** loss if self.variable else self.share for loss in losses]
        if self.n > 1:
            self.held = [
                (1 - give[i]) * after[i]
                + math.fsum(give[j] * after[j] for j in range(self.n) if j != i) / (self.n - 1)
                for i in range(self.n)
            ]


class MlPoly(Reference):
    """opera's rule: p ∝ η (R)₊, 1/η ← 1/η + r² + ΔB."""

    def __init__(self, n: int, prior: Any = None) -> None:
        super().__init__(n, prior)
        self.regrets: list[Row] = [[] for _ in range(n)]
        self.inverse, self.largest = [0.0] * n, 0.0

    def weights(self) -> Row:
        regrets = [math.fsum(column) for column in self.regrets]
        if max(regrets) <= 0:
            return self.prior
        parts = zip(self.prior, regrets, self.inverse, strict=True)
        return normal([p * max(0.0, r) / inverse for p, r, inverse in parts])

    def learn(self, losses: Row, own: float) -> None:
        r = [own - loss for loss in losses]
        grown = max(self.largest, *(x * x for x in r)) - self.largest
        self.largest += grown
        for i in range(self.n):
            self.regrets[i].append(r[i])
            self.inverse[i] += r[i] ** 2 + grown


class Boa(Reference):
    """w ∝ prior · η · exp(η Σ (r − η r²)), r no larger than the largest before it."""

    def __init__(self, n: int, prior: Any = None) -> None:
        super().__init__(n, prior)
        self.size, self.squares, self.scores = 0.0, [0.0] * n, [0.0] * n

    def rates(self) -> Row:
        tuned = [max(0.5, math.log(1 / p)) for p in self.prior]
        return [
            min(0.5 / self.size, math.sqrt(wanted / v) if v else math.inf)
            for wanted, v in zip(tuned, self.squares, strict=True)
        ]

    def weights(self) -> Row:
        if self.size == 0:
            return self.prior
        parts = zip(self.prior, self.rates(), self.scores, strict=True)
        return shares([math.log(p * eta) + eta * score for p, eta, score in parts])

    def learn(self, losses: Row, own: float) -> None:
        most = max(abs(own - loss) for loss in losses)
        if self.size:
            rates, clip = self.rates(), min(1.0, self.size / most) if most else 1.0
            for i, loss in enumerate(losses):
                r = clip * (own - loss)
                self.scores[i] += r - rates[i] * r * r
                self.squares[i] += r * r
        self.size = max(self.size, most)


class Squint(Reference):
    """w ∝ prior · Σ_j γ_j η_j exp(η_j R − η_j² V) over the rates that regrets allow."""

    def __init__(self, n: int, prior: Any = None) -> None:
        super().__init__(n, prior)
        self.size = self.base = 0.0
        self.start_anew()

    def start_anew(self) -> None:
        self.base, self.regrets, self.squares = self.size, [0.0] * self.n, [0.0] * self.n

    def weights(self) -> Row:
        if self.size == 0:
            return self.prior
        first = next(j for j in range(28) if self.base * 2**j * (1 + 1e-6) >= self.size)
        each = []
        for p, r, v in zip(self.prior, self.regrets, self.squares, strict=True):
            for j in range(first, 28):
                eta = 0.5 ** (j + 1) / self.base
                each.append(math.log(p * eta / ((j + 1) * (j + 2))) + eta * r - eta * eta * v)
        parts, many = shares(each), 28 - first
        return [math.fsum(parts[i * many : (i + 1) * many]) for i in range(self.n)]

    def learn(self, losses: Row, own: float) -> None:
        most = max(abs(own - loss) for loss in losses)
        if self.size and most:
            clip = min(1.0, self.size / most)
            for i, loss in enumerate(losses):
                self.regrets[i] += clip * (own - loss)
                self.squares[i] += (clip * (own - loss)) ** 2
        before, self.size = self.size, max(self.size, most)
        if before == 0 or self.size > 256 * (1 + 1e-6) * self.base:
            self.start_anew()


class Cautious(AdaHedge):
    """AdaHedge with four mean losses above the best expert of the round added to Δ, the largest."""

    def __init__(self, n: int, prior: Any = None) -> None:
        super().__init__(n, prior)
        self.above_best: list[Decimal] = []
        self.typical = Decimal(0)

    def charged(self) -> Decimal:
        return self.cost + 4 * self.typical

    def learn(self, losses: Row, own: float) -> None:
        super().learn(losses, own)
        with localcontext(prec=60):
            self.above_best.append(max(Decimal(0), Decimal(own) - Decimal(min(losses))))
            mean = sum(self.above_best, Decimal(0)) / len(self.above_best)
            self.typical = max(self.typical, mean)


class Blend(Reference):
    """AdaHedge, with a prior, over ML-Poly, AdaHedge, BOA, the average and the experts themselves.

    It returns to the average as far as it has lost too much beyond it.
    """

    def __init__(self, n: int, prior: Any = None) -> None:
        super().__init__(n, prior)
        self.mixtures: list[Reference] = [MlPoly(n, prior), AdaHedge(n, prior), Boa(n, prior)]
        self.above = Cautious(n + 4, [0.03, 0.05, 0.15, 0.3, *(0.47 * p for p in self.prior)])
        self.average: Row = []
        self.mixed: Row = []
        self.paid: Row = []

    def trust(self) -> float:
        """Return the part of AdaHedge's mixture in the next round."""
        allowed = beyond = 0.0
        for t, (own, average) in enumerate(zip(self.paid, self.average, strict=True)):
            allowed += (0.018 if t < 10 else 0.008) * max(0.0, average)
            beyond = min(allowed, beyond + own - average)
        pairs = list(zip(self.mixed, self.average, strict=True))
        steepest = max([0.0, *(abs(m - a) for m, a in pairs)])
        left = allowed - beyond
        return min(1.0, left / (1.25 * steepest)) if steepest and left > 0 else 0.0

    def mixed_weights(self) -> Row:
        """Return the weights without returning to the average."""
        over = self.above.weights()
        inner = [*(mixture.weights() for mixture in self.mixtures), self.prior]
        return [
            over[4 + i] + math.fsum(over[k] * inner[k][i] for k in range(4)) for i in range(self.n)
        ]

    def weights(self) -> Row:
        trust = self.trust()
        pairs = zip(self.mixed_weights(), self.prior, strict=True)
        return [trust * w + (1 - trust) * p for w, p in pairs]

    def learn(self, losses: Row, own: float) -> None:
        def mean(weights: Row) -> float:
            found = math.fsum(w * loss for w, loss in zip(weights, losses, strict=True))
            return min(max(found, min(losses)), max(losses))

        mixed, paid = mean(self.mixed_weights()), []
        self.paid.append(mean(self.weights()))
        for mixture in self.mixtures:
            paid.append(mean(mixture.weights()))
            mixture.learn(losses, paid[-1])
        self.average.append(mean(self.prior))
        self.mixed.append(mixed)
        self.above.learn([*paid, self.average[-1], *losses], mixed)
