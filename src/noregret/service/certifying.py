"""Certificates of what was served, and the rows to verify them with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from noregret.errors import NoRegretError
from noregret.proof.game.late_game import FIELD, LateEvent, LateGame
from noregret.proof.game.served_loss import LateClasses, known_classes
from noregret.service.errors import NotCertified
from noregret.service.events import Event, as_json
from noregret.service.journal import Journal
from noregret.service.scoring import begun
from noregret.service.values import fields_of, mixed_fields, written

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.proof.certificates.certificate import Certificate


def certified(
    learner: Learner, journal: Journal, key: str | None, options: dict[str, Any]
) -> Certificate:
    """Return the certificate of the labels of one model.

    Parameters
    ----------
    learner
        The learner as the journal began with it.
    journal
        The journal.
    key
        The key of the model, None for that without one.
    options
        As in ``Game.certificate``.
    """
    from noregret.proof.game.game import play

    labels, late, loss = 0, 0, 0.0
    classes = LateClasses(learner.engine.loss.name, known_classes(learner))
    for event in labelled(journal, key):
        labels, late, paid = labels + 1, late + (event.delay > 0), event.loss
        if event.scores is not None:  # classes that joined later count too
            loss += classes.join(event.outcome)
            paid = classes.pay(dict(event.scores), event.outcome) if event.delay > 0 else paid
        loss += paid
    if not labels:
        raise nothing(journal, key)
    if not late and not needs_events(learner):
        pairs = ((fields_of(e.example), e.outcome) for e in labelled(journal, key))
        found = play(learner.clone(), pairs, progress=False).certificate(**options)
        return checked(found, labels, loss)
    no_gradients = late and journal.fact("late-gradients") is None
    if no_gradients and getattr(learner.engine, "steps_late", False):
        raise NotCertified(
            f"{late:,} of {labels:,} labels came after others were learned, in a journal of an"
            " earlier version, which did not keep their gradients",
            "begin a new journal",
        )
    plain = plain_predictions(journal, key) if learner.engine.weighs_late else 0
    game = LateGame(begun(learner), plain=plain)
    game.play_events(
        LateEvent(
            None if starts and ends else e.id,  # so that an example may be without features
            fields_of(e.example) if starts else None,
            e.outcome if ends else None,
        )
        for e, starts, ends in in_order(journal, key)
    )
    return checked(game.certificate(**options), labels, loss)


def checked(found: Certificate, labels: int, loss: float) -> Certificate:
    """Return a certificate whose rounds and loss are those of the labels in the journal."""
    rounds, total = found.data.rounds, found.loss.total
    same = found.averaged or math.isclose(total, loss, rel_tol=1e-6, abs_tol=1e-12)
    if rounds == labels and same:
        return found
    raise NotCertified(
        f"played again, the {labels:,} labels have {rounds:,} rounds with a loss of {total:.9g},"
        f" but what was served had a loss of {loss:.9g}: the journal was changed or damaged",
        "restore it from a backup",
    )


def nothing(journal: Journal, key: str | None) -> NotCertified:
    """Return the error for a model without labels: all are under keys, or none came at all."""
    if key is None and (under := keys_with_labels(journal)):
        keys = "1 key" if under == 1 else f"{under:,} keys"
        what = f"no label came without a key: the labels are under {keys}"
        return NotCertified(what, "add ?key=… (key=… in Python)")
    which = "" if key is None else f" of the key {key!r}"
    return NotCertified(f"no label{which} came yet: there is nothing to certify")


def keys_with_labels(journal: Journal) -> int:
    """Return the number of keys under which labels came."""
    return len({event.key for event in journal.learned()} - {None})


def needs_events(learner: Learner) -> bool:
    """Return whether rows are played as events even if no label came late.

    Only so features are numbered as by a learner that hashes raw rows, or was trained before.
    """
    prepare = learner._entry.prepare
    return learner.rounds > 0 or (prepare is not None and prepare.options.hash is not None)


def plain_predictions(journal: Journal, key: str | None) -> int:
    """Return the number of late predictions of one model without notes, by earlier versions."""
    plain, noted = 0, False
    for event, starts, ends in in_order(journal, key):
        if starts and not ends:
            noted = noted or bool(event.note)
            plain += not event.note
            if noted and not event.note:
                what = (
                    f"damaged: the prediction {event.id!r:.80} has no note, but one before it has"
                )
                raise NoRegretError(what, "restore the journal from a backup")
    return plain


def labelled(journal: Journal, key: str | None) -> Iterator[Event]:
    """Yield the labelled events of one model in the order in which they were learned."""
    return (event for event in journal.learned() if event.key == key)


def in_order(journal: Journal, key: str | None) -> Iterator[tuple[Event, bool, bool]]:
    """Yield the events of one model in the order of time: whether it is predicted, and labelled."""
    late = bytearray(journal.written // 8 + 1)  # a bit for each prediction: it has a late label
    for event in labelled(journal, key):
        if event.delay > 0:
            late[event.seq >> 3] |= 1 << (event.seq & 7)
    for event, starts, ends in journal.played():
        if event.key == key and (ends or late[event.seq >> 3] >> (event.seq & 7) & 1):
            yield event, starts or event.delay == 0, ends


def exported(learner: Learner, journal: Journal, key: str | None, target: str) -> Iterator[bytes]:
    """Yield the events of one model as JSON lines.

    Parameters
    ----------
    learner
        The learner as the journal began with it; if it takes raw rows, they are written as they
        came.
    journal, key, target
        The journal, the key of the model, and the name of the outcome.
    """
    raw = learner._entry.prepare is not None
    mixed = mixed_fields(event.example for event in labelled(journal, key))
    late = needs_events(learner) or any(event.delay > 0 for event in labelled(journal, key))
    lines = 0
    for event, starts, ends in in_order(journal, key):
        lines += 1
        named: dict[str, Any] = {}
        if starts:
            named = dict(fields_of(event.example)) if raw else written(event.example, mixed)
        for name in (target, FIELD) if late else (target,):
            if name in named:
                what = f"there is a feature called {name!r}"
                cure = "choose another name for the target" if name == target else "rename it"
                raise NoRegretError(what, cure)
        line = named | ({} if starts and ends else {FIELD: event.id})
        line |= {target: event.outcome} if ends else {}
        yield (as_json(line) + "\n").encode()
    if not lines and key is None and keys_with_labels(journal):
        raise nothing(journal, key)
