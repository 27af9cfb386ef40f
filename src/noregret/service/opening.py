"""What a service does when it opens its journal: it finds its models as they were."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noregret.base.model_file import dumps, loads
from noregret.errors import NoRegretError
from noregret.service.contenders import Contenders
from noregret.service.errors import OtherRows, ServiceError
from noregret.service.journal import Journal
from noregret.service.models import NO_KEY, START, Models
from noregret.service.scoring import begun, is_python_loss, preparation_of, state_of

if TYPE_CHECKING:
    from noregret.base.compiled.losses import Loss
    from noregret.linear.learner import Learner

# The fact of a journal that is the time to live.
TTL = "ttl"


def restored(
    journal: Journal, given: Learner | None, resident: int, loss: Loss | None
) -> Contenders:
    """Return the models as the journal left them.

    Parameters
    ----------
    journal
        The journal.
    given
        The learner to begin it with, which must be the one that it began with; None to resume.
    resident, loss
        As for a service.
    """
    path = journal.path
    if journal.model(NO_KEY) is None:
        if given is None:
            raise ServiceError("there is no model in it yet", "give a learner", file=path)
        journal.begin()
        if given.rounds:
            journal.keep_model(START, 0, dumps(given))
        journal.keep_model(NO_KEY, 0, dumps(begun(given)))
        journal.commit()
    if given is not None:
        loss = next((p for p in given.params.values() if is_python_loss(p)), loss)
    started = journal.model(START)
    kept = started or journal.model(NO_KEY)
    assert kept is not None
    learner: Learner = loads(kept[1], path, loss)
    if started is None:
        learner = learner.clone()
    if given is not None:
        check_same(given, learner, path)
    as_served = journal.fact("late-gradients") is not None
    contenders = Contenders(Models(learner, journal, resident, loss), as_served)
    if journal.snapshot()[0] > journal.labels:
        raise ValueError("labels that its models have learned are missing")
    try:
        contenders.replay()
    except NoRegretError as error:
        raise error.at(file=path) from None
    return contenders


def check_same(given: Learner, learner: Learner, path: str) -> None:
    """Raise an error unless a learner is the one that a journal began with."""
    if repr(given) != repr(learner):
        raise ServiceError(
            f"it has the model {learner!r}, not {given!r}",
            "use another store, or name no learner to resume",
            file=path,
        )
    if state_of(given) != state_of(learner):
        began = f"a model trained before, for {learner.rounds:,} rounds"
        began = began if learner.rounds else "an untrained model"
        cure = "give the same, or name no learner to resume; another model takes another store"
        raise ServiceError(f"it began with {began}", cure, file=path)
    if preparation_of(given) != preparation_of(learner):
        prepare = learner._entry.prepare
        kept = None if prepare is None else prepare.options
        other = "give one without streams.prepared"
        if kept is not None:
            other = f"give streams.prepared the same options: {' '.join(kept.transforms())}"
        raise OtherRows(kept, f"name no learner to resume, or {other}", file=path)


def time_to_live(journal: Journal, given: float | None) -> float | None:
    """Return the seconds within which a label must come, which the journal keeps."""
    kept = journal.fact(TTL)
    if given is not None and kept != repr(float(given)):
        kept = repr(float(given))
        journal.begin()
        journal.note(TTL, kept)
        journal.commit()
    return None if kept is None or float(kept) == math.inf else float(kept)
