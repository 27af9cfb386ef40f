"""scikit-learn's own checks, on every estimator that there is."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

import noregret.sklearn
from tests.sklearn.expected import expected
from tests.thorough import sized

# What scikit-learn skips by itself, as it asks for another library.
SKIPPED = {"check_array_api_input"}
# Estimators differ in their learner alone: a thorough run checks every one, a quick one some.
CHECKED = noregret.sklearn.__all__[:: sized(9, full=1)]


@pytest.mark.parametrize("name", CHECKED)
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
