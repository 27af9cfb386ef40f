"""The base of every registered algorithm: parameters, copies and files."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from noregret.base.display import as_text
from noregret.checks import unknown_parameter
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.proof.theorems.theorem import Theorem

N = TypeVar("N", bound="Named")


class Named:
    """An algorithm that is registered by name and has theorems.

    Parameters are attributes of the same names. ``get_state`` returns the arrays, numbers and
    column names of the state; ``set_state`` restores them, or raises ValueError if invalid.
    """

    name: ClassVar[str]
    family: ClassVar[str] = "learners"
    theorems: ClassVar[tuple[Theorem, ...]] = ()
    # Explanation for parameters that no theorem covers, instead of the standard one.
    unproven: ClassVar[str] = ""
    # What files of earlier versions mean that do not have these parameters.
    _earlier: ClassVar[Mapping[str, Any]] = {}
    # The version in which the same parameters began to give other predictions; empty if none.
    _rule_since: ClassVar[str] = ""
    # Methods that change the state without the record of a certified game.
    _unrecorded: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = explaining(vars(cls)["__init__"])  # type: ignore[method-assign]

    if TYPE_CHECKING:  # what a family offers

        @property
        def rounds(self) -> int:
            """The number of rounds learned."""

        def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
            """Return the state."""

        def set_state(
            self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]
        ) -> None:
            """Restore a state."""

        def _new_game(self, **options: Any) -> Any:
            """Return a game for this algorithm; the options are those of ``noregret.play``."""

    @classmethod
    def tuned(cls: type[N], theorem: str | None = None, **known: Any) -> N:
        """Build an instance with the parameters that a theorem requires.

        Parameters
        ----------
        theorem
            The name of the theorem; by default the first whose requirements are given.
        **known
            Quantities known beforehand, such as ``radius``, ``lipschitz`` and ``horizon``; see
            ``noregret theorems NAME``.

        Examples
        --------
        >>> import noregret
        >>> noregret.GradientDescent.tuned(loss="hinge", radius=2.0, lipschitz=1.0, horizon=100)
        GradientDescent(loss='hinge', rate=2.0, schedule='horizon', horizon=100, radius=2.0)
        """
        from noregret.proof.theorems.tuning import tuned_params

        return cls(**tuned_params(cls, theorem, known))

    @classmethod
    @cache
    def _parameters(cls) -> Mapping[str, inspect.Parameter]:
        """Return the signature, cached because every copy needs it."""
        return inspect.signature(cls).parameters

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the constructor."""
        return {name: getattr(self, name) for name in self._parameters()}

    def clone(self: N) -> N:
        """Return an untrained instance with the same parameters."""
        return type(self)(**self.params)

    def copy(self: N) -> N:
        """Return an independent copy, including the state."""
        return copy.deepcopy(self)

    def __deepcopy__(self: N, memo: dict[int, Any]) -> N:
        other = self.clone()
        try:
            other.set_state(*self.get_state())
        except ValueError as error:  # numbers of a forged file that have overflowed
            raise NoRegretError(f"the state cannot be copied: {error}") from None
        return other

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.params, self.get_state())

    def save(self, path: str | Path) -> None:
        """Write the model to one file: named arrays and a JSON header, no pickle.

        The write is atomic. ``noregret.load`` reads the file.
        """
        from noregret.base.model_file import save

        save(self, path)

    def _repr_html_(self) -> str:
        return as_text("learner card", self)

    def __repr__(self) -> str:
        defaults = self._parameters()
        shown = ", ".join(
            f"{name}={value!r}"
            for name, value in self.params.items()
            if not is_default(value, defaults[name].default)
        )
        return f"{type(self).__name__}({shown})"


def explaining(init: Callable[..., None]) -> Callable[..., None]:
    """Wrap an ``__init__`` so that errors suggest the nearest parameter."""

    @wraps(init)
    def __init__(self: Any, *args: Any, **params: Any) -> None:  # noqa: N807
        try:
            init(self, *args, **params)
        except TypeError:
            _, *known = inspect.signature(init).parameters
            if wrong := next((name for name in params if name not in known), None):
                owner = type(self).__name__
                raise TypeError(unknown_parameter(owner, wrong, known)) from None
            raise

    return __init__


def is_default(value: Any, default: Any) -> bool:
    """Return whether a parameter has its default value."""
    return isinstance(value, type(default)) and bool(value == default)


def _revive(kind: type[N], params: dict[str, Any], state: tuple[Any, Any, Any]) -> N:
    made = kind(**params)
    made.set_state(*state)
    return made
