"""Online learning that can prove how well it did.

Learners take examples one at a time or in blocks, and every one answers for a theorem. They are
reached by class (``noregret.WidrowHoff(rate=0.1)``) or by name (``noregret.make("widrow-hoff",
rate=0.1)``).
"""

from importlib import import_module as _import_module
from typing import Any

from noregret import registry as _registry
from noregret import streams as streams
from noregret._version import __version__
from noregret.averaging import averaged
from noregret.certificate import Certificate
from noregret.certificate_file import load_certificate
from noregret.core.losses import LOSSES, Loss, PythonLoss, make_loss
from noregret.errors import (
    BadExample,
    CertificateError,
    Diverged,
    ModelFileError,
    NoRegretError,
)
from noregret.game import Game, play
from noregret.learner import Learner, Measurement
from noregret.model_file import load
from noregret.record.curve import Curve
from noregret.registry import all_learners, all_theorems, make, register
from noregret.theorem import Theorem
from noregret.verifying import Verification, verify

# Every learner's class, whichever files there are.
globals().update({learner.__name__: learner for learner in _registry.all_learners().values()})

# Parts of the package that are reached without an import of their own.
_PARTS = ("adversaries", "data", "hindsight", "streams")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return _import_module(f"noregret.{name}")
    raise AttributeError(f"module 'noregret' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_PARTS]


__all__ = [  # noqa: PLE0604
    "LOSSES",
    "BadExample",
    "Certificate",
    "CertificateError",
    "Curve",
    "Diverged",
    "Game",
    "Learner",
    "Loss",
    "Measurement",
    "ModelFileError",
    "NoRegretError",
    "PythonLoss",
    "Theorem",
    "Verification",
    "__version__",
    "averaged",
    "all_learners",
    "all_theorems",
    "load",
    "load_certificate",
    "make",
    "make_loss",
    "play",
    "register",
    "verify",
    *(learner.__name__ for learner in _registry.all_learners().values()),
]
