"""Certificates: how well a learner did, and whether the promise of its theorem held.

Its file is JSON (see ``certificate.schema.json``) with everything needed to compute it again from
the data, as ``verify`` does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.base.display import as_renderable, as_text
from noregret.limits import MAX_CLASS_LIST, MAX_TEXT
from noregret.proof.record.parts_digest import Part
from noregret.proof.theorems.assumptions import Finding

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noregret.proof.certificates.groups import Grouped
    from noregret.proof.theorems.theorem import Wording

FORMAT = "noregret.certificate/1"
# The family of certificates that name none.
LINEAR = "learners"
# Limits of the relative gap at which a search may stop.
TIGHTEST, LOOSEST = 1e-12, 1e-2
# The texts that say how data were read, one of which may list the classes.
TRANSFORMS, OF_CLASSES = "data.transforms", "classes="


@dataclass(frozen=True)
class Played:
    """The data: their size and a digest; ``parts`` if it is a tree over several."""

    rounds: int
    features: int
    digest: str
    transforms: tuple[str, ...] = ()
    target: str | None = None
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Start:
    """The trained model that a game began with: its rounds, and the digest of its file."""

    rounds: int
    digest: str


@dataclass(frozen=True)
class Paid:
    """The loss of the learner."""

    name: str
    total: float
    mean: float
    mistakes: float | None = None


@dataclass(frozen=True)
class Best:
    """The best fixed predictor in hindsight: its class, the loss of the witness, and the gap.

    No predictor of the class has a loss below ``loss`` − ``gap``. ``tolerance`` is the relative gap
    at which the search should stop, if not the usual one; ``seconds`` is the time after which it
    was stopped before that.
    """

    comparator: str
    loss: float
    gap: float
    witness: Mapping[str, float]
    exact: bool = False
    tolerance: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Interval:
    """An interval that contains the regret."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Promise:
    """A theorem's promise: the quantity measured, and its bound; None if an assumption failed.

    ``wording`` is None for a theorem that this version does not know.
    """

    name: str
    quantity: str
    measured: float | None
    bound: float | None
    holds: bool | None
    assumptions: tuple[Finding, ...]
    wording: Wording | None = field(default=None, compare=False, repr=False)

    @property
    def failed(self) -> Finding | None:
        """The first assumption that did not hold."""
        return next((found for found in self.assumptions if found.holds is False), None)

    @property
    def tightness(self) -> float | None:
        """Measured over bound."""
        if self.measured is None or not self.bound:
            return None
        return self.measured / self.bound


