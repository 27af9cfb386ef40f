"""Compare a certificate with a replay: the rule for every field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noregret.proof.verifying import best, groups, played, promised
from noregret.proof.verifying.comparing import SEARCHED
from noregret.proof.verifying.judging import Judge, Replay, Rule
from noregret.proof.verifying.verification import Verification

RULES: dict[str, Rule] = {
    **played.RULES,
    **best.RULES,
    **promised.rules_of("theorem"),
    **promised.rules_of("further.*"),
    **groups.RULES,
}


def compared(
    contents: Mapping[str, Any], replay: Replay, rules: Mapping[str, Rule] = RULES
) -> Verification:
    """Compare a certificate with a replay."""
    lines = tuple(Judge(contents, replay, rules).lines())
    return Verification(lines, replay.tolerance, SEARCHED)
