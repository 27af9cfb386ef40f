"""A vote of classifiers: what has been found, how it predicts, and how it is kept."""

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
from noregret.batch.weak import WeakLearner, said_by, summed
from noregret.errors import NoRegretError
from noregret.hindsight.losses import as_labels
from noregret.linear.data_frames import series_like
from noregret.linear.learn_many import answers

Floats = NDArray[np.float64]


class Vote(Batch):
    """A batch method that finds classifiers, stumps or those of a weak learner, and their votes."""

    members: int
    weak: WeakLearner | None

    def check_found(self, found: Solution) -> None:
        """Raise ValueError where what a file says was found makes no sense."""
        kinds = {*FIGURES, *(PARTS if self.weak is None else ["classifiers"])}
        if found.arrays.keys() != kinds:
            raise ValueError(f"expected the arrays {sorted(kinds)}")
        members = (found.arrays["votes"].size,)
        if any(array.shape != members for array in found.arrays.values()):
            raise ValueError("there is not one of everything for each member")
        if not np.isfinite(found.arrays["votes"]).all():
            raise ValueError("a vote is not finite")
        if self.weak is None:
            check_arrays(found.arrays, len(found.weights))

    # What it has learned.

    @property
    def weights(self) -> Floats:
        """Refused: a vote of classifiers is not linear in the features."""
        raise NoRegretError(
            "ada-boost is a vote of classifiers, without weights of features: classifiers, votes"
            " and feature_use say what it has learned"
        )

    @property
    def votes(self) -> Floats:
        """Weight of each classifier's vote; negative if its vote is inverted."""
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
        """ε_t: the weight of what each got wrong when it was found."""
        errors: Floats = self.solution.arrays["errors"].copy()
        return errors

    @property
    def staged_mistakes(self) -> list[int]:
        """Mistakes of the vote of the first classifier, of the first two, and so on."""
        found: list[int] = self.solution.arrays["mistakes"].tolist()
        return found

    @property
    def stopped(self) -> str:
        """Why fewer classifiers vote than were asked for; empty where they do not."""
        if np.isneginf(self.solution.arrays["factors"]).any():
            return PERFECT
        return USELESS if len(self.votes) < self.members else ""

    @property
    def feature_use(self) -> dict[str, float]:
        """The share of the votes that looks at each feature; those that none looks at are left out.

        Of stumps only; one that says the same everywhere looks at none.
        """
        if self.weak is not None:
            raise NoRegretError("only stumps say which feature they look at")
        total, use = float(np.abs(self.votes).sum()), dict[str, float]()
        for stump, vote in zip(self.classifiers, self.votes.tolist(), strict=True):
            if stump.threshold > -math.inf:
                name = self.features[stump.feature]
                use[name] = use.get(name, 0.0) + abs(vote) / total
        return dict(sorted(use.items(), key=lambda item: (-item[1], item[0])))

    # Predicting.

    def decision_one(self, x: Any) -> float:
        """Return the sum of the votes; its sign is the label."""
        return float(self.scores(one_row(self.ready(), x))[0])

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one example."""
        return answers(self.ready()._entry, np.array([self.decision_one(x)]))[0].item()

    def decision_many(self, X: Any) -> Any:
        """Return the sum of the votes for every row: a series of its own library for a frame."""
        return series_like(X, self.scores(many_rows(self.ready(), X)), "decision")

    def predict_many(self, X: Any) -> Any:
        """Predict the label of every row: a series of its own library for a frame."""
        scores = self.scores(many_rows(self.ready(), X))
        return series_like(X, answers(self.ready()._entry, scores), "prediction")

    def scores(self, columns: Any) -> Floats:
        """Return the sum of the votes for every row of a table that is read by columns."""
        found, votes = self.classifiers, self.votes.tolist()
        if self.weak is not None:
            return summed(found, votes, as_rows(columns, len(self.features)))
        total = np.zeros(columns.shape[0])
        for stump, vote in zip(found, votes, strict=True):
            total += vote * stump.predict(columns)
        return total

    def risk(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return the share of these examples, which should be new to it, that it gets wrong.

        Parameters
        ----------
        X, y, target
            As in ``fit``.
        """
        rows = played(self.ready(), X, y, target).ledger.rows()
        assert rows is not None
        return float(np.mean(as_labels(rows.outcomes) * self.scores(by_columns(rows)) <= 0))

    def first_said(self, columns: Any) -> Floats:
        """Return what the first classifier says, or against whom it votes, of every row."""
        if not len(self.votes):
            return np.zeros(columns.shape[0])
        said = said_by(self.classifiers[0], as_rows(columns, len(self.features)))
        return said if self.votes[0] > 0 else -said

    # Files.

    def save(self, path: str | Path) -> None:
        """Write the model to one file, where its classifiers are stumps."""
        if self.weak is not None:
            raise NoRegretError(
                f"a vote of {type(self.weak).__name__} is code, which no file of noregret holds",
                "pickle it, or boost stumps",
            )
        super().save(path)
