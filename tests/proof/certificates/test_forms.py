"""The text and the card of a certificate: every figure, whatever the names of features."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import noregret
from noregret import Certificate, play
from noregret.base.numbers import figure, percent
from noregret.proof.certificates.certificate import Promise
from tests.proof.certificates.games import CASES, ROWS, certificate_of
from tests.thorough import draws

HOSTILE = [
    "<script>alert(1)</script>",
    "</td></div><img src=x onerror=alert(1)>",
    "[bold red]markup[/bold red] [/]",
    "\x1b[31mred\x1b[0m\x07",
    "a\nline\r\tand another",
    "\u202egnirts",
    "\"quoted\" & 'so'",
    "a name much longer than any terminal is wide " * 9,
    "漢字🙂",
]


class Card(HTMLParser):
    """A card as a browser reads it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def as_card(certificate: Certificate) -> Card:
    return Card(certificate._repr_html_())


def words_of(certificate: Certificate) -> tuple[str, str]:
    """The text of both forms, on one line each."""
    text = " ".join(line.strip("│╭╮╰╯─ ") for line in str(certificate).splitlines())
    return re.sub(r"\s+", " ", text), " ".join(as_card(certificate).words)


def figures_of(certificate: Certificate) -> list[str]:
    theorem, best = certificate.theorem, certificate.hindsight
    found = [
        certificate.learner,
        figure(certificate.data.rounds),
        figure(certificate.data.features),
    ]
    found += [certificate.data.digest[8:20], certificate.loss.name.replace("mistake", "")]
    found += [figure(certificate.loss.total), figure(certificate.loss.mean)]
    found += [
        figure(best.loss),
        best.comparator.removeprefix("ball of radius "),
        figure(certificate.regret.lower)[:5],
    ]
    plain = {key: value for key, value in certificate.params.items() if not isinstance(value, dict)}
    inner = [value["params"] for value in certificate.params.values() if isinstance(value, dict)]
    found += [f"{name} = {value}" for name, value in plain.items() if value is not None]
    found += [f"{name}={value}" for params in inner for name, value in params.items()]
    if certificate.loss.mistakes is not None:
        found.append(figure(certificate.loss.mistakes))
    found += [figure(w) for w in best.witness.values()][:5]
    if theorem is None:
        return [*found, "NO THEOREM", "noregret theorems"]
    for promise in (theorem, *certificate.further):
        found += figures_of_promise(promise)
    return found


def figures_of_promise(theorem: Promise) -> list[str]:
    found = [theorem.name]
    for assumption in theorem.assumptions:
        found.append(assumption.name)
        found += [figure(n) for n in (assumption.limit, assumption.measured) if n is not None]
        if assumption.holds is False:
            found.append("NOT HELD")
        if assumption.first_violation:
            found.append(f"first in round {assumption.first_violation}")
    if theorem.bound is None:
        return [*found, "NO BOUND IS CLAIMED"]
    found.append(figure(theorem.bound))
    if theorem.tightness is not None:
        found.append(f"{percent(theorem.tightness)} of the bound")
    return found


@pytest.mark.parametrize("name", CASES)
def test_both_forms_say_everything(name: str) -> None:
    certificate = certificate_of(name)
    for words in words_of(certificate):
        for wanted in figures_of(certificate):  # words, as long names of assumptions are wrapped
            assert all(word in words for word in wanted.split()), (wanted, words)


@pytest.mark.parametrize("name", CASES)
def test_plain_text_is_80_columns_without_colours(name: str) -> None:
    text = str(certificate_of(name))
    assert "\x1b" not in text
    assert {len(line) for line in text.splitlines()} == {80}
    assert not text.endswith("\n")


@pytest.mark.parametrize("name", CASES)
def test_the_short_form_is_one_line(name: str) -> None:
    assert re.fullmatch(r"<Certificate of [\w-]+: 60 rounds, [\w -]+>", repr(certificate_of(name)))


def test_a_terminal_gets_the_same_words_in_colour() -> None:
    page = io.StringIO()
    Console(file=page, width=80, force_terminal=True, color_system="standard").print(
        certificate_of("widrow-hoff")
    )
    assert "\x1b[" in page.getvalue()
    bare = re.sub(r"\x1b\[[\d;]*m", "", page.getvalue()).rstrip("\n")
    assert bare == str(certificate_of("widrow-hoff"))


def test_a_narrow_terminal_and_one_without_unicode_are_served() -> None:
    for width, encoding in ((40, "utf-8"), (80, "ascii")):
        raw = io.BytesIO()
        page = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
        Console(file=page, width=width).print(certificate_of("too steep"))
        page.flush()
        text = raw.getvalue().decode(encoding)
        assert max(map(len, text.splitlines())) <= width
        assert "NO BOUND IS CLAIMED" in text


def broken() -> Certificate:
    certificate = certificate_of("widrow-hoff")
    assert certificate.theorem is not None
    return replace(certificate, theorem=replace(certificate.theorem, bound=0.125, holds=False))


def test_a_bound_that_was_exceeded_is_called_a_bug_aloud() -> None:
    for words in words_of(broken()):
        assert "BOUND EXCEEDED: THIS IS A BUG" in words
        assert "please report it" in words
        assert "0.125" in words


