"""Checking a certificate against the data: everything it says, computed again."""

from noregret.verifying.replay import verify
from noregret.verifying.verification import Line, Verification

__all__ = ["Line", "Verification", "verify"]
