"""``noregret run``: learn from files of any usual kind, and write down how it went."""

from __future__ import annotations

from typing import Annotated

import typer

from noregret.cli.asking import INPUT, OUTPUT, RECOVERY, params_of, reading_options

LEARNER = "What learns"


def run(
    data: Annotated[
        list[str],
        typer.Argument(help="Files, one or several, globs, or - for standard input.", metavar="DATA"),
    ],
    target: Annotated[
        str | None,
        typer.Option(help="The column to predict.", rich_help_panel=INPUT),
    ] = None,
    learner: Annotated[
        str,
        typer.Option(help="Its name: see ‘noregret learners’.", rich_help_panel=LEARNER),
    ] = "widrow-hoff",
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--param",
            help="A parameter of the learner, as in rate=0.1; may be repeated.",
            metavar="NAME=VALUE",
            rich_help_panel=LEARNER,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="csv, tsv, parquet, jsonl, svmlight, vw or npz; by the extension if not given.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    intercept: Annotated[
        bool,
        typer.Option(help="Give every example a feature that is always 1.", rich_help_panel=INPUT),
    ] = True,
    scale: Annotated[
        str,
        typer.Option(
            help="none, max (by the largest value so far), standard (mean 0, deviation 1), or unit"
            " (every example to norm 1).",
            rich_help_panel=INPUT,
        ),
    ] = "none",
    drop: Annotated[
        list[str] | None,
        typer.Option(help="A column to leave out; may be repeated.", rich_help_panel=INPUT),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Use only this column, and others so named.", rich_help_panel=INPUT),
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(
            help="A column whose values are names even where they look like numbers; may be repeated.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="An empty cell: stop there, take it for zero, or do that and add an indicator.",
            rich_help_panel=INPUT,
        ),
    ] = "stop",
    header: Annotated[
        bool,
        typer.Option(help="Whether a CSV file begins with names.", rich_help_panel=INPUT),
    ] = True,
    hash: Annotated[
        int | None,
        typer.Option(
            metavar="BITS",
            help="Let names share 2^BITS slots, so that memory is bounded.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="The value of the target that is +1; all others are −1.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(help="At a bad row: stop, or skip and count it.", rich_help_panel=INPUT),
    ] = "stop",
    predictions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write every prediction, made before its outcome was seen: .csv or .parquet.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the model, for ‘noregret predict’.", rich_help_panel=OUTPUT
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the certificate (JSON).", rich_help_panel=OUTPUT
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a report (HTML).", rich_help_panel=OUTPUT),
    ] = None,
    hindsight: Annotated[
        bool,
        typer.Option(
            help="Compare with the best fixed predictor in hindsight, and certify the regret.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing.", rich_help_panel=OUTPUT)
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON.", rich_help_panel=OUTPUT)
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep a checkpoint, to go on from after an interruption of any kind.",
            rich_help_panel=RECOVERY,
        ),
    ] = None,
    every: Annotated[
        int,
        typer.Option(min=1, metavar="ROWS", help="How often.", rich_help_panel=RECOVERY),
    ] = 1_000_000,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Go on from a checkpoint, with the same options as before.",
            rich_help_panel=RECOVERY,
        ),
    ] = None,
) -> None:
    """Learn from data, one example at a time, and say how well that went.

    Every outcome is predicted before it is seen. Ctrl-C ends the run early, and everything asked
    for is written all the same.
    """
    from noregret.cli.running import carry_out

    options = reading_options(
        target=target,
        drop=drop,
        keep=keep,
        categories=categories,
        missing=missing,
        header=header,
        hash=hash,
        intercept=intercept,
        scale=scale,
        positive=positive,
        on_error=on_error,
        format=format,
    )
    carry_out(
        data,
        options,
        learner,
        params_of(parameter or []),
        {
            "predictions": predictions,
            "model": model,
            "certificate": certificate,
            "report": report,
        },
        hindsight=hindsight,
        quiet=quiet,
        as_json=json,
        checkpoint=checkpoint,
        every=every,
        resume=resume,
    )
