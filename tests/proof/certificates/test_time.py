"""The time limit of a certificate covers more than the search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import noregret
from noregret.hindsight import Limits
from noregret.proof.certificates import issue


@pytest.mark.parametrize(("features", "searched"), [(10, 4.0), (10**6, 3.0), (10**7, 2.0)])
def test_a_search_leaves_time_to_prove_and_name_many_weights(
    features: int, searched: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = noregret.play(
        noregret.make("logistic"), sparse.csr_array(([1.0], ([0], [3])), shape=(1, 10)), [1]
    )
    seconds: list[float] = []
    monkeypatch.setattr(type(game), "width", features)
    monkeypatch.setattr(issue, "certified", lambda *given: seconds.append(given[-1].until))
    game.certificate(limits=Limits(seconds=4.0, clock=lambda: 0.0))
    np.testing.assert_allclose(seconds, searched, rtol=1e-4)
