"""scikit-learn's own checks, on every estimator that there is."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

import noregret.sklearn
from tests.sklearn.expected import expected

# What scikit-learn skips by itself, as it asks for another library.
SKIPPED = {"check_array_api_input"}


@pytest.mark.parametrize("name", noregret.sklearn.__all__)
def test_an_estimator_passes_the_checks(name: str) -> None:
    estimator = getattr(noregret.sklearn, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator,
            expected_failed_checks=expected(estimator),
            on_fail=None,
            on_skip=None,
        )
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == {*expected(estimator)}
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= SKIPPED
    assert len(results) > 45
