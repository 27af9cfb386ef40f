"""The best fixed filter of an echo canceller, against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from noregret.echo import Canceller
from noregret.echo.canceller import Singles
from noregret.echo.certifying import FixedFilters
from tests.exactness.arithmetic import Matrix, fractions, square, table
from tests.exactness.batch import of_answer, of_stated
from tests.exactness.intervals import outside
from tests.exactness.protocol import Case
from tests.exactness.tables import KINDS, Floats

RATE, BLOCK = 8000, 16
# Cases of a short run.
SHORT = 20


def draw(seed: int) -> Case:
    """Return a recording: a far end, and a microphone that hears its echo."""
    rng = np.random.default_rng((23, seed))
    kind = str(rng.choice([kind for kind in KINDS if "ill-scaled" not in kind]))
    if rng.random() < 0.2:
        said = fit_to_hear(rng.normal(size=128), rng)
        heard = echo_of(said, rng)
        return Case("canceller", "square", "sound", lambda: of_canceller(said, heard))
    said = fit_to_hear(KINDS[kind](rng, int(rng.integers(4, 40)), 1)[:, 0], rng)
    heard = echo_of(said, rng)
    delay, taps = int(rng.integers(0, 4)), int(rng.integers(1, 5))
    return Case("fixed filter", "square", kind, lambda: of_filters(said, heard, delay, taps))


def fit_to_hear(signal: Floats, rng: np.random.Generator) -> Singles:
    """Return a signal in single precision within full scale, loud or faint."""
    loudest = float(np.abs(signal).max()) or 1.0
    return (signal / loudest * 10.0 ** rng.integers(-6, 1)).astype(np.float32)


def echo_of(said: Singles, rng: np.random.Generator) -> Singles:
    """Return what a microphone hears of a far end, with some noise or none."""
    path = np.append(np.zeros(int(rng.integers(0, 4))), 0.5 * rng.normal(size=2))
    noise = 10.0 ** rng.integers(-8, -1) * rng.normal(size=len(said)) * (rng.random() < 0.7)
    return np.clip(np.convolve(said, path)[: len(said)] + noise, -1, 1).astype(np.float32)


def windows(said: Singles, delay: int, taps: int) -> Matrix:
    """Return what every filter hears in every sample."""
    late = np.concatenate([np.zeros(delay + taps - 1), said])
    return table(np.array([late[t : t + taps][::-1] for t in range(len(said))], dtype=np.float64))


def of_filters(said: Singles, heard: Singles, delay: int, taps: int) -> str:
    """Check the best filter, and what it leaves as it is told for a certificate."""
    filters = FixedFilters(said, heard, heard, delay, taps)
    best, rows = filters.usual(), windows(said, delay, taps)
    if wrong := of_answer(best.lower, best.loss, best.reach, rows, fractions(heard), best.witness):
        return wrong
    paid = filters.paid_by(filters.witness_of(best), best.comparator)
    if paid is None or not abs(paid.loss - best.loss) <= paid.rounding + best.gap:
        return f"the filter leaves {paid}, and was found to leave {best.loss!r}"
    return ""


def of_canceller(said: Singles, heard: Singles) -> str:
    """Check the certificate of a whole canceller: what it left, the best filter and the regret."""
    canceller = Canceller(RATE, tail=BLOCK / RATE, block=BLOCK, certify=True)
    canceller.process_many(said, heard)
    certificate = canceller.certificate()
    far, mic, left = canceller.kept.signals()
    best, loss = certificate.hindsight, square(fractions(left))
    if abs(Fraction(certificate.loss.total) - loss) > loss / 10**12:
        return f"what is left is stated as {certificate.loss.total!r}, and is {float(loss)!r}"
    promise = certificate.theorem
    assert promise is not None
    if promise.holds and loss > square(fractions(mic)) * (1 + Fraction(1, 10**5)):
        return "said to be no louder, and is"
    rows = windows(far[:, 0], canceller.kept.delay, len(best.witness))
    if wrong := of_stated(best, rows, fractions(mic)):
        return wrong
    most = loss - Fraction(best.loss - best.gap)
    return outside(certificate.regret.lower, np.inf, most, loss / 10**12)
