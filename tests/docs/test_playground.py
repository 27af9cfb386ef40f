"""The playground: its runs are true, and a browser steps through them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from tests.app.report.browser import Browser

DOCS = Path(__file__).parents[2] / "docs"
STATIC = DOCS / "_static"
RUNS = json.loads(
    (STATIC / "playground-runs.js").read_text(encoding="utf-8").partition(" = ")[2].rstrip(";\n")
)
KINDS = {
    "Widrow–Hoff, rate 0.3": lambda: nr.WidrowHoff(rate=0.3),
    "Vovk–Azoury–Warmuth": nr.Vaw,
    "Perceptron": nr.Perceptron,
    "Halving": nr.experts.Halving,
}


@pytest.mark.parametrize("name", KINDS)
def test_runs_are_those_of_the_library(name: str) -> None:
    for run in RUNS:
        if run["learner"] != name:
            continue
        learner = KINDS[name]()
        for x, guess, y, weights, *_ in run["rounds"]:
            row = np.array(x)
            assert learner.predict_one(row) == pytest.approx(guess, rel=2e-3, abs=1e-3)
            learner.learn_one(row, y)
            found = learner.weights() if callable(learner.weights) else learner.weights
            np.testing.assert_allclose(found, weights, rtol=2e-3, atol=2e-3)


def test_every_bound_holds() -> None:
    for run in RUNS:
        for *_, measured, bound in run["rounds"]:
            assert bound is None or measured <= bound * 1.001 + 1e-9, run["learner"]


def shown(chromium: Browser, width: int, folder: Path, asked: str = "") -> None:
    """Show the board of the playground, without the page around it."""
    page = (DOCS / "playground.md").read_text(encoding="utf-8")
    (markup,) = re.findall(r"```\{raw\} html\n(.*?)```", page, re.DOTALL)
    markup = markup.replace("_static/", f"{STATIC.as_uri()}/")
    place = folder / "page.html"
    place.write_text(f"<!doctype html><meta charset='utf-8'>{markup}", encoding="utf-8")
    chromium.show(f"{place.as_uri()}#{asked}", width, "light")


def test_live_learners_play_as_the_library_does(chromium: Browser, tmp_path: Path) -> None:
    shown(chromium, 800, tmp_path)
    live = chromium.run("Object.keys(liveLearners)")
    replay = """
        (([learner, rounds]) => {
            const player = liveLearners[learner]();
            return rounds.map(([x, , y]) => {
                const guess = player.predict(x);
                player.learn(x, y);
                return [guess, ...player.weights, ...player.figures()];
            });
        })
    """
    played = 0
    for run in RUNS:
        rounds = run["rounds"]
        if run["learner"] not in live or len(rounds[0][0]) not in (2, 4):
            continue
        played += 1
        found = chromium.run(f"{replay}({json.dumps([run['learner'], rounds])})")
        wanted = [[guess, *weights, *figures] for _, guess, _, weights, *figures in rounds]
        np.testing.assert_allclose(found, wanted, rtol=5e-3, atol=2e-3, err_msg=run["learner"])
    assert played == 12


@pytest.mark.parametrize("learner", ["Widrow–Hoff, rate 0.3", "Weighted majority"])
def test_a_reader_is_the_adversary(chromium: Browser, learner: str, tmp_path: Path) -> None:
    shown(chromium, 400, tmp_path, f"learner={learner}&stream=you: choose each outcome")
    part = "document.querySelector('[data-part={}]')"
    assert not chromium.run(f"{part.format('answers')}.hidden")
    assert "What comes?" in chromium.run(f"{part.format('what')}.textContent")
    for played in range(1, 62):
        against = (
            "((it) => it.answers[it.predict(it.offer()) > (it.answers[0] + 1) / 2 ? 0 : 1])"
            "(playground.player)"
        )
        answer = chromium.run(f"playground.player.answers.indexOf({against})")
        chromium.run(f"{part.format(f'answer-{answer}')}.click()")
        *_, measured, bound = chromium.run("playground.run.rounds.at(-1)")
        assert measured <= bound * (1 + 1e-9)
        assert chromium.run("playground.run.rounds.length") == min(played, 60)
    assert "last round" in chromium.run(f"{part.format('what')}.textContent")
    assert measured > 0.7 * bound  # always answering on the other side comes close


@pytest.mark.parametrize("width", [400, 1200])
def test_a_reader_steps_through_rounds(chromium: Browser, width: int, tmp_path: Path) -> None:
    shown(chromium, width, tmp_path, "learner=Perceptron&round=3")
    part = "document.querySelector('[data-part={}]')"
    what = f"{part.format('what')}.textContent"
    assert chromium.run(what).startswith("Round 3: ")
    chromium.run(f"{part.format('on')}.click()")
    assert chromium.run(what).startswith("Round 4: ")
    chromium.run(f"{part.format('back')}.click(), {part.format('back')}.click()")
    assert chromium.run(what).startswith("Round 2: ")
    learners = chromium.run(f"[...{part.format('learner')}.options].map((each) => each.value)")
    assert learners == list(dict.fromkeys(run["learner"] for run in RUNS))
    for name in learners:
        choose = f"{part.format('learner')}.value = {json.dumps(name)};"
        chromium.run(f"{choose} {part.format('learner')}.dispatchEvent(new Event('change'))")
        last = max(len(run["rounds"]) for run in RUNS if run["learner"] == name)
        slide = f"{part.format('round')}.value = {last};"
        chromium.run(f"{slide} {part.format('round')}.dispatchEvent(new Event('input'))")
        assert "Theorem " in chromium.run(f"{part.format('figures')}.textContent")
        assert chromium.run(f"{part.format('lines')}.querySelectorAll('polyline').length") >= 2
    assert chromium.run("document.documentElement.scrollWidth <= window.innerWidth")
