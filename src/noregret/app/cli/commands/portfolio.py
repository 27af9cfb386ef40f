"""``noregret portfolio``: divide wealth among assets, and compare with hindsight."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from noregret.app.cli import options as ask
from noregret.errors import Cure, NoRegretError, Use, WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.portfolios.strategy import Strategy
    from noregret.proof.game.table_game import TableGame

LOOK_LIKE_RELATIVES = (
    "the numbers look like relatives, not prices, as they return to where they were after each row;"
    " leave out --prices"
)
LOOK_LIKE_PRICES = "the numbers look like prices; --prices converts them to relatives"

# Options of this command that replace parameters for which it has none.
INSTEAD = {"categories": ("date", "drop"), "missing": ("drop",), "target": ("date",)}
TEXTS = {"date": "name the column of dates ({})", "drop": "drop the asset ({})"}

EXAMPLE = "noregret portfolio RELATIVES.csv"
OPTIONS = [
    ask.argument(
        "data",
        "RELATIVES",
        "A file of relatives, each a price divided by the one before: one row per round, one column"
        " per asset; - is standard input.",
    ),
    ask.flag(
        ask.INPUT,
        "--prices",
        help="The numbers are prices, not relatives.",
    ),
    ask.option(
        ask.INPUT, "--date", metavar="COLUMN", help="The column of dates, which is not an asset."
    ),
    ask.KEEP,
    ask.DROP,
    ask.FORMAT.but("File format: csv, tsv, parquet, jsonl or npz (default: by extension)."),
    ask.HEADER,
    ask.DELIMITER,
    ask.ENCODING,
    ask.LEARNER.but(
        "The strategy: eg-portfolio, blend-portfolio (no parameters), universal-portfolio,"
        " ons-portfolio, uniform-rebalanced, buy-and-hold or follow-the-leader.",
        default="eg-portfolio",
    ),
    ask.PARAMETER,
    ask.option(
        ask.METHOD,
        "--cost",
        metavar="SHARE",
        help="Cost of trading, as a share of the amount sold and bought: 0.001 is 0.1%% (default:"
        " 0).",
    ),
    ask.file(ask.OUTPUT, "--allocations", "Write the shares held in every round (CSV)."),
    ask.file(ask.OUTPUT, "--relatives", "With --prices: write the relatives (CSV)."),
    ask.CERTIFICATE,
    ask.REPORT,
    ask.MODEL.but("Write the strategy with its state."),
    ask.QUIET,
    ask.JSON,
]


def portfolio(given: Namespace) -> None:
    """Divide wealth among assets, one round at a time, and report how well that went.

    Shares are chosen before each round's relatives are seen. The wealth is compared with that of
    the best asset, of equal shares, and of the best constant shares.
    """
    from noregret.app.commands.outputs import Outputs
    from noregret.app.commands.portfolio.writing import dates_of, writers
    from noregret.app.commands.printing import command_line, concluded
    from noregret.app.results.portfolio import outcome_of
    from noregret.proof.game.table_game import TableGame
    from noregret.streams import stream_of

    data, date, prices = given.data, given.date, given.prices
    if given.relatives is not None and not prices:
        raise WrongUsage("--relatives needs --prices")
    strategy, outputs = built(given), Outputs.of(given)
    drop = [*(given.drop or []), *([date] if date is not None and not given.keep else [])]
    options = ask.reading_options(given, drop=drop)
    outputs.check([data])
    began = time.monotonic()
    diary = strategy.keep_diary() if outputs.allocations or outputs.report else []
    game = TableGame(
        strategy, predictions=True, progress=False if given.quiet or given.json else None
    )
    try:
        game.play(stream_of([data], options))
    except NoRegretError as error:
        error.cures = advised(error)
        raise
    if not game.rounds:
        raise NoRegretError(f"{data}: no rounds")
    dates = None if date is None else dates_of(data, date, options, game.rounds + int(prices))
    outcome = outcome_of(
        game,
        diary,
        sources=(data,),
        transforms=game.transforms,
        dates=None if dates is None else (dates[0], dates[-1]),
        note=noted(game, prices),
        command=command_line(),
    )
    outcome = replace(outcome, seconds=time.monotonic() - began)
    when = None if dates is None else dates[int(prices) :]
    outcome, failures = outputs.write(outcome, writers(game, diary, when))
    concluded(outcome, given, failures)


def noted(game: TableGame, prices: bool) -> str:
    """Return what the numbers look like, if that is not what they were said to be."""
    from noregret.app.commands.portfolio.writing import likely, were_relatives

    if prices:
        return LOOK_LIKE_RELATIVES if were_relatives(game) else ""
    return "" if likely(game) else LOOK_LIKE_PRICES


def built(given: Namespace) -> Strategy:
    """Return the strategy that a command line names."""
    from noregret.portfolios import make

    params, cost = ask.params_of(given.parameter), given.cost
    if cost is not None:
        if "cost" in params:
            raise WrongUsage("'cost' is given twice")
        try:
            params = params | {"cost": float(cost)}
        except ValueError:
            raise WrongUsage(f"--cost must be a number, such as 0.001: got {cost!r}") from None
    try:
        strategy: Strategy = make(given.learner, **params)
    except (TypeError, ValueError, LookupError) as error:
        raise WrongUsage(f"{error} (see ‘noregret learners’)") from None
    return strategy


def advised(error: NoRegretError) -> tuple[Cure, ...]:
    """Return the cures of an error about a file, as options of ``noregret portfolio``."""
    column = ... if error.feature is None else error.feature
    found: dict[str, Cure] = {}
    for cure in error.cures:
        if isinstance(cure, str):
            found[cure] = cure
            continue
        for name in INSTEAD.get(cure.name, (cure.name,)):
            found.setdefault(name, cure if name == cure.name else Use(name, column, TEXTS[name]))
    return tuple(found.values())
