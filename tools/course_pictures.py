"""Draw the pictures of the course: docs/_static/course-*.svg.

    python tools/course_pictures.py

Each shows how the potential of a proof goes, on the data of its lesson.
"""

from __future__ import annotations

import numpy as np
from card_pictures import BLUE, GREY, ORANGE, PLACE, Drawn, Frame, picture

from noregret import Perceptron, play

ROUNDS = 200


def distance() -> Drawn:
    """Return the squared distance to the best weights, as Widrow–Hoff goes on."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(500, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    outcomes = rows @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=500)
    u = np.linalg.solve(rows.T @ rows + (0.7 / 0.3) * np.eye(4), rows.T @ outcomes)
    w, found = np.zeros(4), [float(u @ u)]
    for x, y in zip(rows[:ROUNDS], outcomes, strict=False):
        w = w - 0.3 * (w @ x - y) * x
        found.append(float((w - u) @ (w - u)))
    frame = Frame(1, 0, 1.05 * max(found))
    return [frame.line(np.array(found), BLUE)], [(BLUE, "‖w − u‖², 200 rounds")]


def weight() -> Drawn:
    """Return the logarithm of the total weight, and of the weight of the best expert."""
    rng = np.random.default_rng(2)
    advice = rng.integers(0, 2, size=(ROUNDS, 64))
    truth = np.where(rng.random(ROUNDS) < 0.9, advice[:, 17], 1 - advice[:, 17])
    wrong = np.cumsum(advice != truth[:, None], axis=0)
    total = np.log(np.exp(-wrong).sum(axis=1))
    best = -wrong[:, 17].astype(float)
    frame = Frame(1, 1.05 * best.min(), np.log(64))
    lines = [frame.line(total, BLUE), frame.line(best, ORANGE, "6 4")]
    return lines, [(BLUE, "ln of all weights"), (ORANGE, "ln of the best one's")]


def mistakes() -> Drawn:
    """Return the two ends of the Perceptron's proof, by mistake: u·w from below, ‖w‖ from above."""
    rng = np.random.default_rng(3)
    rows = rng.choice([-1.0, 1.0], size=(400, 300))
    labels = np.sign(rows[:, :3].sum(axis=1))
    witness = play(Perceptron(), rows, labels).certificate().hindsight.witness
    u = np.array([witness.get(str(k), 0.0) for k in range(300)])
    u /= np.linalg.norm(u)
    margin = float((labels * (rows @ u)).min())
    w, inner, lengths = np.zeros(300), [0.0], [0.0]
    for x, y in zip(rows, labels, strict=True):
        if y * (w @ x) <= 0:
            w = w + y * x
            inner.append(float(u @ w))
            lengths.append(float(np.linalg.norm(w)))
    k = np.arange(len(inner), dtype=np.float64)
    ceiling = np.sqrt(300 * k)
    frame = Frame(1, 0, 1.05 * ceiling.max())
    lines = [
        frame.line(margin * k, GREY, "3 3"),
        frame.line(np.array(inner), BLUE),
        frame.line(np.array(lengths), ORANGE),
        frame.line(ceiling, GREY, "6 4"),
    ]
    return lines, [(BLUE, "u·w, above kγ"), (ORANGE, "‖w‖, below R√k")]


def descent() -> Drawn:
    """Return the squared distance to the best point, as gradient descent goes on."""
    rng = np.random.default_rng(4)
    centres = np.clip(0.6 + 0.3 * rng.normal(size=400), -1, 1)
    u, theta, found = np.median(centres), -1.0, []
    for centre in centres[:ROUNDS]:
        found.append(float((theta - u) ** 2))
        theta = np.clip(theta - 0.05 * np.sign(theta - centre), -1, 1)
    frame = Frame(1, 0, 1.05 * max(found))
    return [frame.line(np.array(found), BLUE)], [(BLUE, "(θ − u)², 200 rounds")]


def leaders() -> Drawn:
    """Return where the leader and the regularised leader go."""
    losses = np.array([0.5] + [-1.0, 1.0] * 20)
    before = np.cumsum(losses) - losses
    frame = Frame(1, -1.1, 1.1)
    lines = [frame.line(-np.sign(before), GREY), frame.line(-0.2 * before, BLUE)]
    return lines, [(GREY, "the leader"), (BLUE, "regularised, rate 0.2")]


def martingale() -> Drawn:
    """Return sums of loss minus risk, of twenty samples."""
    rng, m = np.random.default_rng(5), 300
    theta = np.array([1.0, -1.0, 0.5, 0.0, 2.0])
    walks = []
    for _ in range(20):
        w, walk = np.zeros(5), [0.0]
        for _ in range(m):
            x = rng.normal(size=5)
            x /= np.linalg.norm(x)
            y = x @ theta + 0.5 * rng.normal()
            risk = (w - theta) @ (w - theta) / 5 + 0.25  # x is uniform on the sphere
            walk.append(walk[-1] + (w @ x - y) ** 2 - risk)
            w = w - 0.3 * (w @ x - y) * x
        walks.append(np.array(walk))
    most = 1.1 * max(np.abs(walk).max() for walk in walks)
    frame = Frame(1, -most, most)
    return [frame.line(walk, BLUE) for walk in walks], [(BLUE, "Σ (loss − risk), 20 samples")]


PICTURES = {
    "potential-distance": distance,
    "potential-weight": weight,
    "potential-mistakes": mistakes,
    "potential-descent": descent,
    "leaders": leaders,
    "martingale": martingale,
}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        drawn = picture(*draw()).replace("<svg ", '<svg width="480" ', 1)
        (PLACE / f"course-{name}.svg").write_text(drawn, encoding="utf-8")
