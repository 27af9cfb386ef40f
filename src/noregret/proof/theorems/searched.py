"""Tell whether a figure of a theorem depends on where a search stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from noregret.hindsight import Rows
from noregret.hindsight.kernel_rows import KernelRows
from noregret.hindsight.proofs.answer import Answer, is_rounding
from noregret.hindsight.solvers.square import LeastSquares

# Given by the examples, or sums over them.
GIVEN = Rows, KernelRows, LeastSquares, float


class Asked(dict[Any, Any]):
    """Answers of hindsight that record whether one was used that is no closed form.

    Rows and sums over them are given. Floats are left out, so that they are computed again from
    what they need, which may be a search. A closed form that lost its digits
    depends on how its sums were rounded, as a search does.

    Parameters
    ----------
    answers
        The answers known.
    energy
        The sum of the outcomes' squares, for the square loss.
    """

    def __init__(self, answers: Mapping[Any, Any], energy: float | None) -> None:
        super().__init__({k: v for k, v in answers.items() if type(v) is not float})
        self.energy, self.searched = energy, False

    def __getitem__(self, key: Any) -> Any:
        answer = super().__getitem__(key)
        self.searched |= not self.is_given(answer)
        return answer

    def is_given(self, answer: Any) -> bool:
        """Return whether an answer is the same wherever a search stops."""
        if isinstance(answer, Answer):
            return answer.exact and is_rounding(answer.gap, answer.loss, self.energy)
        parts = answer if isinstance(answer, tuple) else (answer,)
        return isinstance(parts[0], GIVEN) or getattr(answer, "exact", False)


def is_searched(
    evidence: Callable[[dict[Any, Any]], Any],
    answers: Mapping[Any, Any],
    ask: Callable[[Any], Any],
) -> bool:
    """Return whether a figure depends on where a search stopped.

    Parameters
    ----------
    evidence
        Returns the evidence of a game, given a cache of answers.
    answers
        The answers known.
    ask
        Computes the figure from evidence.
    """
    asked = Asked(answers, evidence(dict(answers)).energy)
    ask(evidence(asked))
    return asked.searched
