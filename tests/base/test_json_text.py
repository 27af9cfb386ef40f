"""Indented and canonical JSON are what Python's own encoder writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.base.json_text import Weights, canonical, indented
from tests.thorough import draws

LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    LEAVES | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@draws(60)
@given(VALUES)
def test_it_is_what_the_standard_encoder_writes(value: Any) -> None:
    assert indented(value) == json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)


@draws(60)
@given(VALUES)
def test_canonical_text_has_sorted_keys_and_no_spaces(value: Any) -> None:
    plain = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert canonical(value) == plain


NAMES = st.text() | st.text('":\\ ,\n', max_size=5)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@draws(60)
@given(st.dictionaries(NAMES, NUMBERS, max_size=5), NAMES, NUMBERS)
def test_weights_are_written_as_other_numbers_are(
    value: dict[str, Any], name: str, number: float
) -> None:
    weights = Weights(value)
    for _ in range(2):
        for inside in (weights, {"a": weights, "b": []}):
            plain = json.loads(json.dumps(inside)) if inside is not weights else dict(weights)
            assert canonical(inside) == canonical(plain)
            assert indented(inside) == json.dumps(inside, indent=1, ensure_ascii=False)
        weights[name] = number  # what was kept is for the numbers of before


def test_weights_that_change_their_sign_are_encoded_again() -> None:
    weights = Weights({"a": 0.0})
    assert canonical(weights) == '{"a":0.0}'
    weights["a"] = -0.0
    assert canonical(weights) == '{"a":-0.0}'


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf")], {"a": {"b": float("nan")}}, Weights(a=float("nan"))]
)
def test_numbers_that_json_has_not_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        indented(value)
