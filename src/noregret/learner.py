"""What every learner can do, whatever its update."""

from __future__ import annotations

import copy
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.core.flow import Flow
from noregret.many import Many

if TYPE_CHECKING:
    from noregret.theorem import Theorem

Floats = NDArray[np.float64]
L = TypeVar("L", bound="Learner")


class Measurement(NamedTuple):
    """The largest value of something a theorem may assume to be small.

    ``first_over`` is the first round in which it exceeded ``limit``, None if it never did.
    """

    largest: float
    limit: float
    first_over: int | None


class Learner(Many):
    """A linear predictor that learns one example at a time.

    Named learners derive from this and pick an engine: loss × distance × domain × rate. Each
    stores its parameters under their own names.
    """

    name: ClassVar[str]
    theorems: ClassVar[tuple[Theorem, ...]] = ()

    # What it has learned.

    @property
    def weights(self) -> Floats:
        """The weights in the order of ``features``; their running mean for an averaged learner."""
        return self.current_weights()

    @property
    def features(self) -> list[str]:
        """The names of the features; columns of arrays are called "0", "1", …."""
        return self.known.names or [str(i) for i in range(self.engine.size)]

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

    # Its parameters, copies and files.

    @classmethod
    def tuned(cls: type[L], theorem: str | None = None, **known: Any) -> L:
        """Build the learner with the parameters that a theorem asks for.

        Parameters
        ----------
        theorem
            Which of its theorems; the first that can do with what is known, if not given.
        **known
            What is known beforehand, such as ``radius``, ``lipschitz`` and ``horizon``:
            ``noregret theorems NAME`` says what a theorem takes.

        Examples
        --------
        >>> import noregret
        >>> noregret.GradientDescent.tuned(loss="hinge", radius=2.0, lipschitz=1.0, horizon=100)
        GradientDescent(loss='hinge', rate=2.0, schedule='horizon', horizon=100, radius=2.0)
        """
        from noregret.tuning import tuned_params

        return cls(**tuned_params(cls, theorem, known))

    @property
    def params(self) -> dict[str, Any]:
        """The parameters it was built with."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def clone(self: L) -> L:
        """Return a fresh learner with the same parameters, which has learned nothing."""
        fresh = type(self)(**self.params)
        if self.averaged_weights and not fresh.averaged_weights:
            fresh.engine.keep_mean()
        return fresh

    def copy(self: L) -> L:
        """Return a copy that goes on from here on its own."""
        return copy.deepcopy(self)

    def __deepcopy__(self: L, memo: dict[int, Any]) -> L:
        other = self.clone()
        other.set_state(*self.get_state())
        return other

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.params, self.get_state())

    def save(self, path: str | Path) -> None:
        """Write the model to one file: named arrays and a JSON header, no pickle.

        The file appears whole or not at all. ``noregret.load`` reads it back.
        """
        from noregret.model_file import save

        save(self, path)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _INTERNAL]

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        shown = ", ".join(
            f"{name}={value!r}"
            for name, value in self.params.items()
            if not (
                isinstance(value, type(defaults[name].default)) and value == defaults[name].default
            )
        )
        text = f"{type(self).__name__}({shown})"
        return f"averaged({text})" if self.averaged_weights and "averaged" not in shown else text


# What the compiled base classes offer to this package only: not for tab completion.
_PUBLIC = {"learn_one", "play_one", "predict_one", "decision_one", "get_state", "set_state"}
_INTERNAL = {name for name in dir(Flow) if not name.startswith("__")} - _PUBLIC


def _revive(kind: type[L], params: dict[str, Any], state: tuple[Any, Any, Any]) -> L:
    learner = kind(**params)
    learner.set_state(*state)
    return learner
