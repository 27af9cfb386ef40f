"""Checking a certificate against the data: everything it says, computed again."""

from noregret.proof.verifying.replay import verify
from noregret.proof.verifying.verification import Line, Verification

__all__ = ["Line", "Verification", "verify"]
