"""The assumptions of the theorems of kernel learners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noregret.proof.theorems.assumptions import AtMost, Finding, Shown

# Distances between rows whose norm exceeds this multiple of the width lose too many digits.
MAX_LENGTH_RATIO = 1e3


@dataclass(frozen=True)
class Near(AtMost):
    """Rows are short enough, relative to the kernel's width, for accurate distances."""

    remedy = "Scale the rows, or choose a larger width."

    def limit_of(self, params: Mapping[str, Any]) -> tuple[str, float]:
        """Watch the norm, if the kernel has a width."""
        return self.measure, super().limit_of(params)[1] if has_width(params) else float("inf")

    def check(self, evidence: Any) -> Finding:
        """Compare the longest row with the width; other kernels lose no digits."""
        if has_width(evidence.params):
            return super().check(evidence)
        return Finding("the kernel keeps its digits", None, None, True)


def has_width(params: Mapping[str, Any]) -> bool:
    """Return whether the kernel has a width."""
    return bool(params["kernel"] == "rbf")


def nothing_removed(evidence: Any) -> Finding:
    """Check that every correction is still in the function."""
    removed = int(evidence.figure("removals"))
    first = int(evidence.figure("first_removal")) or None
    return Finding("support vectors removed = 0", 0, removed, removed == 0, first)


NEAR = Near(
    rf"$\|x_t\|_2 \le {MAX_LENGTH_RATIO:g} \cdot$ `width`, so that distances keep their digits",
    "norm",
    lambda params: MAX_LENGTH_RATIO * params["width"],
    "norm(x)",
)
COMPLETE = Shown("the budget was never full: no support vector was removed", nothing_removed)
