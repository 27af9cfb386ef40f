"""Several classes: the mean log loss and accuracy of one pass, and the time per row.

    python -m benchmarks classes     # as one of the benchmarks
    python -m benchmarks.classes     # the tables alone, as Markdown

Rows are shuffled, and each is predicted before it is learned. Rounds in which a class first appears
count for none, as some peers must be told all classes beforehand and others give them no chance.
Sets are those that scikit-learn, River, statsmodels, palmerpenguins, vega_datasets and noregret
carry; columns of text are one-hot. River and one of scikit-learn get columns standardised by the
rows so far, the others as they are. All have their defaults.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import noregret as nr
from benchmarks._harness import Grid, Row

PACKAGES = ("pandas", "river", "scikit-learn", "statsmodels", "vowpalwabbit")
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Predict = Callable[[Floats, Codes, int], Floats]
# Least probability, and rows of the largest set.
EDGE, MAX_ROWS = 1e-15, 1_500


# Sets.


def of_table(table: pd.DataFrame, target: str) -> tuple[Floats, Codes]:
    """Return the columns as numbers, text one-hot, and the classes as numbers."""
    table = table.dropna()
    X = pd.get_dummies(table.drop(columns=target)).to_numpy(np.float64)
    return X, np.unique(table[target].astype(str), return_inverse=True)[1]


def from_sklearn(name: str) -> tuple[Floats, Codes]:
    """Return a set that scikit-learn carries."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y


def segments() -> tuple[Floats, Codes]:
    """Return River's ImageSegments."""
    from river.datasets import ImageSegments

    rows = list(ImageSegments())
    return of_table(pd.DataFrame([x | {"y": y} for x, y in rows]), "y")


def penguins() -> tuple[Floats, Codes]:
    """Return the species of penguins."""
    from palmerpenguins import load_penguins

    return of_table(load_penguins(), "species")


def parties() -> tuple[Floats, Codes]:
    """Return the party that voters of 1996 identified with, of seven degrees."""
    from statsmodels.datasets import anes96

    return of_table(anes96.load_pandas().data.drop(columns=["vote"]), "PID")


def weather() -> tuple[Floats, Codes]:
    """Return the weather of Seattle by day."""
    from vega_datasets import local_data

    return of_table(local_data.seattle_weather().drop(columns="date"), "weather")


def cars() -> tuple[Floats, Codes]:
    """Return where cars come from."""
    from vega_datasets import local_data

    return of_table(local_data.cars().drop(columns=["Name", "Year"]), "Origin")


def carriers() -> tuple[Floats, Codes]:
    """Return the carrier of flights."""
    from noregret.data import flights

    rows = [x for x, _ in flights()][:MAX_ROWS]
    return of_table(pd.DataFrame(rows), "carrier")


SETS: dict[str, Callable[[], tuple[Floats, Codes]]] = {
    "iris": lambda: from_sklearn("iris"),
    "wine": lambda: from_sklearn("wine"),
    "digits": lambda: from_sklearn("digits"),
    "segments": segments,
    "penguins": penguins,
    "parties": parties,
    "weather": weather,
    "cars": cars,
    "carriers": carriers,
}


# Learners: the probabilities of all classes, each row before it is learned.


def standardised(X: Floats) -> Floats:
    """Return columns less their mean over their deviation, by the rows up to each."""
    counts = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X, axis=0) / counts
    spread = np.sqrt(np.maximum(np.cumsum(X**2, axis=0) / counts - mean**2, 0))
    return np.divide(X - mean, spread, out=np.zeros_like(X), where=spread > 1e-9)


def own(make: Callable[[], Any]) -> Predict:
    """Return the predictions of a learner of noregret."""

    def predict(X: Floats, y: Codes, classes: int) -> Floats:
        learner, found = make(), np.zeros((len(y), classes))
        for k, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
            for known, chance in learner.predict_proba_one(x).items():
                found[k, known] = chance
            learner.learn_one(x, label)
        return found

    return predict


def scaled(predict: Predict) -> Predict:
    """Return the predictions on standardised columns."""
    return lambda X, y, classes: predict(standardised(X), y, classes)


def scikit_learn(X: Floats, y: Codes, classes: int) -> Floats:
    """Return the predictions of SGDClassifier."""
    from sklearn.linear_model import SGDClassifier

    model, found = SGDClassifier(loss="log_loss", random_state=0), np.ones((len(y), classes))
    for k in range(len(y)):
        if k:
            found[k] = model.predict_proba(X[k : k + 1])[0]
        model.partial_fit(X[k : k + 1], y[k : k + 1], classes=np.arange(classes))
    return found


def river(kind: str) -> Predict:
    """Return the predictions of softmax regression, or of logistic regressions by class."""

    def predict(X: Floats, y: Codes, classes: int) -> Floats:
        from river import linear_model, multiclass

        one = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
        model: Any = linear_model.SoftmaxRegression() if kind == "softmax" else one
        found = np.zeros((len(y), classes))
        for k, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            x = dict(enumerate(row))
            for known, chance in model.predict_proba_one(x).items():
                found[k, known] = chance
            model.learn_one(x, label)
        return found

    return predict


def vowpal_wabbit(X: Floats, y: Codes, classes: int) -> Floats:
    """Return the predictions of VW, one against all with the logistic loss."""
    from vowpalwabbit import Workspace

    model = Workspace(f"--oaa {classes} --loss_function logistic --probabilities --quiet")
    found = np.zeros((len(y), classes))
    for k, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        text = " ".join(f"{j}:{value!r}" for j, value in enumerate(row) if value)
        found[k] = model.predict(f"| {text}")
        model.learn(f"{label + 1} | {text}")
    model.finish()
    return found


PREDICTORS: dict[str, Predict] = {
    "auto-classes": own(lambda: nr.AutoClasses(recent=False)),
    "softmax, scaled": scaled(own(lambda: nr.Softmax(step="implicit"))),
    "VW --oaa": vowpal_wabbit,
    "River softmax": scaled(river("softmax")),
    "River by class": scaled(river("logistic")),
    "scikit-learn": scikit_learn,
    "scikit-learn, scaled": scaled(scikit_learn),
}


def judged(found: Floats, y: Codes) -> tuple[float, float]:
    """Return the mean log loss and the accuracy, of rows whose class was seen before."""
    first = np.zeros(len(y), dtype=bool)
    first[np.unique(y, return_index=True)[1]] = True
    chances = np.maximum(found, EDGE)
    chances /= chances.sum(axis=1, keepdims=True)
    own = chances[np.arange(len(y)), y]
    return float(-np.log(own[~first]).mean()), float((chances.argmax(axis=1) == y)[~first].mean())


def speeds(quick: bool) -> Grid:
    """Return the processor time per row of learning, by the number of classes."""
    rng, rows = np.random.default_rng(0), []
    for classes in (3, 10, 26):
        X = rng.normal(size=(400 if quick else 4_000, 20))
        y = (X @ rng.normal(size=(20, classes))).argmax(axis=1)
        cells = []
        for make in (nr.AutoClasses, nr.Softmax):
            spent = []
            for _ in range(5):
                learner: Any = make()
                began = time.process_time()
                learner.learn_many(X, y)
                spent.append(time.process_time() - began)
            cells.append(f"{min(spent) / len(y) * 1e6:.1f} µs")
        rows.append((f"{classes} classes", cells))
    return Grid("Several classes: a row of 20 features", ["auto-classes", "softmax"], rows)


def run(quick: bool) -> Iterator[Row | Grid]:
    """Yield how many sets no peer is better on, by the log loss, and the figures."""
    rows, best, names = [], 0, list(PREDICTORS)
    sets = dict(list(SETS.items())[:2]) if quick else SETS
    for name, load in sets.items():
        X, y = load()
        order = np.random.default_rng(0).permutation(len(y))
        X, y, classes = X[order], y[order], len(np.unique(y))
        found = [judged(predict(X, y, classes), y) for predict in PREDICTORS.values()]
        best += found[0][0] <= min(loss for loss, _ in found[1:])
        size = f"{name}, {X.shape[0]:,} × {X.shape[1]}, {classes} classes"
        rows.append((size, [f"{loss:.3f} {right:.1%}" for loss, right in found]))
    yield Row(
        f"auto-classes, least log loss of all on {len(sets)} sets",
        f"{best} sets",
        "the best default",
        f"{best} of {len(sets)}",
        "all",
        best == len(sets),
    )
    yield Grid("Several classes, shuffled: mean log loss and accuracy", names, rows)
    yield speeds(quick)


if __name__ == "__main__":
    from benchmarks.__main__ import markdown_table

    for each in run(quick=False):
        if isinstance(each, Grid):
            table = [(n, *f) for n, f in each.rows]
            print(f"{each.title}\n", *markdown_table(["", *each.columns], table), "", sep="\n")
