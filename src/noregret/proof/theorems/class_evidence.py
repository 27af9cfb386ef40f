"""Evidence for the theorems of learners over several classes: weights with a column per class."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from noregret.base.positions import Positions
from noregret.checks import positive
from noregret.hindsight import Answer, Margin, Rows
from noregret.hindsight.columns import Columns, without_empty_columns
from noregret.hindsight.losses import Losses
from noregret.hindsight.proofs.witness import (
    MAX_CAREFUL_NUMBERS,
    SHARP_SHARE,
    Paid,
    is_within,
    paid_for,
)
from noregret.hindsight.rows import score_error
from noregret.hindsight.several_classes import (
    HINGE,
    SOFTMAX,
    ClassLosses,
    ClassRows,
    best_classes,
    largest_class_margin,
)
from noregret.hindsight.solvers.triangular import careful_scores
from noregret.linear.engine.class_engine import ClassEngine
from noregret.proof.theorems.evidence import Evidence, Floats


class ClassEvidence(Evidence):
    """A game whose outcomes are classes; comparators are weights of the Frobenius norm."""

    @property
    def classes(self) -> int:
        """K, the number of classes that the learner knows."""
        engine = self.learner.engine
        assert isinstance(engine, ClassEngine)
        return engine.classes

    @property
    def labels(self) -> list[str]:
        """The classes, in order of appearance, as text."""
        return [str(label) for label in self.learner.classes]  # type: ignore[attr-defined]

    @property
    def used(self) -> tuple[Rows, Columns]:
        """The rows, and which columns they have: all if these are known by name."""
        rows = super().rows
        if not isinstance(self.names, Positions):
            return rows, np.arange(rows.shape[1])
        return self.once("used columns", lambda: without_empty_columns(rows))

    @property
    def rows(self) -> Rows:
        """All rows, without most columns that never occurred if columns have no names."""
        return self.used[0]

    def usual(self) -> Answer:
        """Return the best fixed weights of the learner's own ball, for its own loss."""
        if self.loss_name not in (SOFTMAX, HINGE):
            return self.separator()
        radius, told = self.params.get("radius"), self.given.get("radius")
        if radius is None and told is None:
            return self.as_long_as_the_last()
        return self.best_in_ball(positive("radius", told if radius is None else radius))

    def best_in_ball(self, radius: float) -> Answer:
        """Return the best weights of Frobenius norm at most the radius."""
        return self.once(
            ("ball", radius),
            lambda: best_classes(
                self.rows, self.loss_name, radius, classes=self.classes, limits=self.limits
            ),
        )

    def margin(self) -> Margin:
        """Return the largest margin γ of weights of Frobenius norm 1.

        A single class is compared with one that never occurs.
        """
        classes = max(2, self.classes)
        return self.once(
            "margin",
            lambda: largest_class_margin(self.rows, classes=classes, limits=self.limits),
        )

    def inseparable_after(self) -> int | None:
        """Return the first round after which no weights separate the classes, if proven."""
        limits = replace(self.limits, seconds=self.limits.seconds / 10)

        def fails(rows: Rows) -> bool:
            if len(np.unique(rows.outcomes)) < 2:
                return False
            return (
                largest_class_margin(rows, classes=self.classes, limits=limits).separable is False
            )

        return self.once("inseparable", lambda: self.first_round(fails))

    def separator(self) -> Answer:
        """Return the weights of the largest margin, or else the best found, by their mistakes."""
        if self.classes < 2:
            zeros = np.zeros(self.rows.shape[1] * self.classes)
            return Answer("all weights", 0.0, 0.0, zeros)
        if self.inseparable_after() is None and self.margin().separable:
            return self.fewest([self.margin().witness], "all weights", 0.0)
        hinge = best_classes(
            self.rows,
            HINGE,
            max(self.comparable_norm, 1.0),
            classes=self.classes,
            limits=self.limits,
        )
        least = 0.0 if self.inseparable_after() is None else 1.0
        return self.fewest([hinge.witness], "all weights, best found", least)

    def fewest(self, tried: list[Floats], words: str, least: float) -> Answer:
        """Return the weights with the fewest mistakes of those tried."""
        counts = [float(self.mistakes_of(w)) for w in tried]
        best = int(np.argmin(counts))
        return Answer(words, counts[best], min(least, counts[best]), tried[best])

    def mistakes_of(self, weights: Floats) -> int:
        """Return the mistakes of fixed weights, counting any doubtful round."""
        rows = ClassRows(self.rows, self.classes)
        scores, off = (
            each.reshape(-1, self.classes)
            for each in (rows.scores(weights), score_error(rows, weights))
        )
        at = np.arange(len(scores)), rows.codes
        own, doubt = scores[at], off[at]
        rivals = scores + off
        rivals[at] = -np.inf
        return int(np.count_nonzero(~(own - doubt > rivals.max(axis=1))))

    # The witness of a certificate.

    @property
    def weight_names(self) -> list[str]:
        """The name of every weight: class and feature, in quotes if plain ones are ambiguous."""
        names, labels, columns = self.names, self.labels, self.used[1]
        if isinstance(names, Positions):
            names = [names.name(int(at)) for at in columns if at < len(names)]
        plain = [f"{label}: {name}" for name in names for label in labels]
        if len(set(plain)) == len(plain):
            return plain
        quote = partial(json.dumps, ensure_ascii=False)
        return [f"{quote(label)}: {quote(name)}" for name in names for label in labels]

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Name the weights of the best in hindsight: class and feature."""
        names = self.weight_names
        return dict(zip(names, answer.witness[: len(names)].tolist(), strict=True))

    def weights_of(self, witness: Mapping[str, float]) -> Floats | None:
        """Return the weights of a witness; None if it is about other features or classes."""
        names = self.weight_names
        if set(witness) != set(names):
            return None
        made = np.zeros(self.rows.shape[1] * self.classes)
        made[: len(names)] = [witness[name] for name in names]
        return made

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness is about these features and classes, and of its class."""
        return self.weights_of(witness) is not None and is_within(witness, comparator)

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class of weights holds for the stated one."""
        return stated == found

    def searched_at(self, witness: Mapping[str, float]) -> tuple[Floats, Rows, Losses] | None:
        """Return weights, and the rows and losses of their search; None if that is of others."""
        weights = self.weights_of(witness)
        if weights is None or self.loss_name not in (SOFTMAX, HINGE):
            return None
        rows = ClassRows(self.rows, self.classes)
        return weights, rows, ClassLosses(self.loss_name, rows)

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return the loss of a witness, from the rows alone; None if it has other features."""
        weights = self.weights_of(witness)
        if weights is None:
            return None
        if self.loss_name not in (SOFTMAX, HINGE):
            return Paid(float(self.mistakes_of(weights)), 0.0)
        rows = ClassRows(self.rows, self.classes)
        losses = ClassLosses(self.loss_name, rows)
        paid = paid_for(losses, rows.scores(weights), score_error(rows, weights))
        numbers = len(self.rows.outcomes) * len(weights)
        if paid.rounding > SHARP_SHARE * paid.loss and numbers <= MAX_CAREFUL_NUMBERS:
            columns = weights.reshape(-1, self.classes).T
            sharp = [careful_scores(self.rows, column) for column in columns]
            scores, doubt = (np.stack(each, axis=1).ravel() for each in zip(*sharp, strict=True))
            paid = min(paid, paid_for(losses, scores, doubt), key=lambda each: each.rounding)
        return Paid(paid.loss, paid.rounding + 1e-15 * abs(paid.loss))
