"""The version, from the one file that names it."""

from pathlib import Path

__version__ = Path(__file__).with_name("version.txt").read_text("ascii").strip()
