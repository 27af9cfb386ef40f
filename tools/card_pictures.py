"""Draw the pictures of the site's first page: docs/_static/card-*.svg.

    python tools/card_pictures.py [stream] [forecasts] [decisions] [signals] [production] [teaching]

Each shows a result that a page behind it explains, from data that come with the package or are
drawn here. Colours suit light and dark pages.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import noregret
from noregret import adversaries, bandits, data, experts
from noregret.service import Service

PLACE = Path(__file__).resolve().parent.parent / "docs" / "_static"
WIDTH, HEIGHT, EDGE, FOOT = 320, 150, 10, 24
BLUE, GREY, ORANGE, GREEN, VIOLET = "#3d8fc4", "#8f9aa5", "#d17d24", "#4aa06a", "#9a76c4"
WORDS = "#757b81"  # as far from white as from the dark page
Floats = NDArray[np.float64]
Drawn = tuple[list[str], list[tuple[str, str]]]  # shapes, and the key: a colour and its words


class Frame:
    """Where numbers are drawn.

    Parameters
    ----------
    across, low, high
        The largest number across, and those at the bottom and the top.
    """

    def __init__(self, across: float, low: float, high: float) -> None:
        self.across, self.low, self.high = across, low, high

    def points(self, x: Floats, y: Floats) -> str:
        """Return the places of points."""
        across = EDGE + (WIDTH - 2 * EDGE) * x / self.across
        height = HEIGHT - FOOT - EDGE
        down = EDGE + height * (
            1 - (np.clip(y, self.low, self.high) - self.low) / (self.high - self.low)
        )
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))

    def line(self, y: Floats, colour: str, dashes: str = "") -> str:
        """Return a line through evenly spaced points."""
        x = np.linspace(0, self.across, len(y))
        more = f' stroke-dasharray="{dashes}"' if dashes else ""
        style = f'fill="none" stroke="{colour}" stroke-width="2"{more}'
        return f'<polyline points="{self.points(x, y)}" {style}/>'

    def area(self, low: Floats, high: Floats, colour: str) -> str:
        """Return an area between evenly spaced points."""
        x = np.linspace(0, self.across, len(low))
        around = self.points(np.r_[x, x[::-1]], np.r_[high, low[::-1]])
        return f'<polygon points="{around}" fill="{colour}" fill-opacity="0.85"/>'


def thinned(values: Floats, points: int = 150) -> Floats:
    """Return evenly spaced ones of many values."""
    chosen: Floats = values[np.linspace(0, len(values) - 1, points).astype(int)]
    return chosen


def moving(values: Floats, rounds: int) -> Floats:
    """Return means over the latest rounds."""
    return np.convolve(values, np.full(rounds, 1 / rounds), "valid")


def stream() -> Drawn:
    """Return the error on the flights, beside that of the best constant."""
    rows = list(data.flights())
    y = np.array([delay for _, delay in rows])
    learner = noregret.Auto()
    said = np.array([learner.play_one(x, delay) for x, delay in rows])
    ours, constant = (
        thinned(np.sqrt(moving((guess - y) ** 2, 1000)))
        for guess in (said, np.full(len(y), y.mean()))
    )
    frame = Frame(1, 0, 1.05 * constant.max())
    shapes = [frame.line(constant, GREY), frame.line(ours, BLUE)]
    return shapes, [(BLUE, "error of auto"), (GREY, "best constant")]


def forecasts() -> Drawn:
    """Return the weights of five pollsters."""
    table = np.genfromtxt(data.path("approval"), delimiter=",", names=True)
    names = [
        name
        for name in table.dtype.names or ()
        if name not in {"ordinal_date", "five_thirty_eight"}
    ]
    master, weights = experts.MlPoly(), []
    for row in table:
        master.learn_one([float(row[name]) for name in names], float(row["five_thirty_eight"]))
        weights.append(master.weights())
    tops = np.cumsum(np.c_[np.zeros(len(weights)), np.array(weights)], axis=1)
    frame, colours = Frame(1, 0, 1), [BLUE, ORANGE, GREEN, VIOLET, GREY]
    shapes = [
        frame.area(thinned(tops[:, k]), thinned(tops[:, k + 1]), colour)
        for k, colour in enumerate(colours)
    ]
    return shapes, [(BLUE, "weights of five pollsters")]


def decisions() -> Drawn:
    """Return how often each of three arms is pulled."""
    policy, draw = bandits.Exp3(arms=["a", "b", "c"], seed=1), np.random.default_rng(1)
    pulled = []
    for _ in range(4000):
        arm = policy.choose()
        policy.learn(arm, float(draw.random() < {"a": 0.3, "b": 0.45, "c": 0.6}[arm]))
        pulled.append([arm == each for each in "abc"])
    shares = [thinned(moving(each, 200)) for each in np.array(pulled, dtype=float).T]
    frame = Frame(1, 0, 1)
    colours = (GREY, ORANGE, BLUE)
    shapes = [frame.line(each, colour) for each, colour in zip(shares, colours, strict=True)]
    return shapes, [(BLUE, "pulls of the best arm"), (GREY, "of others")]


def signals() -> Drawn:
    """Return an echo, and what is left of it after an adaptive filter."""
    draw = np.random.default_rng(2)
    loud = np.repeat(np.clip(np.sin(np.arange(40) / 1.7) + 0.4, 0.05, 1), 200)
    far = draw.normal(size=8000) * loud
    path = draw.normal(size=64) * np.exp(-np.arange(64) / 12)
    echo = np.convolve(far, path)[:8000]
    learner, left = noregret.Nlms(rate=0.5), np.empty(8000)
    padded = np.r_[np.zeros(63), far]
    for t in range(8000):
        left[t] = echo[t] - learner.play_one(padded[t : t + 64][::-1].copy(), echo[t])
    most = np.abs(echo).max()
    frame, shapes = Frame(1, -most, most), []
    for signal, colour in ((echo, GREY), (left, BLUE)):
        parts = signal.reshape(160, -1)
        shapes.append(frame.area(parts.min(axis=1), parts.max(axis=1), colour))
    return shapes, [(GREY, "echo"), (BLUE, "what is left")]


def production() -> Drawn:
    """Return predictions that wait for their labels, which come late."""
    draw, waiting, pending = np.random.default_rng(3), list[tuple[int, str, float]](), []
    with (
        tempfile.TemporaryDirectory() as folder,
        Service(noregret.Nlms(), Path(folder) / "s.db") as service,
    ):
        for t in range(600):
            x = float(draw.normal())
            service.predict({"x": x, "one": 1.0}, id=str(t))
            late = draw.integers(5, 40) + (60 if 250 < t < 330 else 0)
            waiting.append((t + int(late), str(t), 2 * x + float(draw.normal())))
            for each in [each for each in waiting if each[0] <= t]:
                service.label(each[1], each[2])
                waiting.remove(each)
            pending.append(service.pending)
    frame = Frame(1, 0, 1.15 * max(pending))
    high = thinned(np.array(pending, dtype=float), 200)
    return [frame.area(np.zeros(200), high, ORANGE)], [
        (ORANGE, "predictions that wait for a label")
    ]


def teaching() -> Drawn:
    """Return the loss that an adversary causes, and the bound of the theorem."""
    learner = noregret.WidrowHoff(rate=0.3)
    losses, bounds, total = [], [], 0.0
    for rounds in range(10, 210, 10):
        fresh = learner.clone()
        game = noregret.play(fresh, adversaries.sign_flip(fresh, rounds=rounds))
        promise = game.certificate().theorem
        assert promise is not None
        losses.append(promise.measured)
        bounds.append(promise.bound)
    total = max(bounds)
    frame = Frame(1, 0, 1.05 * total)
    shapes = [frame.line(np.array(bounds), ORANGE, "6 4"), frame.line(np.array(losses), BLUE)]
    return shapes, [(ORANGE, "bound"), (BLUE, "loss that an adversary causes")]


CARDS: dict[str, Callable[[], Drawn]] = {
    each.__name__: each for each in (stream, forecasts, decisions, signals, production, teaching)
}


def picture(shapes: list[str], key: list[tuple[str, str]]) -> str:
    """Return a picture with its key below."""
    at, words = EDGE, []
    for colour, text in key:
        words.append(
            f'<rect x="{at}" y="{HEIGHT - 15}" width="9" height="9" rx="2" fill="{colour}"/>'
        )
        words.append(f'<text x="{at + 14}" y="{HEIGHT - 7}">{text}</text>')
        at += 26 + round(6.1 * len(text))
    style = f"text {{ font: 12px system-ui, sans-serif; fill: {WORDS}; }}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"<style>{style}</style>{''.join((*shapes, *words))}</svg>\n"
    )


if __name__ == "__main__":
    for name in sys.argv[1:] or CARDS:
        (PLACE / f"card-{name}.svg").write_text(picture(*CARDS[name]()), encoding="utf-8")
