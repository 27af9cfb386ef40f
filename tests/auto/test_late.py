"""Outcomes that come late, at any time and in any order: members are weighted by what they said."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.auto.settings import GRANT, KEEP
from tests.auto.class_reference import Bank, forest_of
from tests.auto.filter_reference import Filter
from tests.auto.streams import (
    LOSSES,
    NUMBERS,
    Floats,
    auto,
    covariance,
    member_losses,
    member_names,
    played,
    stream,
)
from tests.auto.test_classes import stream as class_stream
from tests.auto.test_known import loss_of
from tests.variants import state

# What a bank keeps of the loss of its mixture, and of a delay.
PAID = {
    "loss_sum", "loss_rest", "mistakes", "final.own_gap", "most_gradient", "most_gradient_peak",
}  # fmt: skip
DELAY = {"outcomes", "foreseen", "unclipped", "past", "outlook"}


def order(rounds: int, seed: int) -> Iterator[tuple[int, bool]]:
    """Yield (row, False) when it is predicted and (row, True) when its outcome comes."""
    draw, waiting, t = random.Random(seed), list[int](), 0
    while t < rounds or waiting:
        if t < rounds and (not waiting or draw.random() < 0.52):
            yield t, False
            waiting.append(t)
            t += 1
        else:
            yield waiting.pop(draw.randrange(min(len(waiting), 12))), True


def late_notes(learner: Any, X: Floats, seed: int) -> Iterator[tuple[int, bool, float, bytes]]:
    """Yield each event with the score and the note of its prediction, before it is learned."""
    said = dict[int, tuple[float, bytes]]()
    for t, came in order(len(X), seed):
        if not came:
            said[t] = learner._entry.decide_noting(X[t])
        yield t, came, *said[t]


@pytest.mark.parametrize("recent", [True, False])
@pytest.mark.parametrize("delay", [1, 5])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_constant_delay_is_that_of_the_parameter(loss: str, delay: int, recent: bool) -> None:
    """The bank that learns late is the bank behind of ``Auto(delay)``, to the bit."""
    X, y = stream(5, 120, 3, loss)
    told, late = auto(loss, delay=delay, recent=recent), auto(loss, recent=recent)
    said = list[tuple[float, bytes]]()
    for t in range(120):
        said.append(late._entry.decide_noting(X[t]))
        assert said[t][0] == late.decision_one(X[t])
        if t >= delay:
            late._entry.learn_late(X[t - delay], float(y[t - delay]), *said[t - delay])
    assert played(told, X, y).tolist() == [score for score, _ in said]
    arrays, numbers = told.engine.behind.get_state()  # type: ignore[attr-defined]
    others, counts = late.engine.get_state()
    for name in arrays.keys() - DELAY:
        assert arrays[name].tobytes() == others[name].tobytes(), name
    assert {k for k in numbers if numbers[k] != counts[k]} <= PAID
    # What was paid is what the delayed one paid for the same rows.
    short = auto(loss, delay=delay, recent=recent)
    played(short, X[: 120 - delay], y[: 120 - delay])
    assert short.total_loss == late.total_loss
    assert short.engine.scalars()["mistakes"] == counts["mistakes"]
    np.testing.assert_allclose(member_losses(late), member_losses(short), rtol=1e-9)


@pytest.mark.parametrize("loss", NUMBERS)
def test_members_pay_for_what_they_said(loss: str) -> None:
    """The last outcome and the running mean, of the outcomes that had come by then."""
    X, y = stream(1, 150, 2)
    learner, known, said = auto(loss), list[float](), dict[int, tuple[float, float]]()
    paid, own = np.zeros(2), 0.0
    for t, came, score, note in late_notes(learner, X, 1):
        if not came:
            said[t] = (known[-1], float(np.mean(known))) if known else (0.0, 0.0)
            continue
        learner._entry.learn_late(X[t], float(y[t]), score, note)
        known.append(float(y[t]))
        paid += loss_of(loss, np.array(said[t]), y[t])
        own += float(loss_of(loss, np.array(score), y[t]))
    names = member_names(learner)
    found = member_losses(learner)[[names.index("last outcome"), names.index("running mean")]]
    np.testing.assert_allclose(found, paid, rtol=1e-9)
    assert learner.total_loss == pytest.approx(own, rel=1e-12)


def test_filters_learn_with_the_outcomes_that_were_known() -> None:
    """Those over the row and the latest outcomes, as explicit matrices."""
    X, y = stream(2, 150, 3)
    learner, known, inputs = auto(), list[float](), dict[int, Floats]()
    references = [Filter(6, keep, most, 1e4) for keep, most in zip(KEEP, GRANT, strict=True)]
    for t, came, score, note in late_notes(learner, X, 2):
        if not came:
            latest = [each - known[0] for each in known[:-3:-1]]
            inputs[t] = np.array([1.0, *latest, *[0.0] * (2 - len(latest)), *X[t]])
            continue
        learner._entry.learn_late(X[t], float(y[t]), score, note)
        known.append(float(y[t]))
        for reference in references:
            reference.observe(inputs[t])
            reference.learn(inputs[t], 0.0)
    for lane, reference in enumerate(references):
        size = np.sqrt(np.diag(reference.P))
        held = covariance(learner.engine.members.lagged, lane)
        assert (np.abs(held - reference.P) / np.outer(size, size)).max() < 1e-7


def test_chances_are_weighted_as_in_plain_numpy() -> None:
    """Weights of members, of the mixture that tracks them, and of the final one, for labels."""
    X, y = stream(3, 200, 3, "logistic")
    learner = auto("logistic")
    prior = learner.engine.mixer.final.get_state()[0]["prior"]
    share = learner.engine.mixer.tracker.get_state()[0]["prior"]
    losses, held, turns, late = np.zeros(len(prior)), share.copy(), 0, 0
    made = dict[int, int]()
    for t, came, score, note in late_notes(learner, X, 3):
        chance = 1 / (1 + np.exp(-np.frombuffer(note)[: len(prior)]))
        if not came:
            made[t] = turns
            weights = prior * np.exp(losses.min() - losses)
            mixed = weights @ chance / weights.sum()
            assert score == pytest.approx(math.log(mixed / (1 - mixed)), rel=1e-7, abs=1e-9)
            assert chance[-1] == pytest.approx(held @ chance[:-1], rel=1e-9)
            continue
        learner._entry.learn_late(X[t], float(y[t]), score, note)
        gave = chance if y[t] > 0 else 1 - chance
        losses -= np.log(gave)
        held = held * gave[:-1] / (held @ gave[:-1])
        late, turns = late + turns - made[t], turns + 1
        held = (1 - 0.25 / (turns + 1)) * held + 0.25 / (turns + 1) * share
    assert late > 400
    np.testing.assert_allclose(member_losses(learner), losses[:-1], rtol=1e-7)


@pytest.mark.parametrize(
    ("recent", "members", "rows"),
    [(True, "linear", 120), (False, "linear", 120), (True, "all", 160)],
)
def test_several_classes_are_those_of_plain_numpy(recent: bool, members: str, rows: int) -> None:
    """Every member and the mixture; a class may join between a prediction and its outcome."""
    X, y = class_stream(rows, 3)
    learner, codes = nr.AutoClasses(recent=recent, members=members), dict[int, int]()
    bank = Bank(3, recent, members == "all")
    n = (20 if recent else 16) + (members == "all")
    prior = np.exp(-learner.engine.accounts()["price"])
    share = prior.copy()
    share[12:14] = 0.1 * (n - 2) / 0.8 * share[0]
    share /= share.sum()
    held, losses, turns, unknown, total = share.copy(), np.zeros(n + 1), 0, 0, 0.0
    said = dict[int, tuple[Floats, Floats, Floats, int]]()
    notes = dict[int, bytes]()
    for t, came in order(rows, 4):
        x = X[t]
        if not came:
            scores, notes[t] = learner._entry.decide_noting(x)
            then = bank.chances(x) if codes else np.zeros((n, 0))
            weights = np.append(prior, 1 - prior.sum()) * np.exp(losses.min() - losses)
            all_then = np.vstack([then, held @ then])
            mixed = weights @ all_then / weights.sum()
            np.testing.assert_allclose(np.exp(scores), mixed, rtol=1e-6, err_msg=str(t))
            said[t] = then, all_then, mixed, bank.last
            continue
        then, all_then, mixed, last = said[t]
        k = codes.setdefault(int(y[t]), len(codes))
        if k == len(bank.counts):
            bank.join()
        learner._entry.learn_late(x, int(y[t]), 0.0, notes[t])
        if k < len(mixed):
            losses -= np.log(all_then[:, k])
            total -= math.log(mixed[k])
            held = held * then[:, k] / (held @ then[:, k])
            turns += 1
            held = (1 - 0.25 / (turns + 1)) * held + 0.25 / (turns + 1) * share
        else:  # its score was 0, and members said nothing about it
            paid = math.log1p(mixed.sum())
            unknown, total, losses = unknown + 1, total + paid, losses + paid
        again = bank.chances(x, then[16:18] if recent else None)
        bank.learn(x, k, again, last)
        bank.forest = bank.forest or forest_of(learner)
        np.testing.assert_allclose(learner.engine.member_losses(), losses, rtol=1e-6, atol=1e-9)
        assert learner.total_loss == pytest.approx(total, rel=1e-6, abs=1e-9)
    assert unknown > 4


@pytest.mark.parametrize("learner", [nr.Auto(), nr.AutoClasses()], ids=repr)
def test_what_is_no_note_is_refused_and_changes_nothing(learner: Any) -> None:
    X, y = class_stream(30, 3)
    learner = learner.clone()
    learner.learn_many(X[:20], y[:20])
    _, note = learner._entry.decide_noting(X[20])
    before = state(learner)
    for wrong in (b"", note[:-8], note[:-1], note + note, bytes(len(note) - 8) + b"\xff" * 8):
        with pytest.raises(ValueError, match="note"):
            learner._entry.learn_late(X[20], int(y[20]), 0.0, wrong)
    with pytest.raises(nr.NoRegretError):
        learner._entry.learn_late(np.array([np.inf, 0, 0]), int(y[20]), 0.0, note)
    assert state(learner) == before
    with pytest.raises(ValueError, match="no step"):
        auto(delay=2)._entry.learn_late(X[20], 1.0, 0.0, note)
