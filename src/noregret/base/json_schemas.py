"""JSON checked against a schema: certificates, and the headers of model files and checkpoints."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from noregret.errors import NoRegretError

# Digits of the longest integer in a header.
MAX_DIGITS = 20
# Characters of a validator's message that are shown.
MAX_MESSAGE = 200


def parsed(text: str, kind: str, path: object, wrong: type[NoRegretError]) -> dict[str, Any]:
    """Parse a header, or raise an error that names the invalid field.

    Parameters
    ----------
    text
        The JSON text.
    kind
        The definition in the schema: ``model`` or ``checkpoint``.
    path
        The file, for messages.
    wrong
        The class of the error.
    """
    try:
        header: dict[str, Any] = json.loads(text, parse_int=_whole, parse_constant=_refused)
        fault = fault_in(header, validator("model.schema.json", kind), "its header")
    except (RecursionError, ValueError) as error:
        raise wrong(f"its header is no JSON that can be read: {error}", file=path) from None
    if fault is not None:
        raise wrong(fault, file=path)
    return header


def fault_in(contents: Any, validator: Any, whole: str) -> str | None:
    """Return the invalid field and the reason, without repeating long contents.

    Parameters
    ----------
    contents
        The parsed JSON.
    validator
        The validator of the schema.
    whole
        The name of the contents, if the fault is not in one field.
    """
    fault = next(validator.iter_errors(contents), None)
    if fault is None:
        return None
    from jsonschema.exceptions import best_match

    fault = best_match([fault])
    field = ".".join(map(str, fault.absolute_path)) or whole
    said = fault.message
    if fault.validator == "maxItems":  # whose message is the list
        said = f"{len(fault.instance):,} items, and at most {fault.validator_value:,} are allowed"
    return f"{field}: {said if len(said) < MAX_MESSAGE else said[: MAX_MESSAGE - 1] + '…'}"


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text[:MAX_DIGITS]}… is too large a number")
    return int(text)


def _refused(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


@cache
def schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema shipped with the package."""
    text = resources.files("noregret.base").joinpath(name).read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def validator(name: str, kind: str | None = None) -> Any:
    """Return the validator of a schema, or of one of its definitions."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    part = {} if kind is None else {"$ref": f"#/$defs/{kind}"}
    # JSON Schema takes 200.0 for an integer, which Python does not.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, n: type(n) is int)
    return extend(Draft202012Validator, type_checker=types)(schema(name) | part)
