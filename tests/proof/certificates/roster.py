"""One tiny game or more for all that certifies: every learner, master, policy, strategy, method,
filter, and the canceller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import noregret as nr
from noregret.base.registry import all_of
from noregret.batch import AdaBoost, OnlineToBatch
from noregret.echo import Canceller
from noregret.proof.certificates.certificate import Certificate
from tests.bandits.common import FORMS as POLICIES
from tests.bandits.common import rewards_of
from tests.batch.problems import METHODS, is_machine
from tests.experts.masters import VARIANTS as MASTERS
from tests.filters.reference import FORMS as FILTERS
from tests.portfolios.tables import VARIANTS as STRATEGIES
from tests.portfolios.tables import usual
from tests.proof.certificates.games import BITS, KINDS, NOISY, NUMBERS, ROWS, frame
from tests.variants import VARIANTS as LEARNERS

ROUNDS = 24
RNG = np.random.default_rng(7)
ADVICE = RNG.random((ROUNDS, 3))
FORECASTS = RNG.random(ROUNDS)
SOUND = 0.2 * RNG.standard_normal(960).astype(np.float32)


@dataclass(frozen=True)
class Entry:
    """A learner, its data, and the arguments of its certificate."""

    name: str
    make: Callable[[], Any]
    X: Any
    y: Any = None
    target: str | None = None
    theorem: str | None = None
    given: dict[str, Any] = field(default_factory=dict)
    limits: Any = None

    def data(self) -> dict[str, Any]:
        """Return the data as ``verify`` takes them."""
        return {"data": self.X, "outcomes": self.y, "target": self.target}

    def certificate(self) -> Certificate:
        """Play, and certify."""
        learner = self.make()
        if isinstance(learner, Canceller):
            learner.process_many(self.X, self.y)
            return learner.certificate()
        told = self.given | ({} if self.limits is None else {"limits": self.limits})
        game = nr.play(learner, self.X, self.y, target=self.target)
        found: Certificate = game.certificate(self.theorem, **told)
        return found


def is_fixed(entry: Entry) -> bool:
    """Return whether outcomes are none, or names of classes, which have no scale."""
    return entry.y is None or np.asarray(entry.y).dtype.kind == "U"


def examples_for(learner: Any) -> tuple[Any, Any]:
    """Return examples of the kind that a linear learner takes."""
    boolean = learner.name == "conjunction" or learner.params.get("form") == "winnow1"
    if boolean:
        return BITS[:ROUNDS], np.maximum(BITS[:, 0], BITS[:, 2])[:ROUNDS]
    if hasattr(learner, "classes"):
        return ROWS[:ROUNDS], KINDS[:ROUNDS]
    if learner.engine.loss.name == "linear":
        return ROWS[:ROUNDS], np.sign(NUMBERS)[:ROUNDS]
    return ROWS[:ROUNDS], (NOISY if learner.engine.loss.labels else NUMBERS / 3)[:ROUNDS]


def learners() -> Iterator[Entry]:
    for variant in LEARNERS:
        if variant.python_loss is None:
            yield Entry(f"learners: {variant}", variant.make, *examples_for(variant.make()))
    few = ROWS[:ROUNDS], NUMBERS[:ROUNDS]
    wide = nr.hindsight.Limits(tolerance=1e-3)
    yield Entry("learners: told a radius", nr.WidrowHoff, *few, given={"radius": 0.5})
    yield Entry(
        "learners: risk",
        nr.WidrowHoff,
        *few,
        theorem="online-to-batch-high-probability",
        given={"largest_loss": 9.0, "chance": 0.1},
    )
    yield Entry(
        "learners: searched loosely", lambda: nr.make("logistic", radius=3.0), *few[:1],
        NOISY[:ROUNDS], limits=wide,
    )  # fmt: skip
    yield Entry(
        "learners: a frame", lambda: nr.WidrowHoff(norm=1.5), frame()[:ROUNDS], None, "sold"
    )


def masters() -> Iterator[Entry]:
    for variant in MASTERS:
        if variant.python_loss is None:
            votes = variant.votes or variant.params.get("loss") == "zero-one"
            X, y = (np.round(ADVICE), np.round(FORECASTS)) if votes else (ADVICE, FORECASTS)
            if variant.params.get("loss") == "log":
                y = np.round(y)
            yield Entry(f"experts: {variant}", variant.make, X, y)
            if variant.takes_losses and not variant.params:
                yield Entry(f"experts: {variant}, losses", variant.make, ADVICE)


def policies() -> Iterator[Entry]:
    rewards = rewards_of(ROUNDS, 3)
    for name, make in POLICIES.items():
        table = rewards
        if name.startswith("exp4"):
            table = np.hstack([rewards, RNG.integers(0, 3, (ROUNDS, 3)).astype(float)])
        yield Entry(f"bandits: {name}", lambda make=make: make(arms=3), table)  # type: ignore[misc]


def strategies() -> Iterator[Entry]:
    for name, params in STRATEGIES:
        words = " ".join([name, *map(str, params.items())])
        make = lambda n=name, p=params: nr.portfolios.make(n, **p)  # noqa: E731
        yield Entry(f"portfolios: {words}", make, usual(ROUNDS, 3))


def methods() -> Iterator[Entry]:
    few = ROWS[:ROUNDS]
    for method in METHODS:
        y = np.where(few @ [1.0, -2.0, 0.5, 3.0] > 0, 1.0, -1.0)
        y = y if is_machine(method) else NUMBERS[:ROUNDS]
        yield Entry(f"batch: {method!r}", method.clone, few, y)
    yield Entry("batch: boosted", lambda: AdaBoost(members=3), few, NOISY[:ROUNDS])
    yield Entry(
        "batch: several promises",
        lambda: OnlineToBatch(nr.WidrowHoff(rate=0.3), order="shuffled"),
        few,
        NUMBERS[:ROUNDS],
        given={"largest_loss": 9.0, "chance": 0.1},
    )


def filters() -> Iterator[Entry]:
    rng = np.random.default_rng(7)  # of its own: the same signals however often it is called
    x = rng.normal(size=60)
    d = np.convolve(x, [0.5, -0.3])[:60] + 0.1 * rng.normal(size=60)
    for name, params in FILTERS:
        short = {"taps": min(4, params.get("taps", 4))} | {
            k: v for k, v in params.items() if k != "taps"
        }
        make = lambda n=name, p=short: nr.filters.make(n, **p)  # noqa: E731
        yield Entry(f"filters: {name} {params}", make, x, d)


def far() -> Iterator[Entry]:
    """Columns and outcomes far from zero, where sums over the rows lose what the best pays."""
    X, y = np.c_[ROWS[:ROUNDS] + 1e6, np.ones(ROUNDS)], NUMBERS[:ROUNDS]
    near = np.c_[ROWS[:ROUNDS], np.ones(ROUNDS)]
    players: dict[str, Callable[[], Any]] = {
        "learners: vaw": nr.Vaw,
        "learners: ball": lambda: nr.GradientDescent(radius=2.0),
        "learners: either sign": lambda: nr.ExponentiatedGradient(weight=2.0),
        "learners: online-newton": nr.OnlineNewton,
        "batch: linear-regression": lambda: nr.batch.make("linear-regression"),
        "batch: ridge": lambda: nr.batch.make("ridge", penalty=1e-3),
    }
    for name, make in players.items():
        yield Entry(f"{name}, far columns", make, X, y)
        yield Entry(f"{name}, far outcomes", make, near, y + 1e6)


def cancellers() -> Iterator[Entry]:
    mic = np.convolve(SOUND, [0, 0, 0.5, -0.3, 0.1])[: len(SOUND)].astype(np.float32)
    mic += 0.02 * RNG.standard_normal(len(SOUND)).astype(np.float32)
    make = lambda: Canceller(8000, tail=0.002, block=16, certify=True)  # noqa: E731
    yield Entry("echo: canceller", make, SOUND, mic)


def groups() -> Iterator[Entry]:
    """One learner per key: triples of key, example and outcome."""
    keys = RNG.choice(["a", "b", "c"], ROUNDS).tolist()
    players: dict[str, Callable[[], Any]] = {
        "nlms": nr.Nlms,
        "auto": nr.Auto,
        "vaw": nr.Vaw,
        "logistic": nr.Logistic,
        "ball": lambda: nr.GradientDescent(radius=2.0),
        "perceptron": nr.Perceptron,
        "softmax": nr.Softmax,
    }
    for name, make in players.items():
        X, y = examples_for(make())
        triples = list(zip(keys, X, y, strict=True))
        yield Entry(f"groups: {name}", lambda make=make: nr.Groups(make()), triples)  # type: ignore[misc]
    X, y = examples_for(nr.Nlms())
    rows = 7 * list(zip(X, y, strict=True))  # each key has 4 or 5 different ones
    many = [(row % 40, x, outcome) for row, (x, outcome) in enumerate(rows)]
    yield Entry("groups: 40 keys", lambda: nr.Groups(nr.Nlms()), many)


def every() -> list[Entry]:
    """Return all that certifies, in every form."""
    parts = (learners, masters, policies, strategies, methods, filters, far, cancellers, groups)
    return [entry for part in parts for entry in part()]


def one_each() -> list[Entry]:
    """Return one form of everything that is registered, and the canceller."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in every():
        learner = entry.make()
        found.setdefault((getattr(learner, "family", "echo"), getattr(learner, "name", "")), entry)
    families = ("learners", "experts", "bandits", "portfolios", "batch", "filters")
    missing = {(f, name) for f in families for name in all_of(f)} - set(found)
    assert not missing, missing
    return list(found.values())
