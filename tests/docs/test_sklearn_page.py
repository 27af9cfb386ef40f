"""The table of all estimators in the documentation is the one that the registry makes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import noregret.sklearn
from noregret.linear.engine.class_weights import ClassWeights
from noregret.sklearn.traits import Traits

PAGE = Path(__file__).parents[2] / "docs" / "sklearn.md"
MARK = "<!-- classes: tests/docs/test_sklearn_page.py writes this table -->\n"


def row(name: str) -> str:
    traits: Traits = getattr(noregret.sklearn, name).traits
    default = traits.kind.params.get("loss", traits.losses[0])
    if "loss" in traits.parameters and "loss" not in traits.kind.params:
        default = traits.parameters["loss"].default
    others = [f"`{loss}`" for loss in traits.losses if loss != default]
    engine = traits.learner().engine
    linear = isinstance(engine, ClassWeights) or engine.linear
    coefficients = "yes" if linear and not traits.only_booleans else "no"
    weights = "any" if traits.weighs else "whole"
    told = f"`{default}`" + (f" ({', '.join(others)})" if others else "")
    return f"| `{name}` | {told} | {coefficients} | {weights} |"


def table() -> str:
    head = "| Class | Loss, and others that it takes | `coef_` | Weights |\n|---|---|---|---|\n"
    return head + "\n".join(map(row, noregret.sklearn.__all__)) + "\n"


def test_the_page_lists_every_estimator() -> None:
    """Set NOREGRET_WRITE=1 to have the table written anew."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(re.escape(MARK) + r"\n((?:\|.*\n)*)", text)
    assert found is not None
    if os.environ.get("NOREGRET_WRITE"):
        written = text[: found.start(1)] + table() + text[found.end(1) :]
        PAGE.write_text(written, encoding="utf-8")
        return
    assert found[1] == table(), "write it anew: NOREGRET_WRITE=1 pytest " + Path(__file__).name
