"""Faults of JSON are named without repeating it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.batch import LinearRegression
from noregret.errors import CertificateError
from noregret.proof.certificates.certificate import seal

X, Y = (np.random.default_rng(0).normal(size=size) for size in ((60, 2), 60))


def merged() -> dict[str, Any]:
    """Return the certificate of data in two parts."""
    first, last = (LinearRegression().fit(X[rows], Y[rows]) for rows in (slice(30), slice(30, 60)))
    whole = first.merge(last)
    found: dict[str, Any] = whole.certificate().to_dict()
    return found


def sealed(contents: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in contents.items() if name != "seal"}
    return rest | {"seal": seal(rest)}


def test_certificates_of_parts_name_the_fault() -> None:
    whole, many, shards = merged(), merged(), merged()
    whole["data"]["parts"][0]["rounds"] = 30.0
    many["data"]["parts"] = many["data"]["parts"][:1] * 4097
    shards["learner"]["shards"] = 2
    for contents, words in (
        (whole, r"data.parts.0.rounds: 30.0 is not of type 'integer'"),
        (many, "data.parts: 4,097 items, and at most 4,096 are allowed"),
        (shards, "with a weight per feature: not for LinearRegression"),
    ):
        with pytest.raises(CertificateError, match=words) as raised:
            nr.verify(sealed(contents), X, Y)
        assert len(str(raised.value)) < 300
