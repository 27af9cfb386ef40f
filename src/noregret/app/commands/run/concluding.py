"""The certificate and the figures of a finished run, and the files it writes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from noregret._version import __version__
from noregret.app.commands.run.watching import best_of_outcomes
from noregret.app.results.findings import found_of
from noregret.app.results.run import Constant, GroupCount, GroupCounts, Outlook, Result, heaviest_of
from noregret.base.params import plain
from noregret.base.positions import Names
from noregret.errors import NoRegretError
from noregret.linear.learn_many import label_pair
from noregret.linear.learner import is_of_classes
from noregret.proof.record.moment import curve_of

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run
    from noregret.proof.certificates.certificate import Certificate


def certified(run: Run) -> tuple[Certificate | None, str | None]:
    """Return the certificate, or why there is none."""
    if run.grouping is not None and not run.hindsight:
        return None, "each group has a learner of its own: --certificate FILE compares them"
    if run.served is not None:
        return None, "outcomes may come after later predictions (--id), which no promise covers"
    if not run.hindsight and run.answers is not None:
        why = "when predictions are streamed, the comparison in hindsight needs --certificate"
        return None, f"{why} or --report"
    if not run.hindsight:
        return None, "the comparison with hindsight was not asked for (--no-hindsight)"
    from noregret.proof.certificates.issue import LostDigits

    try:
        return run.game.certificate(limits=run.limits()), None
    except (NoRegretError, ArithmeticError, MemoryError, ValueError) as error:
        why = str(error) or "there is not enough memory"
        if isinstance(error, LostDigits):
            cure = "leave out such columns, often counters or times, with --drop COLUMN"
            why = f"{error.what}: {cure}"
        return None, why


def conclude(
    run: Run, started: str, certificate: Certificate | None, uncertified: str | None
) -> Result:
    """Return the figures."""
    learner, options = run.learner, run.reading.options
    labels = learner.engine.loss.labels
    names = run.class_names or list(run.labels or label_pair(learner._entry))
    measures = run.watching.measured(names)
    mistakes = run.mistakes if labels else None
    alone = run.grouping is None  # whether there is one learner for all rows
    # Count only rows that were predicted: with several classes the first row had no prediction, and
    # late outcomes are learned out of order.
    if is_of_classes(learner) or (labels and run.served is not None):
        mistakes = sum(each.rows - each.right for each in measures.classes)
    return Result(
        sources=run.stream.paths,
        format=run.stream.name,
        rows=run.rounds,
        features=learner.engine.size if alone else run.reading.features,
        size=run.size or None,
        seconds=run.spent,
        learner=repr(learner),
        name=learner.name,
        params={name: plain(value) for name, value in learner.params.items()},
        loss=learner.engine.loss.name,
        total=run.total,
        mistakes=mistakes,
        weight=run.watching.weight if run.weighted else None,
        constant=run.watching.constant() or constant_of_rows(run),
        certificate=certificate,
        uncertified=uncertified,
        # With late outcomes, learning has another curve than the predictions; groups have none.
        curve=run.game.curve if alone and run.served is None else curve_of([]),
        heaviest=heaviest_of(run.reading.feature_name, learner.weights, names) if alone else (),
        transforms=run.reading.transforms,
        target=run.stream.target,
        looked_back=run.looked_back,
        outlook=run.watching.outlook() if run.watches else Outlook(),
        predicted=run.predicted - (0 if run.served is None else run.served.joined),
        skipped=run.skipped,
        skipped_rows=tuple(run.skipped_rows),
        shared=None if options.hash is None else run.reading.vocabulary.shared,
        interrupted=run.interrupted,
        command=run.command,
        version=__version__,
        started=started,
        outputs={},
        choice=run.choice,
        measures=measures,
        found=None
        if not alone
        else found_of(
            learner,
            Names(learner.engine.size, run.reading.feature_name),
            run.watching.weight if run.weighted else None,
        ),
        by_group=group_counts(run),
    )


def group_counts(run: Run) -> Sequence[GroupCount]:
    """Return the groups, their rows and their mean losses, those of predictions as given."""
    if run.grouping is None:
        return ()
    keys, rounds, losses = run.grouping.groups.figures()
    if run.served is not None:
        losses = [loss + run.served.more[key] for key, loss in zip(keys, losses, strict=True)]
    means = [loss / count for loss, count in zip(losses, rounds, strict=True)]
    found = GroupCounts(list(map(named, keys)), rounds, means)
    if run.served is None:
        return found
    return tuple(sorted(found, key=lambda each: (-each.loss, each.name)))


def named(key: object) -> str:
    """Return the name of a group; of several columns, their values."""
    if type(key) is str:
        return key
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def constant_of_rows(run: Run) -> Constant | None:
    """Return the best constant for a loss for which it cannot be computed from sums."""
    loss = run.learner.engine.loss
    pages = run.game.ledger.pages
    if pages is None or run.weighted or loss.labels or loss.name == "square":
        return None
    outcomes = np.concatenate([np.empty(0), *(y for _, y in pages.blocks())])
    return best_of_outcomes(loss, outcomes)


def write_all(run: Run, result: Result) -> tuple[Result, list[str]]:
    """Write the requested files; return the result with those written, and the failures."""
    writers = {"predictions": write_predictions, "model": write_model}
    return run.outputs.write(result, {kind: partial(write, run) for kind, write in writers.items()})


def write_predictions(run: Run, path: str, result: Result) -> None:
    """Write the predictions."""
    from noregret.app.commands.run import predictions

    assert run.spool is not None
    tags = None if run.tags is None else run.tags.blocks()
    made = predictions.tables(
        run.spool.blocks(),
        tags,
        run.learner,
        run.stream.options,
        names=run.class_names,
        labels=run.labels,
    )
    predictions.write(path, made)


def write_model(run: Run, path: str, result: Result | None = None) -> None:
    """Write the model, with how the data were read."""
    from noregret.base.model_file import save

    if run.grouping is not None:
        run.grouping.groups.save(path, run.reading.kept_with_model())
    else:
        save(run.learner, path, run.reading.kept_with_model())
