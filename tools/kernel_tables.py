"""Write the tables of docs/kernels.md: linear, kernel and Fourier on the same rows, and budgets.

    NOREGRET_DATA=folder python tools/kernel_tables.py

The folder holds elec2/elecNormNew.csv and a9a/a9a.svm.gz; the digits come with scikit-learn.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import noregret as nr  # noqa: E402
from benchmarks._pages import fill, table  # noqa: E402
from benchmarks._quality_sets import census, electricity  # noqa: E402

PAGE = ROOT / "docs" / "kernels.md"
ROWS = 10_000
BUDGETS = (16, 64, 256, 1024)


def digits() -> tuple[Any, Any]:
    """Return images of digits; the large are to be told from the small, which no plane does."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    at = np.random.default_rng(0).permutation(len(y))
    return X[at] / 16, np.where(y[at] >= 5, 1.0, -1.0)


def standard(found: Any) -> tuple[Any, Any]:
    """Return the first rows of a set, dense, its columns of mean 0 and deviation 1."""
    X = found.X[:ROWS]
    X = X.toarray() if sparse.issparse(X) else X
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), 2 * found.y[:ROWS] - 1


def sets() -> Iterator[tuple[str, Any, Any, float]]:
    """Yield names, rows, labels and the width of the kernel."""
    folder = Path(os.environ["NOREGRET_DATA"])
    yield "elec2", *standard(electricity(folder)), 4.0
    yield "a9a", *standard(census(folder)), 10.0
    yield "digits", *digits(), 1.0


def played(learner: Any, X: Any, y: Any) -> tuple[float, float, float]:
    """Return mistakes and hinge loss per round, and microseconds per row."""
    began = time.perf_counter()
    learner.learn_many(X, y)
    spent = time.perf_counter() - began
    return learner.mistakes / len(y), learner.total_loss / len(y), 1e6 * spent / len(y)


def compared() -> Iterator[list[str]]:
    """Yield the rows of the first table: progressive mistakes of six learners."""
    for name, X, y, width in sets():
        near = nr.fourier(X, 1000, width)
        ones = np.column_stack([X, np.ones(len(X))])
        row = [f"{name}, {len(y):,} × {X.shape[1]}"]
        for learner, rows in (
            (nr.Perceptron(), ones),
            (nr.KernelPerceptron(width=width), X),
            (nr.Perceptron(), near),
            (nr.Hinge(rate=0.3, schedule="constant"), ones / np.sqrt((ones**2).sum(1).mean())),
            (nr.KernelGradientDescent(loss="hinge", rate=0.3, width=width), X),
            (nr.Hinge(rate=0.3, schedule="constant"), near),
        ):
            row.append(f"{played(learner, rows, y)[0]:.1%}")
        yield row


def budgets() -> Iterator[list[str]]:
    """Yield the rows of the second table: what a budget costs."""
    for name, X, y, width in sets():
        for budget in BUDGETS:
            learner = nr.KernelGradientDescent(loss="hinge", rate=0.3, width=width, budget=budget)
            wrong, paid, spent = played(learner, X, y)
            kept = {n: float(v[0]) for n, v in learner._accounts().items() if v.shape == (1,)}
            yield [
                name,
                f"{budget}",
                f"{wrong:.1%}",
                f"{paid:.3f}",
                f"{learner.removed:,}",
                f"{kept['moved']:.1f}",
                f"{kept['norm']:.1f}",
                f"{spent:.0f} µs",
            ]


def margins() -> Iterator[list[str]]:
    """Yield the rows of the third table: the margin that cycling reaches."""
    X, y = separable()
    largest = nr.hindsight.largest_margin(nr.hindsight.Rows(X, y)).lower
    for accuracy in (1.0, 0.5, 0.2, 0.1, 0.05):
        learner = nr.MaxMargin(accuracy=accuracy)
        passes, before = 0, -1
        while learner.corrections != before:
            before, passes = learner.corrections, passes + 1
            learner.learn_many(X, y)
        own = float((y * (X @ learner.weights)).min() / np.linalg.norm(learner.weights))
        bound = 2 / largest**2 * (2 / accuracy - 1) ** 2 + 8 / accuracy - 4
        yield [
            f"{accuracy:g}",
            f"{learner.corrections:,}",
            f"{bound:,.0f}",
            f"{passes:,}",
            f"{1 - accuracy:.0%}",
            f"{own / largest:.1%}",
        ]


def separable() -> tuple[Any, Any]:
    """Return the zeros among the images of digits and the ones, of norm 1."""
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=2, return_X_y=True)
    X = np.column_stack([X / 16, np.ones(len(X))])
    return X / np.linalg.norm(X, axis=1)[:, None], np.where(y > 0, 1.0, -1.0)


def main() -> None:
    """Measure, show, and write the page."""
    forms = ("linear", "kernel", "Fourier")
    pairs = [f"{kind}, {form}" for kind in ("perceptron", "hinge") for form in forms]
    made = {
        "compared": table(["mistakes", *pairs], list(compared()), figures=True),
        "budgets": table(
            ["", "budget", "mistakes", "hinge loss", "removed", "Σ‖e‖", "‖f‖", "per row"],
            list(budgets()),
            figures=True,
        ),
        "margins": table(
            ["accuracy α", "corrections", "bound", "passes", "promised", "reached"],
            list(margins()),
            figures=True,
        ),
    }
    for name, text in made.items():
        print(text, end="\n\n")
        fill(PAGE, name, text)


if __name__ == "__main__":
    main()
