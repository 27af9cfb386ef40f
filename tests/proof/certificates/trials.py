"""Certificates with something changed in them, sealed anew and held against the data.

A changed certificate that is confirmed must still be true: who plays with the parameters that it
states, and certifies honestly, states the same, but for rounding and for where a search stopped.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

import noregret as nr
from noregret.hindsight import Limits
from noregret.proof.certificates.certificate import Certificate, seal
from noregret.proof.certificates.file import certificate_of, checked
from noregret.proof.certificates.issue import within
from noregret.proof.theorems.evidence import Evidence
from noregret.proof.theorems.theorem import REGRETS
from noregret.proof.verifying.confirm import compared
from noregret.proof.verifying.judging import Replay
from noregret.proof.verifying.replay import rebuilt, replay_of
from tests.proof.certificates.changes import Path, changes, insertions, places
from tests.proof.certificates.roster import Entry

# How far figures that an honest search would state may be off, relatively to the losses.
SEARCHED = 1e-4
# What a witness may pay more or less than stated.
PAID = 1e-6
# Multiples of the best loss that are stated, or that a worse witness pays.
FACTORS = (1 + 1e-3, 2.0, 10.0)


class Trial:
    """A certificate on trial: the honest one, and the game it is of, played once."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.certificate: Certificate = entry.certificate()
        self.contents = self.certificate.to_dict()
        del self.contents["seal"]

    @cached_property
    def replay(self) -> Replay:
        """The game played again."""
        entry = self.entry
        game = nr.play(entry.make(), entry.X, entry.y, target=entry.target, keep="rows")
        return replay_of(self.certificate, game)

    def confirms(self, contents: dict[str, Any]) -> bool:
        """Return whether contents are confirmed when they are sealed; errors in words are a no."""
        sealed = contents | {"seal": seal(contents)}
        try:
            if decides(contents) != decides(self.contents):
                return nr.verify(sealed, **self.entry.data()).confirmed
            stated = certificate_of(checked(sealed, sealed=False))
            if stated.family in ("batch", "echo"):
                return nr.verify(sealed, **self.entry.data()).confirmed
            with np.errstate(all="ignore"):
                return compared(sealed, replace(self.replay, stated=stated)).confirmed
        except nr.NoRegretError:
            return False

    def mutations(self) -> Iterator[tuple[Path, str, dict[str, Any]]]:
        """Yield every change: of one place, of a field inserted, and of a witness with all that
        follows from it."""
        for path, words, changed in (
            *changes(self.contents),
            *insertions(self.contents),
            *self.lies(),
        ):
            if isinstance(changed, dict):
                yield path, words, changed

    def lies(self) -> Iterator[tuple[Path, str, dict[str, Any]]]:
        """Yield certificates of another best in hindsight, with all that follows from it.

        The witness is worse, and its loss is what it pays; or the loss is more than that. In either
        case the gap goes down to the same lower end, so that the interval is true.
        """
        if self.certificate.family == "echo" or not self.certificate.hindsight.witness:
            return
        best = self.certificate.hindsight
        ways = {"made zero": 0.0, "negated": -1.0, "halved": 0.5}
        worse = {
            words: {name: factor * weight for name, weight in best.witness.items()}
            for words, factor in ways.items()
        }
        last = list(best.witness)[-1]
        for factor in FACTORS:
            if (step := self.step(factor)) is not None:
                moved = dict(best.witness) | {last: best.witness[last] + step}
                worse[f"moved to {factor:g} of the loss"] = moved
        for words, witness in worse.items():
            paid = self.replay.evidence().paid_by(witness, best.comparator)
            if paid is None or not paid[0] < 1e300 or paid[0] <= best.loss * (1 + SEARCHED):
                continue
            yield from self.with_best(f"witness {words}", paid[0], witness)
        for factor in FACTORS if math.isfinite(best.gap) else ():
            yield from self.with_best(f"loss times {factor:g}", best.loss * factor, best.witness)

    def step(self, factor: float) -> float | None:
        """Return by how much to move the last weight for about so much of the loss."""
        evidence = self.replay.evidence()
        if not isinstance(evidence, Evidence) or self.certificate.loss.name != "square":
            return None
        squares = evidence.rows.column_squares(np.ones(evidence.rounds))[-1]
        more = (factor - 1) * max(self.certificate.hindsight.loss, 1e-12)
        return math.sqrt(more / squares) if squares > 0 else None

    def with_best(
        self, words: str, loss: float, witness: Mapping[str, float]
    ) -> Iterator[tuple[Path, str, dict[str, Any]]]:
        """Yield the certificate with another best, called exact as before, and not."""
        best, place = self.certificate.hindsight, ("hindsight", "witness")
        for exact in {best.exact, False}:
            changed = copy.deepcopy(self.contents)
            total, lower = self.certificate.loss.total, best.loss - best.gap
            if changed["learner"].get("family") == "batch" and witness != best.witness:
                total = loss  # of the weights, which are the witness
                changed["loss"] |= {"total": total, "mean": total / changed["data"]["rounds"]}
            told = {"witness": dict(witness), "loss": loss, "gap": loss - lower, "exact": exact}
            changed["hindsight"] |= told
            low, high = total - loss, total - lower
            changed["regret"] = {"lower": low, "upper": high}
            for promise in [changed["theorem"], *changed.get("further", [])]:
                if promise and promise["quantity"] in REGRETS and promise["bound"] is not None:
                    promise["measured"] = high
                    promise["holds"] = within(low, high, promise["bound"], total)
            name = "exact" if exact else "not exact"
            yield place, f"{words}, {name}, with what follows", changed

    # What an honest certificate would say.

    def is_true(self, contents: dict[str, Any]) -> bool:
        """Return whether an honest certificate with the stated parameters would say the same."""
        stated = certificate_of(contents | {"seal": ""})
        honest = self.honest(stated)
        if honest is None:
            return False
        size = max(abs(honest["loss"]["total"]), abs(honest["hindsight"]["loss"]), 1e-300)
        here, there = dict(figures(contents)), dict(figures(honest))
        if ("data", "target") not in here:  # which says less, and nothing false
            there.pop(("data", "target"), None)
        if here.keys() != there.keys() or not self.pays(stated):
            return False
        return all(are_alike(here[path], there[path], SEARCHED, size) for path in here)

    def honest(self, stated: Certificate) -> dict[str, Any] | None:
        """Play and certify with the parameters of a certificate; None where that cannot be done."""
        learner = rebuilt(stated, None)
        entry = replace(
            self.entry,
            make=lambda: learner,
            theorem=None if stated.theorem is None else stated.theorem.name,
            given=dict(stated.given),
            limits=None
            if stated.hindsight.tolerance is None
            else Limits(tolerance=stated.hindsight.tolerance),
        )
        contents = entry.certificate().to_dict()
        del contents["seal"]
        return contents

    def pays(self, stated: Certificate) -> bool:
        """Return whether the witness has the names of the honest one, and pays what is stated."""
        best = stated.hindsight
        if stated.family == "echo" or not best.witness:
            return True
        with np.errstate(all="ignore"):
            paid = self.replay.evidence().paid_by(best.witness, best.comparator)
        return paid is not None and are_alike(paid[0], best.loss, PAID, paid[1] / PAID + 1e-300)


def decides(contents: dict[str, Any]) -> str:
    """Return the parts on which the game played again depends."""
    inner = (("theorem", "name"), ("data", "target"), ("data", "transforms"))
    parts = [contents.get("learner"), contents.get("given")]
    for name, key in (*inner, ("hindsight", "tolerance")):
        part = contents.get(name)
        parts.append(part.get(key) if isinstance(part, dict) else part)
    return json.dumps(parts)


def figures(contents: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield every leaf but the weights of the witness, and empty containers."""
    for path, value in places(contents):
        if path[:2] != ("hindsight", "witness") and (
            not isinstance(value, dict | list) or not value
        ):
            yield path, value


def are_alike(one: Any, other: Any, tolerance: float, size: float) -> bool:
    """Compare two leaves: numbers by value, relatively to themselves or to a larger size."""
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (one, other))
    if not numbers:
        return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
    return bool(abs(one - other) <= tolerance * max(abs(one), abs(other), size))
