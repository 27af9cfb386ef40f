"""``noregret run``: learn from files of any usual kind, and write down how it went."""

from __future__ import annotations

from typing import Annotated

from noregret.app.commands.options import (
    INPUT,
    OUTPUT,
    QUOTES,
    RECOVERY,
    Ask,
    fourier_text,
    params_of,
    reading_options,
)
from noregret.app.results import DEFAULT_LEARNER

LEARNER = "What learns"


def run(
    data: Annotated[
        list[str],
        Ask(
            argument=True,
            help="Files, one or several, globs, or - for standard input.",
            metavar="DATA",
        ),
    ],
    target: Annotated[
        str | None,
        Ask(help="The column to predict.", panel=INPUT),
    ] = None,
    learner: Annotated[
        str,
        Ask(
            help="Its name: see ‘noregret learners’. auto needs no rate, no scale and no other"
            " choice.",
            panel=LEARNER,
        ),
    ] = DEFAULT_LEARNER,
    parameter: Annotated[
        list[str] | None,
        Ask(
            names=("-p", "--param"),
            help="A parameter of the learner, as in loss=absolute; may be repeated.",
            metavar="NAME=VALUE",
            panel=LEARNER,
        ),
    ] = None,
    format: Annotated[
        str | None,
        Ask(
            help="csv, tsv, parquet, jsonl, svmlight, vw or npz; by the extension if not given.",
            panel=INPUT,
        ),
    ] = None,
    intercept: Annotated[
        bool,
        Ask(help="Give every example a feature that is always 1.", panel=INPUT),
    ] = True,
    scale: Annotated[
        str,
        Ask(
            help="none, max (by the largest value so far), standard (mean 0, deviation 1), or unit"
            " (every example to norm 1). auto needs none.",
            panel=INPUT,
        ),
    ] = "none",
    fourier: Annotated[
        int | None,
        Ask(
            metavar="COUNT",
            help="Let rows become so many random Fourier features, after scaling: nearly a kernel,"
            " for any linear learner.",
            panel=INPUT,
        ),
    ] = None,
    width: Annotated[
        float | None,
        Ask(help="Of that kernel: distances that count as near; 1 if not given.", panel=INPUT),
    ] = None,
    fourier_seed: Annotated[
        int | None,
        Ask(help="What the features are drawn from; 0 if not given.", panel=INPUT),
    ] = None,
    drop: Annotated[
        list[str] | None,
        Ask(help="A column to leave out; may be repeated.", panel=INPUT),
    ] = None,
    keep: Annotated[
        list[str] | None,
        Ask(help="Use only this column, and others so named.", panel=INPUT),
    ] = None,
    categories: Annotated[
        list[str] | None,
        Ask(
            help="A column whose values are names even where they look like numbers; may be"
            " repeated.",
            panel=INPUT,
        ),
    ] = None,
    missing: Annotated[
        str,
        Ask(
            help="An empty cell: stop there, take it for zero, or do that and add an indicator.",
            panel=INPUT,
        ),
    ] = "stop",
    header: Annotated[
        bool,
        Ask(help="Whether a CSV file begins with names.", panel=INPUT),
    ] = True,
    quotes: Annotated[
        str,
        QUOTES,
    ] = "auto",
    hash: Annotated[
        int | None,
        Ask(
            metavar="BITS",
            help="Let names share 2^BITS slots, so that memory is bounded.",
            panel=INPUT,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        Ask(
            metavar="VALUE",
            help="The value of the target that is +1; all others are −1.",
            panel=INPUT,
        ),
    ] = None,
    on_error: Annotated[
        str,
        Ask(help="At a bad row: stop, or skip and count it.", panel=INPUT),
    ] = "stop",
    predictions: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="Write every prediction, made before its outcome was seen: .csv or .parquet.",
            panel=OUTPUT,
        ),
    ] = None,
    model: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write the model, for ‘noregret predict’.", panel=OUTPUT),
    ] = None,
    certificate: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write the certificate (JSON).", panel=OUTPUT),
    ] = None,
    report: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write a report (HTML).", panel=OUTPUT),
    ] = None,
    hindsight: Annotated[
        bool,
        Ask(
            help="Compare with the best fixed predictor in hindsight, and certify the regret.",
            panel=OUTPUT,
        ),
    ] = True,
    quiet: Annotated[
        bool, Ask(names=("--quiet", "-q"), help="Print nothing.", panel=OUTPUT)
    ] = False,
    json: Annotated[
        bool, Ask(names=("--json",), help="Print the figures as JSON.", panel=OUTPUT)
    ] = False,
    checkpoint: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="Keep a checkpoint, to go on from after an interruption of any kind.",
            panel=RECOVERY,
        ),
    ] = None,
    every: Annotated[
        int,
        Ask(metavar="ROWS", help="How often.", panel=RECOVERY),
    ] = 1_000_000,
    resume: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="Go on from a checkpoint, with the same options as before.",
            panel=RECOVERY,
        ),
    ] = None,
) -> None:
    """Learn from data, one example at a time, and say how well that went.

    Every outcome is predicted before it is seen. The outcomes tell which loss counts, square or for
    labels logistic, unless -p loss=… does. Ctrl-C ends the run early, and everything asked for is
    written all the same.
    """
    from noregret.app.commands.run.command import carry_out

    options = reading_options(
        target=target,
        drop=drop,
        keep=keep,
        categories=categories,
        missing=missing,
        header=header,
        quotes=quotes,
        hash=hash,
        intercept=intercept,
        scale=scale,
        fourier=fourier_text(fourier, width, fourier_seed),
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
