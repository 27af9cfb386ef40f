"""The summary in a terminal and the JSON: whole, plain and within their limits."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from rich.console import Console

import noregret
from noregret import Certificate
from noregret.app.report.certificate.text import plain_text
from noregret.app.report.run.html import page
from noregret.app.report.run.json import as_dict
from noregret.app.report.run.text import summary
from noregret.app.results.run import Constant, Result, Skipped
from tests.app.report.extremes import HOSTILE, named, numbered
from tests.app.report.results import classification, found, nothing, regression, troubled
from tests.app.report.test_page import NONSENSE


def printed(result: Result, width: int = 80) -> str:
    """Return the summary as a pipe gets it."""
    page = io.StringIO()
    Console(file=page, width=width).print(summary(result))
    return page.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("make", [regression, classification, found, troubled, nothing])
def test_it_fits_and_pipes_stay_plain(make: Callable[[], Result], width: int) -> None:
    text = printed(make(), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert len(text.splitlines()) <= 38


def test_what_is_said_of_a_regression() -> None:
    text = printed(regression(), 100)
    for said in (
        "20,460  123 features; 214 ms, 95,607 rows/s, 3.08 MB/s",
        "17.67  mean square loss 312.3",
        "60.3% less error than the best constant (7.005)",
        "0.915% more error than the best fixed linear model in hindsight",
        "115,354  total loss minus that of the best fixed model; 1.84% of it; 5.638 per",
        "limit on the cumulative loss; 46.6% of it is used",
        "PROMISE KEPT",
        "departure delay  +60.66  ━━━━",
        "flights.html",
    ):
        assert said in text, said


def test_what_is_said_of_trouble() -> None:
    text = printed(troubled(), 100)
    for said in (
        "Interrupted",
        "12,345 rows skipped",
        "and 12,344 more",  # the three rows at hand have one reason
        "[bold red]x[/]",
        "86.3%  273 mistakes",
        "321  hash slots hold more than one feature name",
    ):
        assert said in text, said


def test_each_reason_for_skipped_rows_is_told_once() -> None:
    rows = [Skipped(f"f.csv, line {k}", ("a long reason " * 12, "short")[k == 4]) for k in range(9)]
    said = printed(replace(troubled(), skipped=20, skipped_rows=tuple(rows)), 60)
    lines = said[said.index("20 rows skipped") :].splitlines()[1:]
    assert [line.rstrip() for line in lines if "f.csv" in line] == [
        lines[0].rstrip(),
        "  f.csv, line 4  short",
    ]
    assert lines[0].startswith("  f.csv, line 0  a long")
    assert lines[1].startswith("  ")  # what is wrapped stays below
    assert any(line.strip() == "and 18 more" for line in lines)


@given(numbered())
def test_no_number_makes_nonsense(result: Result) -> None:
    assert not NONSENSE.search(printed(result, 200))


@given(named())
def test_no_name_does_anything(result: Result) -> None:
    assert all(c.isprintable() or c == "\n" for c in printed(result))


def test_markup_is_not_interpreted() -> None:
    result = replace(regression(50), heaviest=tuple((name, 1.0) for name in HOSTILE))
    assert "[bold red]markup[/bold red] [/]" in printed(result)


@given(numbered())
def test_json_has_only_what_json_has(result: Result) -> None:
    made = as_dict(result)
    assert json.loads(json.dumps(made, allow_nan=False)) == made


@given(named())
def test_json_holds_any_name(result: Result) -> None:
    assert as_dict(result)["data"]["sources"] == list(result.sources)


def test_json_has_the_figures() -> None:
    result = regression()
    made = as_dict(result)
    assert made["format"] == "noregret.run/1"
    assert made["data"]["rows"] == 20_460
    assert made["loss"]["mean"] == result.total / result.rows
    assert Certificate.from_dict(made["certificate"]) == result.certificate
    assert len({len(column) for column in made["curve"].values()}) == 1
    assert made["heaviest"][0]["feature"] == "departure delay"


def test_every_key_is_documented() -> None:
    from noregret.app.report.run import json as run_json

    made = as_dict(regression())
    keys = [*made, *(key for part in ("data", "loss", "run") for key in made[part])]
    assert [key for key in keys if f"``{key}``" not in (run_json.__doc__ or "")] == []


def test_a_certificate_says_where_linear_predictors_have_no_constant() -> None:
    said = "with no intercept unless a feature is constant"
    pairs = [({"sun": x}, 2 * x + 1) for x in (0.1, 0.7, 0.4, 0.9)]
    constant = [({**x, "intercept": 1.0}, y) for x, y in pairs]
    for name in ("auto", "widrow-hoff"):
        without, given = (
            " ".join(plain_text(noregret.play(noregret.make(name), game).certificate()).split())
            for game in (pairs, constant)
        )
        assert said in without.replace("│ │ ", "")
        assert said not in given.replace("│ │ ", "")


def test_a_bound_above_the_loss_of_the_best_constant_is_said_to_say_nothing() -> None:
    result = replace(regression(), constant=Constant(7.005, 1000.0))
    said = "larger than the total loss of the best constant (1,000), so it says nothing"
    text, html = " ".join(printed(result, 100).split()), page(result)
    assert said in text
    assert html.count(said) == 2
    for shown in (text, html):
        assert "BOUND HOLDS, BUT SAYS NOTHING HERE" in shown
        assert "PROMISE KEPT" not in shown
    assert "badge neutral" in html
    assert "promise neutral" in html
    assert "so it says nothing" not in printed(regression()) + page(regression())
