"""``noregret portfolio``: divide wealth among assets, and say how that compares in hindsight."""

from __future__ import annotations

from typing import Annotated

from noregret.app.commands.options import INPUT, OUTPUT, Ask, params_of, reading_options

STRATEGY = "How wealth is divided"


def portfolio(
    data: Annotated[
        str,
        Ask(
            argument=True,
            help="A file: a row a round, a column an asset; or - for standard input.",
            metavar="RELATIVES",
        ),
    ],
    prices: Annotated[
        bool,
        Ask(
            names=("--prices",),
            help="The numbers are prices. Without it they are relatives: each price divided by the"
            " one before.",
            panel=INPUT,
        ),
    ] = False,
    date: Annotated[
        str | None,
        Ask(help="The column that says when: no asset.", metavar="COLUMN", panel=INPUT),
    ] = None,
    keep: Annotated[
        list[str] | None,
        Ask(help="Use only this column, and others so named.", panel=INPUT),
    ] = None,
    drop: Annotated[
        list[str] | None,
        Ask(help="A column to leave out; may be repeated.", panel=INPUT),
    ] = None,
    format: Annotated[
        str | None,
        Ask(
            help="csv, tsv, parquet, jsonl or npz; by the extension if not given.",
            panel=INPUT,
        ),
    ] = None,
    header: Annotated[
        bool,
        Ask(help="Whether a CSV file begins with names.", panel=INPUT),
    ] = True,
    learner: Annotated[
        str,
        Ask(
            help="The strategy: eg-portfolio, universal-portfolio, ons-portfolio,"
            " uniform-rebalanced, buy-and-hold or follow-the-leader.",
            panel=STRATEGY,
        ),
    ] = "eg-portfolio",
    parameter: Annotated[
        list[str] | None,
        Ask(
            names=("-p", "--param"),
            help="A parameter of the strategy, as in rate=0.1; may be repeated.",
            metavar="NAME=VALUE",
            panel=STRATEGY,
        ),
    ] = None,
    cost: Annotated[
        str | None,
        Ask(
            metavar="SHARE",
            help="What trading costs, as a share of all that is sold and bought: 0.001 for 0.1%.",
            panel=STRATEGY,
        ),
    ] = None,
    allocations: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write the shares held in every round (CSV).", panel=OUTPUT),
    ] = None,
    relatives: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="With --prices: write the relatives (CSV).",
            panel=OUTPUT,
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write the certificate (JSON).", panel=OUTPUT),
    ] = None,
    report: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write a report (HTML).", panel=OUTPUT),
    ] = None,
    model: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write the strategy with all it has learned.", panel=OUTPUT),
    ] = None,
    quiet: Annotated[
        bool, Ask(names=("--quiet", "-q"), help="Print nothing.", panel=OUTPUT)
    ] = False,
    json: Annotated[
        bool, Ask(names=("--json",), help="Print the figures as JSON.", panel=OUTPUT)
    ] = False,
) -> None:
    """Divide wealth among assets, one round at a time, and say how well that went.

    Shares are chosen before each round's relatives are seen. The wealth is compared with the best
    asset's, that of equal shares, and that of the best shares to restore in every round.
    """
    from noregret.app.commands.portfolio.command import carry_out

    columns = [*(drop or []), *([date] if date is not None and not keep else [])]
    carry_out(
        data,
        reading_options(drop=columns, keep=keep, format=format, header=header),
        learner,
        params_of(parameter or []),
        {
            "allocations": allocations,
            "relatives": relatives,
            "certificate": certificate,
            "report": report,
            "model": model,
        },
        prices=prices,
        date=date,
        cost=cost,
        quiet=quiet,
        as_json=json,
    )
