"""The version, from the one file that names it."""

import os

# Without pathlib, whose import would take a third of the time of importing this package.
with open(os.path.join(os.path.dirname(__file__), "version.txt"), encoding="utf-8") as _file:
    __version__ = _file.read().strip()
