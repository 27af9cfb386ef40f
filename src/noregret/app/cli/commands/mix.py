"""``noregret mix``: combine forecasts into one, provably close to the best of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from noregret.app.cli import options as ask
from noregret.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.experts.master import Master
    from noregret.streams.options import Options

TABLES = ("csv", "tsv", "parquet", "jsonl")
# Losses of numeric forecasts, whose biases can be corrected.
CORRECTABLE = ("square", "absolute", "quantile", "percentage")

# Losses by the names of the errors that they average.
ALSO_CALLED = {
    "mse": "square",
    "rmse": "square",
    "mae": "absolute",
    "mape": "percentage",
    "pinball": "quantile",
}

EXAMPLE = "noregret mix FORECASTS.csv --target COLUMN"
OPTIONS = [
    ask.argument(
        "data",
        "FORECASTS",
        "One or more tables or glob patterns, one row per round and one column per expert; - reads"
        " standard input.",
        many=True,
    ),
    ask.TARGET.but(
        "The column of outcomes; rows where it is empty are forecast but not learned from."
    ),
    ask.columns(
        "--experts",
        "The columns to mix, as in A,B; may be repeated (default: all columns of numbers).",
    ),
    ask.DROP.but("Columns that are not forecasts, as in A,B; may be repeated."),
    ask.flag(
        ask.INPUT,
        "--all-columns",
        help="Mix every column of numbers, also those that seem to be no forecasts: constants, row"
        " numbers, dates, places.",
    ),
    ask.GROUP,
    ask.ONLY,
    ask.BATCH,
    ask.switch(ask.INPUT, "--average", "Add the average and the median of all experts as experts."),
    ask.switch(
        ask.INPUT,
        "--correct",
        "Add a corrected forecast as an expert: a linear combination of the others plus a constant,"
        " learned from the previous rows (default: on, except for the log and zero-one losses).",
        default=None,
    ),
    ask.FORMAT.but("File format: csv, tsv, parquet or jsonl (default: by extension)."),
    ask.HEADER,
    ask.QUOTES,
    ask.DELIMITER,
    ask.ENCODING,
    ask.ON_ERROR,
    ask.LEARNER.but(
        "The algorithm: hedge, ada-hedge, ml-poly, boa, squint, fixed-share or another that"
        " ‘noregret learners’ lists (default: blend, which needs no parameters)."
    ),
    ask.PARAMETER,
    ask.option(
        ask.METHOD,
        "--loss",
        metavar="NAME",
        help="Loss of a forecast: square (also mse, rmse), absolute (mae), percentage (mape),"
        " quantile (pinball), log or zero-one (default: square).",
    ),
    ask.option(
        ask.METHOD,
        "--quantile",
        metavar="LEVEL",
        type=ask.number,
        help="The quantile that is forecast, such as 0.9; implies --loss quantile.",
    ),
    ask.flag(
        ask.METHOD,
        "--quantiles",
        help="Mix forecasts of several quantiles, in columns called forecaster@level, such as"
        " gfs@0.1: each level with pinball loss, then sorted so that they never cross.",
    ),
    ask.switch(
        ask.METHOD,
        "--gradient",
        "Compete with the best fixed weights, not only with the best expert (default: depends on"
        " --learner).",
        default=None,
    ),
    ask.PREDICTIONS.but("Write every combined forecast (.csv or .parquet)."),
    ask.file(ask.OUTPUT, "--weights", "Write the weights of every round (.csv or .parquet)."),
    ask.MODEL.but("Write the model, to continue from it in Python."),
    ask.CERTIFICATE.but(
        "Write the certificate (JSON); with --group, one per group: 'cert-{group}.json'."
    ),
    ask.REPORT,
    ask.HINDSIGHT.but("Compare with the best expert in hindsight, and certify the regret."),
    ask.QUIET,
    ask.JSON,
]


def mix(given: Namespace) -> None:
    """Combine the forecasts of several experts into one, round by round.

    Every outcome is forecast before it is seen. An expert may be missing from any row (an
    empty cell). Ctrl-C ends the run early; all requested files are still written.
    """
    from noregret.app.commands.mix.mixing import Mix
    from noregret.app.commands.outputs import Outputs
    from noregret.app.commands.printing import command_line, concluded
    from noregret.app.commands.progress import shown, stoppable

    if given.quantiles:
        quantiles(given)
        return
    made = master_of(given)
    stream = stream_for(given.data, mixing_options(given, made._round.cost.name))
    stream, no_forecasts = without_no_forecasts(stream, given)
    work = Mix(
        stream,
        made,
        Outputs.of(given),
        hindsight=given.hindsight,
        watch=given.report is not None or given.json,
        command=command_line(),
        no_forecasts=no_forecasts,
    )
    with stoppable(work), shown(work, given.quiet or given.json):
        result = work.go()
    concluded(result, given, work.failures)


def quantiles(given: Namespace) -> None:
    """Mix forecasts of several quantiles."""
    from argparse import Namespace
    from pathlib import Path

    from noregret.app.commands.mix.quantiles import mix_quantiles
    from noregret.app.commands.outputs import Outputs
    from noregret.app.commands.printing import concluded

    for name in ("loss", "quantile", "experts", "group", "only", "weights", "model", "report"):
        if getattr(given, name) is not None and getattr(given, name) != []:
            raise WrongUsage(f"--quantiles does not go with --{name}: leave it out")
    stream = stream_for(given.data, mixing_options(given, "quantile"))
    if not all(Path(path).is_file() for path in stream.paths):
        raise WrongUsage("--quantiles reads the data once per level: give files")

    def master(level: float) -> Master:
        return master_of(Namespace(**(vars(given) | {"quantile": level})))

    result, failures = mix_quantiles(stream, master, Outputs.of(given), given)
    concluded(result, given, failures)


def without_no_forecasts(stream: Any, given: Namespace) -> tuple[Any, dict[str, str]]:
    """Return the stream without columns that are no forecasts, and these with the reasons.

    All columns are kept of what can be read only once, such as standard input.
    """
    from dataclasses import replace
    from pathlib import Path

    from noregret.app.commands.mix.no_forecasts import no_forecasts

    if given.experts or given.all_columns or not all(Path(p).is_file() for p in stream.paths):
        return stream, {}
    found = no_forecasts(stream)
    if not found:
        return stream, {}
    drop = (*stream.options.drop, *found)
    return type(stream)(stream.paths, replace(stream.options, drop=drop)), found


def mixing_options(given: Namespace, loss: str) -> Options:
    """Return the options of the stream of forecasts."""
    from noregret.streams.options import ASLEEP, AVERAGE, CORRECTED, MEDIAN

    keep, drop = given.experts or [], given.drop or []
    if given.target is None:
        raise WrongUsage("name the column of outcomes: --target COLUMN")
    if keep and drop:
        raise WrongUsage("use either --experts (columns to mix) or --drop (columns to leave out)")
    if given.only is not None and given.group is None:
        raise WrongUsage("--only names a group: name the column of groups too (--group)")
    if given.batch is not None and given.batch in (given.target, given.group):
        raise WrongUsage(f"--batch {given.batch} is the target or the group: name another column")
    if given.format not in (None, *TABLES):
        raise WrongUsage(
            f"forecasts must be a table ({', '.join(TABLES)}): got --format {given.format}"
        )
    add = [AVERAGE, MEDIAN] if given.average else []
    if loss in CORRECTABLE if given.correct is None else given.correct:
        add.append(CORRECTED)
    return ask.reading_options(given, missing=ASLEEP, add=add, keep=keep, drop=drop)


def master_of(given: Namespace) -> Master:
    """Return the master that a command line asks for."""
    from noregret.app.commands.mix import DEFAULT
    from noregret.base.expert_losses import CONVEX
    from noregret.base.registry import find
    from noregret.experts import make

    name, loss, params = given.learner, given.loss, ask.params_of(given.parameter)
    loss = loss and ALSO_CALLED.get(loss.lower(), loss)
    if name is not None and not name.strip():
        raise WrongUsage("--learner needs the name of an algorithm: got an empty name")
    if given.quantile is not None:
        if "loss_parameter" in params:
            raise WrongUsage("the quantile is given twice: --quantile, and -p loss_parameter=…")
        if loss not in (None, "quantile"):
            raise WrongUsage(f"--quantile implies the quantile loss: leave out --loss {loss}")
        loss, params["loss_parameter"] = "quantile", given.quantile
    if loss is not None:
        params["loss"] = loss
    if given.gradient is not None:
        params["gradient"] = given.gradient
    try:
        takes = inspect.signature(find(name or DEFAULT, "experts")).parameters
        if given.gradient is not None and name is None and "gradient" not in takes:
            raise WrongUsage(
                f"--gradient and --no-gradient need a --learner: {DEFAULT}, the default, does both"
            )
        if params.get("loss", "square") not in CONVEX and "gradient" in takes:
            params.setdefault("gradient", False)  # a loss that is not convex has none
        made: Master = make(name or DEFAULT, **params)
    except (TypeError, ValueError, LookupError) as error:
        raise WrongUsage(str(error)) from None
    return made


def stream_for(data: list[str], options: Options) -> Any:
    """Return the stream of forecasts; files that are not tables are wrong usage."""
    from noregret.streams import format_of, stream_of
    from noregret.streams.addresses import scheme_of
    from noregret.streams.source import as_paths

    database = any(map(scheme_of, data))
    if not database and format_of(as_paths(data), options).name not in TABLES:
        raise WrongUsage(
            f"forecasts must be a table with named columns: {', '.join(TABLES)}", file=data[0]
        )
    return stream_of(data, options)
