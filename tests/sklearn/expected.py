"""The checks of scikit-learn that are not to pass, with the reason: all that there are."""

from __future__ import annotations

from typing import Any

ORDER = (
    "what an online learner comes to depends on the order of its examples, which this check"
    " changes; and an example of weight k is one step that stands for k, not k steps"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": ORDER,
    "check_sample_weight_equivalence_on_sparse_data": ORDER,
}
# These come to the same whatever the order, and take weights as copies: the checks pass.
WITHOUT_ORDER = (
    "ConjunctionClassifier",
    "OnlineNewtonRegressor",
    "VawRegressor",
    "WinnowClassifier",
)


def expected(estimator: Any) -> dict[str, str]:
    """Return the checks that an estimator need not pass, by name."""
    return {} if type(estimator).__name__ in WITHOUT_ORDER else EXPECTED
