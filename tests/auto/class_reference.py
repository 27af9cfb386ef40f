"""The bank of several classes in plain NumPy: every member and the mixture, rows without zeros."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

import noregret as nr
from tests.auto.filter_reference import Filter

Floats = NDArray[np.float64]
KEEP, GRANT = (1.0, 0.9999, 0.999, 0.99), (1.0, 0.3, 0.3, 0.1)
DIAGONAL_GRANT, STEPS = (1.0, 1.0, 1.0, 0.3), (0.1, 0.4, 1.6, 6.4)
CONSTANT, PRECISION = 100.0, 5.0


def softmax(s: Floats) -> Floats:
    return np.asarray(np.exp(s - np.logaddexp.reduce(s)))


class Bank:
    """All members, for rows of a fixed width and classes by number in order of appearance.

    The forest is a learner of its own, which the test gives; it says nothing before it takes part.
    """

    def __init__(self, width: int, recent: bool, trees: bool = False) -> None:
        n, self.recent, self.trees = width + 1, recent, trees
        self.forest: nr.MondrianForestClasses | None = None
        self.rounds, self.n = 0, n
        self.filters = [
            Filter(n, k, g, CONSTANT / GRANT[0]) for k, g in zip(KEEP, GRANT, strict=True)
        ]
        self.full = np.zeros(
            (4, 0, n)
        )  # weights of the filters, of AdaGrad and of diagonal filters
        self.ada, self.diag = np.zeros((4, 0, n)), np.zeros((4, 0, n))
        self.squares = np.zeros((4, 0, n))
        self.seen = np.zeros((0, n))
        self.prior = np.array([CONSTANT, *[0.0] * width])
        self.size = np.array([1.0, *[0.0] * width])
        self.variance = np.outer(DIAGONAL_GRANT, self.prior)
        self.counts, self.latest = np.zeros(0), np.zeros(0)
        self.after, self.last = np.zeros((64, 64)), -1
        inputs = [9 + trees] * 2 + [11 + trees] * 2 * recent
        self.a = [np.array([0.25] * 4 + [0.0] * (n - 4)) for n in inputs]
        self.H = [np.zeros((n, n)) for n in inputs]

    def join(self) -> None:
        """Let one more class join, unlikely at first."""
        for name in ("full", "ada", "diag", "squares"):
            old = getattr(self, name)
            made = np.zeros((4, 1, self.n))
            made[:, :, 0] = 0.0 if name == "squares" else -math.log(1 + self.rounds)
            setattr(self, name, np.concatenate([old, made], axis=1))
        self.counts, self.latest = np.append(self.counts, 0.0), np.append(self.latest, 0.0)

    def floored(self, p: Floats) -> Floats:
        p = np.maximum(p, 1 / ((self.rounds + 2) * len(p)))
        return np.asarray(p / p.sum())

    def tamed(self, x: Floats) -> Floats:
        """Return a row for the filters: no value is beyond thrice the root mean square so far."""
        seen = self.filters[0].seen
        if len(seen) < 8:
            return x
        limit = 3 * np.sqrt((seen**2).mean(axis=0))
        return np.asarray(np.clip(x, -limit, limit))

    def chances(self, row: Floats, then: Floats | None = None) -> Floats:
        """Return the probabilities of all members, a row each.

        ``then`` are those of the members that use the latest classes, if the row was predicted
        earlier; other classes may have joined since.
        """
        x, classes = np.append(1.0, row), len(self.counts)
        tame = self.tamed(x)
        said = [
            self.floored(softmax(W @ tame / math.sqrt(1 + math.pi / 8 * (tame @ f.P @ tame))))
            for W, f in zip(self.full, self.filters, strict=True)
        ]
        said += [self.floored(softmax(W @ x)) for W in self.ada]
        said += [
            self.floored(softmax(W @ x / math.sqrt(1 + math.pi / 8 * (v @ x**2))))
            for W, v in zip(self.diag, self.variance, strict=True)
        ]
        share = self.floored((self.counts + 0.5) / (self.counts + 0.5).sum())
        said += [share, np.full(classes, 1 / classes)]
        recent = []
        if then is not None:
            recent = [self.floored(np.pad(p, (0, classes - len(p)))) for p in then]
        elif self.recent:
            recent = [self.floored((self.latest + share) / (self.latest.sum() + 1))]
            after = self.after[self.last, :classes] if self.last >= 0 else np.zeros(classes)
            recent += [self.floored((after + 2 * share) / (after.sum() + 2))]
        grown = []
        if self.forest is not None and self.rounds >= 128:
            found = self.forest.predict_proba_one(row)
            grown = [self.floored(np.array([found[c] for c in range(classes)]))]
        seen = grown or [np.ones(classes)] * self.trees
        self.logs = np.log([*said[:8], share, *seen, *recent])
        combined = [self.floored(softmax(a @ self.logs[: len(a)])) for a in self.a]
        forest = grown or [said[0]] * self.trees
        return np.array(said + combined[:2] + recent + combined[2:] + forest)

    def learn(self, row: Floats, y: int, said: Floats, last: int | None = None) -> None:
        """Learn a class, from what the members said; ``last`` is the one that they knew then."""
        x, came = np.append(1.0, row), (np.arange(len(self.counts)) == y).astype(float)
        worths = np.maximum(1e-4, 0.5 * (said * (1 - said)).max(axis=1))
        self.learn_first(x, came, said, worths)
        x = self.tamed(x)
        for k, each in enumerate(self.filters):
            each.observe(x)
            gain = each.P @ x / (each.keep + worths[k] * (x @ each.P @ x))
            self.full[k] += np.outer(came - said[k], gain)
            each.learn(x, 0.0, worths[k])
        for k, (keep, at) in enumerate(zip((1.0, 0.998) * 2, (14, 15, 18, 19), strict=True)):
            if k >= len(self.a):
                break
            p, logs = said[at], self.logs[: len(self.a[k])]
            centred = logs - (logs @ p)[:, None]
            g = centred[:, y]
            self.H[k] = keep * self.H[k] + 0.5 * ((centred * p) @ centred.T + np.outer(g, g))
            self.a[k] += np.linalg.solve(self.H[k] + PRECISION * np.eye(len(g)), g)
        self.counts[y] += 1
        self.latest *= 0.95
        self.latest[y] += 1
        last = self.last if last is None else last
        if last >= 0:
            self.after[last, y] += 1
        self.last = y
        self.rounds += 1
        if self.forest is not None:
            self.forest.learn_one(row, y)

    def learn_first(self, x: Floats, came: Floats, said: Floats, worths: Floats) -> None:
        self.seen = np.vstack([self.seen, x])
        times, root = len(self.seen), math.sqrt(len(x))  # all values are there
        z = self.variance @ x**2
        if times <= 16 or times % 16 == 0:
            usual = (self.seen[:, 1:] ** 2).mean(axis=0)
            self.size[1:] = np.sqrt(usual)
            raised = np.where(
                1 / root > 2 * self.prior[1:] * usual, 1 / root / usual, self.prior[1:]
            )
            self.variance[:, 1:] += np.outer(DIAGONAL_GRANT, raised - self.prior[1:])
            self.prior[1:] = raised
        for k in range(4):
            p, q, worth = said[4 + k], said[8 + k], worths[8 + k]
            self.squares[k] += np.outer(p - came, x) ** 2
            some = self.squares[k] > 0
            steps = np.where(some, STEPS[k] / root * x / self.size, 0.0)
            steps[some] /= np.sqrt(self.squares[k][some])
            slopes = [after(*each) for each in zip(p, came, 2 * steps @ x, strict=True)]
            self.ada[k] -= steps * np.array(slopes)[:, None]
            v = self.variance[k]
            self.diag[k] += np.outer((came - q) / (KEEP[k] + worth * z[k]), v * x)
            v /= KEEP[k] + worth * v * x**2
            self.variance[k] = np.minimum(v, DIAGONAL_GRANT[k] * self.prior)


def after(p: float, came: float, move: float) -> float:
    """Return the slope of a class's score at the end of the implicit step, others held still."""
    if not move > 0 or p >= 1:
        return p - came
    if move * abs(p - came) < 1e-3:
        return (p - came) / (1 + move * p * (1 - p))
    sign, start = (1.0 if came else -1.0), math.log(p / (1 - p))

    def short(far: float) -> float:
        return move * math.exp(-np.logaddexp(0.0, sign * start + far)) - far

    far = float(brentq(short, 0.0, move, xtol=1e-14))
    return -sign * far / move


def products(
    seed: int, columns: int = 3, classes: int = 3, rows: int = 220
) -> tuple[Floats, NDArray[np.str_]]:
    """Return a stream whose classes are those of the sign of a product, and of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    noise = rng.integers(classes, size=rows)
    kind = np.where(rng.random(rows) < 0.1, noise, X[:, 0] * X[:, -1] > 0)
    return X, np.char.mod("kind %d", np.where(X[:, 1] > 1, 2, kind))


def forest_of(learner: nr.AutoClasses) -> nr.MondrianForestClasses | None:
    """Return the forest, if there is one, as a learner of its own, with the classes by number."""
    arrays, numbers, _ = learner.get_state()
    own = {name[6:]: array for name, array in arrays.items() if name.startswith("trees.")}
    if not own:
        return None
    made, like = nr.MondrianForestClasses(nodes=1500, edition=3), nr.MondrianForestClasses()
    classes, columns = int(numbers["trees.classes"]), int(numbers["trees.features"])
    like.learn_many(np.zeros((classes, columns)), np.arange(classes))
    theirs, others, names = like.get_state()
    made.set_state(own | {"labels": theirs["labels"]}, others, names)
    return made
