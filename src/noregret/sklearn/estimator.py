"""The base class of the regressors and classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from noregret.base.sparse_rows import checked_csr
from noregret.checks import positive, truth, whole
from noregret.errors import BadExample, NoRegretError
from noregret.linear.learn_many import learn_block
from noregret.linear.learner import Learner
from noregret.proof.theorems.averaging import averaged
from noregret.sklearn.faults import explained, refuse_scores, refuse_unusable, row_of
from noregret.sklearn.tables import Order, Part, Table, table_of, with_constant
from noregret.sklearn.traits import Traits

Floats = NDArray[np.float64]
# The outcomes of a part of the rows for the learner with a number.
Outcomes = Callable[[Part, int], Floats]
# Builds untrained learners.
Fresh = Callable[[], list[Learner]]
E = TypeVar("E", bound="Online")
MAX_SEED = 2**31 - 1


class Story(NamedTuple):
    """The order of the examples, for a replay: the seed of the shuffle, the number of passes."""

    seed: int | None
    passes: int
    weighted: bool = False

    def then(self, more: Story) -> Story | None:
        """Return the order of both together; None if it cannot be replayed from all examples."""
        if self.seed is not None or self.passes > 1:
            return None
        return more._replace(weighted=self.weighted or more.weighted)

    def orders(self, rows: int, first: Order) -> Iterator[Order]:
        """Yield the order of each pass over the given rows, or over all."""
        rng = np.random.default_rng(self.seed)
        for _ in range(self.passes):
            if self.seed is None:
                yield first
            else:
                yield rng.permutation(rows if first is None else first)


class Online(BaseEstimator):  # type: ignore[misc]
    """A learner, or one for each class, as an estimator."""

    traits: ClassVar[Traits]
    labels: ClassVar[bool]
    learners_: list[Learner]
    n_features_in_: int

    # The learner.

    def _learner(self) -> Learner:
        """Build a learner that has learned nothing."""
        traits = self.traits
        learner = traits.kind.make(**{name: getattr(self, name) for name in traits.parameters})
        return averaged(learner) if truth("average", getattr(self, "average", False)) else learner

    @property
    def _constant(self) -> float:
        """The value of one more column, for the intercept; 0 for none."""
        if not truth("fit_intercept", getattr(self, "fit_intercept", False)):
            return 0.0
        return positive("intercept_scaling", self.intercept_scaling)

    @property
    def learner_(self) -> Learner:
        """The learner, if there is one; ``learners_`` has one for each class."""
        check_is_fitted(self)
        if len(self.learners_) > 1:
            raise AttributeError("there is a learner for each class: see learners_")
        return self.learners_[0]

    @property
    def _is_linear(self) -> bool:
        return bool(self.learners_[0].engine.linear) and getattr(self, "binarize", None) is None

    def _weights(self) -> tuple[Floats, Floats]:
        """Return the coefficients, one row per learner, and the intercepts."""
        check_is_fitted(self)
        if not self._is_linear:
            raise AttributeError(f"the predictions of {self.traits.kind.name} are not linear in x")
        constant, width = self._constant, self.n_features_in_
        coef = np.array([learner.weights[:width] for learner in self.learners_])
        origin = np.append(np.zeros(width), constant) if constant else np.zeros(width)
        return coef, np.array([learner.decision_one(origin) for learner in self.learners_])

    @property
    def intercept_(self) -> Floats:
        """The constant terms, one per learner."""
        return self._weights()[1]

    # Reading tables.

    def _read(self, X: Any, y: Any = None, *, reset: bool = False) -> Any:
        """Check a table and its outcomes, except for values that learners check themselves."""
        options = {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": False}
        if hasattr(X, "tocsr"):
            X = checked_csr(X)
        if y is None and not reset:
            return validate_data(self, X, reset=False, **options)
        return validate_data(self, X, y, reset=reset, y_numeric=not self.labels, **options)

    @property
    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _table(self, X: Any) -> Table:
        return table_of(X, getattr(self, "binarize", None))

    def _shares(self, X: Any, sample_weight: Any) -> Floats | None:
        """Return the weight of each row; None if all are 1."""
        if sample_weight is None:
            return None
        weights: Floats = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        return None if (weights == 1).all() else weights

    # Learning.

    def _fresh(self, count: int = 1) -> list[Learner]:
        """Return untrained learners."""
        first = self._learner()
        return [first, *(first.clone() for _ in range(count - 1))]

    def _fit(
        self: E, X: Any, outcomes: Outcomes, fresh: Fresh, weights: Floats | None, warm: bool
    ) -> E:
        """Train new learners, or copies of the present ones, for ``max_iter`` passes."""
        passes, seed = whole("max_iter", self.max_iter), None
        if truth("shuffle", self.shuffle):
            seed = int(check_random_state(self.random_state).randint(MAX_SEED))
        learners = [each.copy() for each in self.learners_] if warm else fresh()
        story = Story(seed, passes, weights is not None)
        self._teach(learners, X, outcomes, weights, story)
        self.learners_, self.n_iter_ = learners, passes
        self._story: Story | None = None if warm else story
        return self

    def _partial_fit(
        self: E, X: Any, outcomes: Outcomes, fresh: Fresh, weights: Floats | None
    ) -> E:
        """Train the present learners for one pass."""
        refuse_unusable(X, self._names)
        once = Story(None, 1, weights is not None)
        learners = getattr(self, "learners_", None) or fresh()
        self._teach(learners, X, outcomes, weights, once)
        before = getattr(self, "_story", once)
        self.learners_, self.n_iter_ = learners, 1
        self._story = None if before is None else before.then(once)
        return self

    @property
    def _is_warm(self) -> bool:
        """True if ``fit`` continues from the previous state."""
        return truth("warm_start", self.warm_start) and hasattr(self, "learners_")

    def _teach(
        self,
        learners: list[Learner],
        X: Any,
        outcomes: Outcomes,
        weights: Floats | None,
        story: Story,
    ) -> None:
        """Train every learner on the rows, block by block."""
        table, constant = self._table(X), self._constant
        first = None
        if weights is not None:
            first = kept(weights, learners[0])
            weights = weights if learners[0].engine.takes_importance else None
        for order in story.orders(table.rows, first):
            for part, block in table.blocks(order):
                shares = None if weights is None else weights[part]
                for k, learner in enumerate(learners):
                    before = learner.rounds
                    try:
                        learn_block(learner._entry, block, outcomes(part, k), shares, constant)
                    except NoRegretError as error:
                        row = row_of(part, learner.rounds - before)
                        raise explained(error, X, row, self._names) from None

    # Predicting.

    def _scores(self, X: Any) -> Floats:
        """Return the scores of all rows, one column per learner."""
        check_is_fitted(self)
        X = self._read(X)
        if self._is_linear:
            coef, intercept = self._weights()
            scores = safe_sparse_dot(X, coef.T, dense_output=True) + intercept
        else:
            scores = self._asked(X)
        if not np.isfinite(scores).all():
            refuse_scores(X, self._names)
        return np.asarray(scores, dtype=np.float64)

    def _asked(self, X: Any) -> Floats:
        """Return the scores of learners that are not linear."""
        table, constant = self._table(X), self._constant
        scores = np.empty((table.rows, len(self.learners_)))
        refuse_unusable(X, self._names)
        for part, block in table.blocks(None):
            longer = with_constant(block, constant)
            for k, learner in enumerate(self.learners_):
                scores[part, k] = learner.decision_many(longer)
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def kept(weights: Floats, learner: Learner) -> Order:
    """Return the rows to learn from; without importances, each as often as its weight."""
    if learner.engine.takes_importance:
        return None if (weights > 0).all() else np.flatnonzero(weights)
    if not (weights == np.floor(weights)).all():
        row = int(np.argmax(weights != np.floor(weights)))
        raise BadExample(
            f"sample_weight: row {row} has the weight {weights[row]:g}, and {learner.name} takes"
            " only whole numbers, as numbers of repetitions (class_weight too)",
            "use a learner that takes any weight, such as logistic, hinge, nlms or"
            " passive-aggressive",
        )
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
