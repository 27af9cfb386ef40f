"""An ensemble on disk: its master and its members, in one file of named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from noregret.base.model_file import described, rebuilt, write
from noregret.errors import NoRegretError
from noregret.experts.master import Master
from noregret.experts.members import LearningMember, member_of
from noregret.linear.learner import Learner

if TYPE_CHECKING:
    from noregret.experts.ensemble import Experts

Arrays = dict[str, NDArray[Any]]


def save(experts: Experts, path: str | Path) -> None:
    """Write an ensemble to a file, whole or not at all."""
    master, kept = described(experts.master)
    arrays = {f"master:{name}": array for name, array in kept.items()}
    members = []
    for number, (name, member) in enumerate(experts.members.items()):
        if not isinstance(member, LearningMember):
            raise NoRegretError(
                f"expert {name!r} is a function, and code is not kept in files",
                "leave it out, and add it again after loading",
            )
        header, own = described(member.who)
        members.append({"name": name, "retired": member.retired, **header})
        arrays |= {f"{number}:{key}": array for key, array in own.items()}
    write(path, {"ensemble": {"master": master, "members": members}}, arrays)


def ensemble_of(header: Mapping[str, Any], arrays: Arrays) -> Experts:
    """Return the ensemble of a file; ValueError where it makes none."""
    from noregret.experts.ensemble import Experts

    master = rebuilt(header["master"], own(arrays, "master"), None)
    if not isinstance(master, Master):
        raise ValueError("its master does not combine experts")
    experts = Experts.__new__(Experts)
    experts.master, experts.members = master, {}
    for number, told in enumerate(header["members"]):
        learner = rebuilt(told, own(arrays, str(number)), None)
        if not isinstance(learner, Learner):
            raise ValueError("a member is no learner")
        member = member_of(learner, master)
        member.retired = None if told["retired"] is None else str(told["retired"])
        experts.members[str(told["name"])] = member
    if list(experts.members) != master.names:
        raise ValueError("its members are not those that its master knows")
    return experts


def own(arrays: Arrays, whose: str) -> Arrays:
    """Return the arrays of one part, by its own names."""
    prefix = f"{whose}:"
    return {k.removeprefix(prefix): array for k, array in arrays.items() if k.startswith(prefix)}
