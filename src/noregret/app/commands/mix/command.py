"""Carrying out ``noregret mix``: what the command line means, and what is printed at the end."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

from noregret.app.commands.exit_codes import INTERRUPTED
from noregret.app.commands.mix import DEFAULT, DEFAULT_PARAMS
from noregret.app.commands.mix.mixing import Mix
from noregret.app.commands.mix.writing import MixOutputs
from noregret.app.commands.options import params_of, reading_options
from noregret.app.commands.run.command import shown, stoppable
from noregret.errors import NoRegretError, WrongUsage
from noregret.streams import stream_of
from noregret.streams.options import ASLEEP, AVERAGE, CORRECTED, MEDIAN, Options

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult
    from noregret.experts.master import Master

TABLES = ("csv", "tsv", "parquet", "jsonl")
# The losses of forecasts that are numbers on a scale, on which biases can be taken away.
CORRECTABLE = ("square", "absolute", "quantile", "percentage")


def columns_of(given: list[str] | None) -> list[str]:
    """Return the columns that are named, several in one word with commas between them.

    >>> columns_of(["a,b", "c"])
    ['a', 'b', 'c']
    """
    names = [name for word in given or [] for part in word.split(",") if (name := part.strip())]
    if given and not names:
        raise WrongUsage("--experts and --drop name columns: got none")
    return names


def mixing_options(*, average: bool, correct: bool | None, loss: str, **given: Any) -> Options:
    """Return how forecasts are read; they are corrected where that makes sense, if not told."""
    if correct is None:
        correct = loss in CORRECTABLE
    if given["target"] is None:
        raise WrongUsage("say which column holds the outcomes: --target COLUMN")
    if given["keep"] and given["drop"]:
        raise WrongUsage("name the columns to mix (--experts) or those to leave out (--drop)")
    if given["only"] is not None and given["group"] is None:
        raise WrongUsage("--only names one of the groups: say which column holds them (--group)")
    if given["format"] not in (None, *TABLES):
        raise WrongUsage(
            f"forecasts come in tables ({', '.join(TABLES)}): got --format {given['format']}"
        )
    add = [AVERAGE, MEDIAN] if average else []
    return reading_options(missing=ASLEEP, add=[*add, CORRECTED] if correct else add, **given)


def master_of(
    name: str | None,
    parameters: list[str],
    loss: str | None,
    quantile: float | None,
    gradient: bool | None,
) -> Master:
    """Return the master that a command line asks for."""
    from noregret.base.expert_losses import CONVEX
    from noregret.base.registry import find
    from noregret.experts import make

    if name is not None and not name.strip():
        raise WrongUsage("--learner names who is to mix: got nothing")
    params = params_of(parameters)
    if quantile is not None:
        if "loss_parameter" in params:
            raise WrongUsage("the quantile is given twice: --quantile, and -p loss_parameter=…")
        if loss not in (None, "quantile"):
            raise WrongUsage(f"--quantile is of the quantile loss: leave out --loss {loss}")
        loss, params["loss_parameter"] = "quantile", quantile
    if loss is not None:
        params["loss"] = loss
    if gradient is not None:
        params["gradient"] = gradient
    try:
        takes = inspect.signature(find(name or DEFAULT, "experts")).parameters
        if gradient is not None and name is None and "gradient" not in takes:
            raise WrongUsage(
                f"--gradient and --no-gradient are for a --learner: {DEFAULT}, who mixes if none is"
                " named, does both"
            )
        params = (DEFAULT_PARAMS if name is None else {}) | params
        if params.get("loss", "square") not in CONVEX and "gradient" in takes:
            params.setdefault("gradient", False)  # there is none to follow
        made: Master = make(name or DEFAULT, **params)
    except (TypeError, ValueError, LookupError) as error:
        raise WrongUsage(str(error)) from None
    return made


def carry_out(
    data: list[str],
    options: Options,
    master: Master,
    outputs: dict[str, str | None],
    *,
    hindsight: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Do the mix that a command line asks for."""
    if outputs["certificate"] is not None and not hindsight:
        raise WrongUsage("a certificate compares with hindsight: leave --no-hindsight out")
    mix = Mix(
        stream_for(data, options),
        master,
        MixOutputs(**outputs),
        hindsight=hindsight,
        watch=outputs["report"] is not None or as_json,
        command=shlex.join(["noregret", *sys.argv[1:]]),
    )
    with stoppable(mix), shown(mix, quiet or as_json):
        result = mix.go()
    if as_json:
        show_json(result)
    elif not quiet:
        show(result)
    if mix.failures:
        raise NoRegretError("\n".join(mix.failures))
    if result.interrupted:
        raise SystemExit(INTERRUPTED)


def stream_for(data: list[str], options: Options) -> Any:
    """Return the stream, or say that such files hold no tables."""
    try:
        return stream_of(data, options)
    except NoRegretError as error:
        if "means nothing for" in str(error):
            raise WrongUsage(
                f"{data[0]}: forecasts come in a table with named columns: {', '.join(TABLES)}"
            ) from None
        raise


def show(result: MixResult) -> None:
    """Print the summary."""
    from rich.console import Console

    from noregret.app.report.mix.text import summary

    console = Console(highlight=False)
    console.width = max(40, min(console.width, 100))
    console.print(summary(result))


def show_json(result: MixResult) -> None:
    """Print the figures for machines."""
    from noregret.app.report.mix.json import as_dict

    print(json.dumps(as_dict(result), indent=1, ensure_ascii=False, allow_nan=False))
