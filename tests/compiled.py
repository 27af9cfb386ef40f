"""The compiled modules of the package, wherever they live."""

import importlib
import os
import pkgutil
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType

import pytest

import noregret

# The address sanitizer reserves terabytes of addresses, and keeps freed memory for a while.
measures_memory = pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="memory cannot be limited or measured under the address sanitizer",
)


def compiled_modules() -> list[ModuleType]:
    """Import every compiled module but the one that all others share."""
    names = [module.name for module in pkgutil.walk_packages(noregret.__path__, "noregret.")]
    found = [importlib.import_module(name) for name in names if not name.endswith("._shared")]
    return [module for module in found if str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES))]
