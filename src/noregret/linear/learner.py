"""What every learner can do, whatever its update."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from noregret.base.algorithm import Named
from noregret.base.registry import all_of
from noregret.linear.engine.block_rows import StreamEntry
from noregret.linear.learn_many import Many

if TYPE_CHECKING:
    from noregret.proof.game.game import Game
    from noregret.proof.theorems.evidence import Evidence

Floats = NDArray[np.float64]
L = TypeVar("L", bound="Learner")


class Measurement(NamedTuple):
    """The largest value of something a theorem may assume to be small.

    ``first_over`` is the first round in which it exceeded ``limit``, None if it never did.
    """

    largest: float
    limit: float
    first_over: int | None


class Learner(Named, Many):
    """A linear predictor that learns one example at a time.

    Named learners derive from this and pick an engine: loss × distance × domain × rate. Each
    stores its parameters under their own names.
    """

    # What it has learned.

    @property
    def weights(self) -> Floats:
        """The weights in the order of ``features``; their running mean for an averaged learner."""
        return self.current_weights()

    @property
    def features(self) -> list[str]:
        """The names of the features; columns of arrays are called "0", "1", …."""
        return list(self.known.names) or [str(i) for i in range(self.engine.size)]

    @property
    def rounds(self) -> int:
        """How many examples it has learned from."""
        return self.engine.played

    @property
    def total_loss(self) -> float:
        """The sum of the losses of all rounds, each of the prediction made before learning.

        For an averaged learner these are the losses of the weights being averaged.
        """
        return self.engine.total_loss

    @property
    def mistakes(self) -> int:
        """How many labels it got wrong before learning them; a zero score is wrong."""
        return self.engine.mistake_count

    @property
    def measured(self) -> dict[str, Measurement]:
        """What theorems assume, as measured: norms of x, the outcome and the gradient."""
        return {name: Measurement(*m) for name, m in self.engine.measured().items()}

    def watch(self, measure: str, limit: float) -> None:
        """Record the first round in which a measurement exceeds a limit (see ``measured``)."""
        if measure not in self.engine.measured():
            known = ", ".join(self.engine.measured())
            raise ValueError(f"unknown measurement {measure!r}: choose one of {known}")
        self.engine.watch(measure, limit)

    def accounts(self) -> dict[str, Floats]:
        """Return what its theorems need of its state when a game is over, by name."""
        kept = getattr(self.engine, "accounts", dict)
        return dict(kept())

    @property
    def caveat(self) -> str | None:
        """What to know before predicting many rows with it that nothing is learned from."""
        return None

    # Its games and copies.

    def new_game(self, **options: Any) -> Game:
        """Return a game for it to play in; the options are those of ``noregret.play``."""
        from noregret.proof.game.game import Game

        return Game(self, **options)

    def evidence_kind(self) -> type[Evidence]:
        """Return what its theorems look at when a game is over."""
        from noregret.proof.theorems.evidence import Evidence

        return Evidence

    def clone(self: L) -> L:
        """Return a fresh learner with the same parameters, which has learned nothing."""
        fresh = super().clone()
        if self.averaged_weights and not fresh.averaged_weights:
            fresh.engine.keep_mean()
        return fresh

    def to_onnx(self, path: str | Path | None = None, dtype: str = "float64") -> Any:
        """Return the model for other runtimes, as an ONNX model, where ``onnx`` is installed.

        Parameters
        ----------
        path
            A file to write it to.
        dtype
            ``float64``, or ``float32`` for runtimes that know nothing else.

        Notes
        -----
        The input ``X`` has a column for each of ``features``, in that order; a string is a column
        ``name=value`` of 0 and 1. Numbers come out as ``variable``; labels as ``label``, with
        ``probabilities`` where the loss is logistic, else with ``scores``.

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

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _INTERNAL]

    def __repr__(self) -> str:
        text = super().__repr__()
        return f"averaged({text})" if self.averaged_weights and "averaged" not in text else text


def all_learners() -> dict[str, type[Learner]]:
    """Return every learner class by name, in alphabetical order."""
    return cast("dict[str, type[Learner]]", all_of("learners"))


# What the compiled base classes offer to this package only: not for tab completion.
_PUBLIC = {"learn_one", "play_one", "predict_one", "decision_one", "get_state", "set_state"}
_INTERNAL = {name for name in dir(StreamEntry) if not name.startswith("__")} - _PUBLIC
