"""Run a command line; errors become one line on stderr and an exit code."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from noregret.app.cli.parser import command_names, find, read, show_help
from noregret.app.commands import DONE, FAILED, INTERRUPTED, MISUSED
from noregret.errors import DataWarning, NoRegretError, WrongUsage, on_command_line

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code: 0 success, 1 failure, 2 wrong usage."""
    if sys.stdout is None:
        print("noregret: standard output is closed", file=sys.stderr)
        return FAILED
    for page in (sys.stdout, sys.stderr):
        if hasattr(page, "reconfigure"):  # a character that cannot be encoded is no failure
            page.reconfigure(errors="replace")
    try:
        with notes(arguments):
            carry_out(list(arguments))
        sys.stdout.flush()
    except SystemExit as end:  # done, or wrong usage: the message has been printed
        return end.code if isinstance(end.code, int) else DONE
    except KeyboardInterrupt as why:
        say(KeyboardInterrupt(f"interrupted: {why}" if str(why) else "interrupted"), arguments)
        return INTERRUPTED
    except WrongUsage as failure:
        say(failure, arguments)
        known = arguments and arguments[0] in command_names()
        help_for = f"noregret {arguments[0]} --help" if known else "noregret --help"
        print(f"noregret: see ‘{help_for}’", file=sys.stderr)
        return MISUSED
    except BrokenPipeError:  # the reader closed the pipe
        discard_stdout()
    except (NoRegretError, OSError, MemoryError) as failure:
        say(failure, arguments)
        if is_full_stdout(failure):
            discard_stdout()
        return FAILED
    return DONE


def carry_out(arguments: list[str]) -> None:
    """Run a command, or show the help or the version."""
    name = arguments[0] if arguments else ""
    if name == "--version":
        from noregret._version import __version__

        print(f"noregret {__version__}")
    elif name in command_names():
        command = find(name)
        given = read(command, arguments[1:])
        try:
            command.run(given)
        except NoRegretError as error:
            error.only(vars(given))
            raise
    elif name in ("", "-h", "--help"):
        show_help()
        raise SystemExit(DONE if name else MISUSED)
    else:
        from noregret.app.cli.misuse import no_command

        raise WrongUsage(no_command(name))


@contextmanager
def notes(arguments: Sequence[str]) -> Iterator[None]:
    """Print each warning about the data as one line on stderr."""

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if isinstance(message, DataWarning):
            from noregret.base.numbers import clean

            words = without_passwords(on_command_line(message), arguments)
            print(f"note: {clean(words)}", file=sys.stderr)
        else:
            usual(message, category, *where, **more)

    with warnings.catch_warnings():
        usual, warnings.showwarning = warnings.showwarning, show
        warnings.simplefilter("always", DataWarning)
        yield


def is_full_stdout(failure: BaseException) -> bool:
    """Return whether there is no room for standard output: errors of files have a name."""
    no_room = isinstance(failure, OSError) and failure.errno in NO_ROOM
    return no_room and getattr(failure, "filename", None) is None


def discard_stdout() -> None:
    """Redirect stdout to the null device: Python flushes it once more on exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(failure: BaseException, arguments: Sequence[str] = ()) -> None:
    """Print an error, with control characters escaped and passwords hidden."""
    from noregret.base.numbers import clean

    words = on_command_line(failure) or "there is not enough memory"
    if isinstance(failure, OSError) and failure.strerror:
        where = failure.filename or (is_full_stdout(failure) and "standard output")
        words = f"{where}: {failure.strerror}" if where else words
    words = without_passwords(words, arguments)
    said = "\n".join(map(clean, words.split("\n")))
    print(f"noregret: {said}", file=sys.stderr)


def without_passwords(words: str, arguments: Sequence[str]) -> str:
    """Return a message without the passwords of addresses on the command line."""
    given = [part for word in arguments for part in {word, word.partition("=")[2]}]
    if any("@" in word or ("=" in word and ":" in word) for word in given):
        from noregret.streams.addresses import without_secrets

        for part in given:
            words = without_secrets(words, part)
    return words
