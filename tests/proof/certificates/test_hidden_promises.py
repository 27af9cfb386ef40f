"""No claim that time ran out hides the bound of a theorem that needs no search."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.proof.certificates.certificate import seal

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


def test_edition_1_promises_what_it_did() -> None:
    """Where outcomes grow exponentially, the measured cost of mixing is lost in rounding."""
    for y in (1.5 ** np.arange(120), 1.2 ** np.arange(400), (-1.3) ** np.arange(200)):
        for edition in (1, 2):
            promise = nr.play(nr.Auto(edition=edition), y[:, None], y).certificate().theorem
            assert promise is not None
            assert promise.name == ("auto" if edition == 1 else "auto-mixing")
            assert promise.holds is not False
