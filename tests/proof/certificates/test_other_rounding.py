"""Figures that another processor rounds otherwise are confirmed, and none that are not proven."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.hindsight import Rows, best_in_ball
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.levelling import levelled
from noregret.proof.certificates.certificate import seal
from noregret.proof.theorems.searched import Asked
from tests.proof.certificates.games import NOISY, ROWS
from tests.proof.certificates.roster import Entry, every

ENTRIES = {entry.name: entry for entry in every()}


def failed(entry: Entry, contents: dict[str, Any]) -> list[str]:
    rest = {key: value for key, value in contents.items() if key != "seal"}
    return [line.name for line in nr.verify(rest | {"seal": seal(rest)}, **entry.data()).failed]


def moved(contents: dict[str, Any], off: float) -> dict[str, Any]:
    """Return a certificate with another loss, and the regret that follows from it."""
    made = copy.deepcopy(contents)
    made["loss"]["total"] += off
    made["loss"]["mean"] = made["loss"]["total"] / made["data"]["rounds"]
    best, regret = made["hindsight"], made["regret"]
    regret["lower"] = made["loss"]["total"] - best["loss"]
    regret["upper"] = made["theorem"]["measured"] = made["loss"]["total"] - (
        best["loss"] - best["gap"]
    )
    return made


@pytest.mark.parametrize("prices", ["constant", "nearly constant"])
def test_a_log_wealth_of_hardly_moving_prices_is_compared_by_its_rounding(prices: str) -> None:
    X = np.ones((24, 3))
    if prices != "constant":
        X += 1e-12 * np.random.default_rng(0).normal(size=X.shape)
    entry = Entry("constant", lambda: nr.portfolios.make("eg-portfolio"), X)
    contents = entry.certificate().to_dict()
    assert failed(entry, moved(contents, 3e-16)) == []
    assert "loss.total" in failed(entry, moved(contents, 1e-12))


def test_a_bound_to_groups_without_a_search_is_compared_by_its_rounding() -> None:
    for name in ("groups: softmax", "groups: ball"):
        entry = ENTRIES[name]
        contents = entry.certificate().to_dict()
        assert failed(entry, contents) == []
        contents["groups"]["theorem"]["bound"] *= 1 + 5e-6
        assert failed(entry, contents) == ["groups.theorem.bound", "groups.theorem.holds"]


def test_a_bound_from_sums_is_compared_by_its_rounding() -> None:
    entries = (e for name, e in ENTRIES.items() if name.startswith("filters: lms"))
    entry = next(e for e in entries if "norm" in e.name)
    contents = entry.certificate().to_dict()
    contents["theorem"]["bound"] *= 1 + 5e-6
    assert "theorem.bound" in failed(entry, contents)


@pytest.mark.parametrize(("gap", "searched"), [(1e-12, False), (1e-3, True)])
def test_a_closed_form_that_lost_its_digits_is_searched(gap: float, searched: bool) -> None:
    asked = Asked({"usual": Answer("all", 1.0, 1.0 - gap, np.zeros(1), exact=True)}, 1.0)
    assert asked["usual"].exact
    assert asked.searched == searched


def test_a_number_that_came_from_a_search_is_asked_for_again() -> None:
    asked = Asked({"bound": 3.0, "best": Answer("ball", 1.0, 0.5, np.zeros(1))}, None)
    assert "bound" not in asked
    assert asked["best"].loss == 1.0
    assert asked.searched


FAR = ROWS[:24] + 1e6


def test_far_columns_leave_the_gap_that_their_sums_round_to() -> None:
    """Raw slopes left 0.5 or 2.5, as the processor rounded them."""
    best = nr.play(nr.Logistic(), FAR, NOISY[:24]).certificate().hindsight
    assert best.gap <= 0.1


def test_levelled_lines_prove_no_more_than_is_true() -> None:
    rows = Rows(FAR, NOISY[:24].astype(float))
    for radius in (1e-3, 1.0, 1e3, 1e5):
        answer = best_in_ball(rows, "logistic", radius)
        losses = nr.hindsight.losses.losses_of("logistic", rows.outcomes)
        slopes = losses.slope(rows.scores(answer.witness))
        lower = levelled(rows, losses, answer.comparator, answer.witness, slopes)
        assert lower <= answer.loss


@pytest.mark.parametrize("far", [1e7, 1e8, 1e9])
@pytest.mark.parametrize("loss", ["logistic", "absolute", "huber", "hinge"])
def test_columns_far_from_zero_are_searched_along_their_axes(loss: str, far: float) -> None:
    """As they are, columns at 1e9 left all of the loss open."""
    rows = Rows(ROWS[:24] + far, NOISY[:24].astype(float))
    answer = best_in_ball(rows, loss, 2.0)
    near = best_in_ball(Rows(np.c_[ROWS[:24], np.ones(24)], rows.outcomes), loss, 5 * far)
    assert answer.gap <= 1e-3 * answer.loss
    assert answer.lower >= near.lower * (1 - 1e-6)  # which has every sum of the columns, and more


def test_no_more_is_confirmed_than_is_proven() -> None:
    """The rounding of slopes, which was allowed for, is as large as the loss here."""
    entry = Entry("far", nr.Logistic, ROWS[:24] + 1e8, NOISY[:24])
    game = nr.play(nr.Logistic(), entry.X, entry.y, keep="rows")
    honest = game.certificate()
    best, contents = honest.hindsight, honest.to_dict()
    assert failed(entry, contents) == []
    nothing = dict.fromkeys(best.witness, 0.0)
    paid = game.evidence({}, nr.hindsight.Limits()).paid_by(nothing, best.comparator)
    assert paid is not None
    for share in (0.02, 0.5):  # of the way from what is known to be paid, to what nothing pays
        made = copy.deepcopy(contents)
        claimed = best.loss + share * (paid[0] - best.loss)
        made["hindsight"] |= {"witness": nothing, "loss": paid[0], "gap": paid[0] - claimed}
        total = honest.loss.total
        made["regret"] = {"lower": total - paid[0], "upper": total - claimed}
        assert "hindsight.gap" in failed(entry, made)


def test_a_wider_true_interval_is_confirmed_where_rounding_ends_the_search_and_no_other() -> None:
    entry = Entry("far", nr.Logistic, FAR, NOISY[:24])
    contents = entry.certificate().to_dict()

    def with_gap(gap: float) -> dict[str, Any]:
        made = copy.deepcopy(contents)
        made["hindsight"]["gap"] = gap
        upper = made["loss"]["total"] - (made["hindsight"]["loss"] - gap)
        made["regret"]["upper"] = upper
        if made["theorem"] and made["theorem"]["measured"] is not None:
            made["theorem"]["measured"] = upper
        return made

    gap = contents["hindsight"]["gap"]
    assert failed(entry, contents) == []
    assert failed(entry, with_gap(50 * gap)) == []
    for share in (0.7, 0.5, 0.0):
        assert "hindsight.gap" in failed(entry, with_gap(share * gap))
