"""Processor time of noregret itself, row by row: what ``--compare`` runs in each environment.

Every revision runs this file, so it uses only names that all of them have.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import noregret
from benchmarks._command import LEARN_ONLY, LEARNER, QUIET, finish, noregret_run, python
from benchmarks._data import coin_tosses, names, regression, sparse_rows
from benchmarks._files import csv_table, svmlight_text, vw_text
from benchmarks._harness import race

SECONDS = 0.3
ROWS = 20_000  # of each file
Work = Callable[[], object]


def contests() -> dict[str, Callable[[], Work]]:
    """Return what is measured by name: functions that prepare the work and return it."""
    return {
        "array of 20, learn_one": lambda: one_by_one(noregret.WidrowHoff(rate=0.02), arrays()),
        "dict of 20, learn_one": lambda: one_by_one(noregret.WidrowHoff(rate=0.02), dicts()),
        "dict of 20, predict_one": predictions,
        "auto, array of 20, learn_one": lambda: one_by_one(noregret.Auto(), arrays()[:300]),
        "100 columns, learn_many": lambda: block(noregret.WidrowHoff(rate=0.1), 100),
        "CSR, 50 non-zeros per row, learn_many": sparse_block,
        "logistic, 20 columns, learn_many": lambda: block(noregret.Logistic(), 20, labels=True),
        "adagrad, 20 columns, learn_many": lambda: block(noregret.Adagrad(), 20),
        "vaw, 20 columns, learn_many": lambda: block(noregret.Vaw(), 20),
        "auto, 20 columns, learn_many": lambda: block(noregret.Auto(), 20),
        "kernel perceptron, 20 columns, learn_many": kernel_block,
        "Hedge, 100 experts, learn_many": hedge_block,
        "Hedge, 10 experts, learn_losses": hedge_rounds,
        "100 columns, play": played,
        "20 columns, play and certificate": certified,
        "import noregret": lambda: partial(finish, python("-c", "import noregret")),
        "VW text, whole command": lambda: command("vw", vw_text(ROWS)),
        "svmlight text, whole command": lambda: command("svmlight", svmlight_text(ROWS)),
        "CSV, whole command": lambda: command("csv", csv_table(ROWS), "--target", "y"),
    }


def arrays() -> list[tuple[Any, float]]:
    X, y = regression(300, 20)
    return 10 * list(zip(list(X), y.tolist(), strict=True))


def dicts() -> list[tuple[Any, float]]:
    keys = names(20)  # the same strings in every dict, as CSV readers and literals give them
    return [(dict(zip(keys, x.tolist(), strict=True)), y) for x, y in arrays()]


def one_by_one(learner: Any, examples: list[tuple[Any, float]]) -> Work:
    return lambda: [learner.learn_one(x, y) for x, y in examples]


def predictions() -> Work:
    learner, examples = noregret.WidrowHoff(rate=0.02), dicts()
    one_by_one(learner, examples)()
    return lambda: [learner.predict_one(x) for x, _ in examples]


def block(learner: Any, columns: int, labels: bool = False) -> Work:
    X, y = regression(5_000, columns)
    return partial(learner.learn_many, X, coin_tosses(len(y)) if labels else y)


def sparse_block() -> Work:
    X = sparse_rows(10_000, 50, 2**18)
    return partial(noregret.WidrowHoff(rate=0.1).learn_many, X, coin_tosses(X.shape[0]))


def kernel_block() -> Work:
    X, _ = regression(1_000, 20)
    return lambda: noregret.KernelPerceptron().learn_many(X, coin_tosses(len(X)))


def hedge_block() -> Work:
    losses = np.random.default_rng(1).random((2_000, 100))
    return lambda: noregret.Hedge("constant", rate=0.05).learn_many(losses)


def hedge_rounds() -> Work:
    master, row = noregret.Hedge(), np.linspace(0.0, 1.0, 10)
    return lambda: [master.learn_losses(row) for _ in range(2_000)]


def played() -> Work:
    X, y = regression(20_000, 100)
    return lambda: noregret.play(noregret.WidrowHoff(rate=0.1), X, y)


def certified() -> Work:
    X, y = regression(2_000, 20)
    return lambda: noregret.play(noregret.WidrowHoff(rate=0.1), X, y).certificate()


def command(kind: str, path: Path, *options: str) -> Work:
    return partial(
        finish, noregret_run(path, "--format", kind, *options, *LEARNER, QUIET, LEARN_ONLY)
    )


def processor_time() -> float:
    """Return the seconds computed by this process and the children that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    for name, prepare in contests().items():
        (seconds,) = race(prepare(), seconds=SECONDS, clock=processor_time)
        print(json.dumps([name, seconds]), flush=True)


if __name__ == "__main__":
    main()
