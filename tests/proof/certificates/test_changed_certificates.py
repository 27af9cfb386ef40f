"""A certificate with anything changed in it is not confirmed.

Sealed as it was, any change at all shows. Sealed anew, as by someone who means to deceive, every
changed claim must be caught by computing it again. Here each place that a seed draws is changed
once, and in a thorough run every place; ``tools/mutate_certificates.py`` tries all ways, in every
form of every learner.
"""

from __future__ import annotations

import copy
import random
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest

from noregret import CertificateError
from noregret.proof.certificates.file import checked
from tests.proof.certificates.changes import Path, changes, insertions
from tests.proof.certificates.games import certificate_of
from tests.proof.certificates.roster import Entry, every, one_each
from tests.proof.certificates.trials import Trial, decides
from tests.thorough import sized

ENTRIES = {entry.name: entry for entry in one_each()}
# Changes of what decides the game, which has to be played again for each.
REPLAYED = sized(1, full=4)
# Of another best in hindsight, with all that follows from it.
LIES = sized(3, full=1_000)
# Of the places that could be changed, one in so many is.
APART = sized(24, full=1)


def drawn(trial: Trial, seed: int) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """Yield one change of every place, and a few of those that need another game."""
    rng, places, replayed = random.Random(seed), dict[Path, list[Any]](), list[Any]()
    honest = decides(trial.contents)
    for path, words, changed in (*changes(trial.contents), *insertions(trial.contents)):
        if isinstance(changed, dict):
            needs = decides(changed) != honest
            (replayed if needs else places.setdefault(path, [])).append((path, words, changed))
    for ways in rng.sample(list(places.values()), -(-len(places) // APART)):
        yield rng.choice(ways)
    yield from rng.sample(replayed, min(REPLAYED, len(replayed)))
    lies = list(trial.lies())
    yield from rng.sample(lies, min(LIES, len(lies)))


def confirmed_though_false(trial: Trial, seed: int) -> list[str]:
    assert trial.confirms(trial.contents)
    return [
        f"{'.'.join(map(str, path))} {words}"
        for path, words, changed in drawn(trial, seed)
        if trial.confirms(changed) and not trial.is_true(changed)
    ]


@pytest.mark.parametrize("name", ENTRIES)
def test_a_changed_claim_is_caught_though_sealed_anew(name: str) -> None:
    trial = Trial(ENTRIES[name])
    assert not confirmed_though_false(trial, zlib.crc32(name.encode()))


@cache
def others() -> dict[str, Entry]:
    """Return games that reach what the plain forms do not."""
    return {entry.name: entry for entry in every()}


@pytest.mark.parametrize(
    "name",
    [
        "learners: told a radius",
        "learners: risk",
        "learners: searched loosely",
        "learners: a frame",
        "learners: exponentiated-gradient dimension=30",
        "experts: hedge, losses",
        "batch: boosted",
        "batch: several promises",
        "learners: vaw, far columns",
        "learners: ball, far outcomes",
        "batch: linear-regression, far outcomes",
        "batch: ridge, far columns",
        "groups: nlms",
        "groups: auto",
        "groups: ball",
        "groups: perceptron",
    ],
)
def test_so_it_is_where_more_is_stated(name: str) -> None:
    assert not confirmed_though_false(Trial(others()[name]), 1)


@pytest.mark.parametrize("name", ["widrow-hoff, named", "too steep", "several promises"])
def test_any_change_breaks_the_seal(name: str) -> None:
    contents = certificate_of(name).to_dict()
    assert checked(copy.deepcopy(contents)) == contents
    count = 0
    for path, words, changed in islice(changes(contents), 0, None, APART):
        count += 1
        try:
            checked(changed)
        except CertificateError:
            continue
        pytest.fail(f"{'.'.join(map(str, path))} {words}: not caught")
    assert count > 100 / APART
