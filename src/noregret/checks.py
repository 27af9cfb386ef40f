"""Validation of parameters and states, with messages that name the fault."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from noregret.limits import MAX_PARAMETER


def positive(name: str, value: Any, *, below: float = math.inf) -> float:
    """Return a number above 0 and below a limit, or raise ValueError."""
    most = min(below, MAX_PARAMETER)
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < most:
        return float(value)
    wanted = "a positive number" if below == math.inf else f"a number between 0 and {below:g}"
    if isinstance(value, Real) and MAX_PARAMETER <= float(value) < math.inf:
        wanted += f" below {MAX_PARAMETER:g}"
    raise ValueError(f"{name} must be {wanted}: got {value!r}")


def not_negative(name: str, value: Any) -> float:
    """Return a number of at least 0, or raise ValueError."""
    if (
        isinstance(value, Real)
        and not isinstance(value, bool)
        and 0 <= float(value) < MAX_PARAMETER
    ):
        return float(value)
    raise ValueError(f"{name} must be a number, 0 or above: got {value!r}")


def whole(name: str, value: Any, *, below: int = 2**62) -> int:
    """Return a whole number above 0, or raise ValueError."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 0 < int(value) < below:
        return int(value)
    limit = f" up to {below - 1:,}" if isinstance(value, Integral) and int(value) >= below else ""
    raise ValueError(f"{name} must be a positive whole number{limit}: got {value!r}")


def seed_of(value: Any, *, below: int = 2**62) -> int:
    """Return a seed, a whole number of at least 0, or raise ValueError."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < below:
        return int(value)
    raise ValueError(f"seed must be a whole number, 0 or above: got {value!r}")


def one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of the choices, or raise ValueError."""
    if isinstance(value, str) and value in choices:
        return value
    said = f"unknown {name} {value!r}: choose one of {', '.join(choices)}"
    raise ValueError(said + (loss_hint(value, choices) if name == "loss" else ""))


# Names that a message lists.
MAX_LISTED = 64
# Names of losses in other libraries.
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("mae", "l1", "mean_absolute_error", "absolute_error", "abs"), ("absolute",)),
    **dict.fromkeys(
        ("mse", "rmse", "l2", "mean_squared_error", "squared_error", "squared", "squared_loss"),
        ("square",),
    ),
    **dict.fromkeys(
        ("logloss", "log_loss", "log-loss", "cross-entropy", "crossentropy", "cross_entropy",
         "binary_crossentropy", "bce", "logit", "log", "logistic"),
        ("logistic", "log"),
    ),
    **dict.fromkeys(("accuracy", "error", "0-1", "01", "zero_one"), ("zero-one", "mistake")),
    "pinball": ("quantile",),
    "mape": ("percentage",),
    "epsilon_insensitive": ("epsilon-insensitive",),
}  # fmt: skip


def loss_hint(wrong: Any, choices: Sequence[str]) -> str:
    """Return a hint if the name is that of a loss in another library."""
    usual = OTHER_NAMES.get(wrong.lower(), ()) if isinstance(wrong, str) else ()
    meant = [name for name in usual if name in choices]
    return f"; {wrong} is called {meant[0]} here" if meant else ""


def similar(wrong: str, known: Sequence[str]) -> list[str]:
    """Return the known names that are most similar to one that is not known."""
    from difflib import get_close_matches  # only where something is wrong

    return get_close_matches(wrong, known)


def hint(wrong: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known names, or all of them if they are few."""
    if near := similar(wrong, list(known)):
        return f"did you mean {' or '.join(near)}?"
    names = list(known)
    if len(names) > MAX_LISTED:
        return f"there are {len(names):,}, such as {', '.join(names[:3])}"
    return f"choose one of {', '.join(names)}" if names else "it takes none"


def unknown_parameter(owner: str, wrong: str, known: Sequence[str]) -> str:
    """Return a message about an unknown parameter, with the nearest and all known ones."""
    near = similar(wrong, known)
    also = f" It takes {', '.join(known)}" if near else ""
    return f"{owner} has no parameter {wrong!r}: {hint(wrong, known)}{also}"


def bound(
    owner: str, signature: inspect.Signature, args: Sequence[Any], params: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Bind arguments to parameters, with their defaults; the first parameter is ``self``.

    The TypeError for an unknown parameter suggests the nearest.
    """
    _, *known = signature.parameters
    if wrong := next((name for name in params if name not in known), None):
        raise TypeError(unknown_parameter(owner, wrong, known))
    try:
        found = signature.bind(*args, **params)
    except TypeError as error:
        raise TypeError(f"{owner}: {error}: give them by name: {', '.join(known)}") from None
    found.apply_defaults()
    return found


def truth(name: str, value: Any) -> bool:
    """Return True or False, or raise ValueError."""
    if isinstance(value, bool):
        return value
    raise ValueError(f"{name} must be True or False: got {value!r}")


def state_numbers(
    numbers: dict[str, Any], like: dict[str, Any], signed: Sequence[str] = ()
) -> None:
    """Raise ValueError if the numbers of a state have the wrong names, types or signs.

    ``signed`` names those that may be negative, without the part before the last dot.
    """
    if numbers.keys() != like.keys():
        raise ValueError(f"expected the numbers {sorted(like)}, got {sorted(numbers)}")
    for name, value in numbers.items():
        if type(value) is not type(like[name]):
            raise ValueError(f"{name} should be of type {type(like[name]).__name__}: got {value!r}")
        own = name.rpartition(".")[2]
        if not (math.isfinite(value) or (own.startswith("limit_") and value == math.inf)):
            raise ValueError(f"{name} is {value!r}")
        if value < 0 and own not in signed:
            raise ValueError(f"{name} is {value!r}: it cannot be negative")
        if isinstance(value, int) and value >= 2**62:
            raise ValueError(f"{name} is {value!r}: it cannot be so large")


def state_arrays(
    arrays: Mapping[str, Any], shapes: Mapping[str, int | tuple[int, ...]], finite: bool = True
) -> None:
    """Raise ValueError if the arrays of a state have the wrong names, types or shapes, or NaN.

    ``finite`` refuses infinities too.
    """
    import numpy as np

    if arrays.keys() != shapes.keys():
        raise ValueError(f"expected the arrays {sorted(shapes)}, got {sorted(arrays)}")
    for name, wanted in shapes.items():
        array = np.asarray(arrays[name])
        shape = (wanted,) if isinstance(wanted, int) else wanted
        if array.dtype != np.float64 or array.shape != shape:
            count = " × ".join(map(str, shape))
            raise ValueError(f"array {name} should hold {count} numbers of type float64")
        if not (np.isfinite(array) if finite else ~np.isnan(array)).all():
            raise ValueError(f"array {name} holds a number that is not finite")
