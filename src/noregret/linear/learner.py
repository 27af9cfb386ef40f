"""The base class of all linear learners."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from noregret.base.algorithm import Named
from noregret.base.registry import all_of
from noregret.errors import NoRegretError
from noregret.linear import learn_many
from noregret.linear.data_frames import frame_like, series_like
from noregret.linear.engine.engine import Engine
from noregret.linear.engine.entry import ExampleCalls
from noregret.linear.inputs import row_count

if TYPE_CHECKING:
    from noregret.linear.class_learner import ClassLearner
    from noregret.proof.game.game import Game
    from noregret.proof.theorems.evidence import Evidence

Floats = NDArray[np.float64]
L = TypeVar("L", bound="Learner")


class Measurement(NamedTuple):
    """The largest value of a quantity that theorems bound.

    ``first_over`` is the first round in which it exceeded ``limit``, None if it never did.
    """

    largest: float
    limit: float
    first_over: int | None


class Learner(Named, ExampleCalls):
    """A linear predictor that learns one example at a time.

    Named learners derive from this and pick an engine: loss × distance × domain × rate. Each
    stores its parameters under their own names. Examples reach the engine through the learner's
    entry, one at a time here and in blocks by ``noregret.linear.learn_many``.
    """

    # Whether outcomes are any number of classes.
    _of_classes: ClassVar[bool] = False
    # The name of the learner that estimators use for more than two classes; if None, they use one
    # per class.
    _for_classes: ClassVar[str | None] = None
    # True if there are no weights to measure the comparators in hindsight by.
    _weightless: ClassVar[bool] = False

    @property
    def engine(self) -> Engine:
        """The engine: loss, weights and update."""
        return self._entry.engine

    # Many examples. For one there are the compiled learn_one, predict_one and others.

    def learn_many(self, X: Any, y: Any, importance: Any = None) -> None:
        """Learn from many examples, in order: the same as ``learn_one`` for each.

        Parameters
        ----------
        X
            A 2-d array, a SciPy sparse matrix, a data frame (pandas, polars, Arrow, …) or a list
            of dicts.
        y
            One outcome per row.
        importance
            The weight of each row, by default 1. A row of importance k counts as k rows: in one
            implicit step if the learner has it, else as k copies for whole numbers only.

        Notes
        -----
        If a row is refused, the rows before it have been learned, and it and those after it have
        not; the exception's ``round`` is its round.
        """
        learn_many.learn(self._entry, X, y, importance)

    def play_many(self, X: Any, y: Any) -> Any:
        """Predict, then learn, row by row; return the predictions, each made before its outcome."""
        scores = np.empty(row_count(X))
        learn_many.play(self._entry, X, y, scores)
        return series_like(X, learn_many.answers(self._entry, scores), "prediction")

    def predict_many(self, X: Any) -> Any:
        """Predict the outcome of every row; the learner does not change."""
        scores = learn_many.scores_of(self._entry, X)
        return series_like(X, learn_many.answers(self._entry, scores), "prediction")

    def decision_many(self, X: Any) -> Any:
        """Return the score w·x of every row.

        Like all predictions for many rows, this is an array; for a data frame, a series of its
        library, with its index.
        """
        return series_like(X, learn_many.scores_of(self._entry, X), "decision")

    # Probabilities.

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label; for the logistic loss only."""
        self._check_probable()
        positive = float(_sigmoid(np.float64(self.decision_one(x))))
        low, high = learn_many.label_pair(self._entry)
        return {low: 1.0 - positive, high: positive}

    def predict_proba_many(self, X: Any) -> Any:
        """Return an array of two columns, the probabilities of the negative and positive label.

        For a data frame, a frame of its library with one column per label.
        """
        self._check_probable()
        positive = _sigmoid(learn_many.scores_of(self._entry, X))
        labels = learn_many.label_pair(self._entry)
        return frame_like(X, labels, np.column_stack([1.0 - positive, positive]))

    def _check_probable(self) -> None:
        if self.engine.loss.name != "logistic":
            raise NoRegretError(
                f"the {self.engine.loss.name} loss gives scores, not probabilities",
                "use the logistic loss, or decision_one",
            )

    # Results.

    @property
    def weights(self) -> Floats:
        """The weights in the order of ``features``; their running mean for an averaged learner."""
        return self._entry.current_weights()

    @property
    def features(self) -> list[str]:
        """The names of the features; columns of arrays are called "0", "1", …."""
        return list(self._entry.known.names) or [str(i) for i in range(self.engine.size)]

    @property
    def rounds(self) -> int:
        """The number of examples learned."""
        return self.engine.played

    @property
    def total_loss(self) -> float:
        """The sum of the losses of all rounds, each predicted before it was learned.

        For an averaged learner these are the losses of the weights being averaged.
        """
        return self.engine.total_loss

    @property
    def mistakes(self) -> int:
        """The number of labels predicted wrongly before learning them; a zero score is wrong."""
        return self.engine.mistake_count

    @property
    def measured(self) -> dict[str, Measurement]:
        """Quantities that theorems bound, as measured: norms of x, the outcome and the gradient."""
        return {name: Measurement(*m) for name, m in self.engine.measured().items()}

    def watch(self, measure: str, limit: float) -> None:
        """Record the first round in which a measurement exceeds a limit (see ``measured``)."""
        if measure not in self.engine.measured():
            known = ", ".join(self.engine.measured())
            raise ValueError(f"unknown measurement {measure!r}: choose one of {known}")
        try:
            self.engine.watch(measure, limit)
        except OverflowError:
            raise ValueError("a limit is a number of at most 1.8e308") from None

    # For games and commands.

    def _accounts(self) -> dict[str, Floats]:
        """Return the parts of the state that its theorems need after a game, by name."""
        kept = getattr(self.engine, "accounts", dict)
        return dict(kept())

    def _notes(self) -> tuple[str, ...]:
        """Return what certificates say of examples besides their numbers: what became of raw ones.

        That is the preparation of a model of files, or missing values and times in dicts.
        """
        prepare, known = self._entry.prepare, self._entry.known
        if prepare is not None:
            return tuple(prepare.transforms)
        gaps = ("missing=indicator",) if known.gaps else ()
        return (*(f"time={name}" for name in sorted(known.times or ())), *gaps)

    @property
    def _caveat(self) -> str | None:
        """A caveat for predicting many rows without learning from them."""
        return None

    def _evidence_kind(self) -> type[Evidence]:
        """Return the evidence for its theorems after a game."""
        from noregret.proof.theorems.evidence import Evidence

        return Evidence

    def _new_game(self, **options: Any) -> Game:
        """Return a game for this learner; the options are those of ``noregret.play``."""
        from noregret.proof.game.game import Game

        return Game(self, **options)

    # Copies and files.

    def get_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any], list[str]]:
        """Return the state: (arrays, numbers, names)."""
        return self._entry.get_state()

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state, or raise ValueError if it does not fit."""
        self._entry.set_state(arrays, numbers, names)

    def __deepcopy__(self: L, memo: dict[int, Any]) -> L:
        other = super().__deepcopy__(memo)
        return other._take_preparation(self._kept_preparation())

    def __reduce__(self) -> tuple[Any, ...]:
        revive, found = super().__reduce__()
        kept = self._kept_preparation()
        return (revive, found) if kept is None else (_revive_prepared, (revive, found, kept))

    def _kept_preparation(self) -> Any:
        """Return how raw rows are prepared, as named arrays and JSON; None if they are not."""
        prepare = self._entry.prepare
        return None if prepare is None else prepare.kept(self.get_state()[2])

    def _take_preparation(self: L, kept: Any) -> L:
        """Prepare raw rows from now on."""
        if kept is not None:
            from noregret.streams.preparing import Preparing

            arrays, numbers = kept
            self._entry.prepare = Preparing(arrays, numbers, self.get_state()[2])
        return self

    def clone(self: L) -> L:
        """Return an untrained learner with the same parameters.

        It takes raw rows if ``streams.prepared`` has made this one take them.
        """
        fresh = super().clone()
        if self._entry.prepare is not None:
            fresh._entry.prepare = self._entry.prepare.renewed()
        if self.engine.mean_kept and not fresh.engine.mean_kept:
            fresh.engine.keep_mean()
        return fresh

    def to_onnx(self, path: str | Path | None = None, dtype: str = "float64") -> Any:
        """Return the model as an ONNX model for other runtimes; needs the package ``onnx``.

        Parameters
        ----------
        path
            The file to write, if any.
        dtype
            ``float64``, or ``float32`` for runtimes that support nothing else.

        Notes
        -----
        The input ``X`` has one column per feature, in the order of ``features``; a string is a
        column ``name=value`` of 0 and 1. The output is ``variable`` for numbers; ``label`` for
        labels, with ``probabilities`` for the logistic and the softmax loss, else with
        ``scores``.

        Examples
        --------
        >>> import noregret
        >>> learner = noregret.Logistic()
        >>> learner.learn_one({"sun": 1.0}, True)
        >>> [output.name for output in learner.to_onnx().graph.output]
        ['label', 'probabilities']
        """
        from noregret.linear.onnx import to_onnx

        return to_onnx(self, self, path, dtype)

    def __repr__(self) -> str:
        text = super().__repr__()
        return f"averaged({text})" if self.engine.mean_kept and "averaged" not in text else text


def _revive_prepared(revive: Any, found: Any, kept: Any) -> Any:
    return revive(*found)._take_preparation(kept)


def is_of_classes(learner: Learner) -> TypeGuard[ClassLearner]:
    """Return whether a learner is one of several classes, without loading these."""
    return learner._of_classes


def all_learners() -> dict[str, type[Learner]]:
    """Return every learner class by name, in alphabetical order."""
    return cast("dict[str, type[Learner]]", all_of("learners"))


def _sigmoid(score: Any) -> Any:
    return np.exp(-np.logaddexp(0.0, -score))
