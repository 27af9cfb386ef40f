"""What ``noregret mix`` does: forecasts, a master that mixes them, and what comes of it."""

from typing import Any

# Who mixes if nobody else is asked to: good without a word, whatever the units.
DEFAULT = "blend"
# What it is told besides.
DEFAULT_PARAMS: dict[str, Any] = {}
