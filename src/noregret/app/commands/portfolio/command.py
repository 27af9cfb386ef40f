"""Carrying out ``noregret portfolio``: read, play, look back, write, print."""

from __future__ import annotations

import csv
import gzip
import io
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.portfolio.advice import advised
from noregret.app.commands.run.writing import check_place
from noregret.app.results.portfolio import Outcome, outcome_of
from noregret.base.atomic_files import write_whole
from noregret.errors import NoRegretError, WrongUsage
from noregret.portfolios import make
from noregret.portfolios.strategy import Strategy
from noregret.proof.game.table_game import TableGame
from noregret.streams import stream_of
from noregret.streams.options import Options

Floats = NDArray[np.float64]
# Medians of relatives outside of this range are those of prices.
LIKELY = (0.2, 5.0)
LOOK_LIKE_PRICES = "these look like prices: --prices turns them into relatives"


def carry_out(
    data: str,
    options: Options,
    learner: str,
    params: dict[str, Any],
    outputs: dict[str, str | None],
    *,
    prices: bool,
    date: str | None,
    cost: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Do what a command line asks for."""
    if outputs["relatives"] is not None and not prices:
        raise WrongUsage("--relatives writes what prices were made into: it needs --prices")
    strategy = built(learner, params, cost)
    wanted = {kind: path for kind, path in outputs.items() if path is not None}
    check_outputs(data, wanted)
    began = time.monotonic()
    stream = stream_of([data], replace(options, prices=prices))
    diary = strategy.keep_diary() if wanted.keys() & {"allocations", "report"} else []
    game = TableGame(strategy, predictions=True, progress=False if quiet or as_json else None)
    try:
        game.play(stream)
    except NoRegretError as error:
        error.args = (advised(str(error)),)
        raise
    if not game.rounds:
        raise NoRegretError(f"{data}: there are no rounds in it")
    dates = None if date is None else dates_of(data, date, options, game.rounds + int(prices))
    outcome = outcome_of(
        game,
        diary,
        sources=(data,),
        transforms=game.transforms,
        dates=None if dates is None else (dates[0], dates[-1]),
        note="" if prices or likely(game) else LOOK_LIKE_PRICES,
        command=shlex.join(["noregret", *sys.argv[1:]]),
    )
    outcome = replace(outcome, seconds=time.monotonic() - began)
    when = None if dates is None else dates[int(prices) :]
    outcome, failures = written(outcome, wanted, Made(game, diary, when))
    if as_json:
        show_json(outcome)
    elif not quiet:
        show(outcome)
    if failures:
        raise NoRegretError("\n".join(failures))


def built(learner: str, params: dict[str, Any], cost: str | None) -> Strategy:
    """Return the strategy that a command line names."""
    if cost is not None:
        if "cost" in params:
            raise WrongUsage("'cost' is given twice")
        try:
            params = params | {"cost": float(cost)}
        except ValueError:
            raise WrongUsage(f"--cost is a number, such as 0.001: got {cost!r}") from None
    try:
        strategy: Strategy = make(learner, **params)
    except (TypeError, ValueError, LookupError) as error:
        raise WrongUsage(f"{error} (see ‘noregret learners’)") from None
    return strategy


def likely(game: TableGame) -> bool:
    """Whether the numbers of most rounds are such as relatives are."""
    middle = np.median([m for X, _ in game.table.blocks() for m in np.median(X, axis=1).tolist()])
    return bool(LIKELY[0] <= middle <= LIKELY[1])


def check_outputs(data: str, wanted: dict[str, str]) -> None:
    """Refuse at once what could not be written at the end."""
    taken = {os.path.realpath(data): "the data"}
    for kind, path in wanted.items():
        what = f"the {kind}"
        check_place(path, what)
        if (by := taken.setdefault(os.path.realpath(path), what)) is not what:
            raise WrongUsage(f"{path}: already taken, by {by}: name another file for {what}")


def dates_of(path: str, column: str, options: Options, rows: int) -> list[str] | None:
    """Return what a column of a CSV file says, row by row; None for files of other kinds."""
    kind = options.format or Path(path.removesuffix(".gz")).suffix.removeprefix(".")
    if kind not in ("csv", "tsv") or not os.path.isfile(path) or not options.header:
        return None
    opener: Callable[..., Any] = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = csv.reader(file, delimiter="\t" if kind == "tsv" else ",")
        names = next(lines, [])
        if column not in names:
            raise NoRegretError(f"{path}: there is no column {column!r}")
        at = names.index(column)
        found = [line[at] for line in lines if len(line) > at]
    return found if len(found) == rows else None


class Made:
    """What is written down besides the outcome."""

    def __init__(self, game: TableGame, diary: list[Floats], dates: Sequence[str] | None) -> None:
        self.game, self.diary, self.dates = game, diary, dates

    def allocations(self, outcome: Outcome) -> bytes:
        """Return the shares of every round, as CSV."""
        when = self.dates or range(1, outcome.rounds + 1)
        first = "date" if self.dates else "round"
        pairs = zip(when, self.diary, strict=True)
        lines = ([str(moment), *map(repr, row.tolist())] for moment, row in pairs)
        return table_text([first, *outcome.assets], lines)

    def relatives(self, outcome: Outcome) -> bytes:
        """Return the relatives that were made of prices, as CSV."""

        def lines() -> Iterator[list[str]]:
            for X, _ in self.game.table.blocks():
                for row in X.tolist():
                    yield list(map(repr, row))

        return table_text(outcome.assets, lines())

    def report(self, outcome: Outcome) -> bytes:
        """Return the report."""
        from noregret.app.report.portfolio.page import page

        return page(outcome).encode()

    def certificate(self, outcome: Outcome) -> bytes:
        """Return the certificate."""
        return outcome.certificate.to_json().encode()


def table_text(names: Sequence[str], lines: Iterable[list[str]]) -> bytes:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    return text.getvalue().encode()


def written(outcome: Outcome, wanted: dict[str, str], made: Made) -> tuple[Outcome, list[str]]:
    """Write what was asked for; return the outcome with what was written, and what went wrong."""
    failures: list[str] = []
    outcome = replace(outcome, outputs=wanted)
    done: dict[str, str] = {}
    for kind, path in wanted.items():
        try:
            if kind == "model":
                made.game.player.save(path)
            else:
                write_whole(path, getattr(made, kind)(outcome))
            done[kind] = path
        except NoRegretError as error:
            failures.append(str(error))
        except OSError as error:
            failures.append(f"{path}: {error.strerror or error}")
    return replace(outcome, outputs=done), failures


def show(outcome: Outcome) -> None:
    """Print the summary."""
    from rich.console import Console

    from noregret.app.report.portfolio.text import summary

    console = Console(highlight=False)
    console.width = max(40, min(console.width, 100))
    console.print(summary(outcome))


def show_json(outcome: Outcome) -> None:
    """Print the figures for machines."""
    import json

    from noregret.app.report.portfolio.text import as_dict

    print(json.dumps(as_dict(outcome), indent=1, ensure_ascii=False, allow_nan=False))
