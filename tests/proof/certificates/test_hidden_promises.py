"""No claim that time ran out hides the bound of a theorem that needs no search."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.proof.certificates.certificate import seal
from noregret.proof.game import best_per_key

GAMES: dict[str, Any] = {
    "auto": nr.Auto,
    "auto 1": lambda: nr.Auto(edition=1),
    "vaw": nr.Vaw,
    "widrow-hoff": lambda: nr.WidrowHoff(rate=0.1, norm=9.0),
    "forest": nr.MondrianForest,
}


def hidden(contents: dict[str, Any]) -> dict[str, Any]:
    forged = copy.deepcopy(contents)
    forged["hindsight"]["exact"], forged["hindsight"]["seconds"] = False, 2.0
    forged["theorem"]["bound"] = forged["theorem"]["holds"] = None
    del forged["seal"]
    forged["seal"] = seal(forged)
    return forged


@pytest.mark.parametrize("name", GAMES)
def test_a_bound_without_a_search_cannot_be_hidden(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(3)
    y = (X @ [1.0, 2.0, 3.0] + rng.normal(size=60)).round(3)
    contents = json.loads(json.dumps(nr.play(GAMES[name](), X, y).certificate().to_dict()))
    assert nr.verify(contents, X, y).confirmed
    assert not nr.verify(hidden(contents), X, y).confirmed


@pytest.mark.parametrize("keys", [0, 3, 40])
def test_a_broken_promise_to_groups_cannot_be_hidden(
    keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A promise kept may be left unclaimed, as time may have run out; a broken one may not."""
    rng = np.random.default_rng(1)
    X, names = rng.uniform(-0.5, 0.5, size=(400, 2)).round(3), np.arange(400) % 40
    y = (X @ [1.0, -1.0]).round(3)
    game = nr.play(nr.Groups(nr.WidrowHoff(rate=0.1)), X, y, keys=names)
    contents = json.loads(json.dumps(game.certificate().to_dict()))
    promise = contents["groups"]["theorem"]
    assert promise["holds"] is True
    assert promise["keys"] == 40
    contents["groups"]["hindsight"]["exact"] = False
    contents["groups"]["hindsight"]["seconds"] = 2.0
    promise.update(bound=None, holds=None, keys=keys)
    contents["seal"] = seal({name: part for name, part in contents.items() if name != "seal"})
    assert nr.verify(contents, X, y, keys=names).confirmed
    monkeypatch.setattr(best_per_key, "within", lambda *figures: False)  # an impossible learner
    assert not nr.verify(contents, X, y, keys=names).confirmed


def test_edition_1_promises_what_it_did() -> None:
    """Where outcomes grow exponentially, the measured cost of mixing is lost in rounding."""
    for y in (1.5 ** np.arange(120), 1.2 ** np.arange(400), (-1.3) ** np.arange(200)):
        for edition in (1, 2):
            promise = nr.play(nr.Auto(edition=edition), y[:, None], y).certificate().theorem
            assert promise is not None
            assert promise.name == ("auto" if edition == 1 else "auto-mixing")
            assert promise.holds is not False
