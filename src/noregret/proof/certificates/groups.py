"""The part of a certificate that is about groups: the best predictor of each key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noregret.proof.certificates.certificate import Interval, number


@dataclass(frozen=True)
class BestPerKey:
    """The best fixed predictor of each key in hindsight, summed over the keys.

    Attributes
    ----------
    comparator
        The class of predictors that each key chooses from.
    loss, gap
        The sum of the losses of the best found; no choice of predictors has less than ``loss`` −
        ``gap``.
    exact
        True if every key has a closed form, so that the gap is rounding only.
    reached
        The keys that were searched; of the others, it is only known that no loss is below 0.
    seconds
        The time limit, if it stopped the search.
    """

    comparator: str
    loss: float
    gap: float
    exact: bool
    reached: int
    seconds: float | None = None


@dataclass(frozen=True)
class SummedPromise:
    """A theorem about the game of each key, summed over the keys.

    ``keys`` is the number of keys whose games met its assumptions. The bound is known only if all
    did.
    """

    name: str
    quantity: str
    measured: float | None
    bound: float | None
    holds: bool | None
    keys: int


@dataclass(frozen=True)
class Grouped:
    """The figures of a game with one learner per key.

    Attributes
    ----------
    columns
        The columns that name the key of each row; empty if the keys were given otherwise.
    keys
        The number of keys.
    digest
        A digest of the key of every row, in order.
    hindsight, regret
        The best predictor per key, and the regret against it.
    theorem
        The promise of the learner's theorem, summed over the keys; None if it has none.
    """

    columns: tuple[str, ...]
    keys: int
    digest: str
    hindsight: BestPerKey
    regret: Interval
    theorem: SummedPromise | None

    def to_dict(self) -> dict[str, Any]:
        """Return the part of the file."""
        best, made = self.hindsight, dict[str, Any]()
        if self.columns:
            made["columns"] = list(self.columns)
        found: dict[str, Any] = {
            "class": best.comparator,
            "loss": best.loss,
            "gap": number(best.gap),
            "exact": best.exact,
            "reached": best.reached,
        }
        if best.seconds is not None:
            found["seconds"] = best.seconds
        promise = self.theorem
        return made | {
            "keys": self.keys,
            "digest": self.digest,
            "hindsight": found,
            "regret": {"lower": self.regret.lower, "upper": number(self.regret.upper)},
            "theorem": None
            if promise is None
            else {
                "name": promise.name,
                "quantity": promise.quantity,
                "measured": number(promise.measured),
                "bound": number(promise.bound),
                "holds": promise.holds,
                "keys": promise.keys,
            },
        }

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> Grouped:
        """Return the figures from their part of a checked file."""
        best, regret, promise = (contents[part] for part in ("hindsight", "regret", "theorem"))
        return cls(
            tuple(contents.get("columns", ())),
            contents["keys"],
            contents["digest"],
            BestPerKey(
                best["class"],
                best["loss"],
                math.inf if best["gap"] is None else best["gap"],
                best["exact"],
                best["reached"],
                best.get("seconds"),
            ),
            Interval(regret["lower"], math.inf if regret["upper"] is None else regret["upper"]),
            None if promise is None else SummedPromise(**promise),
        )
