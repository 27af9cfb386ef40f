"""River's own checks, all of them, for every learner; none is skipped."""

from __future__ import annotations

import doctest
import gc
import inspect
import re
from typing import Any

import pytest
from river import base, checks, preprocessing

import noregret as nr
from noregret import river, sklearn
from tests.thorough import sized

NAMES = list(river.__all__)


READ: dict[tuple[bool, int], list[Any]] = {}
ROWS = sized(25, full=400)


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read River's data once, few rows of it, and collect no garbage: all else is as it is."""
    whole = checks._yield_datasets

    def datasets(model: Any, scale: int = 1) -> list[Any]:
        key = isinstance(model, base.Regressor), min(scale, 2)
        if key not in READ:
            READ[key] = [list(each)[:ROWS] for each in whole(model, key[1])]
        return READ[key]

    monkeypatch.setattr(checks, "_yield_datasets", datasets)
    monkeypatch.setattr(gc, "collect", lambda *_: 0)


# Estimators differ in their learner alone: a thorough run checks every one, a quick one some.
@pytest.mark.parametrize("name", NAMES[:: sized(4, full=1)])
def test_river_accepts_every_estimator(name: str) -> None:
    kind = getattr(river, name)
    for params in kind._unit_test_params():
        model = kind(**params)
        assert model._unit_test_skips() == set()
        checks.check_estimator(model if takes_numbers(model) else preprocessing.Binarizer() | model)


def takes_numbers(model: Any) -> bool:
    """Return whether features may be other than 0 and 1, which River's data are."""
    try:
        model.clone().learn_one({"x": 0.5}, 1.0)
    except nr.BadExample:
        return False
    return True


def test_every_learner_that_predicts_is_there() -> None:
    predicting = {name for name, kind in nr.all_learners().items() if "linear" not in name}
    kinds = [getattr(river, name).kind for name in NAMES]
    there = {each.name for kind in kinds for each in (kind.learner, kind.several) if each}
    assert there == predicting


def test_scikit_learn_has_the_same_classes() -> None:
    assert sorted(NAMES) == sorted(dir(sklearn))


@pytest.mark.parametrize("name", NAMES)
def test_every_page_explains_all_parameters_and_its_example_runs(name: str) -> None:
    kind = getattr(river, name)
    page = kind.__doc__
    for parameter in inspect.signature(kind).parameters:
        assert re.search(rf"^(\w+, )*{parameter}(, \w+)*$", page, re.MULTILINE), parameter
    test = doctest.DocTestParser().get_doctest(page, {}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
