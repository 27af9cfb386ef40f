"""What a command asks for, described once: read quickly here, or by Typer where help is needed."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noregret.errors import NoRegretError, WrongUsage

if TYPE_CHECKING:
    from noregret.streams.options import Options

INPUT, OUTPUT, RECOVERY = (
    "How the data are read",
    "What is written",
    "Going on after an interruption",
)
WORDS = {"true": True, "false": False, "none": None}
FLAGS = (bool, bool | None)


class Interrupted(NoRegretError):
    """A KeyboardInterrupt on its way through Typer, which would end the process without a word."""


@dataclass(frozen=True)
class Ask:
    """An option, or an argument, of a command.

    Parameters
    ----------
    help
        What it means.
    names
        What it is called, if not after the parameter; an argument has none.
    metavar
        What stands for its value.
    panel
        Under which heading the help shows it.
    argument
        Whether it is given by its place.
    """

    help: str
    names: tuple[str, ...] = ()
    metavar: str | None = None
    panel: str | None = None
    argument: bool = False


# Options that several commands have.
QUOTES = Ask(
    help="Double quotes in CSV and TSV: multiline (a quoted value may go on over lines), line (it"
    " ends on its line; other quotes are letters), none (quotes are letters), or auto: multiline"
    " for CSV, line for TSV.",
    panel=INPUT,
)

Asked = dict[str, tuple[Any, Any, Ask]]


def asked(command: Callable[..., None]) -> Asked:
    """Return (type, default, what is asked) of every parameter of a command."""
    hints = typing.get_type_hints(command, include_extras=True)
    found: Asked = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind, ask = typing.get_args(hints[name])[:2]
        found[name] = kind, parameter.default, ask
    return found


def quickly(command: Callable[..., None], arguments: Sequence[str]) -> dict[str, Any] | None:
    """Read a command line; None where anything is unusual, so that others can say what."""
    wanted, given = asked(command), dict[str, Any]()
    flags: dict[str, tuple[str, bool]] = {}
    for name, (kind, _, ask) in wanted.items():
        if not ask.argument:
            written = ask.names or (f"--{name.replace('_', '-')}",)
            flags |= dict.fromkeys(written, (name, True))
            if kind in FLAGS and not ask.names:
                flags[f"--no-{name.replace('_', '-')}"] = name, False
    places = [name for name, (_, _, ask) in wanted.items() if ask.argument]
    rest = list(arguments)
    loose: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            loose.append(word)
            continue
        flag, equals, value = word.partition("=")
        if flag not in flags or (equals and not flag.startswith("--")):
            return None
        name, on = flags[flag]
        kind = wanted[name][0]
        if kind in FLAGS:
            if equals:
                return None
            given[name] = on
            continue
        if not equals:
            if not rest:
                return None
            value = rest.pop(0)
        if not take(given, name, kind, value):
            return None
    return placed(wanted, given, places, loose)


def take(given: dict[str, Any], name: str, kind: Any, value: str) -> bool:
    """Take the value of an option; return whether it is one."""
    kinds = typing.get_args(kind) or (kind,)
    number = next((kind for kind in (int, float) if kind in kinds), None)
    if number is not None:
        try:
            given[name] = number(value)
        except ValueError:
            return False
    elif kind == list[str] or list[str] in kinds:
        given.setdefault(name, []).append(value)
    else:
        given[name] = value
    return True


def placed(
    wanted: Asked, given: dict[str, Any], places: list[str], loose: list[str]
) -> dict[str, Any] | None:
    """Give arguments their places, the last all that are left, and options their defaults."""
    for name in places:
        if not loose:
            return None
        if wanted[name][0] == list[str]:
            given[name], loose = loose, []
        else:
            given[name], loose = loose[0], loose[1:]
    if loose:
        return None
    return {name: given.get(name, default) for name, (_, default, _) in wanted.items()}


def for_typer(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as Typer takes it."""
    import typer

    def carried_out(**given: Any) -> None:
        try:
            command(**given)
        except KeyboardInterrupt as why:
            raise Interrupted(str(why)) from None

    parameters = []
    for name, (kind, default, ask) in asked(command).items():
        info: Any
        if ask.argument:
            info = typer.Argument(help=ask.help, metavar=ask.metavar)
        else:
            info = typer.Option(
                *ask.names, help=ask.help, metavar=ask.metavar, rich_help_panel=ask.panel
            )
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default,
                annotation=typing.Annotated[kind, info],
            )
        )
    carried_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    carried_out.__annotations__ = {p.name: p.annotation for p in parameters}
    carried_out.__doc__, carried_out.__name__ = command.__doc__, command.__name__
    return carried_out


# Values that several commands read.


def params_of(given: list[str]) -> dict[str, Any]:
    """Read parameters written as name=value."""
    params: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise WrongUsage(f"{text!r}: write a parameter as name=value, as in rate=0.1")
        if name in params:
            raise WrongUsage(f"{name!r} is given twice")
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
    from noregret.streams.options import LISTS, Options

    for name in LISTS:
        given[name] = tuple(given.get(name) or ())
    try:
        return Options(**given)
    except ValueError as error:
        raise WrongUsage(str(error).replace("on_error", "--on-error")) from None


def fourier_text(count: int | None, width: float | None, seed: int | None) -> str | None:
    """Write random Fourier features down as the options of a stream have them."""
    if count is None:
        if width is not None or seed is not None:
            raise WrongUsage("--width and --fourier-seed say what --fourier COUNT draws: add it")
        return None
    return f"{count}:width={1.0 if width is None else width!r}:seed={0 if seed is None else seed}"
