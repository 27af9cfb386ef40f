"""The state of a ledger, so that a game can continue in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight import LeastSquares
from noregret.linear.engine.recorder import unpacked
from noregret.proof.record.digest import Digest
from noregret.proof.record.figures import books_of
from noregret.proof.record.moment import Moment

if TYPE_CHECKING:
    from noregret.proof.record.ledger import Ledger

Floats = NDArray[np.float64]


def state_of(ledger: Ledger) -> tuple[dict[str, Floats], dict[str, Any] | None]:
    """Return arrays and JSON from which a game continues to the same record, to the bit.

    Stored pages are not included: they are in the file of ``Pages``. A game with
    ``keep="nothing"`` has no state.
    """
    if ledger.keep == "nothing":
        return {}, None
    ledger.catch_up()
    page, recorder = ledger.recorder.get_state()
    arrays = {"page": page, "open": np.concatenate([np.empty(0), *(w for w, _ in ledger.open)])}
    assert isinstance(ledger.digest, Digest)  # a game in parts is not resumed
    chain, pending = ledger.digest.get_state()
    numbers = {
        "recorder": recorder,
        "chain": chain.hex(),
        "pending": pending.hex(),
        "digested": ledger.digested,
        "entered": ledger.entered,
        "last_mark": ledger.last_mark,
        "solved": ledger.solved,
        "missing": ledger.missing,
        "open": [[len(words), rows] for words, rows in ledger.open],
        "open_features": ledger.open_features,
        "moments": [moment.get_state() for moment in ledger.moments],
        "sums": None,
        "pages": None if ledger.pages is None else ledger.pages.get_state(),
    }
    if ledger.sums is not None:
        kept, numbers["sums"] = ledger.sums.get_state()
        arrays |= {f"sums.{name}": array for name, array in kept.items()}
    return arrays, numbers


def restore(ledger: Ledger, arrays: dict[str, Floats], numbers: dict[str, Any] | None) -> None:
    """Restore a state."""
    if ledger.keep != "nothing":
        if numbers is None:
            raise ValueError("there is no record of the game")
        restore_record(ledger, arrays, numbers)
    ledger.books = books_of(ledger.learner, ledger.recorder)


def restore_record(ledger: Ledger, arrays: dict[str, Floats], numbers: dict[str, Any]) -> None:
    """Restore a record."""
    ledger.recorder.set_state(arrays["page"], numbers["recorder"])
    assert isinstance(ledger.digest, Digest)
    ledger.digest.set_state(bytes.fromhex(numbers["chain"]), bytes.fromhex(numbers["pending"]))
    ledger.digested, ledger.entered = numbers["digested"], numbers["entered"]
    ledger.last_mark, ledger.solved = numbers["last_mark"], numbers["solved"]
    ledger.missing, ledger.open_features = numbers["missing"], numbers["open_features"]
    if sum(length for length, _ in numbers["open"]) != len(arrays["open"]):
        raise ValueError("the open pages are not as long as they say")
    cuts = np.cumsum([0, *(length for length, _ in numbers["open"])])
    for start, stop, (_, rows) in zip(cuts[:-1], cuts[1:], numbers["open"], strict=True):
        unpacked(np.ascontiguousarray(arrays["open"][start:stop], np.float64), rows)
    ledger.open = [
        (arrays["open"][start:stop].copy(), rows)
        for start, stop, (_, rows) in zip(cuts[:-1], cuts[1:], numbers["open"], strict=True)
    ]
    ledger.open_words = int(cuts[-1])
    ledger.moments[:] = [Moment.from_state(kept, ledger.params) for kept in numbers["moments"]]
    ledger.sums = None
    if numbers["sums"] is not None:
        mine = {k.removeprefix("sums."): v for k, v in arrays.items() if k.startswith("sums.")}
        ledger.sums = LeastSquares.from_state(mine, numbers["sums"])
    if numbers["pages"] is None:
        ledger.pages = None
    else:
        if ledger.pages is None:
            raise ValueError("this game keeps no rows")
        ledger.pages.set_state(numbers["pages"])
