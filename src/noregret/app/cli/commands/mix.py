"""``noregret mix``: combine forecasts into one that is provably almost as good as the best."""

from __future__ import annotations

from typing import Annotated

from noregret.app.commands.options import INPUT, OUTPUT, QUOTES, Ask

MASTER = "Who mixes"


def mix(
    forecasts: Annotated[
        list[str],
        Ask(
            argument=True,
            help="Tables, one or several, globs, or - for standard input: a row a round, a column"
            " an expert.",
            metavar="FORECASTS",
        ),
    ],
    target: Annotated[
        str | None,
        Ask(
            help="The column that holds the outcomes; where it is empty, a row is forecast only.",
            panel=INPUT,
        ),
    ] = None,
    experts: Annotated[
        list[str] | None,
        Ask(
            help="The columns to mix, as in A,B; may be repeated. All columns of numbers if not"
            " given.",
            panel=INPUT,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        Ask(help="Columns that are no forecasts, as in A,B; may be repeated.", panel=INPUT),
    ] = None,
    group: Annotated[
        str | None,
        Ask(
            metavar="COLUMN",
            help="The column that says which of many series a row belongs to: each is mixed on its"
            " own.",
            panel=INPUT,
        ),
    ] = None,
    only: Annotated[
        str | None,
        Ask(metavar="GROUP", help="The only one of the groups to mix.", panel=INPUT),
    ] = None,
    average: Annotated[
        bool,
        Ask(
            help="Have the average and the median of all who are awake among the experts.",
            panel=INPUT,
        ),
    ] = True,
    correct: Annotated[
        bool | None,
        Ask(
            help="Have a corrected forecast among the experts: a linear combination of them, with a"
            " constant, learned from the rows before. If not said, with every loss but log and"
            " zero-one.",
            panel=INPUT,
        ),
    ] = None,
    format: Annotated[
        str | None,
        Ask(help="csv, tsv, parquet or jsonl; by the extension if not given.", panel=INPUT),
    ] = None,
    header: Annotated[
        bool,
        Ask(help="Whether a CSV file begins with names.", panel=INPUT),
    ] = True,
    quotes: Annotated[
        str,
        QUOTES,
    ] = "auto",
    on_error: Annotated[
        str,
        Ask(help="At a bad row: stop, or skip and count it.", panel=INPUT),
    ] = "stop",
    learner: Annotated[
        str | None,
        Ask(
            help="Its name, as in hedge, ada-hedge, ml-poly, boa, squint or fixed-share; if not"
            " given, one that is good without a word.",
            panel=MASTER,
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        Ask(
            names=("-p", "--param"),
            help="A parameter of it, as in rate=0.1; may be repeated.",
            metavar="NAME=VALUE",
            panel=MASTER,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        Ask(
            help="What forecasts cost: square (if not given), absolute, quantile, percentage, log"
            " or zero-one.",
            panel=MASTER,
        ),
    ] = None,
    quantile: Annotated[
        float | None,
        Ask(help="Which quantile is forecast: implies --loss quantile.", panel=MASTER),
    ] = None,
    gradient: Annotated[
        bool | None,
        Ask(
            help="Whether to compete with the best fixed weights (by gradients), not only with the"
            " best expert.",
            panel=MASTER,
        ),
    ] = None,
    predictions: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write every combined forecast: .csv or .parquet.", panel=OUTPUT),
    ] = None,
    weights: Annotated[
        str | None,
        Ask(
            metavar="FILE", help="Write the weights of every round: .csv or .parquet.", panel=OUTPUT
        ),
    ] = None,
    model: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write the model, to go on with in Python.", panel=OUTPUT),
    ] = None,
    certificate: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="Write the certificate (JSON); with --group, one a group: 'cert-{group}.json'.",
            panel=OUTPUT,
        ),
    ] = None,
    report: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write a report (HTML).", panel=OUTPUT),
    ] = None,
    hindsight: Annotated[
        bool,
        Ask(
            help="Compare with the best in hindsight, and certify the regret.",
            panel=OUTPUT,
        ),
    ] = True,
    quiet: Annotated[
        bool, Ask(names=("--quiet", "-q"), help="Print nothing.", panel=OUTPUT)
    ] = False,
    json: Annotated[
        bool, Ask(names=("--json",), help="Print the figures as JSON.", panel=OUTPUT)
    ] = False,
) -> None:
    """Combine the forecasts of several experts into one, round by round.

    Every row is forecast before its outcome is seen. An expert may be missing from any row (an
    empty cell): it is asleep there. Ctrl-C ends early, and everything asked for is written all the
    same.
    """
    from noregret.app.commands.mix.command import carry_out, columns_of, master_of, mixing_options

    made = master_of(learner, parameter or [], loss, quantile, gradient)
    options = mixing_options(
        loss=made.cost.name,
        target=target,
        keep=columns_of(experts),
        drop=columns_of(drop),
        group=group,
        only=only,
        average=average,
        correct=correct,
        header=header,
        quotes=quotes,
        on_error=on_error,
        format=format,
    )
    outputs = {
        "predictions": predictions,
        "weights": weights,
        "model": model,
        "certificate": certificate,
        "report": report,
    }
    carry_out(forecasts, options, made, outputs, hindsight=hindsight, quiet=quiet, as_json=json)
