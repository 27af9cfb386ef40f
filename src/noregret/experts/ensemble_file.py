"""Save and load an ensemble: its master and its members, in one file of named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from noregret.base.model_file import STREAM, described, rebuilt, write
from noregret.errors import NoRegretError
from noregret.experts.master import Master
from noregret.experts.members import LearningMember, member_of
from noregret.linear.learner import Learner

if TYPE_CHECKING:
    from noregret.base.model_file import State
    from noregret.experts.ensemble import Experts

Arrays = dict[str, NDArray[Any]]


def save(experts: Experts, path: str | Path, stream: State | None = None) -> None:
    """Write an ensemble to a file atomically.

    ``stream`` has the arrays and numbers with which later data can be read in the same way; by
    default those with which its members prepare raw rows, if they do.
    """
    master, kept = described(experts.master)
    arrays = {f"master:{name}": array for name, array in kept.items()}
    members = []
    for number, (name, member) in enumerate(experts.members.items()):
        if not isinstance(member, LearningMember):
            raise NoRegretError(
                f"expert {name!r} is a function, which files cannot hold",
                "leave it out, and add it again after loading",
            )
        header, own = described(member.who)
        prepared = header.pop("stream", None)
        kept = {key: own.pop(key) for key in list(own) if key.startswith(STREAM)}
        if prepared is not None and stream is None:
            stream = {key.removeprefix(STREAM): array for key, array in kept.items()}, prepared
        members.append({"name": name, "retired": member.retired, **header})
        arrays |= {f"{number}:{key}": array for key, array in own.items()}
    told: dict[str, Any] = {"ensemble": {"master": master, "members": members}}
    if stream is not None:
        told["stream"] = stream[1]
        arrays |= {STREAM + name: array for name, array in stream[0].items()}
    write(path, told, arrays)


def ensemble_of(header: Mapping[str, Any], arrays: Arrays) -> Experts:
    """Return the ensemble of a file; raise ValueError if it is invalid."""
    from noregret.experts.ensemble import Experts

    master = rebuilt(header["master"], own(arrays, "master"), None)
    if not isinstance(master, Master):
        raise ValueError("its master is not a master of experts")
    experts = Experts.__new__(Experts)
    experts.master, experts.members = master, {}
    for number, told in enumerate(header["members"]):
        learner = rebuilt(told, own(arrays, str(number)), None)
        if not isinstance(learner, Learner):
            raise ValueError("a member is not a learner")
        member = member_of(learner, master)
        member.retired = None if told["retired"] is None else str(told["retired"])
        experts.members[str(told["name"])] = member
    if list(experts.members) != master.names:
        raise ValueError("its members are not those of its master")
    return experts


def own(arrays: Arrays, whose: str) -> Arrays:
    """Return the arrays of one part, without their prefix."""
    prefix = f"{whose}:"
    return {k.removeprefix(prefix): array for k, array in arrays.items() if k.startswith(prefix)}
