"""Numbers and names formatted for people."""

from __future__ import annotations

import math
from collections.abc import Callable

# Characters of a name that are shown; files have it in full.
MAX_NAME = 40
# Weights below this are shown as 0%.
MIN_SHOWN_WEIGHT = 0.0005


def known(number: float | None) -> float | None:
    """Return a number; None for one that is not finite."""
    return None if number is None or not math.isfinite(number) else number


def figure(number: float) -> str:
    """Format a number with six significant digits, or all digits before the point.

    >>> figure(0.0609727), figure(1234567.89), figure(17379), figure(-3e-9)
    ('0.0609727', '1,234,567.9', '17,379', '-3e-09')
    """
    if math.isnan(number):
        return "not known"
    if not math.isfinite(number):
        return "without limit" if number > 0 else "without lower limit"
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.1f}" if 1e5 <= abs(number) < 1e15 else f"{number:,.6g}"


def brief(number: float) -> str:
    """Write a number in four digits, where space is short.

    >>> brief(312.3456), brief(115353.86), brief(2.5e13), brief(0)
    ('312.3', '115,354', '2.5e+13', '0')
    """
    if math.isfinite(number) and 1e3 <= abs(number) < 1e9:
        return f"{number:,.0f}"
    return figure(number) if number == 0 or not math.isfinite(number) else f"{number:.4g}"


def compact(number: float, digits: int = 6) -> str:
    """Format a number for an axis, as short as possible.

    >>> compact(10_000), compact(2.5e6), compact(-0.05), compact(1e-7), compact(999)
    ('10k', '2.5M', '-0.05', '1e-7', '999')
    """
    size = abs(number)
    for unit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if unit <= size < 1e15:
            return f"{number / unit:.{digits}g}{letter}"
    text = f"{number:.{digits}g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def signed(number: float, write: Callable[[float], str] = figure) -> str:
    """Format a number with its sign.

    >>> signed(2.5), signed(-2.5), signed(0)
    ('+2.5', '-2.5', '0')
    """
    return f"+{write(number)}" if number > 0 else write(number)


def weight(share: float) -> str:
    """Format a weight in percent; negligible ones as 0%.

    >>> weight(0.4321), weight(0.0004), weight(1.0)
    ('43.2%', '0%', '100%')
    """
    return f"{100 * share:.1f}%".replace("100.0", "100") if share >= MIN_SHOWN_WEIGHT else "0%"


def duration(seconds: float) -> str:
    """Format a duration.

    >>> duration(0.0314), duration(12.34), duration(125), duration(7384)
    ('31 ms', '12.3 s', '2 min 5 s', '2 h 3 min')
    """
    if seconds < 0.9995:
        return (
            f"{1000 * max(0.0, seconds):.3g} ms" if seconds < 0.01 else f"{1000 * seconds:.0f} ms"
        )
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    if seconds < 3599.5:
        return "{:.0f} min {:.0f} s".format(*divmod(round(seconds), 60))
    return "{:,.0f} h {:.0f} min".format(*divmod(round(seconds / 60), 60))


def megabytes(size: float) -> str:
    """Format a number of bytes.

    >>> megabytes(512), megabytes(83_000), megabytes(1.25e9)
    ('512 B', '83 kB', '1.25 GB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:,.3g} {name}" if size < 1e15 else f"{size / unit:,.0f} {name}"
    return f"{size:.0f} B"


def percent(share: float) -> str:
    """Format a share in percent; a small one is never rounded to zero.

    >>> percent(0.641), percent(0.00342), percent(1e-9), percent(0.99999)
    ('64.1%', '0.342%', '1e-07%', '99.999%')
    """
    hundredth = 100 * share
    if 99.9 < hundredth < 100.1 and hundredth != 100:
        return f"{hundredth:.6g}%"
    return f"{hundredth:,.1f}%" if abs(hundredth) >= 10 else f"{hundredth:.3g}%"


def part_of_bound(share: float | None) -> str:
    """Format the share of a bound that is used; empty for a negative regret, which uses nothing.

    >>> part_of_bound(0.641), part_of_bound(-0.0347), part_of_bound(None)
    ('64.1%', '', '')
    """
    return percent(share) if share is not None and share > 0 else ""


def clean(text: str) -> str:
    r"""Escape control characters and changes of text direction.

    >>> print(clean("a\x1b[31mb\u202e"))
    a\x1b[31mb\u202e
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def name_of(text: str, longest: int = MAX_NAME) -> str:
    """Escape a feature's name, and truncate it if it is long."""
    shown = clean(text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def count(number: int, word: str) -> str:
    """Format a count with its noun.

    >>> count(1, "round"), count(2000, "round")
    ('1 round', '2,000 rounds')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"
