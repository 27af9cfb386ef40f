"""Online learning that can prove how well it did.

Learners take examples one at a time or in blocks, and every one answers for a theorem. They are
reached by class (``noregret.WidrowHoff(rate=0.1)``) or by name (``noregret.make("widrow-hoff",
rate=0.1)``).
"""

from importlib import import_module as _import_module
from typing import Any

from noregret._version import __version__

# Where every public name lives. Each is fetched when it is first asked for, so that a command or a
# program waits only for what it uses.
_HOMES = {
    "LOSSES": "core.losses",
    "BadExample": "errors",
    "Certificate": "certificate",
    "CertificateError": "errors",
    "Curve": "record.curve",
    "Diverged": "errors",
    "Game": "game",
    "Learner": "learner",
    "Loss": "core.losses",
    "Measurement": "learner",
    "ModelFileError": "errors",
    "NoRegretError": "errors",
    "PythonLoss": "core.losses",
    "Theorem": "theorem",
    "Verification": "verifying",
    "all_learners": "registry",
    "all_theorems": "registry",
    "averaged": "averaging",
    "load": "model_file",
    "load_certificate": "certificate_file",
    "make": "registry",
    "make_loss": "core.losses",
    "play": "game",
    "register": "registry",
    "verify": "verifying",
}
# Parts of the package that are reached without an import of their own.
_PARTS = ("adversaries", "data", "hindsight", "streams")


def _learner_files() -> dict[str, str]:
    """Return the file of every learner's class, which is named after it."""
    from pkgutil import iter_modules

    package = _import_module("noregret.learners")
    names = (module.name for module in iter_modules(package.__path__))
    return {"".join(word.capitalize() for word in name.split("_")): name for name in names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_HOMES, *_learner_files(), "__version__"])
    if name in _PARTS:
        return _import_module(f"noregret.{name}")
    home = _HOMES.get(name)
    if home is None and name[:1].isupper() and name in (files := _learner_files()):
        home = f"learners.{files[name]}"
    if home is None:
        raise AttributeError(f"module 'noregret' has no attribute {name!r}")
    found = getattr(_import_module(f"noregret.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), *_PARTS]
