"""Record the runs of the playground: docs/_static/playground-runs.js.

    python tools/playground_runs.py

Each run is a learner against a stream or an adversary, for a few rounds: what was predicted, what
came, the weights, and what a certificate says after every round.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret import adversaries, experts

PLACE = Path(__file__).resolve().parent.parent / "docs" / "_static" / "playground-runs.js"
ROUNDS = 60
Rows = list[tuple[Any, Any]]


def line(noise: float = 0.0, turn: bool = False, labels: bool = False) -> Rows:
    """Return rows in the unit circle, and outcomes on a line, perhaps one that turns half-way."""
    draw, rows = np.random.default_rng(3), []
    for t in range(ROUNDS):
        x = draw.normal(size=2)
        x = (0.99 * x / max(1.0, float(np.linalg.norm(x)))).round(3)
        u = np.array([-1.0, 1.0]) if turn and t >= ROUNDS / 2 else np.array([1.0, -0.5])
        y = round(float(u @ x + noise * draw.normal()), 3)
        rows.append((x, (1.0 if y > 0 else -1.0) if labels else y))
    return rows


def advice(best: float) -> Rows:
    """Return the forecasts of four experts, of which the third is right with some chance."""
    draw, rows = np.random.default_rng(4), []
    for _ in range(ROUNDS):
        truth = float(draw.integers(0, 2))
        said = draw.integers(0, 2, size=4).astype(float)
        said[2] = truth if draw.random() < best else 1 - truth
        rows.append((said, truth))
    return rows


def against(make: Callable[..., Iterator[Any]], **options: Any) -> Callable[[Any], Rows]:
    """Return the rows that an adversary chooses against a learner."""

    def rows(learner: Any) -> Rows:
        found = []
        fresh = learner.clone()
        for given in make(fresh, **options):
            x, y = given
            found.append((np.asarray(x, dtype=float).copy(), float(y)))
            fresh.learn_one(x, y)
        return found[:ROUNDS]

    return rows


NUMBERS: dict[str, Any] = {
    "a line": lambda learner: line(),
    "a line with noise": lambda learner: line(0.3),
    "a line that turns half-way": lambda learner: line(0.1, turn=True),
    "an adversary: the other side": against(adversaries.sign_flip, rounds=ROUNDS),
}
LABELS: dict[str, Any] = {
    "two sides of a line": lambda learner: line(labels=True),
    "an adversary: new axes": against(adversaries.new_axes, rounds=8),
}
VOTES: dict[str, Any] = {
    "one expert is never wrong": lambda learner: advice(1.0),
    "one expert is right nine times of ten": lambda learner: advice(0.9),
    "an adversary: even camps": against(adversaries.even_camps, experts=4, rounds=ROUNDS),
}
LEARNERS: list[tuple[str, Callable[[], Any], dict[str, Any]]] = [
    ("Widrow–Hoff, rate 0.1", lambda: nr.WidrowHoff(rate=0.1), NUMBERS),
    ("Widrow–Hoff, rate 0.3", lambda: nr.WidrowHoff(rate=0.3), NUMBERS),
    ("Widrow–Hoff, rate 0.9", lambda: nr.WidrowHoff(rate=0.9), NUMBERS),
    ("Vovk–Azoury–Warmuth", nr.Vaw, NUMBERS),
    ("NLMS, rate 0.5", lambda: nr.Nlms(rate=0.5), NUMBERS),
    ("Perceptron", nr.Perceptron, LABELS),
    ("Halving", experts.Halving, {"one expert is never wrong": VOTES["one expert is never wrong"]}),
    ("Weighted majority", experts.WeightedMajority, VOTES),
]


def rounded(value: float | None) -> float | None:
    """Return a number with four digits."""
    return None if value is None or not np.isfinite(value) else float(f"{value:.4g}")


def weights_of(learner: Any) -> list[float | None]:
    """Return the weights now."""
    found = learner.weights() if callable(learner.weights) else learner.weights
    return [rounded(float(each)) for each in np.asarray(found)]


def recorded(make: Callable[[], Any], rows: Rows) -> list[list[Any]]:
    """Return x, the prediction, the outcome, weights after it, and the certificate's figures."""
    learner, rounds = make(), []
    for t, (x, y) in enumerate(rows, start=1):
        guess = learner.predict_one(x)
        learner.learn_one(x, y)
        game = nr.play(make(), iter(rows[:t]))
        certificate = game.certificate()
        promise = certificate.theorem
        told = (None, None) if promise is None else (promise.measured, promise.bound)
        best = certificate.hindsight.loss
        rounds.append([
            [rounded(float(each)) for each in x], rounded(float(guess)), rounded(y),
            weights_of(learner), rounded(game.loss), rounded(best), *map(rounded, told),
        ])  # fmt: skip
    return rounds


def main() -> None:
    """Record all runs."""
    runs = []
    for name, make, streams in LEARNERS:
        for stream, rows in streams.items():
            given = rows(make())
            certificate = nr.play(make(), iter(given)).certificate()
            assert certificate.theorem is not None
            runs.append({
                "learner": name, "stream": stream, "quantity": certificate.theorem.quantity,
                "theorem": certificate.theorem.name, "rounds": recorded(make, given),
            })  # fmt: skip
    text = json.dumps(runs, ensure_ascii=False, separators=(",", ":"))
    PLACE.write_text(f"window.playgroundRuns = {text};\n", encoding="utf-8")


if __name__ == "__main__":
    main()
