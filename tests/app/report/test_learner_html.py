"""Learners and games as cards in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.app.report.certificate.sheet import HEAVIEST
from noregret.base.registry import all_algorithms

EVIL = "<script>alert(1)</script>"


class Reading(HTMLParser):
    """The elements of a card, checked to be closed, and its words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def card(shown: Any) -> Reading:
    return Reading(shown._repr_html_())


@pytest.mark.parametrize("kind", all_algorithms(), ids=lambda kind: f"{kind.family} {kind.name}")
def test_everyone_has_a_card_before_anything_is_learned(kind: Any) -> None:
    read = card(kind())
    assert kind.__name__ in read.text
    assert "not learned anything yet" in read.text


def test_a_learner_shows_rounds_loss_and_its_heaviest_weights() -> None:
    learner = nr.WidrowHoff(rate=0.25)
    for k in range(10):
        learner.learn_one({f"f{k}": 1.0}, float(k))
    read = card(learner)
    assert "rate = 0.25" in read.text
    assert "10 with 10 features" in read.text
    shown = [name for name in learner.features if name in read.words]
    heaviest = sorted(zip(learner.weights, learner.features, strict=True))[-HEAVIEST:]
    assert shown == sorted(name for _, name in heaviest)
    assert f"and {9 - HEAVIEST} more" in read.text  # one weight is zero


def test_labels_have_mistakes() -> None:
    learner = nr.Perceptron()
    learner.learn_many([[1.0], [-1.0]], [1, -1])
    assert "mistakes" in card(learner).text
    numbers = nr.WidrowHoff()
    numbers.learn_one([1.0], 1.0)
    assert "mistakes" not in card(numbers).text


def test_the_mean_is_said_to_be_one() -> None:
    assert "averaged(WidrowHoff)" in card(nr.averaged(nr.WidrowHoff())).text


def test_what_data_say_is_text() -> None:
    learner = nr.WidrowHoff()
    learner.learn_one({EVIL: 1.0}, 1.0)
    game = nr.play(nr.WidrowHoff(), [({EVIL: 1.0}, 1.0)])
    arms = nr.bandits.Exp3(arms=[EVIL, "b"])
    arms.learn(arms.choose(), 0.5)
    master = nr.experts.Hedge()
    master.learn_one({EVIL: 1.0, "b": 0.0}, 1.0)
    for shown in (learner, game, arms, master):
        read = card(shown)
        assert EVIL in read.text
        assert "script" not in read.seen


def test_games_show_their_own_figures() -> None:
    learner = nr.Perceptron()
    learner.learn_many([[1.0]] * 5, [1] * 5)
    game = nr.play(learner, [[1.0]] * 3, [-1] * 3)
    read = card(game)
    assert "noregret game" in read.text
    assert "rounds 3" in read.text
    assert "certificate()" in read.text
    assert "No rounds were played" in card(nr.play(nr.WidrowHoff(), [])).text
    table = nr.play(nr.experts.Hedge(), np.eye(3))
    assert "3 experts" in card(table).text


def test_families_show_what_they_weigh() -> None:
    rng = np.random.default_rng(1)
    strategy = nr.portfolios.EgPortfolio()
    strategy.learn_many(rng.uniform(0.9, 1.1, size=(5, 2)))
    assert "wealth" in card(strategy).text
    master = nr.experts.Hedge()
    master.learn_many(rng.uniform(size=(5, 2)), rng.uniform(size=5))
    policy = nr.bandits.Ucb1(arms=2)
    nr.play(policy, rng.uniform(size=(5, 2)))
    for shown in (strategy, master, policy):
        assert "%" in card(shown).text
