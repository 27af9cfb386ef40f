"""What the commands that read data ask for in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from noregret.streams.options import Options

INPUT, OUTPUT, RECOVERY = "How the data are read", "What is written", "Going on after an interruption"
WORDS = {"true": True, "false": False, "none": None}


def params_of(given: list[str]) -> dict[str, Any]:
    """Read parameters written as name=value."""
    params: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise typer.BadParameter(f"{text!r}: write a parameter as name=value, as in rate=0.1")
        if name in params:
            raise typer.BadParameter(f"{name!r} is given twice")
        params[name] = value_of(value.strip())
    return params


def value_of(text: str) -> Any:
    """Return a parameter's value: a number, a word for one, or text."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def reading_options(**given: Any) -> Options:
    """Return how data are read; what makes no sense is wrong usage."""
    from noregret.streams.options import COLUMNS, Options

    for name in COLUMNS:
        if name in given:
            given[name] = columns_of(given[name])
    try:
        return Options(**given)
    except ValueError as error:
        raise typer.BadParameter(str(error).replace("on_error", "--on-error")) from None


def columns_of(given: list[str] | None) -> tuple[str, ...]:
    """Return the names of columns, each given by itself."""
    return tuple(given or ())
