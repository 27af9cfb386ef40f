"""Compare a certificate with that of a replay, field by field.

Every field has its own rule. A field that is missing on either side, or that has no rule, is not
confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from noregret.hindsight import Limits
from noregret.hindsight.proofs.witness import REACH
from noregret.limits import MAX_PARAMETER
from noregret.proof.certificates.certifiable import Certifiable
from noregret.proof.certificates.certificate import Best, Certificate, Promise
from noregret.proof.theorems.base_evidence import BaseEvidence
from noregret.proof.theorems.theorem import Theorem
from noregret.proof.verifying.comparing import (
    MISSING,
    TOLERANCE,
    same,
)
from noregret.proof.verifying.verification import Line

# The index of a list item in a path.
ITEM = re.compile(r"\.\d+(?=\.|$)")
# Fields whose rules also apply if the field is missing.
OPTIONAL = (
    *("learner.start", "data.target"),
    *("hindsight.tolerance", "hindsight.seconds", "groups.hindsight.seconds"),
)


@dataclass(frozen=True)
class Replay:
    """A replay of a game.

    Parameters
    ----------
    game
        The game, with its rows.
    stated, found
        The certificate to check, and that of the replay.
    theorem
        The theorem of the replay.
    limits
        The limits of the search in hindsight.
    search_again
        Returns the certificate with the stated limits of the search.
    search_finer
        Returns the certificate of a more precise search.
    tolerance
        Relative tolerance of the loss.
    outdone
        True if a batch method finds better weights than the stated ones.
    from_sums
        Returns the certificate of a game that kept only sums over the rows, if possible.
    files_of
        Returns the files in which some rounds are, given the first and their number.
    """

    game: Certifiable
    stated: Certificate
    found: Certificate
    theorem: Theorem | None
    limits: Limits
    search_again: Callable[[], Certificate]
    search_finer: Callable[[], Certificate]
    tolerance: float = TOLERANCE
    outdone: bool = False
    from_sums: Callable[[], Certificate | None] = lambda: None
    files_of: Callable[[int, int], list[str]] = lambda first, rounds: []

    def evidence(self, answers: dict[Any, Any] | None = None) -> BaseEvidence:
        """Return the evidence of the replay."""
        return self.game.evidence(self.found.given, self.limits, answers)

    @cached_property
    def again(self) -> Certificate:
        """The certificate with the stated limits of the search."""
        return self.search_again()

    @cached_property
    def finer(self) -> Certificate:
        """The certificate of a more precise search."""
        return self.search_finer()

    @property
    def stopped(self) -> bool:
        """True if the certificate states that time ran out; other searches may prove less, too."""
        return self.stated.hindsight.seconds is not None

    @property
    def cut_short(self) -> bool:
        """True if the stated search was stopped before it reached its tolerance."""
        return self.stopped and not self.stated.hindsight.exact

    @cached_property
    def by_sums(self) -> Certificate | None:
        """The certificate of the same game from sums instead of rows, with wider intervals."""
        return self.from_sums()

    @cached_property
    def best(self) -> Best:
        """The best in hindsight that the replay found in the stated class.

        The stated certificate may be from sums, which prove a bound only up to some norm, while
        rows prove one for all weights: the best up to that norm is then computed from the rows. The
        reverse is rare.
        """
        found, words = self.found.hindsight, self.stated.hindsight.comparator
        if found.comparator == words:
            return found
        reach, ball = REACH.fullmatch(words), getattr(self.evidence(), "best_in_ball", None)
        if reach is None:
            others = [] if self.by_sums is None else [self.by_sums.hindsight]
            return next((other for other in others if other.comparator == words), found)
        norm, proven = float(reach[1]), REACH.fullmatch(found.comparator)
        if ball is None or norm >= MAX_PARAMETER:  # practically all
            if proven is None or float(proven[1]) >= norm:
                return found
            # Beyond the proven norm, it is only known that no loss is below 0.
            return replace(found, comparator=words, gap=found.loss, exact=False)
        try:
            answer = ball(norm)
        except ValueError:  # no such class for this loss: the text differs, and is refused
            return found
        return replace(
            found,
            comparator=words,
            loss=answer.loss,
            gap=answer.gap,
            witness=self.evidence().witness_of(answer),
            exact=answer.exact,
        )


Rule = Callable[["Judge", str, Any, Any], Line | None]


class Judge:
    """Compares the fields of a certificate; lines are cached.

    Parameters
    ----------
    contents
        The contents of the certificate's file.
    replay
        The replay.
    rules
        One rule per field; ``*`` is the index of a list item.
    """

    def __init__(
        self, contents: Mapping[str, Any], replay: Replay, rules: Mapping[str, Rule]
    ) -> None:
        self.replay, self.stated, self.rules = replay, contents, rules
        self.found = replay.found.to_dict()
        # The limits of this search are not part of the certificate.
        self.found["hindsight"].pop("tolerance", None)
        self._lines: dict[str, Line | None] = {}

    def lines(self) -> Iterator[Line]:
        """Yield a line for every field."""
        yield from self._walk("", self.stated, self.found)

    def line(self, path: str) -> Line:
        """Return the line of a required field."""
        stated, found = self.stated, self.found
        for key in path.split("."):
            at: Any = int(key) - 1 if key.isdigit() else key
            stated, found = stated[at], found[at]
        line = self._judged(path, stated, found)
        assert line is not None
        return line

    def promises(self, path: str) -> tuple[Promise, Promise]:
        """Return the promise of a path, as stated and as found."""
        part, _, rest = path.partition(".")
        stated, found = self.replay.stated, self.replay.found
        if part == "further":
            at = int(rest.partition(".")[0]) - 1
            return stated.further[at], found.further[at]
        assert stated.theorem is not None
        assert found.theorem is not None
        return stated.theorem, found.theorem

    def _walk(self, path: str, stated: Any, found: Any) -> Iterator[Line]:
        if ITEM.sub(".*", path) in self.rules:
            line = self._judged(path, stated, found)
            if line is not None:
                yield line
        elif isinstance(stated, Mapping) and isinstance(found, Mapping):
            before = f"{path}." if path else ""
            for key in [*found, *(key for key in stated if key not in found)]:
                yield from self._walk(
                    f"{before}{key}", stated.get(key, MISSING), found.get(key, MISSING)
                )
        elif isinstance(stated, list) and isinstance(found, list):
            yield same(path, len(stated), len(found))
            for k, (one, other) in enumerate(zip(stated, found, strict=False), 1):
                yield from self._walk(f"{path}.{k}", one, other)
        elif stated is not None or found is not None:
            yield Line(path, brief(stated), brief(found), False)

    def _judged(self, path: str, stated: Any, found: Any) -> Line | None:
        if path not in self._lines:
            rule = self.rules[ITEM.sub(".*", path)]
            missing = stated is MISSING or found is MISSING
            self._lines[path] = (
                Line(path, brief(stated), brief(found), False)
                if missing and path not in OPTIONAL
                else rule(self, path, stated, found)
            )
        return self._lines[path]


def brief(value: Any) -> Any:
    """Return a short description of an unexpected value."""
    if isinstance(value, list):
        return f"{len(value)} items"
    return value.get("name", f"{len(value)} fields") if isinstance(value, Mapping) else value
