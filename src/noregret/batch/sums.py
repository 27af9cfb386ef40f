"""Games of which only sums are kept: merging two, saving and restoring."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from noregret.batch.game import BatchGame
from noregret.errors import NoRegretError
from noregret.hindsight import LeastSquares
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.hindsight.sums import mirrored
from noregret.proof.record.digest import Digest
from noregret.proof.record.figures import books_of
from noregret.proof.record.parts_digest import Part, PartsDigest, parts_of

if TYPE_CHECKING:
    from noregret.batch.method import Batch
    from noregret.batch.summed import Summed
    from noregret.linear.fixed_predictor import FixedPredictor

Floats = NDArray[np.float64]
# Transforms of a row by which it depends on those before it.
FROM_EARLIER_ROWS = ("scale=", "add=")


def are_kept(game: BatchGame) -> bool:
    """Return whether there are sums, or few enough features for them."""
    return game.ledger.sums is not None or game.intake.width < MAX_DENSE


def sums_of(game: BatchGame) -> LeastSquares:
    """Return the sums of a game, computed from its rows if necessary."""
    ledger = game.ledger
    if ledger.sums is not None:
        return ledger.sums
    rows = ledger.rows()
    if rows is None or rows.shape[1] > MAX_DENSE:
        raise NoRegretError(f"there are more than {MAX_DENSE} features, so no sums were kept")
    if ledger.held is not None and (own := ledger.held.square_sums()) is not None:
        return cast("LeastSquares", own)
    found = LeastSquares(rows.shape[1])
    for X, y in rows.blocks():
        found.add(X, y)
    return found


def resumed(method: Batch, fixed: FixedPredictor, found: LeastSquares) -> BatchGame:
    """Return a game that continues from sums."""
    game = BatchGame(method, keep="sums", progress=False)
    game.intake.learner.set_state(*fixed.get_state())
    ledger = game.ledger
    ledger.sums, ledger.digested, ledger.entered = found, fixed.rounds, fixed.rounds
    ledger.books = books_of(game.intake.learner, ledger.recorder)
    return game


# Merging.


def merged(one: Summed, other: Summed) -> BatchGame:
    """Return a game with the examples of both."""
    here, there = one._fixed, other._fixed
    mine, yours = here._entry.known.names, there._entry.known.names
    if here._entry.feature_kind != there._entry.feature_kind or (
        not mine and here.engine.size != there.engine.size
    ):
        raise ValueError(f"the features differ: {known(here)}, and {known(there)}")
    names = [*mine, *(name for name in yours if name not in mine)]
    width = len(names) or here.engine.size
    at = [names.index(name) for name in yours] or list(range(width))
    both = LeastSquares(width + one.intercept).merge(sums_of(one._required_game()))
    both.merge(placed(sums_of(other._required_game()), at, one.intercept))
    fixed = one._new_fixed()
    fixed.set_state(*merged_state(here, there, names, width))
    game = resumed(one, fixed, both)
    game.merged = not is_one_stream(one._required_game(), other._required_game(), names)
    game.ledger.digest = PartsDigest([*own_parts(one), *own_parts(other)])
    first = one._required_game()
    game.intake.describe(first.transforms, first.target, first.intake.names)
    return game


def own_parts(method: Summed) -> tuple[Part, ...]:
    """Return the parts of the data of a method."""
    return parts_of(method._required_game().ledger.digest, method.rounds)


def is_one_stream(one: BatchGame, other: BatchGame, names: list[str]) -> bool:
    """Return whether reading the data of both in a row gives the same numbers as each alone.

    So it is if both were read in the same way, row by row, and if the other one met its features
    in the order of all.
    """
    if one.merged or other.merged or one.transforms != other.transforms:
        return False
    known = other.intake.learner._entry.known.names
    depends = any(text.startswith(FROM_EARLIER_ROWS) for text in one.transforms)
    return known == names[: len(known)] and one.target == other.target and not depends


def known(fixed: FixedPredictor) -> str:
    """Return a description of the features that a predictor knows."""
    if names := fixed._entry.known.names:
        return f"{len(names)} by name ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
    return f"{fixed.engine.size} by position"


def placed(found: LeastSquares, at: list[int], intercept: bool) -> LeastSquares:
    """Return sums with the columns at new positions; a constant stays first."""
    columns = [0, *(k + 1 for k in at)] if intercept else at
    made = LeastSquares(max(columns, default=-1) + 1)
    made.rounds, made.depth = found.rounds, found.depth
    places = [0, *(k + 1 for k in columns)]  # the outcome comes first
    inner = slice(0, len(places))
    for part in ("high", "low"):
        whole = mirrored(getattr(found, part))
        getattr(made, part)[np.ix_(places, places)] = whole[inner, inner]
    return made


def merged_state(
    here: FixedPredictor, there: FixedPredictor, names: list[str], width: int
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the state of a predictor that has read the examples of both."""
    _, numbers, _ = here.get_state()
    _, others, _ = there.get_state()
    for key, value in others.items():
        if key.startswith("most_"):
            numbers[key] = max(numbers[key], value)
        elif key in ("rounds", "loss_sum", "loss_rest"):
            numbers[key] += value
    return {"stored": np.zeros(width)}, numbers | {"size": width, "offset": 0.0}, names


# Files.


def state_of(game: BatchGame) -> dict[str, Any]:
    """Return the arrays of a game without its rows."""
    found = sums_of(game)
    arrays, numbers = found.get_state()
    digest = game.ledger.digest
    description = {
        "sums": numbers,
        "merged": game.merged,
        "transforms": list(game.transforms),
        "target": game.target,
        "names": game.intake.names,
    }
    if isinstance(digest, PartsDigest):
        description["parts"] = digest.parts
    else:
        description["digest"] = [text.hex() for text in digest.get_state()]
    text = np.frombuffer(json.dumps(description).encode(), dtype=np.uint8).copy()
    return {"told": text, **arrays}


def restored(method: Batch, arrays: dict[str, Any]) -> BatchGame:
    """Return the game of a state; raise ValueError if it is invalid."""
    description = json.loads(bytes(arrays.pop("told")))
    found = LeastSquares.from_state(arrays, description["sums"])
    fixed = method._fixed
    good = all(np.isfinite(array).all() for array in arrays.values())
    if not good or found.rounds != fixed.rounds or (np.diag(found.gram) < 0).any():
        raise ValueError("the sums are invalid")
    if found.features != fixed.engine.size + method.intercept:
        raise ValueError(f"sums over {found.features} features are not expected here")
    game = resumed(method, fixed, found)
    if "parts" in description:
        game.ledger.digest = PartsDigest([Part(*part) for part in description["parts"]])
    else:
        digest = Digest()
        digest.set_state(*(bytes.fromhex(part) for part in description["digest"]))
        game.ledger.digest = digest
    game.intake.describe(description["transforms"], description["target"], description["names"])
    game.merged = bool(description["merged"])
    game.found(method.solution)
    return game
