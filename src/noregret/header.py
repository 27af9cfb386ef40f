"""What the JSON text of model files and checkpoints may say: ``model.schema.json``."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from noregret.errors import NoRegretError

# Digits of the longest whole number that a header can hold.
MAX_DIGITS = 20


def parsed(text: str, kind: str, path: object, wrong: type[NoRegretError]) -> dict[str, Any]:
    """Return a header, or raise which of its fields cannot be so.

    Parameters
    ----------
    text
        The JSON text.
    kind
        The definition in the schema that it must meet: ``model`` or ``checkpoint``.
    path
        The file, for messages.
    wrong
        What to raise.
    """
    try:
        header: dict[str, Any] = json.loads(text, parse_int=_whole, parse_constant=_refused)
        fault = next(_validator(kind).iter_errors(header), None)
    except (RecursionError, ValueError) as error:
        raise wrong(f"{path}: its header is no JSON that can be read: {error}") from None
    if fault is not None:
        from jsonschema.exceptions import best_match

        fault = best_match([fault])
        field = ".".join(map(str, fault.absolute_path)) or "its header"
        said = fault.message if len(fault.message) < 200 else fault.message[:199] + "…"
        raise wrong(f"{path}: {field}: {said}")
    return header


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text[:MAX_DIGITS]}… is too large a number")
    return int(text)


def _refused(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    text = resources.files("noregret").joinpath("model.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text) | {"$ref": f"#/$defs/{kind}"})
