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
from noregret.app.report.helped import (
    HELPED,
    HOLDS,
    SAME,
    UNKNOWN,
    WORSE,
    Plain,
    beneath,
    helped,
    ratio,
)
from noregret.app.report.run.helped import helped_by, promise_of
from noregret.app.report.run.html import page as html
from noregret.app.results.run import Constant
from noregret.proof.certificates.certificate import Certificate
from tests.app.report.results import classification, nothing, regression
from tests.app.run.commands import done


def test_one_worse_alternative_is_enough_and_comes_first() -> None:
    said = helped([Plain(0.5, "half of the mean"), Plain(1.2, "a fifth more than the last value")])
    assert said is not None
    assert (said.headline, said.mood) == (WORSE, "poor")
    assert said.words == "A fifth more than the last value, but half of the mean."
    said = helped(
        [Plain(0.5, "half of one"), Plain(2.0, "twice the other"), Plain(0.9, "less yet")]
    )
    assert said is not None
    assert said.words == "Twice the other, but half of one, and less yet."


@pytest.mark.parametrize(
    ("ratios", "headline"),
    [
        ([0.9], HELPED),
        ([0.9, 0.2], HELPED),
        ([1.0], SAME),
        ([0.9995], SAME),
        ([0.7, 1.0003], SAME),
        ([1.01], WORSE),
        ([0.7, 1.0, 1.01], WORSE),
    ],
)
def test_the_headline_follows_the_ratios(ratios: list[float], headline: str) -> None:
    said = helped(Plain(ratio, "words") for ratio in ratios)
    assert said is not None
    assert said.headline == headline


def test_a_wealth_written_as_a_power_stays_one() -> None:
    said = helped([Plain(0.5, "e^30 from 1"), Plain(0.6, "half of the rest")])
    assert said is not None
    assert said.words == "e^30 from 1, and half of the rest."


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


def test_an_alternative_without_error_is_not_passed_over() -> None:
    """Nothing is "x% more" than 0, and a ratio of 0 by 0 is no difference."""
    said = helped_by(replace(regression(), constant=Constant(7.005, 0.0)))
    assert said is not None
    assert said.headline == WORSE
    assert ratio(1.0, 0.0) == float("inf")
    assert ratio(0.0, 0.0) == 1.0
    assert ratio(-2.0, -1.0) == 0.0


def test_a_theorem_is_praised_only_where_the_result_helped() -> None:
    good, poor = regression(), replace(regression(), constant=Constant(7.005, 1000.0))
    assert (promise_of(good).mood, promise_of(good).headline) == ("good", "PROMISE KEPT")
    assert promise_of(poor).mood == "neutral"
    assert promise_of(poor).headline.startswith(HOLDS)
    assert "PROMISE KEPT" not in html(poor)
    assert "badge good" not in html(poor)
    bad = promise_of(good)._replace(mood="bad", headline="BOUND EXCEEDED")
    assert beneath(helped_by(poor), bad) == bad


def lead_of(*args: object) -> str:
    """Return the summary's lead: the paragraph after the title."""
    return " ".join(done(*args).split("\n\n")[1].split())


def table(path: Path, head: str, *rows: str) -> Path:
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_no_summary_praises_a_theorem_where_nothing_helped(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    noise = [f"{a:.3f},{b:.3f},{y:.3f}" for a, b, y in rng.normal(size=(80, 3))]
    one = table(tmp_path / "one.csv", "a,b,y", "1,2,3")
    constant = table(tmp_path / "constant.csv", "a,b,y", *(f"{k % 7},{k % 5},5" for k in range(40)))
    poor = table(tmp_path / "poor.csv", "a,b,y", *noise)
    exact = table(tmp_path / "exact.csv", "a,b,y", *(f"{k % 7},{k % 7},{k % 7}" for k in range(40)))
    for command, path, headline in (
        ("run", one, UNKNOWN),
        ("run", constant, UNKNOWN),
        ("run", poor, WORSE),
        ("mix", exact, UNKNOWN),
    ):
        said = done(command, path, "--target", "y")
        assert said.splitlines()[2].startswith(headline)
        assert "PROMISE KEPT" not in said


def test_a_mix_is_compared_with_the_median_too(tmp_path: Path) -> None:
    """Where one forecast spoils the average, less error than the average is no achievement."""
    rng = np.random.default_rng(4)
    y = 10 + rng.normal(size=60)
    X = y[:, None] + 0.1 * rng.normal(size=(60, 3))
    X[20, 0] = 1e9
    rows = [",".join(f"{x:.4f}" for x in [*row, one]) for row, one in zip(X, y, strict=True)]
    path = table(tmp_path / "absurd.csv", "a,b,c,y", *rows)
    assert "their median" in lead_of("mix", path, "--target", "y")
    assert "; 1 forecast set aside" in " ".join(done("mix", path, "--target", "y").split())
    gap = table(tmp_path / "gap.csv", "a,b,c,y", *rows[:9], rows[9][rows[9].index(",") :])
    said = done("mix", gap, "--target", "y")
    assert "missing" in said
    assert "set aside" not in said


def test_a_portfolio_that_lost_says_so(tmp_path: Path) -> None:
    falling = table(tmp_path / "relatives.csv", "a,b", *["0.9,0.99", "0.99,0.9"] * 10)
    assert "a loss of" in lead_of("portfolio", falling)
    rising = table(tmp_path / "rising.csv", "a,b", *["1.1,1.01", "1.01,1.1"] * 10)
    assert "a loss of" not in lead_of("portfolio", rising)


def test_a_tournament_leads_with_it(tmp_path: Path) -> None:
    data = table(tmp_path / "d.csv", "a,y", *(f"{k % 5},{k % 5 + 1}" for k in range(40)))
    learners = ("--learner", "vaw", "--learner", "widrow-hoff")
    lead = lead_of("tournament", data, "--target", "y", *learners)
    assert lead.startswith((HELPED, SAME, WORSE))


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


def test_few_rounds_are_too_few_to_tell(tmp_path: Path) -> None:
    """Whatever the command: with 10 rounds it compares."""
    pairs = ["1,4,1", "2,3,2", "3,2,3", "4,1,5", "5,9,5"]
    prices = ["1.1,0.9", "0.9,1.2"]
    for rounds, few in ((2, True), (9, True), (10, False)):
        rows = table(tmp_path / "r.csv", "a,b,y", *(pairs * 2)[:rounds])
        held = table(tmp_path / "p.csv", "a,b", *(prices * 5)[:rounds])
        for args in (("mix", rows, "--target", "y"), ("run", rows, "--target", "y")):
            assert ("too few to tell" in lead_of(*args)) == few
        assert ("too few to tell" in lead_of("portfolio", held)) == few
