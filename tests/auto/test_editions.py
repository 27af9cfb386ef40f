"""Models and certificates of version 0.1 keep the members of then: edition 1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps, loads
from tests.auto.streams import LOSSES, NUMBERS, auto, member_names, played, same_state, stream

FILES = Path(__file__).parents[1] / "fixtures" / "version_0_1_0"


def test_a_file_without_an_edition_is_of_the_first() -> None:
    model = nr.load(FILES / "auto.model")
    assert model.edition == 1
    assert model.clone().edition == model.copy().edition == 1
    assert "running mean, unclipped" not in member_names(model)
    assert "edition" not in json.loads((FILES / "auto.json").read_text())["learner"]["params"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("edition", [1, 2, 3])
@pytest.mark.parametrize("delay", [0, 3])
def test_each_edition_goes_on_from_its_file(loss: str, edition: int, delay: int) -> None:
    X, y = stream(0, 80, 3, loss)
    if loss != "logistic":
        y[40] = 1e4
    whole, half = (auto(loss, edition=edition, delay=delay) for _ in range(2))
    said = played(whole, X, y)
    played(half, X[:50], y[:50])
    kept = loads(dumps(half), "a copy")
    assert kept.edition == edition
    assert same_state(kept, half)
    assert np.array_equal(played(kept, X[50:], y[50:]), said[50:])
    assert same_state(kept, whole)


@pytest.mark.parametrize("loss", NUMBERS)
@pytest.mark.parametrize("edition", [1, 2, 3])
@pytest.mark.parametrize("cut", [150, 260])
def test_each_goes_on_alike_where_losses_are_limited(loss: str, edition: int, cut: int) -> None:
    """Losses far beyond the usual count alike: from round 200 on, by the largest so far."""
    X, y = stream(3, 320, 2)
    y[:250] = 0.0
    y[300] = 1e6
    whole, half = (auto(loss, edition=edition) for _ in range(2))
    said = played(whole, X, y)
    played(half, X[:cut], y[:cut])
    kept = loads(dumps(half), "a copy")
    assert np.array_equal(played(kept, X[cut:], y[cut:]), said[cut:])
    assert same_state(kept, whole)


def test_certificates_say_the_edition_from_the_second_on() -> None:
    X, y = stream(1, 60, 2)
    for edition in (1, 2, 3):
        certificate = nr.play(auto(edition=edition), X, y).certificate()
        assert certificate.params.get("edition", 1) == edition
        assert ("edition" in certificate.params) == (edition > 1)
        assert nr.verify(certificate, X, y).confirmed


@pytest.mark.parametrize("edition", [0, 4, True, "2", None])
def test_there_is_no_other_edition(edition: object) -> None:
    with pytest.raises(ValueError, match="edition"):
        auto(edition=edition)
