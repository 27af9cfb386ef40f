"""A case of the exactness checks, and where cases come from."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import tests.exactness


@dataclass(frozen=True)
class Case:
    """One question to hindsight, with an independent check of its answer.

    Parameters
    ----------
    group
        The class of predictors, in a word or two: a row of the table of results.
    loss
        The loss.
    data
        The kind of data.
    check
        Return what is wrong with the answer, or an empty string. A check that raises has failed.
    """

    group: str
    loss: str
    data: str
    check: Callable[[], str]

    def failure(self) -> str:
        """Return what is wrong with the answer, an exception included, or an empty string."""
        try:
            return self.check()
        except Exception:
            return "raised\n" + traceback.format_exc(limit=-4)


Draw = Callable[[int], Case]


def sources() -> dict[str, Draw]:
    """Return the function ``draw(seed)`` of every module of the package that has one."""
    found: dict[str, Draw] = {}
    for module in pkgutil.iter_modules(tests.exactness.__path__):
        if not module.name.startswith("test_"):
            draw = getattr(importlib.import_module(f"tests.exactness.{module.name}"), "draw", None)
            if draw is not None:
                found[module.name] = draw
    return found
