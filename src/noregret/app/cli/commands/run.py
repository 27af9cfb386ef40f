"""``noregret run``: learn from files, and report the error and the regret."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentTypeError
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noregret.app.cli import options as ask
from noregret.app.cli import workers
from noregret.app.results import DEFAULT_LEARNER
from noregret.errors import Diverged, WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.app.commands.outputs import Outputs
    from noregret.app.commands.run.answering import Answers
    from noregret.app.commands.run.model_reading import Opened
    from noregret.app.commands.run.runner import Run
    from noregret.scale.pool import Pool
    from noregret.streams.stream import Stream

# Rows between checkpoints, unless --every is given.
EVERY = 1_000_000
# The name of standard output, where each prediction is written immediately.
STDOUT = "-"
# Names that other columns of predictions may not have.
TAKEN = ("row", "prediction", "outcome", "probability", "score", "tag", "error")
# Options that do not go with outcomes that come later, and why.
PROMPT = "its figures are those of outcomes that are known before the next prediction"
NOT_LATER = {
    "certificate": PROMPT,
    "report": PROMPT,
    "checkpoint": "lines that wait for their outcomes are not kept",
    "resume": "lines that wait for their outcomes are not kept",
}
# The same for a learner per group.
OF_ONE = "each group has a learner of its own, and --only GROUP chooses one"
NOT_FOR_GROUPS = {
    "report": OF_ONE,
    "checkpoint": "a checkpoint cannot store one learner per group",
    "resume": "a checkpoint cannot store one learner per group",
}
# The same for shards.
OF_SHARDS = (
    "--shards keeps no single rows, only the loss, the certificate and the model of all shards"
)
NOT_FOR_SHARDS = {
    "by": "each group has a learner of its own already",
    "only": "each group has a learner of its own already",
    "id": "the rows of shards are complete",
    "predictions": OF_SHARDS,
    "passed": OF_SHARDS,
    "report": OF_SHARDS,
    "save_every": "the models of shards are mixed at the end",
    "checkpoint": "shards are played again if a worker is lost",
    "resume": "shards are played again if a worker is lost",
    "start": "every shard has a new learner",
    "work_folder": "shards need no intermediate files",
    "fourier": "several workers read the rows as they are",
}
# Options that go with a model to go on with, and why others do not; the rest is decided by it.
WITH_A_MODEL = (
    "start", "target", "format", "missing", "on_error", "follow", "predictions", "passed", "model",
    "save_every", "report", "hindsight", "look_back", "gap", "quiet", "json",
)  # fmt: skip
FROM_THE_FIRST = "is of all rows since the first: run all files at once"
NOT_WITH_A_MODEL = {
    "certificate": f"a certificate {FROM_THE_FIRST}",
    "checkpoint": "a model that goes on is saved with --save-every TIME",
    "resume": "a model that goes on is saved with --save-every TIME",
    "by": "the models of groups go on in Python: noregret.Groups.load(MODEL).learn_many(…)",
}
EXAMPLE = "noregret run DATA.csv --target COLUMN"
OPTIONS = [
    ask.DATA,
    ask.TARGET,
    ask.FORMAT,
    ask.HEADER,
    ask.QUOTES,
    ask.DELIMITER,
    ask.ENCODING,
    ask.SHEET,
    ask.DROP,
    ask.KEEP,
    ask.CATEGORIES,
    ask.TEXT,
    ask.TIME,
    ask.DATES,
    ask.INTERACTIONS,
    ask.MISSING,
    ask.ON_ERROR,
    ask.flag(
        ask.INPUT,
        "--follow",
        help="Wait at the end of the file for lines that are added to it, until Ctrl-C.",
    ),
    ask.option(
        ask.INPUT,
        "--group",
        dest="by",
        metavar="COLUMN",
        help="The column that names the group of each row, such as a shop, or several, such as"
        " shop,item: every group has a learner of its own.",
    ),
    ask.ONLY.but("With --group: use only the rows of this group, as a game of its own."),
    ask.option(
        ask.INPUT,
        "--id",
        metavar="FIELD",
        help="The JSON field that links a prediction to its outcome: a line without the target is"
        " predicted, and learned when a later line with the same id has the target.",
    ),
    ask.option(
        ask.INPUT,
        "--positive",
        metavar="VALUE",
        help="The class whose probability is predicted, against all others.",
    ),
    ask.option(
        ask.INPUT,
        "--task",
        metavar="KIND",
        help="What the target is: numbers or classes (default: text, booleans and columns with"
        " exactly two values are classes; others are numbers).",
    ),
    ask.option(
        ask.INPUT,
        "--classes",
        dest="task",
        action="store_const",
        const="classes",
        help="The same as --task classes: whole numbers in the target column are class names.",
    ),
    ask.option(
        ask.INPUT,
        "--hash",
        metavar="BITS",
        type=ask.whole_number,
        help="Hash feature names into 2^BITS slots, so that memory is bounded.",
    ),
    ask.LEARNER.but(
        "The algorithm; ‘noregret learners’ lists them. auto needs no learning rate, no scaling and"
        " no other tuning.",
        default=DEFAULT_LEARNER,
    ),
    ask.PARAMETER,
    ask.option(
        ask.METHOD,
        "--continue",
        dest="start",
        metavar="MODEL",
        help="Go on with a model that --model wrote: it learns the new rows, which are read as its"
        " own were. The figures are those of the new rows.",
    ),
    ask.switch(ask.METHOD, "--intercept", "Add a feature that is always 1 to every example."),
    ask.option(
        ask.METHOD,
        "--scale",
        metavar="RULE",
        help="Scale features: none, max (by the largest value so far), standard (mean 0, deviation"
        " 1) or unit (every example to norm 1). auto needs none.",
    ),
    ask.option(
        ask.METHOD,
        "--fourier",
        metavar="COUNT",
        type=ask.whole_number,
        help="Replace each row, after scaling, by COUNT random Fourier features, which approximate"
        " a Gaussian kernel.",
    ),
    ask.option(
        ask.METHOD,
        "--width",
        metavar="NUMBER",
        type=ask.number,
        help="Width of the Gaussian kernel (default: 1).",
    ),
    ask.option(
        ask.METHOD,
        "--fourier-seed",
        metavar="NUMBER",
        type=ask.whole_number,
        help="Seed of the Fourier features (default: 0).",
    ),
    ask.PREDICTIONS.but(
        "Write every prediction, made before its outcome was seen (.csv or .parquet); - writes each"
        " one to standard output immediately, with the summary on stderr.",
    ),
    ask.columns(
        "--pass",
        "Copy columns into the predictions, such as id,time; may be repeated.",
        ask.OUTPUT,
        dest="passed",
    ),
    ask.MODEL,
    ask.option(
        ask.OUTPUT,
        "--save-every",
        metavar="TIME",
        type=ask.duration,
        help="Write the model again whenever this time has passed, such as 10s or 5min.",
    ),
    ask.CERTIFICATE,
    ask.REPORT,
    ask.HINDSIGHT,
    ask.LOOK_BACK,
    ask.GAP,
    ask.QUIET,
    ask.JSON,
    ask.file(
        ask.RECOVERY,
        "--checkpoint",
        "Save checkpoints to this file, from which an interrupted run can resume.",
    ),
    ask.option(
        ask.RECOVERY,
        "--every",
        metavar="ROWS",
        type=ask.whole_number,
        default=EVERY,
        help=f"Rows between checkpoints (default: {EVERY:,}).",
    ),
    ask.option(
        ask.METHOD,
        "--shards",
        metavar="NUMBER",
        type=ask.whole_number,
        help="Cut the rows into so many parts, each with a learner of its own on a worker. The"
        " certificate compares them all with one predictor; the model is a mixture of theirs.",
    ),
    workers.WORKERS.but(
        "With --group or --shards: processes that share the work. The results are the same."
    ),
    workers.CLUSTER.but(
        "With --group or --shards: share the work on a Ray cluster: auto, ray://HOST:PORT, or local"
        " to start one here (needs noregret[ray]).",
    ),
    workers.WORK_FOLDER.but(
        "A folder that all machines of the cluster share, for intermediate files; a run that was"
        " killed continues there.",
    ),
    ask.file(
        ask.RECOVERY, "--resume", "Resume from a checkpoint, with the same options as before."
    ),
]
CURES = (
    "on the command line use -p rate=…, -p step=implicit, --scale unit",
    "--learner auto, which needs none of these",
)


def run(given: Namespace) -> None:
    """Learn from data, one example at a time, and report error and regret.

    Every outcome is predicted before it is seen. The regret is the total loss minus that of the
    best fixed model in hindsight, the one you would fit if you had all the data. The first rows
    decide whether the target is a number, two classes or several (override with --task), and so
    which loss is used: square, logistic or softmax. Ctrl-C ends the run early; all requested files
    are still written.
    """
    from noregret.app.commands.outputs import Outputs
    from noregret.app.commands.printing import command_line, concluded
    from noregret.app.commands.progress import shown, stoppable
    from noregret.app.commands.run.runner import Run
    from noregret.app.results.loss_choice import is_open
    from noregret.linear.learner import is_of_classes

    params = ask.params_of(given.parameter)
    # The rows of one group are a game like any other.
    group, given.by = None, columns_of(given.by, given.target)
    if given.only is not None and given.by is not None:
        if len(given.by) > 1:
            raise WrongUsage("--only chooses a group by one column: give --group one column")
        (group,), given.by = given.by, None
    check_options(given)
    start = start_asked(given)
    made = learner_of(given.learner, params) if start is None else start.learner
    resume = given.resume
    check_task(given.task, made, given, params)
    if given.shards is not None:
        run_shards(given, made, params)
        return
    if resume is not None and resume == given.checkpoint and not os.path.exists(resume):
        resume = None  # interrupted before the first checkpoint: start again
    if start is None:
        stream = stream_asked(given, group, is_of_classes(made), resume)
    else:
        stream = start.stream
    outputs = Outputs.of(given)
    answers = answers_of(outputs, stream)
    # Rows are not kept for hindsight without need, as a stream may have no end.
    compared = answers is None or bool(outputs.certificate or outputs.report)
    # Those of groups are kept only for a certificate: another learner plays them all.
    compared = compared and (given.by is None or outputs.certificate is not None)
    compared = compared and given.id is None
    work = Run(
        stream,
        made,
        outputs,
        hindsight=given.hindsight and compared,
        look_back=given.look_back,
        gap=given.gap,
        checkpoint=given.checkpoint,
        every=given.every,
        resume=resume,
        command=command_line(),
        open_loss=start is None and is_open(made, params),
        task=given.task,
        answers=answers,
        save_every=given.save_every,
        group=given.by,
        start=start,
        folder=given.work_folder,
    )
    with pool_asked(given) as work.pool, stoppable(work), shown(work, given.quiet or given.json):
        try:
            result = work.go()
        except Diverged as error:
            if "rate" in made.params:
                error.cures += CURES
            raise
        except KeyboardInterrupt:
            raise KeyboardInterrupt(way_on(work)) from None
    if answers is not None and answers.closed and not work.failures:
        raise BrokenPipeError
    concluded(result, given, work.failures, way_on(work), stderr=answers is not None)


def run_shards(given: Namespace, learner: Any, params: dict[str, Any]) -> None:
    """Play the rows in shards, each with a learner of its own."""
    from noregret.app.commands.outputs import Outputs
    from noregret.app.commands.shards import ShardsRun, conclude
    from noregret.app.commands.tournament.deciding import Contender
    from noregret.linear.learner import is_of_classes
    from noregret.scale import pool_of

    for name, why in NOT_FOR_SHARDS.items():
        if getattr(given, name) is not None:
            option = {"by": "group", "passed": "pass", "start": "continue"}.get(name, name)
            option = f"--{option.replace('_', '-')}"
            raise WrongUsage(f"{why}: leave {option} out, or --shards")
    if given.follow:
        raise WrongUsage("the rows of shards are complete: leave --follow out with --shards")
    if given.shards < 1:
        raise WrongUsage(f"--shards must be at least 1: got {given.shards}")
    work = ShardsRun(
        stream_asked(given, None, is_of_classes(learner), None),
        Contender(learner, params),
        given.shards,
        Outputs.of(given),
        task=given.task,
        hindsight=given.hindsight,
        look_back=given.look_back,
        gap=given.gap,
    )
    asked = workers.are_asked(given)
    with workers.workers_of(given) if asked else pool_of(None, None) as pool:
        assert pool is not None
        game, certificate = work.go(pool)
    conclude(game, certificate, given.quiet, given.json)


def columns_of(text: str | None, target: str | None) -> list[str] | None:
    """Return the columns that --group names."""
    if text is None:
        return None
    try:
        found = list(ask.names(text))
    except ArgumentTypeError as error:
        raise WrongUsage(f"--group: {error}") from None
    if target in found:
        raise WrongUsage(f"--group {target} is the target, which is not known beforehand")
    if twice := next((name for name in found if found.count(name) > 1), None):
        raise WrongUsage(f"--group names {twice!r} twice")
    return found


def pool_asked(given: Namespace) -> AbstractContextManager[Pool | None]:
    """Return the workers that a command line asks for, if any."""
    if workers.are_asked(given):
        if given.by is None:
            raise WrongUsage(
                "--workers and --cluster are for a model per group, or for shards: name its column"
                " with --group, or their number with --shards"
            )
        if given.predictions == STDOUT or given.follow:
            raise WrongUsage(
                "several workers read files that are complete: leave --follow and - out"
            )
        from noregret.scale import spread_groups  # noqa: F401  (workers start with it)
    return workers.workers_of(given)


def stream_asked(given: Namespace, group: str | None, classes: bool, resume: str | None) -> Stream:
    """Return the stream that a command line asks for."""
    from noregret.app.results.loss_choice import CLASSES
    from noregret.streams import stream_of
    from noregret.streams.options import INDICATOR, STOP

    instead = {"missing": given.missing or STOP, "scale": given.scale or "none", "group": group}
    options = ask.reading_options(given, fourier=fourier_text(given), **instead, **passing(given))
    stream = stream_of(given.data, options)
    options = stream.options  # with the table that an address names
    if group is not None and stream.name == "jsonl":
        raise WrongUsage("--only is for tables: give it only the lines of that group")
    several = given.task == CLASSES or classes
    if several and options.target is not None and "categories" not in stream.meaningless:
        options = replace(options, categories=(*options.categories, options.target))
    if given.missing is None and "missing" not in stream.meaningless:
        usual = INDICATOR
        if resume is not None:  # as that run does
            from noregret.app.commands.run.resuming import missing_of

            usual = missing_of(resume)
        options = replace(options, missing=usual)
    return type(stream)(stream.paths, options)


def start_asked(given: Namespace) -> Opened | None:
    """Return the model to go on with, if any."""
    if given.start is None:
        return None
    for option in OPTIONS:
        name, usual = max(option.names, key=len), option.settings.get("default")
        dest = option.settings.get("dest") or name.lstrip("-").replace("-", "_")
        if dest in {"data", *WITH_A_MODEL} or getattr(given, dest) in (usual, None):
            continue
        if dest in NOT_WITH_A_MODEL:
            raise WrongUsage(f"{NOT_WITH_A_MODEL[dest]}: leave {name} out")
        raise WrongUsage(f"the model decides that: leave {name} out with --continue")
    from noregret.app.commands.run.model_reading import opened

    passed = passing(given)["passed"]
    told = {"on_error": given.on_error, "follow": given.follow, "passed": passed}
    found = opened(given.start, given.data, format=given.format, missing=given.missing, **told)
    target = found.stream.options.target
    if given.target not in (None, target):
        raise WrongUsage(f"the model predicts {target!r}, not {given.target!r}: leave --target out")
    return found


def answers_of(outputs: Outputs, stream: Stream) -> Answers | None:
    """Return what answers every line at once, if the predictions go to standard output."""
    if stream.options.id is not None and stream.name != "jsonl":
        raise WrongUsage(f"--id is for JSON lines: leave it out with {stream.name} files")
    if outputs.predictions != STDOUT:
        return None
    from noregret.app.commands.run.answering import Answers

    outputs.predictions = None
    return Answers(sys.stdout.buffer, stream.name == "jsonl")


def check_absent(given: Namespace, unfit: dict[str, str], other: str) -> None:
    """Refuse options that do not go with another one."""
    for name, why in unfit.items():
        if getattr(given, name) is not None:
            raise WrongUsage(f"{why}: leave --{name} out with {other}")


def passing(given: Namespace) -> dict[str, Any]:
    """Return the columns to copy into the predictions, with groups and ids, and those to drop."""
    apart = [*(given.by or ()), *(() if given.id is None else (given.id,))]
    names = [*apart, *(given.passed or ())]
    for name in names:
        if name in TAKEN:
            raise WrongUsage(f"--pass {name}: the predictions have a column of this name already")
    dropped = [*(given.drop or []), *(() if given.keep else apart)]
    return {"passed": tuple(dict.fromkeys(names)), "drop": tuple(dict.fromkeys(dropped))}


def check_options(given: Namespace) -> None:
    """Refuse options that are out of range, or do not go together."""
    from noregret.streams.options import ASLEEP

    if given.every < 1:
        raise WrongUsage(f"--every must be at least 1 row: got {given.every}")
    if given.missing == ASLEEP:
        raise WrongUsage("--missing asleep is for forecasts of experts: use ‘noregret mix’")
    if not given.hindsight and (given.look_back is not None or given.gap is not None):
        raise WrongUsage("--look-back and --gap are about hindsight: leave out --no-hindsight")
    if given.gap is not None:
        from noregret.proof.certificates.certificate import LOOSEST, TIGHTEST

        if not TIGHTEST <= given.gap <= LOOSEST:
            raise WrongUsage(f"--gap is from {TIGHTEST:g} to {LOOSEST:g}: got {given.gap:g}")
    if given.passed and given.predictions is None:
        raise WrongUsage(
            "--pass copies columns into the predictions: add --predictions FILE, or --predictions -"
        )
    if given.id is not None:
        check_absent(given, NOT_LATER, "--id")
    if given.by is not None:
        check_absent(given, NOT_FOR_GROUPS, "--group")
        if given.scale in ("max", "standard"):
            raise WrongUsage("features would be scaled over all groups together: leave --scale out")
    if given.save_every is not None and given.model is None:
        raise WrongUsage("--save-every saves the model: name its file with --model")
    if given.predictions == STDOUT and (given.checkpoint or given.resume):
        raise WrongUsage(
            "predictions already written to standard output cannot be resumed: leave --checkpoint"
            " and --resume out"
        )


def learner_of(learner: str, params: dict[str, Any]) -> Any:
    """Return the learner that a command line asks for."""
    from noregret.base.registry import built, families_with, find

    try:
        return built(find(learner, "learners"), params)
    except (TypeError, ValueError, LookupError) as error:
        known = learner if families_with(learner) else ""
        named = "; use --learner to choose another" if learner == DEFAULT_LEARNER else ""
        raise WrongUsage(f"{error} (see ‘{f'noregret learners {known}'.strip()}’{named})") from None


def check_task(task: str | None, learner: Any, given: Namespace, params: dict[str, Any]) -> None:
    """Refuse a task that does not fit the learner."""
    from noregret.app.results.loss_choice import CLASSES, NUMBERS, TASKS, is_open
    from noregret.checks import one_of

    if task is None:
        return
    try:
        one_of("--task", task, TASKS)
    except ValueError as error:
        raise WrongUsage(str(error)) from None
    if given.positive is not None and task == NUMBERS:
        raise WrongUsage("--positive names a class: leave it out with --task numbers")
    predicts = CLASSES if learner.engine.loss.labels else NUMBERS
    if not is_open(learner, params) and predicts != task:
        raise WrongUsage(
            f"{given.learner} predicts {predicts} with the {learner.engine.loss.name} loss, not"
            f" {task}: leave --task out, or --learner"
        )


def fourier_text(given: Namespace) -> str | None:
    """Return the random Fourier features in the form of a stream's options."""
    width, seed = given.width, given.fourier_seed
    if given.fourier is None:
        if width is not None or seed is not None:
            raise WrongUsage("--width and --fourier-seed need --fourier COUNT")
        return None
    return f"{given.fourier}:width={1.0 if width is None else width!r}:seed={seed or 0}"


def way_on(work: Run) -> str:
    """Return how to resume after an interruption, or what would have been needed."""
    from noregret.streams.source import STDIN

    if work.checkpoint is None:
        return "it cannot be resumed, as --checkpoint FILE was not used" if work.rounds else ""
    if work.saved is None:
        return ""
    again = "" if " --resume" in work.command else f" --resume {shlex.quote(work.checkpoint)}"
    same = ", with the same input" if STDIN in work.stream.paths else ""
    return f"to resume{same}: {work.command}{again}"
