"""The command ``noregret mix``: read forecasts, combine them by a master, write the result."""

from typing import Any

# The master if none is named: it needs no parameter, whatever the units.
DEFAULT = "blend"
# What it is told besides.
DEFAULT_PARAMS: dict[str, Any] = {}
