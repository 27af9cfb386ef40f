"""A weighted vote of classifiers: its results, its predictions and its files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.batch.boosting import FIGURES, PERFECT, USELESS
from noregret.batch.method import Batch, Solution
from noregret.batch.stumps import PARTS, check_arrays, from_arrays
from noregret.batch.tables import as_rows, by_columns, many_rows, one_row, played
from noregret.batch.weak import WeakLearner, predictions_of, summed
from noregret.errors import NoRegretError
from noregret.hindsight.losses import as_labels
from noregret.linear.data_frames import series_like
from noregret.linear.learn_many import answers

Floats = NDArray[np.float64]


class Vote(Batch):
    """A batch method whose result is a vote of stumps or of a weak learner's classifiers."""

    members: int
    weak: WeakLearner | None

    def _check_found(self, found: Solution) -> None:
        """Raise ValueError if the result in a file is invalid."""
        kinds = {*FIGURES, *(PARTS if self.weak is None else ["classifiers"])}
        if found.arrays.keys() != kinds:
            raise ValueError(f"expected the arrays {sorted(kinds)}")
        members = (found.arrays["votes"].size,)
        if any(array.shape != members for array in found.arrays.values()):
            raise ValueError("the arrays differ in length")
        if not np.isfinite(found.arrays["votes"]).all():
            raise ValueError("a vote is not finite")
        if self.weak is None:
            check_arrays(found.arrays, len(found.weights))

    # Results.

    @property
    def weights(self) -> Floats:
        """Not available: a vote of classifiers is not linear in the features."""
        raise NoRegretError(
            "ada-boost is a vote of classifiers, without weights of features",
            "use classifiers, votes and feature_use",
        )

    @property
    def votes(self) -> Floats:
        """The weight of each classifier's vote; negative if its vote is inverted."""
        votes: Floats = self.solution.arrays["votes"].copy()
        return votes

    @property
    def classifiers(self) -> list[Any]:
        """The classifiers that vote: stumps, or those of the weak learner."""
        found = self.solution.arrays
        if self.weak is not None:
            return list(found["classifiers"])
        return [*from_arrays(found)]

    @property
    def errors(self) -> Floats:
        """The weighted error ε_t of each classifier when it was found."""
        errors: Floats = self.solution.arrays["errors"].copy()
        return errors

    @property
    def staged_mistakes(self) -> list[int]:
        """The mistakes of the first classifier, of the vote of the first two, and so on."""
        found: list[int] = self.solution.arrays["mistakes"].tolist()
        return found

    @property
    def stopped(self) -> str:
        """The reason why fewer classifiers vote than requested; empty otherwise."""
        if np.isneginf(self.solution.arrays["factors"]).any():
            return PERFECT
        return USELESS if len(self.votes) < self.members else ""

    @property
    def feature_use(self) -> dict[str, float]:
        """The fraction of the votes that use each feature; unused features are left out.

        Only for stumps; a constant stump uses no feature.
        """
        if self.weak is not None:
            raise NoRegretError("feature_use is known only for stumps")
        total, use = float(np.abs(self.votes).sum()), dict[str, float]()
        for stump, vote in zip(self.classifiers, self.votes.tolist(), strict=True):
            if stump.threshold > -math.inf:
                name = self.features[stump.feature]
                use[name] = use.get(name, 0.0) + abs(vote) / total
        return dict(sorted(use.items(), key=lambda item: (-item[1], item[0])))

    # Predicting.

    def decision_one(self, x: Any) -> float:
        """Return the sum of the votes; its sign is the label."""
        return float(self._scores(one_row(self._ready(), x))[0])

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one example."""
        return answers(self._ready()._entry, np.array([self.decision_one(x)]))[0].item()

    def decision_many(self, X: Any) -> Any:
        """Return the sum of the votes for each row; for a data frame, a series of its library."""
        return series_like(X, self._scores(many_rows(self._ready(), X)), "decision")

    def predict_many(self, X: Any) -> Any:
        """Predict the label of each row; for a data frame, a series of its library."""
        scores = self._scores(many_rows(self._ready(), X))
        return series_like(X, answers(self._ready()._entry, scores), "prediction")

    def _scores(self, columns: Any) -> Floats:
        """Return the sum of the votes for each row of a column-major table."""
        found, votes = self.classifiers, self.votes.tolist()
        if self.weak is not None:
            return summed(found, votes, as_rows(columns, len(self.features)))
        total = np.zeros(columns.shape[0])
        for stump, vote in zip(found, votes, strict=True):
            total += vote * stump.predict(columns)
        return total

    def risk(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return the fraction of these examples, which should be new, that it gets wrong.

        Parameters
        ----------
        X, y, target
            As in ``fit``.
        """
        rows = played(self._ready(), X, y, target).ledger.rows()
        assert rows is not None
        return float(np.mean(as_labels(rows.outcomes) * self._scores(by_columns(rows)) <= 0))

    def _first_votes(self, columns: Any) -> Floats:
        """Return the vote of the first classifier on each row."""
        if not len(self.votes):
            return np.zeros(columns.shape[0])
        said = predictions_of(self.classifiers[0], as_rows(columns, len(self.features)))
        return said if self.votes[0] > 0 else -said

    # Files.

    def save(self, path: str | Path) -> None:
        """Write the model to one file, if its classifiers are stumps."""
        if self.weak is not None:
            raise NoRegretError(
                f"classifiers of {type(self.weak).__name__} are code, which no model file holds",
                "pickle it, or boost stumps",
            )
        super().save(path)
