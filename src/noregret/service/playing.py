"""Requests done one after the other, in a transaction that is open."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from noregret.errors import BadExample, NoRegretError
from noregret.linear.engine.served_rows import serve_rows
from noregret.linear.learner import Learner
from noregret.proof.game.served_loss import is_wrong
from noregret.service.compiled.id_digests import digests_of
from noregret.service.compiled.plain_lines import PlainLines
from noregret.service.contenders import Contenders
from noregret.service.errors import Conflict, Expired, ServiceError, UnknownId
from noregret.service.events import Event, as_json
from noregret.service.ids import Digests
from noregret.service.journal import Journal
from noregret.service.requests import Learned, LearnedPlain, Lines, Reply, Request, answer_of
from noregret.service.scoring import is_python_loss
from noregret.service.values import (
    MAX_ID,
    are_text,
    as_read,
    body_of,
    example_of,
    extra_of,
    is_nested_deeply,
    key_of,
    name_of,
    outcome_of,
)

Answer = Learned | LearnedPlain | Reply | Exception
REFUSALS = ("invalid", "conflict", "unknown", "expired")


class Play:
    """The steps of each request.

    Parameters
    ----------
    journal
        The journal.
    contenders
        The models.
    ttl
        Seconds within which a label must come; None for no limit.
    clock
        Returns the time in seconds.
    """

    def __init__(
        self,
        journal: Journal,
        contenders: Contenders,
        ttl: float | None,
        clock: Callable[[], float],
    ) -> None:
        self.journal, self.contenders, self.ttl, self.clock = journal, contenders, ttl, clock
        self.fresh = contenders.first.fresh
        self.refused = dict.fromkeys(REFUSALS, 0)
        self.repeated = 0
        loss = self.fresh.engine.loss
        self.of_labels = bool(loss.labels or self.fresh._of_classes)
        self.mistakes = 0  # of served predictions, since the start
        self.now: float | None = None  # of the open transaction
        self.acts = {"predict": self.predict, "label": self.label, "learn": self.learn}

    def act(self, request: Request) -> Reply:
        """Do a request."""
        act = self.acts.get(request.action)
        if act is None:
            raise ValueError(f"the action is predict, label or learn: got {request.action!r}")
        if is_nested_deeply(request.x) or is_nested_deeply(request.y):
            raise BadExample("nested too deeply: an example holds plain values")
        return act(request)

    def predict(self, request: Request) -> Reply:
        """Predict an example."""
        _, given, x, _, key, body = request
        name, key = name_of(given), key_of(key)
        if body is None:
            x = example_of(x)
            body = body_of({"id": name, "x": x}, key)
        journal = self.journal
        if given is not None and (known := journal.ids.find(name) and journal.find(name)):
            same = not known.at_once and known.key == key
            return self._repeated(known, same and known.x == as_json(x))
        served = as_read(x)
        learner, found = self.contenders.predict(journal.seq + 1, served, key, waits=True)
        self.tick()
        event = Event(
            journal.seq + 1, journal.entry + 1, name, journal.time, x, learner.rounds,
            found.score, found.prediction, found.chances, False, key, found.scores,
            note=found.note,
        )  # fmt: skip
        journal.add_prediction(event, body, extra_of(found))
        if key is not None:
            journal.count_key(key, 1, 0, 0.0)
        return answer_of(event)

    def label(self, request: Request) -> Reply:
        """Learn the label of a prediction."""
        _, given, _, y, _, body = request
        if given is None:
            raise TypeError("a label needs the id of its prediction")
        name, y, journal = name_of(given), outcome_of(y, self.fresh), self.journal
        event = journal.find(name)
        if event is None:
            cure = "predict with this id first, or send the example with its label"
            self._refuse("unknown", UnknownId(f"no prediction has the id {name!r}", cure))
            raise AssertionError
        if event.learned:
            if event.y != as_json(y):
                what = f"{name!r} was labelled {event.y}, not {as_json(y)}"
                self._refuse("conflict", Conflict(what))
            return self._repeated(event)
        now = self.tick()
        if self.ttl is not None and now > event.time + self.ttl:
            what = f"the label of {name!r} came {now - event.time:.6g} s after its prediction"
            self._refuse("expired", Expired(f"{what}: the time to live is {self.ttl:g} s"))
        done = event._replace(example=as_read(event.example), outcome=y)
        done = self.contenders.learn(done)
        journal.add_label(done, body_of({"id": name, "y": y}) if body is None else body)
        if self.of_labels:
            self._judge(done)
        if event.key is not None:
            journal.count_key(event.key, 0, 1, done.loss)
        return answer_of(event)

    def learn(self, request: Request) -> Reply:
        """Predict an example, then learn it."""
        _, given, x, y, key, body = request
        y = outcome_of(y, self.fresh)
        name, key = name_of(given), key_of(key)
        if body is None:
            x = example_of(x)
            body = body_of({"id": name, "x": x, "y": y}, key)
        journal, contenders = self.journal, self.contenders
        if given is not None and (known := journal.ids.find(name) and journal.find(name)):
            same = known.at_once and known.key == key and known.y == as_json(y)
            return self._repeated(known, same and known.x == as_json(x))
        served, seq = as_read(x), journal.seq + 1
        learner, found = contenders.predict(seq, served, key)
        self.tick()
        event = Event(
            seq, journal.entry + 1, name, journal.time, served, learner.rounds, found.score,
            None, None, True, key, found.scores, y,
        )  # fmt: skip
        try:
            done = contenders.learn(event)
        except (NoRegretError, TypeError, ValueError):
            contenders.drop(seq)
            raise
        journal.add_learned(name, done.made, found.score, done.loss, body, extra_of(found))
        if self.of_labels:
            self._judge(done)
        if key is not None:
            journal.count_key(key, 1, 1, done.loss)
        chances = None if found.chances is None else dict(found.chances)
        return Reply(found.prediction, name, seq, chances)

    def learn_plain(self, lines: PlainLines) -> list[Answer]:
        """Predict and learn lines of one shape: the same as ``learn_lines``, at less cost."""
        journal, found, count, done = self.journal, list[Answer](), lines.count, 0
        if self.takes_plain and journal.ids.are_new(lines.digests):
            learner, shape = self.contenders.first.to_learn(None), lines.shape
            made, scores, losses = learner.rounds, np.empty(count), np.empty(count)
            done = serve_rows(
                learner._entry, shape.names, lines.numbers, shape.outcome, scores, losses
            )
        if done:
            self.tick()
            digests, sizes, text = lines.digests, lines.sizes, lines.text
            if done < count:
                digests, sizes = digests[:done], sizes[:done]
                scores, losses, text = scores[:done], losses[:done], text[: int(sizes.sum())]
            found.append(LearnedPlain(lines, scores, journal.seq + 1))
            journal.add_all_learned(digests, made, scores, losses, text, sizes)
        if done < count:
            found += self.learn_lines(Lines.parsed(lines.lines(done)))
        return found

    def learn_lines(self, lines: Lines) -> list[Answer]:
        """Predict and learn examples in order: the same as ``learn`` for each, at less cost.

        The replies to lines that follow each other are one ``Learned``.
        """
        journal, contenders = self.journal, self.contenders
        loss, found = self.fresh.engine.loss, list[Answer]()
        digests = self._new_digests(lines) if self._takes_lines else None
        if digests is None:
            return [self.attempt(request) for request in lines.requests()]
        self.tick()
        learner, at, count = contenders.first.to_learn(None), 0, len(lines.ids)
        decide, learn = learner.decision_one, learner.learn_one
        while at < count:
            made, scores, refused = learner.rounds, list[float](), None
            try:
                for x, y in zip(lines.examples[at:], lines.outcomes[at:], strict=True):
                    score = decide(x)
                    learn(x, y)
                    scores.append(score)
            except (NoRegretError, TypeError, ValueError) as error:
                refused = error
            if scores:
                part = slice(at, at + len(scores))
                ids = lines.ids if len(scores) == count else lines.ids[part]
                first, bodies = journal.seq + 1, lines.bodies[part]
                losses = list(map(loss.value, scores, map(float, lines.outcomes[part])))
                journal.add_all_learned(
                    digests[part], made, np.array(scores), np.array(losses), b"".join(bodies),
                    np.array([*map(len, bodies)], np.uint32),
                )  # fmt: skip
                found.append(Learned(ids, scores, first))
                at += len(scores)
            if refused is not None:
                self.refused["invalid"] += 1
                found.append(refused)
                at += 1
        return found

    @property
    def _takes_lines(self) -> bool:
        """Whether one model of numbers plays, without challengers."""
        fresh, alone = self.fresh, len(self.contenders.models) == 1
        return alone and not fresh._of_classes and not fresh.engine.loss.labels

    @property
    def takes_plain(self) -> bool:
        """Whether ``learn_plain`` gains time: rows go as they are to a compiled loss."""
        fresh = self.fresh
        usual = type(fresh).decision_one is Learner.decision_one and fresh._entry.prepare is None
        return usual and self._takes_lines and not is_python_loss(fresh.engine.loss)

    def _new_digests(self, lines: Lines) -> Digests | None:
        """Return the digests of ids that are valid and certainly new, if outcomes are numbers."""
        ids, lengths = lines.ids, [*map(len, lines.ids)]
        if not (ids and min(lengths) > 0 and max(lengths) <= MAX_ID and are_text(ids)):
            return None
        if not set(map(type, lines.outcomes)) <= {int, float}:
            return None
        digests = digests_of(ids)
        return digests if self.journal.ids.are_new(digests) else None

    def attempt(self, request: Request) -> Reply | Exception:
        """Do a request, and return its reply or why it is refused."""
        try:
            return self.act(request)
        except self.journal.failures:
            raise
        except ServiceError as error:
            return error
        except (NoRegretError, TypeError, ValueError) as error:
            self.refused["invalid"] += 1
            return error

    def _repeated(self, event: Event, same: bool = True) -> Reply:
        """Return the stored answer; refuse a request that is not the same."""
        if not same:
            self._refuse("conflict", Conflict(f"id {event.id!r} was used for another request"))
        self.repeated += 1
        return answer_of(event)

    def _judge(self, event: Event) -> None:
        """Count a served prediction that was wrong."""
        score = event.score if event.scores is None else dict(event.scores)
        self.mistakes += is_wrong(self.fresh, score, event.outcome)

    def _refuse(self, why: str, error: ServiceError) -> None:
        self.refused[why] += 1
        raise error

    def tick(self) -> float:
        """Return the time of this transaction."""
        if self.now is None:
            self.now = self.journal.time = max(self.journal.time, float(self.clock()))
        return self.now
