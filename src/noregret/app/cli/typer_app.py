"""The commands as a Typer application: for help, and for all that is not read quickly."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from noregret._version import __version__
from noregret.app.cli.find_commands import command_names, find, is_described
from noregret.app.commands.options import for_typer
from noregret.errors import WrongUsage


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"noregret {__version__}")
        raise typer.Exit


def carried_out(arguments: Sequence[str]) -> None:
    """Run a command line through Typer; what makes no sense is said in one sentence."""
    app = build(arguments[0] if arguments else None)
    try:
        done = app(args=list(arguments), prog_name="noregret", standalone_mode=False)
    except Exception as error:
        if not isinstance(error, typer.BadParameter.__mro__[1]):  # what Typer calls a UsageError
            raise
        if not arguments:  # the message is the help
            print(error)
            raise SystemExit(2) from None
        from noregret.app.cli.misuse import corrected

        raise WrongUsage(corrected(error, arguments)) from None
    if isinstance(done, int) and done:
        raise SystemExit(done)


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
