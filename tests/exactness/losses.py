"""The convex losses, their conjugates and slopes in exact arithmetic, from their definitions."""

from __future__ import annotations

from fractions import Fraction

from noregret.base.compiled.losses import PythonLoss, make_loss
from tests.exactness.arithmetic import SURE, exp, ln, ln1p

LABELLED = ("hinge", "squared-hinge", "logistic")
# With a parameter for those that have one.
LOSSES: dict[str, float | None] = {
    "square": None,
    "absolute": None,
    "quantile": 0.3,
    "epsilon-insensitive": 0.4,
    "squared-epsilon-insensitive": 0.4,
    "huber": 0.7,
    "hinge": None,
    "squared-hinge": None,
    "logistic": None,
    "linear": None,
}


# Losses that keep their digits however near a score is to a kink, as one's own are asked to.
OWN = ("square", "absolute", "quantile", "huber", "hinge", "squared-hinge", "logistic")
OWN_SHARE = 0.2


def own(name: str) -> PythonLoss:
    """Return a loss as one of your own: functions of which hindsight knows nothing."""
    known = make_loss(name, LOSSES[name])
    return PythonLoss(known.value, known.slope, "own " + name, name in LABELLED)


def label(y: Fraction) -> Fraction:
    """Return a label as −1 or +1."""
    return Fraction(1 if y > 0 else -1)


def loss(name: str, s: Fraction, y: Fraction) -> Fraction:
    """Return the loss of a score; of the logistic loss a number not above it, to many digits."""
    r, given = s - y, Fraction(LOSSES[name] or 0.0)
    over, short = max(Fraction(0), abs(r) - given), max(Fraction(0), 1 - label(y) * s)
    match name:
        case "square" | "squared-epsilon-insensitive":
            value = over * over
        case "absolute" | "epsilon-insensitive":
            value = over
        case "quantile":
            value = max(-given * r, rest_of(given) * r)
        case "huber":
            value = r * r / 2 if not over else given * abs(r) - given * given / 2
        case "linear":
            value = y * s
        case "hinge":
            value = short
        case "squared-hinge":
            value = short * short
        case _:
            value = softplus(-label(y) * s) * (1 - SURE)
    return value


def rest_of(quantile: Fraction) -> Fraction:
    """Return 1 − q as floating-point numbers have it: the slope of the loss."""
    return Fraction(1.0 - float(quantile))


def softplus(z: Fraction) -> Fraction:
    """Return ln(1 + exp(z)) to many digits."""
    return ln1p(exp(z)) if z <= 0 else z + softplus(-z)


def conjugate(name: str, a: Fraction, y: Fraction) -> Fraction | None:
    """Return max over s of a s − loss(s), or None for infinity; of the logistic loss not above."""
    given = Fraction(LOSSES[name] or 0.0)
    p, soft = -label(y) * a, a * a / 4
    match name:
        case "square":
            inside, value = True, a * y + soft
        case "absolute" | "epsilon-insensitive":
            inside, value = abs(a) <= 1, a * y + given * abs(a)
        case "quantile":
            inside, value = -given <= a <= rest_of(given), a * y
        case "squared-epsilon-insensitive":
            inside, value = True, a * y + given * abs(a) + soft
        case "huber":
            inside, value = abs(a) <= given, a * y + a * a / 2
        case "linear":
            inside, value = a == y, Fraction(0)
        case "hinge":
            inside, value = 0 <= p <= 1, -p
        case "squared-hinge":
            inside, value = p >= 0, -p + soft
        case _:
            inside, value = 0 <= p <= 1, Fraction(0)
            if inside:
                value = (p and p * ln(p)) + (p < 1 and (1 - p) * ln1p(-p))
                value *= 1 + SURE
    return value if inside else None


def slope(name: str, s: Fraction, y: Fraction) -> Fraction:
    """Return a slope of the loss at a score."""
    r = s - y
    given = Fraction(LOSSES[name] or 0.0)
    sign = Fraction((r > 0) - (r < 0))
    away = sign * max(Fraction(0), abs(r) - given)
    made = {
        "square": 2 * r,
        "absolute": sign,
        "quantile": -given if r < 0 else rest_of(given) if r > 0 else 0,
        "epsilon-insensitive": sign if away else 0,
        "squared-epsilon-insensitive": 2 * away,
        "huber": max(-given, min(given, r)),
        "linear": y,
    }
    if name in made:
        return Fraction(made[name])
    up = label(y)
    short = 1 - up * s
    if name == "logistic":
        small = exp(-abs(s))
        return -up * (small / (1 + small) if up * s > 0 else 1 / (1 + small))
    return -up * (short > 0) * (1 if name == "hinge" else 2 * short)


def kinks(name: str, y: Fraction) -> list[Fraction]:
    """Return the scores at which the loss has a kink, or its slope has."""
    given = Fraction(LOSSES[name] or 0.0)
    if name in ("absolute", "quantile"):
        return [y]
    if name in ("epsilon-insensitive", "squared-epsilon-insensitive", "huber"):
        return [y - given, y + given]
    return [label(y)] if name in ("hinge", "squared-hinge") else []
