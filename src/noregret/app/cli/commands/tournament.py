"""``noregret tournament``: let many learners play the same data, and mix them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from noregret.app.cli import options as ask
from noregret.app.cli import workers
from noregret.app.cli.commands import run as one_learner
from noregret.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from noregret.app.commands.tournament.deciding import Contender
    from noregret.experts.master import Master
    from noregret.linear.learner import Learner

# Options of ‘run’ that do not go with several learners.
NOT_HERE = (
    "--follow",
    "--group",
    "--shards",
    "--only",
    "--id",
    "--learner",
    "--param",
    "--predictions",
    "--pass",
    "--model",
    "--save-every",
    "--hindsight",
    "--look-back",
    "--gap",
    "--checkpoint",
    "--every",
    "--resume",
    "--continue",
    "--workers",
    "--cluster",
    "--work-folder",
)
# Learners of one command line: a grid may have many by mistake.
MAX_LEARNERS = 1_000
EXAMPLE = "noregret tournament DATA.csv --target Y --learner auto --learner vaw"
OPTIONS = [
    *(each for each in one_learner.OPTIONS if not {*each.names} & {*NOT_HERE}),
    ask.LEARNER.but(
        "A learner, with its parameters if any, as in gradient-descent:rate=0.1. Several values"
        " make a grid of learners: mondrian-forest:seed=1,2,3. Repeat it for others.",
        action="append",
        metavar="NAME[:PARAM=VALUE]",
    ),
    ask.option(
        ask.METHOD,
        "--master",
        metavar="NAME[:PARAM=VALUE]",
        help="The algorithm that mixes the learners: ada-hedge, ml-poly, fixed-share or another of"
        " ‘noregret learners’ (default: blend).",
    ),
    ask.PREDICTIONS.but(
        "Write every prediction of the mixture (.csv or .parquet); of two classes, the probability"
        " of the positive one."
    ),
    ask.file(
        ask.OUTPUT,
        "--forecasts",
        "Write the predictions of all learners, to verify the certificate with, or for ‘noregret"
        " mix’ (.csv or .parquet).",
    ),
    ask.file(
        ask.INPUT,
        "--confirm",
        "A certificate of the same tournament: let the learners play the data again, and check"
        " every figure of it against their forecasts.",
    ),
    ask.file(ask.OUTPUT, "--weights", "Write the weights of every round (.csv or .parquet)."),
    ask.MODEL.but(
        "Write the learners and their weights as one model, for ‘noregret predict’ or Python."
    ),
    ask.HINDSIGHT.but("Compare with the best learner in hindsight, and certify the regret."),
    workers.WORKERS.but(
        "Processes that share the work (default: one per processor). The results are the same."
    ),
    workers.CLUSTER,
    workers.WORK_FOLDER.but(
        "A folder that all machines of the cluster share, for intermediate files; a tournament that"
        " was killed continues there."
    ),
]


def tournament(given: Namespace) -> None:
    """Let many learners predict the same data, each in its own process, and mix them.

    Every outcome is predicted before it is seen. The mixture is nearly as good as the best of the
    learners, whichever that turns out to be: the regret is its total loss minus that of the best
    learner. The first rows decide whether the target is a number or two classes (override with
    --task). A learner that diverges stops, and the others go on.
    """
    from noregret.app.commands import FAILED
    from noregret.app.commands.outputs import Outputs
    from noregret.app.commands.printing import command_line, concluded, print_on, screen
    from noregret.app.commands.progress import shown, stoppable
    from noregret.app.commands.tournament.contest import Tournament
    from noregret.scale import pool_of

    for name in ("by", "id", "passed", "resume", "only"):  # options that are not here
        setattr(given, name, None)
    given.follow = False
    check_task(given)
    contenders = contenders_of(given.learner)
    master, params = master_asked(given.master)
    workers.are_asked(given)
    stream = one_learner.stream_asked(given, None, False, None)
    work = Tournament(
        stream,
        contenders,
        lambda learners: master_of(master, params, learners),
        Outputs.of(given),
        task=given.task,
        hindsight=given.hindsight,
        watch=given.report is not None or given.json,
        command=command_line(),
        forecasts=given.forecasts,
        confirm=given.confirm,
        folder=given.work_folder,
    )
    pool = workers.workers_of(given) if workers.are_asked(given) else pool_of(None, None)
    with pool as work.pool, stoppable(work), shown(work, given.quiet or given.json):
        result = work.go()
    concluded(result, given, work.failures)
    if work.confirmed is not None:
        if not given.quiet and not given.json:
            print_on(screen(), work.confirmed)
        if not work.confirmed.confirmed:
            raise SystemExit(FAILED)


def check_task(given: Namespace) -> None:
    """Refuse an unknown task."""
    from noregret.app.results.loss_choice import NUMBERS, TASKS
    from noregret.checks import one_of

    try:
        given.task is None or one_of("--task", given.task, TASKS)
    except ValueError as error:
        raise WrongUsage(str(error)) from None
    if given.positive is not None and given.task == NUMBERS:
        raise WrongUsage("--positive names a class: leave it out with --task numbers")


def contenders_of(texts: list[str] | None) -> dict[str, Contender]:
    """Return the learners that a command line asks for, by name."""
    from noregret.app.commands.tournament.deciding import Contender
    from noregret.scale.contest import named

    made: list[tuple[Learner, dict[str, Any]]] = []
    for text in texts or []:
        name, lists = parsed(text)
        for values in product(*lists.values()):
            params = dict(zip(lists, values, strict=True))
            made.append((one_learner.learner_of(name, params), params))
            if len(made) > MAX_LEARNERS:
                raise WrongUsage(f"--learner {text}: more than {MAX_LEARNERS:,} learners")
    if len(made) < 2:
        raise WrongUsage(
            "a tournament is between two learners at least: --learner auto --learner vaw, or"
            " several values of a parameter: --learner gradient-descent:rate=0.01,0.1 (‘noregret"
            " run’ plays one)"
        )
    names = list(named(learner for learner, _ in made))
    return {name: Contender(*each) for name, each in zip(names, made, strict=True)}


def parsed(text: str) -> tuple[str, dict[str, list[Any]]]:
    """Return a name and the values of its parameters.

    >>> parsed("gradient-descent:rate=0.1,1:loss=absolute")
    ('gradient-descent', {'rate': [0.1, 1], 'loss': ['absolute']})
    """
    name, *rest = text.split(":")
    if not name.strip():
        raise WrongUsage(f"{text!r}: name an algorithm, as in vaw:penalty=0.1")
    found: dict[str, list[Any]] = {}
    for each in rest:
        key, equals, values = each.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key or not values.strip():
            raise WrongUsage(f"{text!r}: write parameters as in {name}:rate=0.1:loss=absolute")
        if key in found:
            raise WrongUsage(f"{text!r}: {key!r} is given twice")
        found[key] = [ask.value_of(value.strip()) for value in values.split(",")]
    return name.strip(), found


def master_asked(text: str | None) -> tuple[str | None, dict[str, Any]]:
    """Return the name and the parameters of the master that a command line asks for."""
    if text is None:
        return None, {}
    name, lists = parsed(text)
    if several := next((key for key, values in lists.items() if len(values) > 1), None):
        raise WrongUsage(f"--master {text}: one master mixes: give {several} one value")
    return name, {key: value for key, (value,) in lists.items()}


def master_of(name: str | None, params: dict[str, Any], learners: Mapping[str, Learner]) -> Master:
    """Return the master, with the loss of the learners unless it is given."""
    import inspect

    from noregret.base.expert_losses import CONVEX
    from noregret.base.registry import find
    from noregret.experts import make
    from noregret.scale.contest import loss_for, master_for

    if name is None:
        return master_for(learners)
    try:
        takes = inspect.signature(find(name, "experts")).parameters
        loss, parameter = loss_for(learners)
        if "loss" in takes and "loss" not in params:
            params = params | {"loss": loss}
            params |= {} if parameter is None else {"loss_parameter": parameter}
        if params.get("loss", "square") not in CONVEX and "gradient" in takes:
            params = {"gradient": False} | params
        made: Master = make(name, **params)
    except (TypeError, ValueError, LookupError) as error:
        raise WrongUsage(f"--master: {error}") from None
    return made
