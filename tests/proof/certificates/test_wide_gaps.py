"""A gap as wide as one likes, said to be due to lack of time: it must hide no other regret.

Tolerances for rounding are shares of some size. If a figure that is stated adds to that size, and
needs no witness, it makes room for any other figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.proof.certificates.certificate import seal
from noregret.proof.theorems.theorem import REGRETS
from tests.proof.certificates.roster import Entry, every
from tests.thorough import THOROUGH

WIDE = (1e14, 1e20, 1e300)
OFF = 1e-15  # a share of the gap, within rounding
# A few kinds of all by default; those of groups always.
ALL = [entry for entry in every() if "canceller" not in entry.name]
ENTRIES = [entry for k, entry in enumerate(ALL) if THOROUGH or k % 5 == 0 or "groups" in entry.name]


def part_of(stated: dict[str, Any], groups: bool) -> dict[str, Any]:
    """Return the part of a certificate that has a best in hindsight and a regret."""
    part: dict[str, Any] = stated["groups"] if groups else stated
    return part


def forged(contents: dict[str, Any], groups: bool) -> Iterator[dict[str, Any]]:
    """Yield certificates with a huge gap, and perhaps loss, whose regret is off by as much."""
    for wide in WIDE:
        for high in (0.0, wide) if groups else (0.0,):
            for end in ("lower", "upper"):
                stated = json.loads(json.dumps(contents))
                part, total = part_of(stated, groups), stated["loss"]["total"]
                best = part["hindsight"]
                loss = best["loss"] + high
                best |= {"loss": loss, "gap": wide + high, "exact": False, "seconds": 0.001}
                if groups:
                    best["reached"] = 1
                true, shift = part["regret"], OFF * wide + 1e-9 * abs(total) + 1.0
                if end == "upper":  # a regret below the true one
                    best["gap"] = loss if loss > 0 else best["gap"]
                    regret = {"lower": total - loss, "upper": true["lower"] - shift}
                else:  # a regret above the true one
                    upper = total - (loss - best["gap"])
                    regret = {"lower": true["upper"] + shift, "upper": upper}
                part["regret"] = regret
                for promise in (part.get("theorem"), *part.get("further", ())):
                    if promise and promise["quantity"] in REGRETS:
                        promise |= {"measured": regret["upper"], "bound": None, "holds": None}
                stated.pop("seal")
                yield stated | {"seal": seal(stated)}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_wide_gap_hides_no_other_regret(entry: Entry) -> None:
    contents = json.loads(entry.certificate().to_json())
    if contents["hindsight"] is None or contents.get("regret") is None:
        pytest.skip("it states no regret")
    for groups in (False, True) if contents.get("groups") else (False,):
        part = part_of(contents, groups)
        if part["hindsight"]["gap"] is None:
            continue
        for stated in forged(contents, groups):
            found = nr.verify(stated, **entry.data())
            assert not found.confirmed, part_of(stated, groups)


@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("share", [9e-6, -9e-6])
def test_where_a_search_stops_excuses_no_sum_that_is_disproved(far: float, share: float) -> None:
    """The regret is a small difference of large losses: a small share of them is much of it."""
    draw = np.random.default_rng(7)
    rows = [
        (f"k{t % 3}", {"a": x[0], "b": x[1], "one": 1.0}, 2 * x[0] - x[1] + x[2] + far)
        for t, x in enumerate(draw.normal(size=(60, 3)).tolist())
    ]
    learner = nr.GradientDescent(loss="absolute", radius=2.0)
    contents = json.loads(nr.play(nr.Groups(learner), rows).certificate().to_json())
    assert nr.verify(contents, rows).confirmed
    part, total = contents["groups"], contents["loss"]["total"]
    loss = part["hindsight"]["loss"] * (1 + share)
    part["hindsight"] |= {"loss": loss, "gap": 0.0}
    part["regret"] = {"lower": total - loss, "upper": total - loss}
    if part["theorem"] and part["theorem"]["quantity"] in REGRETS:
        bound = part["theorem"]["bound"]
        holds = None if bound is None else total - loss <= bound
        part["theorem"] |= {"measured": total - loss, "holds": holds}
    contents.pop("seal")
    assert not nr.verify(contents | {"seal": seal(contents)}, rows).confirmed
