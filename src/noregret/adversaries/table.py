"""The tightness of the theorems: every adversary against its learners, with the results.

The figures are shipped in ``tightness.json``, written by ``tools/attack.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from noregret.adversaries import Adversary, Attack, all_adversaries

FILE = "tightness.json"
# More digits than any solver here promises; fewer than machines differ in.
DIGITS = 9


@dataclass(frozen=True)
class Entry:
    """The result of an adversary.

    Parameters
    ----------
    theorem, adversary, learner
        Their names.
    params, options
        The parameters of the learner, and the options of the adversary.
    rounds
        The number of rounds played.
    measured, bound, ratio
        What the theorem bounds, its bound, and the one over the other; the bound is None
        where the theorem is a warning.
    remark
        A comment on the result.
    """

    theorem: str
    adversary: str
    learner: str
    params: Mapping[str, Any]
    options: Mapping[str, Any]
    rounds: int
    measured: float
    bound: float | None
    ratio: float | None
    remark: str

    @property
    def summary(self) -> str:
        """The figures in a few words."""
        if self.bound is None or self.ratio is None:
            return f"{self.measured:.6g} in {self.rounds:,} rounds"
        return f"{self.ratio:.3f} of the bound: {self.measured:.6g} of {self.bound:.6g}"


def carry_out(adversary: Adversary, attack: Attack) -> Entry:
    """Set an adversary on a learner, and take the certificate."""
    from noregret.proof.game.game import play
    from noregret.proof.theorems.registry import all_theorems

    kind = all_theorems()[attack.theorem][1]
    assert kind is not None
    learner = kind(**attack.params)
    game = play(learner, adversary.play(learner, **attack.options), progress=False)
    promise = game.certificate(attack.theorem).theorem
    assert promise is not None
    assert promise.measured is not None
    bound, ratio = promise.bound, promise.tightness
    return Entry(
        attack.theorem,
        adversary.name,
        kind.name,
        dict(attack.params),
        dict(attack.options),
        game.rounds,
        rounded(promise.measured),
        None if bound is None else rounded(bound),
        None if ratio is None else rounded(ratio),
        attack.remark,
    )


def rounded(value: float) -> float:
    """Return a number with no more digits than mean something."""
    return float(f"{value:.{DIGITS}g}")


def carry_out_all() -> Iterator[Entry]:
    """Set every adversary on all its learners, in the order of the theorems' names."""
    attacks = [(found, attack) for found in all_adversaries().values() for attack in found.attacks]
    for found, attack in sorted(attacks, key=lambda pair: pair[1].theorem):
        yield carry_out(found, attack)


def as_json(entries: list[Entry]) -> str:
    """Return the text of the file: a line per attack."""
    lines = (json.dumps(asdict(entry), ensure_ascii=False) for entry in entries)
    return "[\n" + ",\n".join(lines) + "\n]\n"


@cache
def tightness() -> tuple[Entry, ...]:
    """Return the shipped figures."""
    text = files("noregret.adversaries").joinpath(FILE).read_text(encoding="utf-8")
    return tuple(Entry(**entry) for entry in json.loads(text))


def of_theorem(name: str) -> tuple[Entry, ...]:
    """Return the shipped figures of one theorem."""
    return tuple(entry for entry in tightness() if entry.theorem == name)
