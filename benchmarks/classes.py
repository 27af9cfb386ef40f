"""Several classes: the mean log loss and accuracy of one pass, and the time per row.

    python -m benchmarks classes     # as one of the benchmarks
    python -m benchmarks.classes     # the tables alone, as Markdown

Rows are shuffled, and each is predicted before it is learned. Rounds in which a class first appears
count for none, as some peers must be told all classes beforehand and others give them no chance.
Sets are those that scikit-learn, River, statsmodels, palmerpenguins, vega_datasets and noregret
carry; not River's Keystroke, which it downloads. Columns of text are one-hot.
River and one of scikit-learn get columns standardised by the rows so far, the others as they are.
All have their defaults; a tuned peer has the rate, and the columns raw or standardised, that turn
out best in hindsight on the very rows of the table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
# Least probability, rows and classes of the largest set.
EDGE, MAX_ROWS, MAX_CLASSES = 1e-15, 1_500, 26


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


def airports() -> tuple[Floats, Codes]:
    """Return the state of airports, by their position."""
    from vega_datasets import local_data

    table = local_data.airports()[["latitude", "longitude", "state"]]
    largest = table["state"].value_counts().index[:MAX_CLASSES]
    return of_table(table[table["state"].isin(largest)], "state")


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
    "airports": airports,
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


def plain(predict: Predict) -> Predict:
    """Return the predictions on columns as they are."""
    return predict


def scaled(predict: Predict) -> Predict:
    """Return the predictions on standardised columns."""
    return lambda X, y, classes: predict(standardised(X), y, classes)


def scikit_learn(rate: float | None = None) -> Predict:
    """Return the predictions of SGDClassifier, by default or at a constant rate."""

    def predict(X: Floats, y: Codes, classes: int) -> Floats:
        from sklearn.linear_model import SGDClassifier

        rule = {} if rate is None else {"learning_rate": "constant", "eta0": rate}
        model = SGDClassifier(loss="log_loss", random_state=0, **rule)
        found = np.ones((len(y), classes))
        for k in range(len(y)):
            if k:
                found[k] = model.predict_proba(X[k : k + 1])[0]
            model.partial_fit(X[k : k + 1], y[k : k + 1], classes=np.arange(classes))
        return found

    return predict


def played(model: Any, X: Floats, y: Codes, classes: int) -> Floats:
    """Return the predictions of a model of River."""
    found = np.zeros((len(y), classes))
    for k, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(row))
        for known, chance in model.predict_proba_one(x).items():
            found[k, known] = chance
        model.learn_one(x, label)
    return found


def river(kind: str, rate: float = 0.01) -> Predict:
    """Return the predictions of softmax regression, or of logistic regressions by class."""

    def predict(X: Floats, y: Codes, classes: int) -> Floats:
        from river import linear_model, multiclass, optim

        one = linear_model.LogisticRegression(optimizer=optim.SGD(rate))
        model: Any = multiclass.OneVsRestClassifier(one)
        if kind == "softmax":
            model = linear_model.SoftmaxRegression(optimizer=optim.SGD(rate))
        return played(model, X, y, classes)

    return predict


def vowpal_wabbit(rate: float = 0.5) -> Predict:
    """Return the predictions of VW, one against all with the logistic loss."""

    def predict(X: Floats, y: Codes, classes: int) -> Floats:
        from vowpalwabbit import Workspace

        model = Workspace(
            f"--oaa {classes} --loss_function logistic --probabilities -l {rate} --quiet"
        )
        found = np.zeros((len(y), classes))
        for k, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            text = " ".join(f"{j}:{value!r}" for j, value in enumerate(row) if value)
            found[k] = model.predict(f"| {text}")
            model.learn(f"{label + 1} | {text}")
        model.finish()
        return found

    return predict


PREDICTORS: dict[str, Predict] = {
    "auto-classes": own(nr.AutoClasses),
    "softmax, scaled": scaled(own(lambda: nr.Softmax(step="implicit"))),
    "VW --oaa": vowpal_wabbit(),
    "River softmax": scaled(river("softmax")),
    "River by class": scaled(river("logistic")),
    "scikit-learn": scikit_learn(),
    "scikit-learn, scaled": scaled(scikit_learn()),
}
OWN = 2  # of them
TUNED: dict[str, list[Predict]] = {
    "VW": [form(vowpal_wabbit(rate)) for rate in (0.1, 0.5, 2.0, 8.0) for form in (plain, scaled)],
    "River softmax": [scaled(river("softmax", rate)) for rate in (0.01, 0.1, 1.0)],
    "River by class": [scaled(river("logistic", rate)) for rate in (0.01, 0.1, 1.0)],
    "scikit-learn": [scaled(scikit_learn(rate)) for rate in (0.001, 0.01, 0.1, 1.0)],
}


def judged(found: Floats, y: Codes) -> tuple[float, float]:
    """Return the mean log loss and the accuracy, of rows whose class was seen before."""
    first = np.zeros(len(y), dtype=bool)
    first[np.unique(y, return_index=True)[1]] = True
    chances = np.maximum(found, EDGE)
    chances /= chances.sum(axis=1, keepdims=True)
    own = chances[np.arange(len(y)), y]
    return float(-np.log(own[~first]).mean()), float((chances.argmax(axis=1) == y)[~first].mean())


def best_of(makers: Sequence[Predict], X: Floats, y: Codes) -> tuple[float, float]:
    """Return the log loss and accuracy of the settings with the least log loss."""
    return min(judged(predict(X, y, len(np.unique(y))), y) for predict in makers)


# Classes of the rows whose time is taken, and who takes them.
SPEED_CLASSES = (2, 3, 10, 26)
LINEAR = partial(nr.AutoClasses, members="linear")
SPEEDS: dict[str, Predict] = {
    "auto-classes": own(nr.AutoClasses),
    "linear members": own(LINEAR),
    "softmax": own(nr.Softmax),
    "VW --oaa": vowpal_wabbit(),
    "River softmax": river("softmax"),
    "River by class": river("logistic"),
    "scikit-learn": scikit_learn(),
}


def speeds(quick: bool) -> Grid:
    """Return the processor time per row, predicted and learned one by one and in a block."""
    rng, rows = np.random.default_rng(0), []
    for classes in SPEED_CLASSES:
        X = rng.normal(size=(50 if quick else 1_000, 20))
        y = (X @ rng.normal(size=(20, classes))).argmax(axis=1)

        def block(make: Callable[[], Any], X: Floats = X, y: Codes = y) -> Callable[[], object]:
            return lambda: make().learn_many(X, y)

        def rowwise(
            predict: Predict, X: Floats = X, y: Codes = y, k: int = classes
        ) -> Callable[[], object]:
            return lambda: predict(X, y, k)

        blocks = [block(make) for make in (nr.AutoClasses, LINEAR, nr.Softmax)]
        work = [*blocks, *map(rowwise, SPEEDS.values())]
        rows.append((f"{classes} classes", [f"{seconds(w) / len(y) * 1e6:.1f} µs" for w in work]))
    columns = [f"{name}, in blocks" for name in ("auto-classes", "linear members", "softmax")]
    columns += SPEEDS
    return Grid("Several classes: a row of 20 features, predicted and learned", columns, rows)


def seconds(work: Callable[[], object], turns: int = 3) -> float:
    """Return the least processor time of a few turns."""
    spent = []
    for _ in range(turns):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def run(quick: bool) -> Iterator[Row | Grid]:
    """Yield how many sets no peer is better on, by the log loss, and the figures."""
    rows, best, best_tuned = [], 0, 0
    sets = dict(list(SETS.items())[:2]) if quick else SETS
    for name, load in sets.items():
        X, y = load()
        order = np.random.default_rng(0).permutation(len(y))
        X, y, classes = X[order], y[order], len(np.unique(y))
        found = [judged(predict(X, y, classes), y) for predict in PREDICTORS.values()]
        tuned = {peer: best_of(makers, X, y) for peer, makers in TUNED.items()}
        peer = min(tuned, key=lambda each: tuned[each])
        best += found[0][0] <= min(loss for loss, _ in found[OWN:])
        best_tuned += found[0][0] <= tuned[peer][0]
        size = f"{name}, {X.shape[0]:,} × {X.shape[1]}, {classes} classes"
        cells = [f"{loss:.3f} {right:.1%}" for loss, right in found]
        rows.append((size, [*cells, f"{tuned[peer][0]:.3f} {tuned[peer][1]:.1%} {peer}"]))
    for who, count, target in (
        ("default", best, len(sets)),
        ("tuned", best_tuned, 2 * len(sets) / 3),
    ):
        yield Row(
            f"auto-classes, log loss at most that of the best {who} peer, {len(sets)} sets",
            f"{count} sets",
            f"the best {who}",
            f"{count} of {len(sets)}",
            "all" if who == "default" else "two thirds",
            count >= target,
        )
    columns = [*PREDICTORS, "best tuned peer"]
    yield Grid("Several classes, shuffled: mean log loss and accuracy", columns, rows)
    yield speeds(quick)


if __name__ == "__main__":
    from benchmarks.__main__ import markdown_table

    for each in run(quick=False):
        if isinstance(each, Grid):
            table = [(n, *f) for n, f in each.rows]
            print(f"{each.title}\n", *markdown_table(["", *each.columns], table), "", sep="\n")
