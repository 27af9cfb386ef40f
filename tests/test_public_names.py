"""The public names of algorithms, as ``dir`` and tab completion show them."""

from __future__ import annotations

import inspect

import pytest

from noregret.base.algorithm import Named
from noregret.base.registry import all_algorithms
from noregret.echo import Canceller

MAX_NAMES = 35


def offered(kind: type[Named]) -> list[str]:
    """Return the public names of one that was just built, but for its parameters."""
    made = kind()
    return [name for name in dir(made) if not name.startswith("_") and name not in made.params]


@pytest.mark.parametrize("kind", all_algorithms(), ids=lambda kind: f"{kind.family}-{kind.name}")
def test_an_algorithm_offers_few_names(kind: type[Named]) -> None:
    assert len(offered(kind)) <= MAX_NAMES, offered(kind)


@pytest.mark.parametrize("kind", all_algorithms(), ids=lambda kind: f"{kind.family}-{kind.name}")
def test_every_name_is_explained(kind: type[Named]) -> None:
    for name in offered(kind):
        found = inspect.getattr_static(kind, name, None)  # None: an attribute such as `log`
        if callable(found) or inspect.isdatadescriptor(found):
            assert inspect.getdoc(found), f"{kind.__name__}.{name} has no docstring"


@pytest.mark.parametrize("kind", all_algorithms(), ids=lambda kind: f"{kind.family}-{kind.name}")
def test_no_name_is_hidden(kind: type[Named]) -> None:
    assert kind.__dir__ is object.__dir__


def test_a_canceller_offers_few_names() -> None:
    names = [name for name in dir(Canceller) if not name.startswith("_")]
    assert len(names) <= MAX_NAMES, names
    assert Canceller.__dir__ is object.__dir__
