"""Learners and functions side by side, combined by a master.

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
from noregret.errors import BadExample, NoRegretError
from noregret.experts.master import Master
from noregret.experts.masters.ada_hedge import AdaHedge
from noregret.experts.members import Member, each_row, member_of
from noregret.linear import inputs

if TYPE_CHECKING:
    from noregret.experts.ensemble_game import EnsembleGame

Floats = NDArray[np.float64]
Settle = Callable[[Floats, Floats], None]


class Experts:
    """Learners, or functions of an example, that predict side by side; a master mixes them.

    Each predicts every outcome before it is seen, the master combines what they say, then all of
    them learn. A member that diverges, or refuses what the others take, sleeps from then on.

    Parameters
    ----------
    members
        Learners and functions ``f(x) -> number``: a dict by name, or a list. They are kept in the
        order of their names.
    master
        Who combines them; ``AdaHedge()`` if not given.

    Notes
    -----
    With the log loss, members say how likely the positive label is: logistic learners their
    probability. With the zero-one loss and masters that vote, they say 0 or 1. Otherwise they say
    what they predict. Outcomes are then 1 for the positive label and 0 for the other.

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

    def __init__(
        self,
        members: Mapping[str, Any] | Iterable[Any],
        master: Master | None = None,
    ) -> None:
        master = AdaHedge() if master is None else master
        if not isinstance(master, Master):
            raise TypeError(f"a master combines experts, such as AdaHedge(): got {master!r}")
        if master.rounds or master.width:
            raise ValueError("the master has experts already: give a fresh one")
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

    # What there is to know.

    @property
    def rounds(self) -> int:
        """Number of examples learned."""
        return self.master.rounds

    @property
    def total_loss(self) -> float:
        """Cumulative loss of the mixture."""
        return self.master.total_loss

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every member in the next round."""
        awake = [member.retired is None for member in self.members.values()]
        found = self.master.weights(awake if not all(awake) and any(awake) else None)
        return dict(zip(self.members, found.tolist(), strict=True))

    @property
    def retired(self) -> dict[str, str]:
        """The members that sleep since something stopped them, and what that was."""
        return {name: m.retired for name, m in self.members.items() if m.retired is not None}

    @property
    def losses(self) -> dict[str, float]:
        """Cumulative loss of every member; a member asleep is charged the mixture's loss."""
        return dict(zip(self.members, self.master.expert_losses.tolist(), strict=True))

    def __getitem__(self, name: str) -> Any:
        return self.members[name].who

    # Playing.

    def predict_one(self, x: Any) -> float:
        """Predict the outcome of one example; nothing changes."""
        return self.master.predict_one(np.array([m.says_one(x) for m in self.members.values()]))

    def learn_one(self, x: Any, y: Any) -> None:
        """Show the outcome of one example to the master and to every member."""
        self.play_one(x, y, self.settle)

    def play_one(self, x: Any, y: Any, settle: Settle) -> None:
        """Let every member predict, then learn; ``settle`` passes the predictions to the master."""
        outcome = np.array([self.outcome_of(y)])
        said = [[member.says_one(x) for member in self.members.values()]]
        with Inside():  # no copy of the process has a master that is a round ahead of its members
            settle(np.array(said, dtype=np.float64), outcome)
            for member in self.members.values():
                member.learn_one(x, y)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn from many examples in order: the same as ``learn_one`` for each.

        Parameters
        ----------
        X
            Whatever learners take: a 2-d array, a sparse matrix, a data frame, a list of dicts.
        y
            One outcome a row.
        """
        self.play_many(X, y, self.settle)

    def play_many(self, X: Any, y: Any, settle: Settle) -> None:
        """Let every member play many examples; ``settle`` passes predictions to the master."""
        rows = inputs.row_count(X)
        labels = np.asarray(y)
        if labels.shape != (rows,):
            raise BadExample(f"{rows} rows, but {labels.size} outcomes")
        if not rows:
            return
        with Inside():
            self._play_rows(X, labels, settle)

    def _play_rows(self, X: Any, labels: NDArray[Any], settle: Settle) -> None:
        """Let every member play a nonempty block of examples."""
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
            # Somewhere on the way: find out where, round by round.
            for x, label in zip(each_row(X), labels.tolist(), strict=True):
                self.play_one(x, label, settle)
            return
        settle(advice, outcomes)

    def settle(self, advice: Floats, outcomes: Floats) -> None:
        """Show the master what was said, and what happened."""
        self.master.play_block(advice, outcomes, None)

    def outcome_of(self, y: Any) -> float:
        """Return an outcome as the master counts it."""
        try:
            value = float(y)
        except (TypeError, ValueError):
            raise BadExample(f"the outcome {y!r} is no number", round=self.rounds + 1) from None
        if self.master._round.cost.name not in ("log", "zero-one"):
            return value
        if value not in (-1.0, 0.0, 1.0):
            raise BadExample(
                f"the outcome is {y!r}: labels are −1 or 0, and 1", round=self.rounds + 1
            )
        return max(0.0, value)

    def add(self, name: str, member: Any, share: float | None = None) -> None:
        """Let a member in while running; it counts as having slept until now.

        Parameters
        ----------
        name
            Its name.
        member
            A learner, trained or not, or a function.
        share
            Its part of the prior, between 0 and 1; an equal one if not given.
        """
        made = member_of(member, self.master)
        self.master.add_expert(name, share)
        self.members[name] = made

    def new_game(self, **options: Any) -> EnsembleGame:
        """Return a game for it to play in, as ``noregret.play`` asks for."""
        from noregret.experts.ensemble_game import EnsembleGame

        return EnsembleGame(self, **options)

    def save(self, path: str | Path) -> None:
        """Write the master and all members to one file, which ``noregret.load`` reads back.

        Functions cannot be written: code is not kept in files.
        """
        from noregret.experts.ensemble_file import save

        save(self, path)

    def copy(self) -> Experts:
        """Return a copy that goes on from here on its own."""
        return copy.deepcopy(self)

    def _repr_html_(self) -> str:
        return as_text("experts card", self)

    def __repr__(self) -> str:
        return f"Experts({', '.join(self.members)}; master={self.master!r})"


def _named(members: Iterable[Any]) -> dict[str, Any]:
    """Name members after what they are, numbered where several are the same."""
    found: dict[str, Any] = {}
    for member in members:
        base = str(getattr(member, "name", None) or getattr(member, "__name__", "expert"))
        name, number = base, 1
        while name in found:
            number += 1
            name = f"{base} {number}"
        found[name] = member
    return found
