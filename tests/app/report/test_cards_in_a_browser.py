"""Cards under the style sheets of notebooks: no figure covers another, none leaves its card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import bandits, batch, echo, portfolios
from tests.app.report.browser import Browser, found
from tests.thorough import paired

pytestmark = pytest.mark.skipif(
    found() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)

# The rules for tables in outputs, as the notebook programs have them.
STYLES = {
    "none": "",
    "classic": """
        .out { font-size: 14px; line-height: 1.43; color: #000; }
        .out table { margin-left: auto; margin-right: auto; border: none; border-spacing: 0;
            border-collapse: collapse; color: black; font-size: 12px; table-layout: fixed; }
        .out tr, .out th, .out td { text-align: right; vertical-align: middle; padding: .5em;
            line-height: normal; white-space: normal; max-width: none; border: none; }
        .out tbody tr:nth-child(odd) { background: #f5f5f5; }
    """,
    "lab dark": """
        body { background: #111; }
        .out { font-size: 14px; line-height: 1.6; color: rgba(255, 255, 255, 0.87); }
        .out table { border-collapse: collapse; border-spacing: 0; border: none; color: #000;
            font-size: 12px; table-layout: fixed; margin-left: auto; margin-bottom: 1em; }
        .out td, .out th, .out tr { vertical-align: middle; padding: 0.5em; line-height: normal;
            white-space: normal; max-width: none; border: none; text-align: right; }
    """,
}
# All texts in cells that stick out of the card, or lie on the text of another cell.
COLLISIONS = """
(() => {
  const card = document.querySelector(".out > div").getBoundingClientRect(), found = [];
  const texts = [...document.querySelectorAll("td, th")].map(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return [cell.innerText, [...range.getClientRects()].filter(r => r.width && r.height)];
  });
  texts.forEach(([words, boxes], k) => boxes.forEach(a => {
    if (a.left < card.left - 1 || a.right > card.right + 1) found.push([words, "the edge"]);
    texts.slice(0, k).forEach(([others, them]) => them.forEach(b => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 2) found.push([words, others]);
    }));
  }));
  return found;
})()
"""
# Colours of text in cells, all of which should be the page's own.
INK = """
[...new Set([...document.querySelectorAll("td, th")].map(c => getComputedStyle(c).color))]
"""


@cache
def played() -> Any:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 8))
    names = [f"a rather long name of a feature {k}" for k in range(8)]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    return nr.play(nr.WidrowHoff(rate=0.01), list(zip(rows, X.sum(axis=1).tolist(), strict=True)))


def examples() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 4))
    return X, X.sum(axis=1)


def ensemble() -> nr.Experts:
    experts = nr.Experts({"slow": nr.WidrowHoff(rate=0.001), "fast": nr.WidrowHoff(rate=0.1)})
    experts.learn_many(*examples())
    return experts


def checked() -> nr.Verification:
    X, y = examples()
    made = nr.play(nr.WidrowHoff(rate=0.01), X, y).certificate()
    return nr.verify(
        replace(made, loss=replace(made.loss, total=3.0)), list(zip(X, y, strict=True))
    )


@cache
def cancelled() -> echo.EchoResult:
    import tempfile

    heard = echo.demo_signals(3.0)
    with tempfile.TemporaryDirectory() as folder:
        far, mic, out = (f"{folder}/{name}.wav" for name in ("far", "mic", "out"))
        echo.write_sound(far, heard.far, heard.rate)
        echo.write_sound(mic, heard.mic, heard.rate)
        return echo.cancel_file(far, mic, out)


def wealth() -> Any:
    returns = np.exp(np.random.default_rng(3).normal(scale=0.01, size=(40, 3)))
    return nr.play(portfolios.make("eg-portfolio"), returns)


def arms() -> Any:
    rewards = np.random.default_rng(4).random((40, 2))
    return nr.play(bandits.make("exp3", arms=["red", "blue"], seed=1), rewards)


SHOWN: dict[str, Callable[[], Any]] = {
    "certificate": lambda: played().certificate(),
    "game": played,
    "learner": lambda: played().learner,
    "batch game": lambda: nr.play(batch.Ridge(), *examples()),
    "experts": ensemble,
    "verification": checked,
    "echo": cancelled,
    "portfolio": wealth,
    "portfolio certificate": lambda: wealth().certificate(),
    "bandit": arms,
}


@pytest.mark.parametrize(("name", "style"), paired(SHOWN, list(STYLES)))
def test_figures_stand_apart_in_every_notebook(
    chromium: Browser, tmp_path: Path, name: str, style: str
) -> None:
    path = tmp_path / "notebook.html"
    card = SHOWN[name]()._repr_html_()
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><style>{STYLES[style]}</style>'
        f'<div class="out">{card}</div>',
        encoding="utf-8",
    )
    for width in (420, 900):
        chromium.show(path, width, "light")
        assert chromium.run(COLLISIONS) == []
        page = chromium.run("getComputedStyle(document.querySelector('.out')).color")
        assert chromium.run(INK) == [page]
