"""How a canceller's linear part did beside the best fixed filter in hindsight.

Both are judged on what they leave of the microphone's signal, without rumble: the sum of squares.
The fixed filter is the best of all with so many taps from the delay that was found, by least
squares over the whole recording (``noregret.hindsight.sliding``). The promise is that of the step
which subtracts: it never leaves a block louder than it was, so neither a recording.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from noregret.certificate import Best, Certificate, Interval, Paid, Played, Promise
from noregret.errors import NoRegretError
from noregret.hindsight.sliding import correlated

if TYPE_CHECKING:
    from noregret.echo.canceller import Canceller, Singles

# The most taps of the fixed filter; more would take longer to solve for than to listen to.
TAPS = 2_048
# What sums of squares may be off by, relatively: samples have single precision.
ROUNDING = 1e-6


def certificate_of(canceller: Canceller) -> Certificate:
    """Return the certificate of all that a canceller kept.

    Examples
    --------
    >>> from noregret.echo import Canceller, demo_signals
    >>> heard = demo_signals(4.0)
    >>> canceller = Canceller(heard.rate, certify=True)
    >>> sent = canceller.process_many(heard.far, heard.mic)
    >>> found = canceller.certificate()
    >>> found.theorem.holds
    True
    """
    said, heard, left = kept(canceller)
    delay = canceller.path_delay
    taps = min(TAPS, len(canceller.impulse_response) - delay)
    far, mic = delayed(said, delay), heard.astype(np.float64)
    loss = energy(left)
    best = correlated([(far, mic)], taps).best()
    regret = Interval(loss - best.loss, loss - best.lower)
    before = energy(heard)
    return Certificate(
        "canceller",
        canceller.params,
        Played(len(mic), taps, digest(said, heard)),
        Paid("square", loss, loss / len(mic)),
        Best(
            f"fixed filters of {taps:,} taps from sample {delay:,}",
            best.loss,
            best.gap,
            {str(delay + k): float(weight) for k, weight in enumerate(best.witness)},
            best.exact,
        ),
        regret,
        Promise("never-louder", "loss", loss, before, bool(loss <= before * (1 + ROUNDING)), ()),
        family="echo",
    )


def kept(canceller: Canceller) -> tuple[Singles, Singles, Singles]:
    """Return the far end, the microphone and what was left of it, or say why they are not there."""
    if not canceller.certify:
        raise NoRegretError(
            "this canceller kept no signals: make it with certify=True to look back"
        )
    if not canceller.kept:
        raise NoRegretError("nothing was played yet, so there is nothing to certify")
    if canceller.channels > 1:
        raise NoRegretError(
            f"a far end of {canceller.channels} channels: certificates are made for one"
        )
    said, heard, left = (np.concatenate(signals) for signals in zip(*canceller.kept, strict=True))
    return said[:, 0], heard, left


def delayed(signal: Singles, delay: int) -> np.ndarray:
    """Return a signal that comes later, as long as before."""
    return np.concatenate([np.zeros(delay), signal])[: len(signal)]


def energy(signal: Singles) -> float:
    """Return the sum of squares."""
    exact = signal.astype(np.float64)
    return float(exact @ exact)


def digest(*signals: Singles) -> str:
    """Return what signals can be known by."""
    made = hashlib.blake2b(digest_size=32)
    for signal in signals:
        made.update(np.ascontiguousarray(signal, dtype="<f4").tobytes())
    return "blake2b:" + made.hexdigest()
