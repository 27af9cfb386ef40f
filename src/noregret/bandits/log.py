"""The log of decisions: the arm chosen, its probability and its reward."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.checks import whole
from noregret.errors import NoRegretError

COLUMNS = ["round", "arm", "propensity", "reward"]
CONTEXT = "context"


class Decision(NamedTuple):
    """One decision of the log."""

    round: int
    arm: str
    propensity: float
    reward: float
    context: Any = None


class Log:
    """Decisions in the order in which their rewards came.

    Set it before a policy chooses: ``policy.log = Log()``.

    Parameters
    ----------
    limit
        The number of latest decisions to keep; by default all.

    Examples
    --------
    >>> from noregret.bandits import Exp3, Log
    >>> policy = Exp3(arms=["red", "blue"])
    >>> policy.log = Log()
    >>> for _ in range(3):
    ...     arm = policy.choose()
    ...     policy.learn(arm, 1.0 if arm == "blue" else 0.0)
    >>> policy.log.rounds.tolist(), policy.log.propensities[0].item()
    ([1, 2, 3], 0.5)
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = None if limit is None else whole("limit", limit)
        self.decisions: deque[Decision] = deque(maxlen=self.limit)

    def add(
        self, round: int, arm: Any, propensity: float, reward: float, context: Any = None
    ) -> None:
        """Add a decision, also one that was made elsewhere."""
        if not 0 < propensity <= 1 + 1e-9:
            raise ValueError(
                f"round {round}: the propensity of a chosen arm must be above 0 and at most 1: got"
                f" {propensity!r}"
            )
        if not math.isfinite(reward):
            raise ValueError(f"round {round}: the reward must be a number: got {reward!r}")
        self.decisions.append(
            Decision(int(round), str(arm), float(propensity), float(reward), context)
        )

    def __len__(self) -> int:
        return len(self.decisions)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def __repr__(self) -> str:
        return f"<Log of {len(self)} decisions>"

    @property
    def rounds(self) -> NDArray[np.int64]:
        """The rounds, counted from 1."""
        return np.array([d.round for d in self], dtype=np.int64)

    @property
    def arms(self) -> list[str]:
        """The arms, by name; numbers as text."""
        return [d.arm for d in self]

    @property
    def propensities(self) -> NDArray[np.float64]:
        """The probability of each decision's arm to be chosen."""
        return np.array([d.propensity for d in self], dtype=np.float64)

    @property
    def rewards(self) -> NDArray[np.float64]:
        """The rewards."""
        return np.array([d.reward for d in self], dtype=np.float64)

    def save(self, path: str | Path) -> None:
        """Write a CSV file atomically; contexts, if any, as JSON."""
        from noregret.base.atomic_files import write_whole

        text = io.StringIO()
        with_context = any(d.context is not None for d in self)
        out = csv.writer(text)
        out.writerow([*COLUMNS, CONTEXT] if with_context else COLUMNS)
        for d in self:
            row = [d.round, d.arm, repr(d.propensity), repr(d.reward)]
            out.writerow([*row, written(d.context)] if with_context else row)
        write_whole(path, text.getvalue().encode())

    @classmethod
    def load(cls, path: str | Path, limit: int | None = None) -> Log:
        """Read a CSV file that ``save`` wrote, or another with the same columns."""
        log = cls(limit)
        with open(path, encoding="utf-8", newline="") as file:
            lines = csv.DictReader(file)
            if missing := [name for name in COLUMNS if name not in (lines.fieldnames or ())]:
                raise NoRegretError(f"no column {missing[0]!r}, which a log must have", file=path)
            try:
                for line in lines:
                    context = line.get(CONTEXT) or "null"
                    chance, reward = float(line["propensity"]), float(line["reward"])
                    log.add(int(line["round"]), line["arm"], chance, reward, json.loads(context))
            except (TypeError, ValueError, csv.Error) as error:
                raise NoRegretError(str(error), file=path, line=lines.line_num) from None
        return log


def written(context: Any) -> str:
    """Return a context as JSON."""
    try:
        return json.dumps(context, default=listed)
    except TypeError:
        raise NoRegretError(
            f"a context written to a file must be made of numbers, text, lists and dicts: got"
            f" {context!r}"
        ) from None


def listed(value: Any) -> Any:
    """Return arrays as lists and NumPy numbers as Python numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError
