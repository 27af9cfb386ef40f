"""The command ``noregret mix``: read forecasts, combine them by a master, write the result."""

# The master if none is named: it needs no parameter, whatever the units.
DEFAULT = "blend"