@dataclass(frozen=True)
class Certificate:
    """The result of a learner, compared with the best fixed predictor and with its theorem's bound.

    Made by ``Game.certificate``. It is shown as text in a terminal and as a card in a notebook;
    ``save`` and ``load_certificate`` write and read files, ``verify`` computes it again. ``given``
    are further arguments, such as a radius. For an ``averaged`` learner the loss is that of the
    weights being averaged, which the theorems are about. ``family`` is the family of the name,
    such as ``learners`` or ``experts``. ``further`` are promises of other theorems, if any. If each
    key has a learner of its own, ``hindsight`` and ``regret`` are about one predictor for all keys,
    and ``groups`` is about the best predictor of each key.
    With ``shards``, that many learners have each played a part of the data. ``start`` is the model
    that the learner started from, if it was trained before; all figures are about the rounds since.
    """

    learner: str
    params: Mapping[str, Any]
    data: Played
    loss: Paid
    hindsight: Best
    regret: Interval
    theorem: Promise | None
    given: Mapping[str, Any] = field(default_factory=dict)
    averaged: bool = False
    family: str = LINEAR
    further: tuple[Promise, ...] = ()
    groups: Grouped | None = None
    shards: int = 0
    start: Start | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of the JSON file."""
        paid: dict[str, Any] = {
            "name": self.loss.name,
            "total": self.loss.total,
            "mean": self.loss.mean,
        }
        if self.loss.mistakes is not None:
            paid["mistakes"] = self.loss.mistakes
        data: dict[str, Any] = {
            "rounds": self.data.rounds,
            "features": self.data.features,
            "digest": self.data.digest,
            "transforms": list(self.data.transforms),
        }
        if self.data.target is not None:
            data["target"] = self.data.target
        if self.data.parts:
            data["parts"] = [part._asdict() for part in self.data.parts]
        from noregret.base.json_text import Weights

        best: dict[str, Any] = {
            "class": self.hindsight.comparator,
            "loss": self.hindsight.loss,
            "gap": number(self.hindsight.gap),
            "exact": self.hindsight.exact,
            "witness": Weights(self.hindsight.witness),
        }
        if self.hindsight.tolerance is not None:
            best["tolerance"] = self.hindsight.tolerance
        if self.hindsight.seconds is not None:
            best["seconds"] = self.hindsight.seconds
        learner: dict[str, Any] = {"name": self.learner, "params": dict(self.params)}
        if self.averaged:
            learner["averaged"] = True
        if self.family != LINEAR:
            learner["family"] = self.family
        if self.shards:
            learner["shards"] = self.shards
        if self.start is not None:
            learner["start"] = {"rounds": self.start.rounds, "digest": self.start.digest}
        contents: dict[str, Any] = {
            "format": FORMAT,
            "learner": learner,
            "data": data,
            "loss": paid,
            "hindsight": best,
            "regret": {"lower": self.regret.lower, "upper": number(self.regret.upper)},
            "theorem": None if self.theorem is None else promise_dict(self.theorem),
        }
        if self.further:
            contents["further"] = [promise_dict(promise) for promise in self.further]
        if self.groups is not None:
            contents["groups"] = self.groups.to_dict()
        if self.given:
            contents["given"] = dict(self.given)
        return contents | {"seal": seal(contents)}

    def to_json(self) -> str:
        """Return the file's text."""
        from noregret.base.json_text import indented

        return indented(self.to_dict()) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the file, completely or not at all."""
        from noregret.base.atomic_files import write_whole

        write_whole(path, self.to_json().encode())

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> Certificate:
        """Return the certificate of a dict made by ``to_dict``."""
        from noregret.proof.certificates.file import certificate_of, checked

        return certificate_of(checked(contents))

    # Display.

    def __rich__(self) -> RenderableType:
        return as_renderable("certificate panel", self)

    @property
    def leaves_open(self) -> bool:
        """True if it is not known whether some assumption held, because its search stopped."""
        promises = (*([] if self.theorem is None else [self.theorem]), *self.further)
        return any(found.holds is None for each in promises for found in each.assumptions)

    def __str__(self) -> str:
        return as_text("certificate text", self)

    def __repr__(self) -> str:
        said = "no theorem" if self.theorem is None else self.theorem.name
        return f"<Certificate of {self.learner}: {self.data.rounds} rounds, {said}>"

    def _repr_html_(self) -> str:
        return as_text("certificate card", self)


def promise_dict(promise: Promise) -> dict[str, Any]:
    """Return the theorem's part of the file."""
    made: dict[str, Any] = {
        "name": promise.name,
        "quantity": promise.quantity,
        "measured": number(promise.measured),
        "bound": number(promise.bound),
        "holds": promise.holds,
        "assumptions": [
            {
                "name": found.name,
                "limit": number(found.limit),
                "measured": number(found.measured),
                "holds": found.holds,
                "first_violation": found.first_violation,
            }
            for found in promise.assumptions
        ],
    }
    return made


def number(value: float | None) -> float | None:
    """Return a number that JSON can represent."""
    return None if value is None or not math.isfinite(value) else value


def max_characters(path: str, text: str) -> int:
    """Return how long a text at this place of a certificate may be."""
    lists = path.startswith(TRANSFORMS) and text.startswith(OF_CLASSES)
    return MAX_CLASS_LIST if lists else MAX_TEXT


def seal(contents: Mapping[str, Any]) -> str:
    """Return a digest of a certificate's own contents, which shows accidental changes."""
    from noregret.base.json_text import canonical

    text = canonical(contents).encode()
    return "blake2b:" + hashlib.blake2b(text, digest_size=32).hexdigest()
