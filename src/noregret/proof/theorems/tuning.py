"""Choose parameters by a theorem, from what is known beforehand."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.base.algorithm import Named
    from noregret.proof.theorems.theorem import Theorem


def tuned_params(
    learner: type[Named], name: str | None, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters that one of a learner's theorems needs."""
    tunable = {t.name: t for t in learner.theorems if t.tune is not None}
    if not tunable:
        raise ValueError(f"no theorem of {learner.name} asks for a choice of parameters")
    if name is not None and name not in tunable:
        raise ValueError(f"{learner.name} is tuned by {' or '.join(tunable)}: got {name!r}")
    for theorem in tunable.values() if name is None else [tunable[name]]:
        tune = theorem.tune
        assert tune is not None
        takes = inspect.signature(tune).parameters
        wanted = inspect.signature(learner).parameters
        # Parameters that no theorem chooses are kept.
        extra = {key: known[key] for key in known if key not in takes and key in wanted}
        told = {key: known[key] for key in known if key not in extra}
        try:
            inspect.signature(tune).bind(**told)
        except TypeError:
            continue
        found = extra | tune(**told)
        if theorem.covers(learner(**found).params):
            return found
        if name is not None:
            raise ValueError(f"{name} does not speak of {learner(**found)!r}")
    ways = "; ".join(f"{t.name} takes {takes_of(t)}" for t in tunable.values())
    raise ValueError(f"{learner.name} cannot be tuned with {', '.join(known) or 'nothing'}: {ways}")


def takes_of(theorem: Theorem) -> str:
    """Return the arguments of a theorem's tuning as text."""
    if theorem.tune is None:
        return "nothing"
    return ", ".join(
        name if p.default is inspect.Parameter.empty else f"{name}={p.default!r}"
        for name, p in inspect.signature(theorem.tune).parameters.items()
    )
