"""The commands, found by walking ``noregret.cli.commands``: a new one is a new file there."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence

import typer

from noregret import __version__
from noregret.cli import commands
from noregret.errors import NoRegretError
from noregret.report.figures import clean

DONE, FAILED, INTERRUPTED = 0, 1, 130


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"noregret {__version__}")
        raise typer.Exit


def build(wanted: str | None = None) -> typer.Typer:
    """Return the application: with one command, or with every one that there is a file for."""
    app = typer.Typer(
        name="noregret",
        help="Online learning that can prove how well it did.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )

    @app.callback()
    def options(
        version: bool = typer.Option(
            False,
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Print the version and stop.",
        ),
    ) -> None:
        """Online learning that can prove how well it did."""

    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    for name in [wanted] if wanted in names else names:
        command = importlib.import_module(f"{commands.__name__}.{name}")
        app.command(name)(getattr(command, name))
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 the work failed, 2 wrong usage."""
    if sys.stdout is None:
        print("noregret: standard output is closed", file=sys.stderr)
        return FAILED
    for page in (sys.stdout, sys.stderr):
        if hasattr(page, "reconfigure"):  # a letter that it cannot write is no failure
            page.reconfigure(errors="replace")
    try:
        build(arguments[0] if arguments else None)(list(arguments))
    except SystemExit as end:  # done, or wrong usage: the message has been printed
        return end.code if isinstance(end.code, int) else DONE
    except KeyboardInterrupt:
        print("noregret: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (NoRegretError, OSError) as failure:
        said = "\n".join(map(clean, str(failure).split("\n")))  # it may name what others wrote
        print(f"noregret: {said}", file=sys.stderr)
        return FAILED
    return DONE
