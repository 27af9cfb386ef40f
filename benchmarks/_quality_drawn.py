"""Data sets drawn with a seed, whose structure is known: what a learner should cope with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.signal import lfilter

from benchmarks._quality_sets import Floats, Set, dense

ROWS, COLUMNS = 10_000, 20
Random = np.random.Generator


def start(seed: int, rows: int = ROWS, columns: int = COLUMNS) -> tuple[Random, Floats, Floats]:
    """Return where chance comes from, standard normal rows, and weights of norm about 1."""
    draw = np.random.default_rng(seed)
    return (
        draw,
        draw.standard_normal((rows, columns)),
        draw.standard_normal(columns) / columns**0.5,
    )


def tossed(draw: Random, log_odds: Floats) -> Floats:
    """Return classes of the probabilities given."""
    return (draw.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds))).astype(float)


def noisy(draw: Random, exact: Floats, spread: float = 0.3) -> Floats:
    return exact + spread * draw.standard_normal(len(exact))


def steady() -> Set:
    draw, X, w = start(1)
    return dense(X, noisy(draw, X @ w + 1, 0.5))


def steady_classes() -> Set:
    draw, X, w = start(2)
    return dense(X, tossed(draw, 3 * X @ w - 1), classes=True)


def rare() -> Set:
    """Return classes of which one is rare."""
    draw, X, w = start(3)
    return dense(X, tossed(draw, 3 * X @ w - 7), classes=True)


def wide() -> Set:
    draw, X, w = start(4, ROWS // 2, 200)
    return dense(X, noisy(draw, X @ w, 0.5))


def short() -> Set:
    draw, X, w = start(5, 200, 10)
    return dense(X, noisy(draw, X @ w + 5, 0.5))


def walk() -> Set:
    """Return outcomes whose weights walk at random."""
    draw, X, w = start(6)
    w = w + np.cumsum(0.02 * draw.standard_normal(X.shape), axis=0)
    return dense(X, noisy(draw, (X * w).sum(axis=1)))


def jumps(classes: bool = False) -> Set:
    """Return outcomes whose weights are drawn afresh four times."""
    draw, X, _ = start(8 if classes else 7)
    eras = draw.standard_normal((5, COLUMNS))[np.arange(ROWS) * 5 // ROWS]
    if classes:
        return dense(X, tossed(draw, (X * eras).sum(axis=1)), classes=True)
    return dense(X, noisy(draw, (X * eras).sum(axis=1) / COLUMNS**0.5))


def heavy() -> Set:
    """Return noise of Student's t with two degrees: no variance."""
    draw, X, w = start(9)
    return dense(X, X @ w + 0.5 * draw.standard_t(2, ROWS))


def gross(outcomes: bool) -> Set:
    """Return a few inputs 10,000 times too large; and, if told, outcomes 1,000 off."""
    draw, X, w = start(10)
    y = noisy(draw, X @ w)
    if outcomes:
        y += 1000 * draw.standard_normal(ROWS) * (draw.random(ROWS) < 0.002)
    return dense(np.where(draw.random(X.shape) < 0.0002, 1e4 * X, X), y)


def units(classes: bool = False) -> Set:
    """Return columns in units of 1e-9 to 1e9."""
    draw, X, w = start(12 if classes else 11, ROWS, 19)
    y = tossed(draw, 3 * X @ w) if classes else noisy(draw, X @ w)
    return dense(X * 10.0 ** np.arange(-9, 10), y, classes)


def late() -> Set:
    """Return half of the columns 0 in the first half."""
    draw, X, w = start(13)
    X[: ROWS // 2, COLUMNS // 2 :] = 0
    return dense(X, noisy(draw, 2 * X @ w))


def constant() -> Set:
    draw, X, w = start(14, ROWS // 2)
    X[:, 5:10] = [0, 1, 1000, -7, 1e6]
    w[5:10] = 0
    return dense(X, noisy(draw, X @ w + 3))


def offset() -> Set:
    """Return inputs with a mean 100 times their spread."""
    draw, X, w = start(15, ROWS // 2)
    return dense(X + 100, noisy(draw, X @ w))


def million() -> Set:
    draw, X, w = start(16, ROWS // 2, 10)
    return dense(X, 1e6 + 100 * noisy(draw, X @ w))


def alike() -> Set:
    """Return 20 columns that are mixtures of four, but for a hundredth."""
    draw, X, w = start(17, ROWS // 2)
    X = X[:, :4] @ draw.standard_normal((4, COLUMNS)) + 0.01 * X
    return dense(X, noisy(draw, X @ w))


def noise(classes: bool = False) -> Set:
    """Return outcomes that have nothing to do with the inputs."""
    draw, X, _ = start(19 if classes else 18, ROWS // 2)
    y = tossed(draw, np.zeros(len(X))) if classes else 5 + draw.standard_normal(len(X))
    return dense(X, y, classes)


def persistent() -> Set:
    """Return classes that change in one row of ten, whatever the inputs."""
    draw, X, _ = start(20, columns=5)
    return dense(X, (np.cumsum(draw.random(ROWS) < 0.1) % 2).astype(float), classes=True)


def echoing() -> Set:
    """Return a linear outcome with noise that lasts: 0.95 of it is there in the next row."""
    draw, X, w = start(21)
    return dense(X, X @ w + 0.3 * lfilter([1], [1, -0.95], draw.standard_normal(ROWS)))


def text(classes: bool) -> Set:
    """Return rows of some 50 words of 50,000, frequent ones lighter, of norm 1."""
    draw, words, a_row = np.random.default_rng(22 + classes), 50_000, 60
    frequency = 1 / np.arange(1, words + 1) ** 1.05
    reach = np.cumsum(frequency / frequency.sum())
    drawn = np.minimum(np.searchsorted(reach, draw.random((ROWS, a_row))), words - 1)
    rows = np.repeat(np.arange(ROWS), a_row)
    X = sparse.csr_matrix((np.ones(drawn.size), (rows, drawn.ravel())), (ROWS, words))
    X.data = np.log(1 + 1000 / (1 + 1e5 * frequency[X.indices]))
    norms: NDArray[np.float64] = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_matrix(sparse.diags(1 / norms) @ X)
    exact = X @ (6 * draw.standard_normal(words) * (draw.random(words) < 0.3))
    y = tossed(draw, 2 * exact) if classes else noisy(draw, 10 + exact, 0.5)
    return Set(X, y, classes, np.empty(0, dtype=np.int64))


DRAWN: dict[str, Callable[[], Set]] = {
    "drawn: steady": steady,
    "drawn: steady, classes": steady_classes,
    "drawn: rare class": rare,
    "drawn: 200 columns": wide,
    "drawn: 200 rows": short,
    "drawn: walking weights": walk,
    "drawn: jumping weights": jumps,
    "drawn: jumping, classes": lambda: jumps(classes=True),
    "drawn: heavy tails": heavy,
    "drawn: gross inputs": lambda: gross(outcomes=False),
    "drawn: gross outcomes": lambda: gross(outcomes=True),
    "drawn: units": units,
    "drawn: units, classes": lambda: units(classes=True),
    "drawn: late columns": late,
    "drawn: constant columns": constant,
    "drawn: offset inputs": offset,
    "drawn: a million": million,
    "drawn: alike columns": alike,
    "drawn: noise": noise,
    "drawn: coin tosses": lambda: noise(classes=True),
    "drawn: persistent class": persistent,
    "drawn: lasting noise": echoing,
    "drawn: text": lambda: text(classes=False),
    "drawn: text, classes": lambda: text(classes=True),
}
