"""``noregret theorems`` and ``noregret learners``: all of it, readable, in 80 columns."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import noregret as nr
from noregret.adversaries.table import of_theorem
from noregret.app.cli.latex_to_text import readable
from tests.app.run.commands import done as printed

COMMAND = [sys.executable, "-W", "error", "-c", "from noregret.app.cli import main; main()"]
EVERY = sorted(nr.all_theorems())
WIDTH = 80


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": str(WIDTH)},
    )


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("name", EVERY)
def test_a_theorem_is_explained_in_plain_text(name: str, narrow: None) -> None:
    shown = printed("theorems", name)
    theorem, learner = nr.all_theorems()[name]
    assert not re.search(r"[\\$`]", shown)
    assert max(len(line) for line in shown.splitlines()) <= WIDTH
    assert words(theorem.plain) in words(shown)
    for assumption in theorem.assumptions:
        assert words(readable(assumption.statement)) in words(shown)
    assert words(readable(theorem.where)) in words(shown)
    assert words(readable(theorem.tuning)) in words(shown)
    assert theorem.source in words(shown)
    assert learner is None or learner.name in shown
    for entry in of_theorem(name):
        assert words(f"{entry.adversary}: {entry.summary}. {entry.remark}") in words(shown)
    assert (f'game.certificate("{name}"' in shown) == (not theorem.warning)
    assert (".tuned(" in shown) == (theorem.tune is not None)


FAMILIES = [name for name, (_, of) in nr.all_theorems().items() if of and of.family != "learners"]
LETTER = re.compile(r"(?<![^\W\d_]|['’])[^\W\d_](?![^\W\d_])")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_letter_of_a_promise_is_explained(name: str) -> None:
    theorem, _ = nr.all_theorems()[name]
    said = [theorem.where, *(assumption.statement for assumption in theorem.assumptions)]
    explained = set(LETTER.findall(readable(" ".join(said)).replace("²", "")))
    written = re.sub(r"E\[|\ba (?=[a-z])|[πΠΣ²]", "", theorem.plain)
    assert set(LETTER.findall(written)) <= explained | set("tkj"), theorem.plain


def test_the_call_that_tunes_is_shown_with_what_it_takes(narrow: None) -> None:
    shown = printed("theorems", "ogd-anytime")
    assert 'GradientDescent.tuned("ogd-anytime", radius=…, lipschitz=…)' in shown
    shown = printed("theorems", "widrow-hoff")
    assert "WidrowHoff.tuned(radius=…, loss=…, norm=1.0)" in shown


def test_all_are_listed() -> None:
    done = run("theorems")
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= WIDTH
    for name, (theorem, _) in nr.all_theorems().items():
        assert re.search(rf"^  {name}, of ", done.stdout, re.MULTILINE), name
        assert words(theorem.plain) in words(done.stdout)


def test_learners_are_listed_with_their_theorems(narrow: None) -> None:
    shown = printed("learners")
    assert max(len(line) for line in shown.splitlines()) <= WIDTH
    for name, learner in nr.all_learners().items():
        assert re.search(rf"^{name}( |$)", shown, re.MULTILINE)
        assert all(theorem.name in shown for theorem in learner.theorems)


def test_a_name_that_is_unknown_gets_the_nearest() -> None:
    done = run("theorems", "widrow-hof")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "unknown theorem 'widrow-hof'" in words(done.stderr.replace("│", " "))
    assert "widrow-hoff" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        (r"$\|x_t\|_2 \le X$ in every round", "‖x_t‖₂ ≤ X in every round"),
        (r"$x_t \in \{0,1\}^n$", "x_t ∈ {0,1}ⁿ"),
        (r"$\eta = \tfrac12 \ln \frac{1+\delta}{1-\delta}$", "η = 1/2 ln((1+δ)/(1-δ))"),
        (r"$c = R\sqrt{2\ln n/K}$ with `norm`", "c = R√(2 ln n/K) with norm"),
        (r"$\max_i x_{t,i}$, $\|x\|_\infty$, $X^{10}$", "max_i x_t,i, ‖x‖_∞, X¹⁰"),
    ],
)
def test_formulas_are_readable(markdown: str, plain: str) -> None:
    assert readable(markdown) == plain


def test_a_formula_that_is_not_understood_is_not_passed_on() -> None:
    with pytest.raises(ValueError, match=r"no symbol for .unheardof"):
        readable(r"$\unheardof$")
