"""Every summary leads with whether the result beats the plain alternative, and then the theorem."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import noregret
from noregret.app.report.certificate.text import COLOURS
from noregret.app.report.certificate.verdict import VACUOUS, verdict_of
from noregret.app.report.helped import HELPED, SAME, WORSE, Plain, helped
from noregret.app.report.run.helped import helped_by
from noregret.app.results.run import Constant
from noregret.proof.certificates.certificate import Certificate
from tests.app.report.results import classification, nothing, regression
from tests.app.run.commands import done


def test_one_worse_alternative_is_enough_and_comes_first() -> None:
    said = helped([Plain(0.5, "half of the mean"), Plain(1.2, "a fifth more than the last value")])
    assert said is not None
    assert (said.headline, said.mood) == (WORSE, "poor")
    assert said.words == "A fifth more than the last value, but half of the mean."


@pytest.mark.parametrize(
    ("ratios", "headline"),
    [([0.9], HELPED), ([0.9, 0.2], HELPED), ([1.0], SAME), ([0.9, 1.0], HELPED), ([1.01], WORSE)],
)
def test_the_headline_follows_the_ratios(ratios: list[float], headline: str) -> None:
    said = helped(Plain(ratio, "words") for ratio in ratios)
    assert said is not None
    assert said.headline == headline


def test_without_an_alternative_nothing_is_said() -> None:
    assert helped([]) is None
    assert helped_by(nothing()) is None


def test_runs_are_compared_with_a_constant() -> None:
    for good in (regression(), classification()):
        said = helped_by(good)
        assert said is not None
        assert said.headline == HELPED
    poor = helped_by(replace(regression(), constant=Constant(7.005, 1000.0)))
    assert poor is not None
    assert poor.headline == WORSE


def certificate(rows: int) -> Certificate:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 2))
    y = np.sign(X @ [1.0, 1.0] + rng.normal(size=rows))
    made: Certificate = noregret.play(noregret.Auto(loss="logistic"), X, y).certificate()
    return made


def test_a_regret_bound_above_the_loss_itself_is_neutral() -> None:
    """Losses are not negative, so that the regret is at most the loss without any theorem."""
    long, short = certificate(300), certificate(3)
    assert long.theorem is not None
    assert short.theorem is not None
    assert long.theorem.bound is not None
    assert short.theorem.bound is not None
    assert long.theorem.bound < long.loss.total
    assert short.theorem.bound > short.loss.total
    assert (verdict_of(long).mood, verdict_of(long).headline) == ("good", "PROMISE KEPT")
    assert (verdict_of(short).mood, verdict_of(short).headline) == ("neutral", VACUOUS)
    assert COLOURS["neutral"] == ""
    assert "larger than the total loss itself" in verdict_of(short).words


def test_a_broken_promise_stays_loud() -> None:
    made = certificate(3)
    assert made.theorem is not None
    broken = replace(made, theorem=replace(made.theorem, holds=False))
    assert verdict_of(broken).mood == "bad"
    page = io.StringIO()
    Console(file=page, width=80, force_terminal=True, color_system="standard").print(broken)
    assert "\x1b[1;31mBOUND EXCEEDED" in page.getvalue()


def test_commands_lead_with_it(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b,y\n" + "".join(f"{k % 5},{k % 3},{k % 5 + 1}\n" for k in range(60)))
    assert done("run", data, "--target", "y").splitlines()[2].startswith(HELPED)
    assert done("mix", data, "--target", "y").splitlines()[2].startswith(HELPED)
    prices = tmp_path / "relatives.csv"
    prices.write_text("a,b\n" + "1.1,0.9\n0.9,1.1\n" * 10)
    uniform = done("portfolio", prices, "--learner", "uniform-rebalanced")
    assert uniform.splitlines()[2].startswith(SAME)
