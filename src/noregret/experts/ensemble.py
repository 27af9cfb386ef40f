"""Learners and functions as experts, combined by a master.

experts = Experts({"slow": WidrowHoff(rate=0.01), "fast": WidrowHoff(rate=0.1)}, master=AdaHedge())
for x, y in stream:
    guess = experts.predict_one(x)
    experts.learn_one(x, y)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.machine import Inside
from noregret.base.display import as_text
from noregret.base.model_file import preparation
from noregret.errors import BadExample, NoRegretError
from noregret.experts.master import Master
from noregret.experts.masters.ada_hedge import AdaHedge
from noregret.experts.members import LearningMember, Member, each_row, member_of
from noregret.linear import inputs

if TYPE_CHECKING:
    from noregret.experts.ensemble_game import EnsembleGame

Floats = NDArray[np.float64]
Settle = Callable[[Floats, Floats], None]


class Experts:
    """Learners or functions of an example, combined by a master.

    Each predicts every outcome in advance, the master combines the predictions, then all of them
    learn. A member that diverges, or rejects an example that others accept, sleeps from then on.

    Parameters
    ----------
    members
        Learners and functions ``f(x) -> number``: a dict by name, or a list. They are kept in the
        order of their names.
    master
        The master that combines them; by default ``AdaHedge()``.

    Notes
    -----
    With the log loss, members give the probability of the positive label, as logistic learners do.
    With the zero-one loss and masters that vote, they vote 0 or 1. Outcomes are then 1 for the
    positive label and 0 for the other. Otherwise they give their predictions.

    Examples
    --------
    >>> from noregret import WidrowHoff
    >>> experts = Experts({"slow": WidrowHoff(rate=0.01), "fast": WidrowHoff(rate=0.5)})
    >>> for _ in range(50):
    ...     experts.learn_one({"size": 1.0}, 2.0)
    >>> {name: round(weight, 2) for name, weight in experts.weights.items()}
    {'fast': 1.0, 'slow': 0.0}
    >>> experts.add("always two", lambda x: 2.0)
    >>> round(experts.predict_one({"size": 1.0}), 3)
    2.0
    """

    _unrecorded = ("add", "play_many")
    _is_ensemble = True  # for code that must not load this module to know

    def __init__(
        self,
        members: Mapping[str, Any] | Iterable[Any],
        master: Master | None = None,
    ) -> None:
        master = AdaHedge() if master is None else master
        if not isinstance(master, Master):
            raise TypeError(f"master must be a master, such as AdaHedge(): got {master!r}")
        if master.rounds or master.width:
            raise ValueError("the master has experts already: pass an untrained one")
        named = members if isinstance(members, Mapping) else _named(members)
        if not named:
            raise ValueError("there are no experts to combine")
        self.master = master
        self.members: dict[str, Member] = {
            str(name): member_of(member, master)
            for name, member in sorted(named.items(), key=lambda pair: str(pair[0]))
        }
        if len(self.members) < len(named):
            raise ValueError("two experts have the same name")
        master.check_names(list(self.members))

    # Figures.

    @property
    def rounds(self) -> int:
        """The number of examples learned."""
        return self.master.rounds

    @property
    def total_loss(self) -> float:
        """Cumulative loss of the mixture."""
        return self.master.total_loss

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each member in the next round."""
        awake = [member.retired is None for member in self.members.values()]
        found = self.master.weights(awake if not all(awake) and any(awake) else None)
        return dict(zip(self.members, found.tolist(), strict=True))

    @property
    def retired(self) -> dict[str, str]:
        """The members that sleep after an error, and the error."""
        return {name: m.retired for name, m in self.members.items() if m.retired is not None}

    @property
    def losses(self) -> dict[str, float]:
        """Cumulative loss of each member; a member asleep is charged the mixture's loss."""
        return dict(zip(self.members, self.master.expert_losses.tolist(), strict=True))

    def __getitem__(self, name: str) -> Any:
        return self.members[name].who

    # Playing.

    def predict_one(self, x: Any) -> float:
        """Predict the outcome of one example; nothing changes."""
        return self.master.predict_one(np.array([m.says_one(x) for m in self.members.values()]))

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example: the master and every member."""
        self.play_one(x, y, self.settle)

    def play_one(self, x: Any, y: Any, settle: Settle) -> None:
        """Predict and learn with every member; ``settle`` passes the predictions to the master."""
        outcome = np.array([self.outcome_of(y)])
        said = [[member.says_one(x) for member in self.members.values()]]
        with Inside():  # so that after a fork, master and members have learned the same rounds
            settle(np.array(said, dtype=np.float64), outcome)
            for member in self.members.values():
                member.learn_one(x, y)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn from many examples in order: the same as ``learn_one`` for each.

        Parameters
        ----------
        X
            As for learners: a 2-d array, a sparse matrix, a data frame, a list of dicts.
        y
            One outcome per row.
        """
        self.play_many(X, y, self.settle)

    def play_many(self, X: Any, y: Any, settle: Settle) -> None:
        """Play many examples with every member; ``settle`` passes predictions to the master."""
        rows = inputs.row_count(X)
        labels = np.asarray(y)
        if labels.shape != (rows,):
            raise BadExample(f"{rows} rows, but {labels.size} outcomes")
        if not rows:
            return
        with Inside():
            self._play_rows(X, labels, settle)

    def _play_rows(self, X: Any, labels: NDArray[Any], settle: Settle) -> None:
        """Play a nonempty block of examples with every member."""
        before = {name: member.copy() for name, member in self.members.items()}
        try:
            outcomes = np.array([self.outcome_of(label) for label in labels.tolist()])
            said = [member.play_many(X, labels) for member in self.members.values()]
            advice = np.column_stack(said)
            self.master.copy().play_block(advice, outcomes, None)
        except BaseException as error:
            self.members = before
            if not isinstance(error, NoRegretError):
                raise
            # Repeat round by round, to raise the error at its round.
            for x, label in zip(each_row(X), labels.tolist(), strict=True):
                self.play_one(x, label, settle)
            return
        settle(advice, outcomes)

    def settle(self, advice: Floats, outcomes: Floats) -> None:
        """Pass predictions and outcomes to the master."""
        self.master.play_block(advice, outcomes, None)

    def outcome_of(self, y: Any) -> float:
        """Return an outcome in the master's coding."""
        first = next((m for m in self.members.values() if isinstance(m, LearningMember)), None)
        prepare = None if first is None else preparation(first.who)
        if prepare is not None:  # raw rows, whose outcomes may be names of classes
            y = prepare.outcome(y, self.rounds + 1)
        try:
            value = float(y)
        except (TypeError, ValueError):
            raise BadExample(f"the outcome {y!r} is not a number", round=self.rounds + 1) from None
        if self.master._round.cost.name not in ("log", "zero-one"):
            return value
        if value not in (-1.0, 0.0, 1.0):
            raise BadExample(
                f"the outcome is {y!r}: labels are 1, and −1 or 0", round=self.rounds + 1
            )
        return max(0.0, value)

    def add(self, name: str, member: Any, share: float | None = None) -> None:
        """Add a member while running; it counts as asleep until now.

        Parameters
        ----------
        name
            Its name.
        member
            A learner, trained or not, or a function.
        share
            Its part of the prior, between 0 and 1; by default an equal part.
        """
        made = member_of(member, self.master)
        self.master.add_expert(name, share)
        self.members[name] = made

    def _new_game(self, **options: Any) -> EnsembleGame:
        """Return a game; the options are those of ``noregret.play``."""
        from noregret.experts.ensemble_game import EnsembleGame

        return EnsembleGame(self, **options)

    def save(self, path: str | Path) -> None:
        """Write the master and all members to one file, which ``noregret.load`` reads.

        Functions cannot be written.
        """
        from noregret.experts.ensemble_file import save

        save(self, path)

    def copy(self) -> Experts:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def _repr_html_(self) -> str:
        return as_text("experts card", self)

    def __repr__(self) -> str:
        return f"Experts({', '.join(self.members)}; master={self.master!r})"


def _named(members: Iterable[Any]) -> dict[str, Any]:
    """Name members by their kind, with numbers if several are the same."""
    found: dict[str, Any] = {}
    for member in members:
        base = str(getattr(member, "name", None) or getattr(member, "__name__", "expert"))
        name, number = base, 1
        while name in found:
            number += 1
            name = f"{base} {number}"
        found[name] = member
    return found
