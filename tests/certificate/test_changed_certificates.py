"""A certificate with anything changed in it is not confirmed.

Sealed as it was, any change at all shows. Sealed anew, as by someone who means to deceive, every
changed claim must be caught by computing it again; ``still_true`` lists what is not, and why.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import noregret
from noregret import CertificateError
from noregret.certificate import seal
from noregret.certificate_file import certificate_of as read
from noregret.certificate_file import checked
from noregret.verifying.confirm import Replay, compared
from noregret.verifying.replay import replay_of, verify

from .changes import Path, changes
from .games import CASES, certificate_of

# Parts on which the game played again depends; all other changes can be held against one game.
DECIDE = ("learner", "data.target", "theorem.name", "given", "hindsight.tolerance")


def at(path: Path) -> str:
    return ".".join(map(str, path))


@cache
def replay(name: str) -> Replay:
    case = CASES[name]
    stated = certificate_of(name)
    game = noregret.play(case.learner(), case.X, case.y, target=case.target, keep="rows")
    return replay_of(stated, game)


def is_confirmed(name: str, contents: dict[str, Any], path: Path) -> bool:
    """Whether a changed certificate passes, as ``verify`` would find."""
    place = at(path)
    whole = place in ("", "data", "theorem") or any(place.startswith(part) for part in DECIDE)
    if whole:
        try:
            return verify(contents, **CASES[name].data()).confirmed
        except noregret.NoRegretError:
            return False
    try:
        stated = read(checked(contents, sealed=False))
    except CertificateError:
        return False
    return compared(contents, replace(replay(name), stated=stated)).confirmed


def still_true(name: str, path: Path, words: str) -> bool:
    """Whether a change leaves every claim true, or within what can be told, and why."""
    place, certificate = at(path), certificate_of(name)
    best = certificate.hindsight
    counts = certificate.loss.name == "mistake"
    if place.startswith("hindsight.witness."):
        # A predictor that pays what is stated is a witness, whichever it is. One that counts
        # mistakes has room to move; so has a weight that is all but zero.
        return counts or abs(best.witness[path[-1]]) < 1e-3
    if place in ("hindsight.gap", "regret.upper") and words.startswith("nudged"):
        # A thousandth of a gap that is rounding itself.
        return best.gap * 1e-3 < 1e-13 * (abs(certificate.loss.total) + abs(best.loss))
    if place == "data" and words == "target removed":
        # It says less; whoever checks it has to name the column.
        return True
    if place == "learner.params.averaged":
        # It says which weights predict afterwards; what is certified does not depend on it.
        return words == "flipped"
    return False


@pytest.mark.parametrize("name", CASES)
def test_any_change_breaks_the_seal(name: str) -> None:
    contents = certificate_of(name).to_dict()
    assert checked(copy.deepcopy(contents)) == contents
    count = 0
    for path, words, changed in changes(contents):
        count += 1
        try:
            checked(changed)
        except CertificateError:
            continue
        pytest.fail(f"{at(path)} {words}: not caught")
    assert count > 100


@pytest.mark.parametrize("name", CASES)
def test_a_changed_claim_is_caught_though_sealed_anew(name: str) -> None:
    contents = certificate_of(name).to_dict()
    del contents["seal"]
    missed = []
    for path, words, changed in changes(contents):
        if not isinstance(changed, dict):
            continue
        sealed = changed | {"seal": seal(changed)}
        if is_confirmed(name, sealed, path) and not still_true(name, path, words):
            missed.append(f"{at(path)} {words}")
    assert not missed
