"""Sizes of the tests: small by default, full if ``NOREGRET_THOROUGH`` is set.

``NOREGRET_THOROUGH=1`` runs every test at its full size and draws its examples at random;
``NOREGRET_THOROUGH=25`` draws 25 times as many. By default, sizes are small and the same examples
are drawn every time.
"""

from __future__ import annotations

import functools
import inspect
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

TIMES = int(os.environ.get("NOREGRET_THOROUGH") or 0)
THOROUGH = TIMES > 0
# Of the draws of a thorough run, one in so many by default.
QUICK_SHARE = 12
MIN_QUICK_DRAWS = 2
DRAWS = 40
FEW_DRAWS = 5

Size = TypeVar("Size")
One = TypeVar("One")
Other = TypeVar("Other")
Test = Callable[..., None]
Example = dict[str, Any]
Strategies = dict[str, st.SearchStrategy[Any]]


class Case(Protocol):
    """Something to try a law on: a form of what has a name."""

    @property
    def name(self) -> str: ...


def sized(quick: Size, full: Size) -> Size:
    """Return the size for this run: the full one in a thorough run."""
    return full if THOROUGH else quick


def picked(full: Sequence[Size], case: str, count: int = 1) -> Sequence[Size]:
    """Return all of them in a thorough run, else a few, others for other cases of a test."""
    first = zlib.crc32(case.encode())
    return full if THOROUGH else [full[(first + k) % len(full)] for k in range(count)]


def paired(
    firsts: Iterable[One], seconds: Sequence[Other], count: int = 1
) -> list[tuple[One, Other]]:
    """Return all pairs in a thorough run, else each of the first with some of the second."""
    many = len(seconds) if THOROUGH else count
    return [
        (one, seconds[(number * many + k) % len(seconds)])
        for number, one in enumerate(firsts)
        for k in range(many)
    ]


def in_turn(
    argument: str, cases: Sequence[Case], share: int | None = None
) -> Callable[[Test], Test]:
    """Return a decorator: try a law on all cases in a thorough run, else on some of each name.

    By default the law is tried on one case of each name: the first, which is the plain one, by half
    of the laws, one of the others by the other half. With ``share``, it is tried on the plain one
    and on one in so many of the others. Which ones differs from law to law: every law is tried on
    every name, every case by some laws.
    """

    def decorate(test: Test) -> Test:
        chosen = list(cases) if THOROUGH else some_per_name(cases, test.__qualname__, share)
        marked: Test = pytest.mark.parametrize(argument, chosen, ids=str)(test)
        return marked

    return decorate


def some_per_name(cases: Sequence[Case], law: str, share: int | None) -> list[Case]:
    """Return one case of each name, or the first and a share of the others, in their order."""
    by_name: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        by_name.setdefault(case.name, []).append(number)
    chosen: list[int] = []
    for name, (first, *others) in by_name.items():
        turn, other = divmod(zlib.crc32(f"{law} {name}".encode()), max(1, len(others)))
        if share:
            chosen += [first, *others[turn % share :: share]]
        else:
            chosen.append(others[other] if others and turn % 2 else first)
    return [cases[number] for number in sorted(chosen)]


def draw_count(full: int) -> int:
    """Return how many examples are drawn where a thorough run draws so many."""
    return full * TIMES if THOROUGH else min(full, max(MIN_QUICK_DRAWS, full // QUICK_SHARE))


def draws(full: int, quick: int | None = None) -> settings:
    """Return a decorator for ``given``: draw so many examples in a thorough run, else fewer."""
    return settings(max_examples=draw_count(full) if THOROUGH or quick is None else quick)


def load_profile() -> None:
    """Set the number of draws of tests that do not choose it, and repeat them unless thorough."""
    settings.register_profile(
        "noregret",
        deadline=None,
        max_examples=draw_count(DRAWS),
        derandomize=not THOROUGH,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("noregret")
    if not THOROUGH:
        # Hypothesis draws constants that it finds in the modules imported so far: a test would
        # have other examples alone than among all tests.
        none = Constants()
        pytest.MonkeyPatch().setattr(providers, "_get_local_constants", lambda: none)


def few(*also: Example, **drawn: st.SearchStrategy[Any]) -> Callable[[Test], Test]:
    """Return a decorator that tries a law on two fixed examples; a thorough run draws some.

    For laws that are tried on every learner in every form: a few examples each are many, and
    drawing them anew for each would take longer than trying the law.
    """
    return _few(2, also, drawn)


def fewer(*also: Example, **drawn: st.SearchStrategy[Any]) -> Callable[[Test], Test]:
    """Return a decorator like ``few``, with one fixed example."""
    return _few(1, also, drawn)


def _few(count: int, also: tuple[Example, ...], drawn: Strategies) -> Callable[[Test], Test]:
    return lambda test: (_drawn if THOROUGH else _fixed)(test, count, also, drawn)


def _drawn(test: Test, count: int, also: tuple[Example, ...], drawn: Strategies) -> Test:
    tried: Test = given(**drawn)(test)
    for one in also:
        tried = example(**one)(tried)
    return settings(
        max_examples=count * FEW_DRAWS * TIMES,
        phases=(Phase.explicit, Phase.generate),  # made from a seed, none has a smaller one
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )(tried)


def _fixed(test: Test, count: int, also: tuple[Example, ...], drawn: Strategies) -> Test:
    examples = functools.cache(lambda: [*also, *fixed_examples(count, drawn)])

    @functools.wraps(test)
    def tried(*args: Any, **others: Any) -> None:
        for one in examples():
            try:
                test(*args, **others, **one)
            except Exception as error:
                error.add_note(f"The example: {one}")
                raise

    signature = inspect.signature(test)
    rest = [p for name, p in signature.parameters.items() if name not in drawn]
    tried.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
    return tried


def fixed_examples(count: int, drawn: Strategies) -> list[Example]:
    """Draw the same examples every time, without the first, which is the least of all."""
    found: list[Example] = []

    @settings(max_examples=count + 1, derandomize=True, database=None, phases=(Phase.generate,))
    @given(st.fixed_dictionaries(drawn))
    def collect(one: Example) -> None:
        found.append(one)

    collect()
    return found[-count:]
