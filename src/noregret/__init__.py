"""Online learning that can prove how well it did.

Learners take examples one at a time or in blocks, and every one answers for a theorem. They are
reached by class (``noregret.WidrowHoff(rate=0.1)``) or by name (``noregret.make("widrow-hoff",
rate=0.1)``). So are those of the other families: ``experts``, ``bandits``, ``portfolios``,
``batch`` and ``filters``.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from noregret._version import __version__ as __version__

if TYPE_CHECKING:  # the names below, for type checkers; a test holds the two together
    from noregret import adversaries as adversaries
    from noregret import bandits as bandits
    from noregret import batch as batch
    from noregret import data as data
    from noregret import echo as echo
    from noregret import experts as experts
    from noregret import filters as filters
    from noregret import hindsight as hindsight
    from noregret import portfolios as portfolios
    from noregret import river as river
    from noregret import sklearn as sklearn
    from noregret import streams as streams
    from noregret.base.compiled.losses import LOSSES as LOSSES
    from noregret.base.compiled.losses import Loss as Loss
    from noregret.base.compiled.losses import PythonLoss as PythonLoss
    from noregret.base.compiled.losses import make_loss as make_loss
    from noregret.base.model_file import load as load
    from noregret.base.registry import make as make
    from noregret.base.registry import register as register
    from noregret.errors import BadExample as BadExample
    from noregret.errors import CertificateError as CertificateError
    from noregret.errors import DataWarning as DataWarning
    from noregret.errors import Diverged as Diverged
    from noregret.errors import ModelFileError as ModelFileError
    from noregret.errors import NoRegretError as NoRegretError
    from noregret.experts.ensemble import Experts as Experts
    from noregret.linear.groups import Groups as Groups
    from noregret.linear.learner import Learner as Learner
    from noregret.linear.learner import Measurement as Measurement
    from noregret.linear.learner import all_learners as all_learners
    from noregret.linear.random_features import Fourier as Fourier
    from noregret.linear.random_features import fourier as fourier
    from noregret.proof.certificates.certificate import Certificate as Certificate
    from noregret.proof.certificates.file import load_certificate as load_certificate
    from noregret.proof.game.certified_learner import certified as certified
    from noregret.proof.game.game import Game as Game
    from noregret.proof.game.game import play as play
    from noregret.proof.record.moment import Curve as Curve
    from noregret.proof.theorems.averaging import averaged as averaged
    from noregret.proof.theorems.registry import all_theorems as all_theorems
    from noregret.proof.theorems.theorem import Theorem as Theorem
    from noregret.proof.verifying import Verification as Verification
    from noregret.proof.verifying import verify as verify
    from noregret.service.service import Service as Service
    from noregret.streams import read as read

# Where every public name lives. Each is fetched when it is first asked for, so that a command or a
# program waits only for what it uses.
_HOMES = {
    "LOSSES": "base.compiled.losses",
    "BadExample": "errors",
    "Certificate": "proof.certificates.certificate",
    "CertificateError": "errors",
    "Curve": "proof.record.moment",
    "DataWarning": "errors",
    "Diverged": "errors",
    "Experts": "experts.ensemble",
    "Fourier": "linear.random_features",
    "Game": "proof.game.game",
    "Groups": "linear.groups",
    "Learner": "linear.learner",
    "Loss": "base.compiled.losses",
    "Measurement": "linear.learner",
    "ModelFileError": "errors",
    "NoRegretError": "errors",
    "PythonLoss": "base.compiled.losses",
    "Service": "service.service",
    "Theorem": "proof.theorems.theorem",
    "Verification": "proof.verifying",
    "all_learners": "linear.learner",
    "all_theorems": "proof.theorems.registry",
    "averaged": "proof.theorems.averaging",
    "certified": "proof.game.certified_learner",
    "fourier": "linear.random_features",
    "load": "base.model_file",
    "load_certificate": "proof.certificates.file",
    "make": "base.registry",
    "make_loss": "base.compiled.losses",
    "play": "proof.game.game",
    "read": "streams",
    "register": "base.registry",
    "verify": "proof.verifying",
}
# Parts of the package that are reached without an import of their own.
_PARTS = (
    "adversaries",
    "bandits",
    "batch",
    "data",
    "echo",
    "experts",
    "filters",
    "hindsight",
    "portfolios",
    "river",
    "sklearn",
    "streams",
)


def _class_homes() -> dict[str, str]:
    """Return the module of every class of every family; the first family's of two of a name."""
    from noregret.base.families import FAMILIES, homes

    found: dict[str, str] = {}
    for family in FAMILIES:
        found = homes(family) | found
    return found


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_HOMES, *_class_homes(), "__version__"])
    if name in _PARTS:
        return _import_module(f"noregret.{name}")
    home = f"noregret.{_HOMES[name]}" if name in _HOMES else None
    if home is None and name[:1].isupper():
        home = _class_homes().get(name)
    if home is None:
        raise AttributeError(f"module 'noregret' has no attribute {name!r}")
    found = getattr(_import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), *_PARTS]
