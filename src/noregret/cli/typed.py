"""The commands as a Typer application: for help, and for all that is not read quickly."""

from __future__ import annotations

import typer

from noregret._version import __version__
from noregret.cli.asking import for_typer
from noregret.cli.finding import command_names, find, is_described


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

    names = command_names()
    for name in [wanted] if wanted in names else names:
        command = find(name)
        app.command(name)(for_typer(command) if is_described(command) else command)
    return app
