"""The page: well-formed, harmless and free of nonsense, whatever is in the result."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as Tree

import pytest
from hypothesis import given

from noregret.app.report.run.html import page
from noregret.app.results.run import Result
from tests.app.report.extremes import HOSTILE, named, numbered
from tests.app.report.results import classification, found, nothing, regression, troubled

NONSENSE = re.compile(r"\b(nan|NaN|inf|Infinity)\b|(?<!=)\bNone\b")  # as in horizon=None
QUIET = {"script", "style"}


def read(html: str) -> Tree.Element:
    """Parse a page as the XML that it also is."""
    doctype, _, rest = html.partition("\n")
    assert doctype == "<!DOCTYPE html>"
    return Tree.fromstring(rest)


def visible(root: Tree.Element) -> str:
    """Return all text that is shown, tooltips and labels included."""
    parts: list[str] = []
    for element in root.iter():
        parts += [element.get("title", ""), element.get("aria-label", ""), element.tail or ""]
        parts.append("" if element.tag in QUIET else element.text or "")
    return " ".join(parts)


def drawn(root: Tree.Element) -> list[str]:
    """Return all that places or sizes something."""
    places = {"d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "style"}
    places |= {"fill-opacity", "data-hover"}
    return [value for one in root.iter() for key, value in one.attrib.items() if key in places]


@functools.cache
def usual_tags() -> set[str]:
    """Return the elements of pages without hostile names."""
    usual = (regression, found, troubled, nothing)
    return {one.tag for kind in usual for one in read(page(kind())).iter()}


@given(numbered())
def test_no_number_makes_nonsense(result: Result) -> None:
    root = read(page(result))
    assert not NONSENSE.search(visible(root)), visible(root)
    assert not [value for value in drawn(root) if NONSENSE.search(value)]
    assert not [value for value in drawn(root) if re.search(r"\de[+-]?\d", value.split('"')[0])]


@given(named())
def test_no_name_does_anything(result: Result) -> None:
    assert_harmless(result)


def test_no_hostile_name_does_anything() -> None:
    assert_harmless(replace(troubled(), heaviest=tuple((name, 1.0) for name in HOSTILE)))


def assert_harmless(result: Result) -> None:
    root = read(page(result))
    assert {one.tag for one in root.iter()} <= usual_tags()
    assert len(root.findall(".//script")) == len(root.findall(".//style")) == 1
    assert not [key for one in root.iter() for key in one.attrib if key.startswith("on")]
    assert not [key for one in root.iter() for key in one.attrib if key in ("src", "href")]


def test_a_long_name_is_cut_and_whole_on_pointing_at_it() -> None:
    name = "wordwithoutanyspacesatall" * 30
    root = read(page(replace(regression(50), target=name, sources=(f"in/{name}",))))
    assert name not in "".join(root.itertext())
    assert name in {one.get("title") for one in root.iter()}


def test_what_is_said_of_a_regression() -> None:
    words = visible(read(page(regression())))
    for said in (
        "widrow-hoff on flights.csv → arr_delay",
        "20,460",
        "an RMSE of 17.67: 60.3% less error than the best constant prediction",
        "0.915% more error than the best fixed linear model in hindsight",
        "PROMISE KEPT",
        "norm(x) <= 12",
        "all linear predictors",
        "blake2b:205b3966597dddfe14b5f943134b1f9ef1cfe8af92f5d8c43f2bf8a1ba8d71e7",
        "departure delay",
        "658 kB",
        "intercept",
        "noregret run data/flights.csv --target arr_delay",
    ):
        assert said in words, said


def test_what_is_said_of_trouble() -> None:
    words = visible(read(page(troubled())))
    for said in (
        "Interrupted.",
        "12,345 rows could not be used; the first of them:",
        "flights.csv:404",
        "321 slots shared by several names",
        "and 4 more",
        "NO THEOREM",
        "weights that sum to 1,723.5",
    ):
        assert said in words, said


def test_a_run_without_certificate_says_why() -> None:
    result = replace(regression(50), certificate=None, uncertified="rows were skipped")
    assert "There is no certificate: rows were skipped." in visible(read(page(result)))


def test_a_failed_assumption_is_named_with_its_round() -> None:
    import noregret
    from noregret.app.results.run import Outlook
    from noregret.data import flights
    from tests.app.report.results import result_of

    game = noregret.play(noregret.WidrowHoff(rate=0.5, norm=3.0), list(flights())[:200])
    words = visible(read(page(result_of(game, Outlook(), None))))
    assert "No bound is claimed, since ‘norm(x) <= 3’ did not hold." in words
    assert re.search(r"NOT HELD, first in round \d+", words)
    assert "not claimed" in words


@pytest.mark.parametrize("result", [regression, classification, found, troubled])
def test_it_is_small_and_names_no_other_place(result: Callable[[], Result]) -> None:
    html = page(result())
    assert len(html) < 150_000
    assert "http://" not in html
    assert "https://" not in html
    assert "default-src 'none'" in read(html).find(".//meta[@http-equiv]").get("content")  # type: ignore[union-attr, operator]
