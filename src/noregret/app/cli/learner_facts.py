"""The description of an algorithm, extracted from its class and docstring."""

from __future__ import annotations

import inspect
import json
import re
import sys
from typing import TYPE_CHECKING, Any

from noregret.app.cli.family_words import path_of, words_of
from noregret.base.compiled.losses import LOSSES
from noregret.proof.theorems.theorem import QUANTITIES

if TYPE_CHECKING:
    from noregret.base.algorithm import Named
    from noregret.proof.theorems.theorem import Theorem

TYPES = {"float": "number", "int": "whole number", "bool": "true or false", "str": "word"}
TYPES |= {"Any": "numbers", "Arms": "names", "Learner": "learner", "WeakLearner": "Python object"}


def outline(learner: type[Named]) -> dict[str, Any]:
    """Return the summary line of an algorithm and the names of its theorems."""
    summary = sections(learner.__doc__)[""].split("\n\n")[0]
    return {
        "name": learner.name,
        "family": learner.family,
        "summary": plain(summary),
        "theorems": [theorem.name for theorem in learner.theorems],
    }


def explain(learner: type[Named]) -> dict[str, Any]:
    """Return the full description of an algorithm."""
    own, words, path = sections(learner.__doc__), words_of(learner), path_of(learner)
    parameters = parameters_of(learner)
    example = example_of(parameters)
    chosen = "".join(f" -p {key}={written(value)}" for key, value in example.items())
    called = ", ".join(
        f"{key}={json.dumps(value) if isinstance(value, str) else value}"
        for key, value in example.items()
    )
    return outline(learner) | {
        "class": path,
        "about": sections(sys.modules[learner.__module__].__doc__)[""].replace("``", ""),
        "details": [plain(paragraph) for paragraph in own[""].split("\n\n")[1:]],
        "parameters": parameters,
        "promises": [promise_of(theorem) for theorem in learner.theorems],
        "command": words.command and f"{words.command} --learner {learner.name}{chosen}",
        "python": f"{words.one} = {path}({called})",
        "play": words.play,
        "source": plain(own.get("References", "")),
    }


def parameters_of(learner: type[Named]) -> list[dict[str, Any]]:
    """Describe every parameter, from the signature and the docstring."""
    meanings = entries(sections(learner.__doc__).get("Parameters", ""))
    signature = inspect.signature(learner).parameters
    return [
        {
            "name": name,
            "type": TYPES.get(kind := str(parameter.annotation).split(" | ")[0], kind),
            "choices": choices(learner, str(parameter.annotation), meanings.get(name, "")),
            "default": parameter.default,
            "meaning": plain(meanings.get(name, "")),
        }
        for name, parameter in signature.items()
    ]


def choices(learner: type[Named], annotation: str, meaning: str) -> list[str]:
    """Return the allowed words of a parameter: those its description marks as code."""
    if "Loss" in annotation:
        return list(losses_for(learner.family))
    if "Learner" in annotation:
        return []
    return re.findall(r"``([^`]+)``", meaning) if "str" in annotation else []


def losses_for(family: str) -> tuple[str, ...]:
    """Return the names of a family's losses."""
    if family == "learners":
        return tuple(LOSSES)
    from noregret.base.compiled.losses import EXPERT_LOSSES

    return tuple(EXPERT_LOSSES)


def promise_of(theorem: Theorem) -> dict[str, Any]:
    """Return the promise of a theorem."""
    return {
        "name": theorem.name,
        "bounds": QUANTITIES[theorem.quantity],
        "promise": re.sub(r" +", " ", theorem.plain),
        "warning": theorem.warning,
    }


def example_of(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    """Choose a parameter for the example: preferably the rate, else one with a default."""
    given = [p for p in parameters if p["default"] is not None]
    given.sort(key=lambda p: (p["name"] != "rate", p["type"] != "number", p["default"] == 0))
    return {p["name"]: True if p["default"] is False else p["default"] for p in given[:1]}


# Parsing docstrings.


def sections(docstring: str | None) -> dict[str, str]:
    """Split a docstring at its underlined headings; the text before the first has the key ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(docstring or ""), flags=re.MULTILINE)
    named = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {"": parts[0].strip()} | {title: body.strip("\n") for title, body in named.items()}


def entries(section: str) -> dict[str, str]:
    """Parse names with indented descriptions; several names may share one."""
    found = re.findall(r"^(\w+(?:, \w+)*).*\n((?:[ \t]+.*\n?|\n)*)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}


def plain(text: str) -> str:
    """Return text on one line, without code marks."""
    return " ".join(text.replace("``", "").split())


def written(value: Any) -> str:
    """Write a value as the command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