def test_a_failed_assumption_is_named_with_its_round() -> None:
    for words in words_of(certificate_of("too steep")):
        assert "which did not hold (measured 9, first in round 1)" in words


def test_a_bound_on_the_risk_says_what_is_bounded() -> None:
    for words in words_of(certificate_of("risk")):
        assert "RISK AT MOST" in words
        assert "the risk on new examples" in words
        assert "on trust" in words


def test_an_interval_of_regret_is_shown_as_one() -> None:
    proven = certificate_of("in a box")
    certificate = replace(
        proven,
        regret=replace(proven.regret, upper=proven.regret.lower + 1),
        hindsight=replace(proven.hindsight, gap=1.0, exact=False),
    )
    low, high = figure(certificate.regret.lower), figure(certificate.regret.upper)
    for words in words_of(certificate):
        assert f"{low} to {high}" in words
        best = certificate.hindsight
        assert f"no predictor of this class has less than {figure(best.loss - best.gap)}" in words


def named(names: list[str]) -> Certificate:
    rows = [{name: 0.1 * (i + k) for i, name in enumerate(names)} for k in range(5)]
    pairs = [(row, float(k)) for k, row in enumerate(rows)]
    learner: noregret.Learner = noregret.make("widrow-hoff", norm=9.0)
    return play(learner, pairs).certificate()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_do_nothing(name: str) -> None:
    certificate = named([name, "plain"])
    text, card = str(certificate), as_card(certificate)
    assert all(c.isprintable() for c in text.replace("\n", ""))
    assert card.tags == {"div", "span", "table", "tbody", "tr", "th", "td"}
    assert {name for name, _ in card.attributes} <= {"style", "scope"}
    assert all(c.isprintable() for c in certificate._repr_html_())
    page = io.StringIO()
    Console(file=page, width=80, force_terminal=True).print(certificate)
    assert "\x1b[31mred" not in page.getvalue()
    if name.startswith("[bold"):
        assert "[bold red]markup[/bold red] [/]" in text


@draws(30)
@given(st.text(min_size=1))
def test_any_name_at_all_leaves_card_and_text_whole(name: str) -> None:
    certificate = replace(
        certificate_of("widrow-hoff"),
        hindsight=replace(certificate_of("widrow-hoff").hindsight, witness={name: 1.0}),
        data=replace(certificate_of("widrow-hoff").data, target=name, transforms=(name,)),
    )
    assert all(c.isprintable() for c in str(certificate).replace("\n", ""))
    assert as_card(certificate).tags == {"div", "span", "table", "tbody", "tr", "th", "td"}


def test_a_card_needs_nothing_from_anywhere() -> None:
    for certificate in (*map(certificate_of, CASES), broken()):
        html = certificate._repr_html_()
        assert not re.search(r"https?:|//|url\(|<script|<link|<style|@import", html)


def strange(**changes: Any) -> Certificate:
    return replace(certificate_of("eg"), **changes)


@pytest.mark.parametrize("number", [0.0, -3.5, 1e300, -1e-300, 12345678.9])
def test_any_number_can_be_shown(number: float) -> None:
    certificate = strange(
        regret=noregret.proof.certificates.certificate.Interval(number, np.inf),
        hindsight=replace(certificate_of("eg").hindsight, loss=number, gap=np.inf),
    )
    for words in words_of(certificate):
        assert figure(number) in words
        assert "not proven to be the best" in words


def test_regret_below_zero_is_explained() -> None:
    certificate = strange(regret=noregret.proof.certificates.certificate.Interval(-2.5, -2.5))
    for words in words_of(certificate):
        assert f"-2.5 {percent(2.5 / certificate.hindsight.loss)} less loss than the best" in words


def test_a_game_of_one_round_can_be_shown() -> None:
    certificate = play(noregret.make("widrow-hoff"), ROWS[:1], [1.0]).certificate()
    for words in words_of(certificate):
        assert "rounds 1 with 4 features" in words


def test_the_weights_that_are_not_shown_are_told_of() -> None:
    losses = np.random.default_rng(3).uniform(size=(50, 8))
    best = play(noregret.experts.Hedge(), losses).certificate()
    assert "Largest weights of the best in hindsight; all others are 0" in str(best)
    assert "Largest weights of the best in hindsight; all others are 0" in best._repr_html_()
    mixed = replace(best.hindsight, witness={str(k): k / 28 for k in range(8)})
    assert "in hindsight, and 2 more in the file" in str(replace(best, hindsight=mixed))


def test_a_range_that_was_not_told_comes_with_how_to_tell_it() -> None:
    advice = np.array([[10.0, 20.0], [12.0, 30.0]])
    game = play(noregret.experts.FixedShare(), advice, np.array([11.0, 25.0]))
    shown = " ".join(str(game.certificate()).replace("│", " ").split())
    assert "NO BOUND IS CLAIMED" in shown
    assert "-p low=… -p high=…" in shown
    wide = noregret.experts.Hedge(low=0.0, high=1.0)
    shown = " ".join(str(play(wide, advice).certificate()).replace("│", " ").split())
    assert "-p low=… -p high=…" in shown
