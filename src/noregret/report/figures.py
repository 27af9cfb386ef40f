"""Numbers and names as people read them."""

from __future__ import annotations

import math

# Names longer than this are cut: the file has them whole.
LONGEST_NAME = 40


def figure(number: float) -> str:
    """Write a number with the digits that matter: six, or all those before the point.

    >>> figure(0.0609727), figure(1234567.89), figure(17379), figure(-3e-9)
    ('0.0609727', '1,234,567.9', '17,379', '-3e-09')
    """
    if not math.isfinite(number):
        return "without limit" if number > 0 else "without lower limit"
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.1f}" if 1e5 <= abs(number) < 1e15 else f"{number:,.6g}"


def percent(share: float) -> str:
    """Write a share in percent; small ones never as nothing.

    >>> percent(0.641), percent(0.00342), percent(1e-9), percent(0.99999)
    ('64.1%', '0.342%', '1e-07%', '99.999%')
    """
    hundredth = 100 * share
    if 99.9 < hundredth < 100.1 and hundredth != 100:
        return f"{hundredth:.6g}%"
    return f"{hundredth:,.1f}%" if abs(hundredth) >= 10 else f"{hundredth:.3g}%"


def clean(text: str) -> str:
    r"""Write text so that it cannot do anything: no control characters, no change of direction.

    >>> print(clean("a\x1b[31mb\u202e"))
    a\x1b[31mb\u202e
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def name_of(text: str) -> str:
    """Write a feature's name, cut where it is long."""
    shown = clean(text)
    return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + "…"


def count(number: int, word: str) -> str:
    """Write a number of things.

    >>> count(1, "round"), count(2000, "round")
    ('1 round', '2,000 rounds')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"
